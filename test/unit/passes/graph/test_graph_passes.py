"""`graph-normalize`, `graph-quantize` and `graph-fuse` keep the meaning: interpreted before and after."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects import graph
from tilewright.dialects.types import element_of, si8, tensor, tensor_type, ui8
from tilewright.errors import TilewrightError
from tilewright.interpreters.constants import Constants
from tilewright.interpreters.graph import run_graph
from tilewright.passes.graph.graph_fuse import GraphFusePass
from tilewright.passes.graph.graph_normalize import GraphNormalizePass
from tilewright.passes.graph.graph_quantize import GraphQuantizePass
from tilewright.resources import Resources, attach, resources_of

from .graph_network import Array, Network, apply, names

RANDOM = np.random.default_rng(1)


def floats(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def bytes_(*shape: int) -> Array:
    return RANDOM.integers(-127, 128, shape).astype(np.int8)


# graph-normalize


def conv_and_batch_norm(net: Network) -> SSAValue:
    (x,) = net.inputs
    conv = net.add(graph.ConvOp(x, net.weight(floats(6, 4, 3, 3)), strides=[1, 1], pads=[1] * 4))
    scale, bias, mean_, variance = (net.weight(np.abs(floats(6))) for _ in range(4))
    return net.add(graph.BatchNormOp(conv, scale, bias, mean_, variance, epsilon=0.1))


def factors_and_terms(net: Network) -> SSAValue:
    (x,) = net.inputs
    y = net.add(graph.ConvOp(x, net.weight(floats(6, 4, 1, 1)), net.weight(floats(6)), strides=[2, 2], pads=[0] * 4))
    for kind, shape in (("mul", (1, 6, 1, 1)), ("add", ()), ("mul", (6, 1, 1)), ("add", (6, 1, 1)), ("mul", (4, 4))):
        y = net.add(graph.BinaryOp(kind, net.weight(floats(*shape)), y))
    return y


def identities(net: Network) -> SSAValue:
    (x,) = net.inputs
    y = net.add(graph.TransposeOp(x, perm=[0, 2, 3, 1]))
    y = net.add(graph.TransposeOp(y, perm=[0, 2, 1, 3]))
    y = net.add(graph.TransposeOp(y, perm=[0, 3, 1, 2]))
    y = net.add(graph.ReshapeOp(net.add(graph.ReshapeOp(y, (4, 64))), (1, 256)))
    return net.add(graph.ClipOp(net.add(graph.UnaryOp("identity", y))))


def padded(net: Network) -> SSAValue:
    (x,) = net.inputs
    y = net.add(graph.PadOp(x, pads=[0, 0, 1, 2, 0, 0, 0, 1]))
    y = net.add(graph.ConvOp(y, net.weight(floats(2, 4, 3, 3)), strides=[1, 1], pads=[1, 0, 0, 1]))
    y = net.add(graph.PadOp(y, pads=[0, 0, 1, 0, 0, 0, 0, 0], value=1.5))
    return net.add(graph.ConvOp(y, net.weight(floats(3, 2, 2, 2)), strides=[1, 1], pads=[0] * 4))


def gemms(net: Network) -> SSAValue:
    (x,) = net.inputs
    y = net.add(graph.ReshapeOp(x, (16, 16)))
    c = net.weight(floats(16))
    y = net.add(graph.GemmOp(y, net.weight(floats(16, 16)), c, alpha=0.5, beta=-2.0, trans_a=True))
    y = net.add(graph.GemmOp(y, y, c, alpha=0.25, beta=3.0, trans_b=True))
    return net.add(graph.GemmOp(y, y, c, alpha=0.125, beta=0.0))


def averages(net: Network) -> SSAValue:
    (x,) = net.inputs
    return net.add(graph.PoolOp("average", x, kernel=[8, 8], strides=[1, 1], pads=[0] * 4))


def constants(net: Network) -> SSAValue:
    (x,) = net.inputs
    w = net.add(graph.ReshapeOp(net.add(graph.UnaryOp("exp", net.weight(floats(8, 1)))), (1, 8)))
    return net.add(graph.BinaryOp("mul", x, w))


NORMALIZED: dict[str, tuple[Callable[[Network], SSAValue], list[str]]] = {
    "batch_norm": (conv_and_batch_norm, ["weight", "weight", "conv"]),
    "factors": (factors_and_terms, ["weight", "weight", "weight", "conv", "binary"]),
    "identities": (identities, ["transpose", "reshape"]),
    "padded": (padded, ["weight", "weight", "conv", "conv"]),
    "gemms": (gemms, ["reshape", *["weight"] * 3, "gemm", "gemm", "weight", "binary", "weight", "binary"]),
    "averages": (averages, ["reduce"]),
    "constants": (constants, ["weight", "binary"]),
}


@pytest.mark.parametrize("name", NORMALIZED)
def test_normalize(name: str):
    build, expected = NORMALIZED[name]
    net = Network((1, 4, 8, 8))
    module = net.finish(build(net))
    before = run_graph(module, net.arrays())["result0"]
    apply(module, GraphNormalizePass())
    found = names(module)
    assert sorted(set(found)) == sorted(set(expected)), found
    assert len([n for n in found if n != "weight"]) <= len(expected), found
    after = run_graph(module, net.arrays())["result0"]
    np.testing.assert_allclose(after, before, rtol=1e-4, atol=1e-4)


def test_normalize_forgets_unused_arrays():
    net = Network((1, 4, 8, 8))
    module = apply(net.finish(conv_and_batch_norm(net)), GraphNormalizePass())
    named = {op.resource for op in module.walk() if isinstance(op, graph.WeightOp)}
    assert set(resources_of(module)) == named


def test_slices_across_what_is_joined_leave_no_uses_behind():
    """A slice of two pieces that is not joined again stays; nothing outside of the function reads the pieces."""
    net = Network((2, 3), (2, 3))
    joined = net.add(graph.ConcatOp(net.inputs, axis=1))
    part = net.add(graph.SliceOp(joined, starts=[0, 2], sizes=[2, 2]))
    apply(net.finish(net.add(graph.UnaryOp("relu", part))), GraphNormalizePass())
    assert [use.operation.parent for value in net.inputs for use in value.uses] == [net.block, net.block]


def test_one_weight_per_name():
    net = Network((4,))
    a, b = (net.weight(np.ones(4, np.float32)) for _ in range(2))
    module = net.finish(net.add(graph.BinaryOp("add", net.add(graph.BinaryOp("add", net.inputs[0], a)), b)))
    assert names(module).count("weight") == 2
    apply(module, GraphNormalizePass())
    assert names(module).count("weight") == 1


def test_folded_constants_do_not_grow():
    net = Network((4,))
    big = net.add(graph.ExpandOp(net.weight(floats(1)), (1024, 1024)))
    module = apply(net.finish(net.inputs[0], big), GraphNormalizePass())
    assert "expand" in names(module)


def test_weights_of_another_shape_are_refused():
    module = ModuleOp([op := graph.WeightOp("w", tensor((2,), f32))])
    attach(module, Resources({"w": np.zeros(3, np.float32)}))
    with pytest.raises(
        TilewrightError, match=r"@w: expected an array of type tensor<2xf32>, found float32 of shape \[3\]"
    ):
        Constants.of(module).array(op.result)


# graph-quantize


def step(net: Network, build: Callable[[Network, SSAValue], SSAValue], element: Attribute, scale: float) -> ModuleOp:
    """Quantised input, layers, quantised output."""
    x = net.quantize(net.inputs[0], 0.03, 3, element)
    return net.finish(net.quantize(build(net, x), scale, 5, element))


def conv(net: Network, x: SSAValue) -> SSAValue:
    scale = np.linspace(0.001, 0.01, 6)
    w = net.quantized_weight(bytes_(6, 2, 3, 3), scale, 0)
    bias = RANDOM.integers(-5000, 5000, 6).astype(np.int32)
    b = net.quantized_weight(bias, np.float32(0.03) * scale.astype(np.float32), 0)
    return net.add(graph.ConvOp(x, w, b, strides=[2, 1], pads=[1, 0, 1, 2], groups=2))


def depthwise(net: Network, x: SSAValue) -> SSAValue:
    w = net.quantized_weight(bytes_(4, 1, 3, 3), np.array(0.01), 0)
    y = net.add(graph.ConvOp(x, w, strides=[1, 1], pads=[1] * 4, groups=4))
    return net.add(graph.ClipOp(y, min=0.0, max=6.0))


def gemm(net: Network, x: SSAValue) -> SSAValue:
    flat = net.add(graph.ReshapeOp(x, (1, 256)))
    w = net.quantized_weight(bytes_(10, 256), np.linspace(0.001, 0.002, 10), 0)
    return net.add(graph.GemmOp(flat, w, net.weight(floats(10)), trans_b=True))


def matmul(net: Network, x: SSAValue) -> SSAValue:
    return net.add(graph.MatmulOp(x, net.quantized_weight(bytes_(8, 5), np.linspace(0.001, 0.004, 5), 1)))


def attention(net: Network, x: SSAValue) -> SSAValue:
    y = net.add(graph.TransposeOp(x, perm=[0, 1, 3, 2]))
    return net.add(graph.MatmulOp(net.add(graph.UnaryOp("relu", x)), y))


def add(net: Network, x: SSAValue) -> SSAValue:
    other = net.quantize(net.add(graph.UnaryOp("exp", x)), 0.011, 9)
    return net.add(graph.UnaryOp("relu", net.add(graph.BinaryOp("add", x, other))))


def subtract(net: Network, x: SSAValue) -> SSAValue:
    return net.add(graph.BinaryOp("sub", net.quantized_weight(bytes_(4, 1, 1), np.array(0.01), 0), x))


def multiply(net: Network, x: SSAValue) -> SSAValue:
    return net.add(graph.BinaryOp("mul", x, net.quantize(net.add(graph.UnaryOp("sigmoid", x)), 1 / 255, 0)))


def mean(net: Network, x: SSAValue) -> SSAValue:
    return net.add(graph.ReduceOp("mean", x, axes=[2, 3]))


def average(net: Network, x: SSAValue) -> SSAValue:
    return net.add(graph.PoolOp("average", x, kernel=[3, 2], strides=[2, 2], pads=[0] * 4))


def average_inside(net: Network, x: SSAValue) -> SSAValue:
    """Divided by one to six elements."""
    return net.add(graph.PoolOp("average", x, kernel=[3, 2], strides=[2, 2], pads=[2, 1, 1, 1]))


def average_of_windows(net: Network, x: SSAValue) -> SSAValue:
    pool = graph.PoolOp("average", x, kernel=[3, 2], strides=[2, 2], pads=[2, 1, 1, 1], count_include_pad=True)
    return net.add(pool)


def moved(net: Network, x: SSAValue) -> SSAValue:
    y = net.add(graph.PoolOp("max", x, kernel=[3, 3], strides=[2, 2], pads=[1] * 4))
    y = net.add(graph.PadOp(y, pads=[0, 0, 1, 1, 0, 0, 1, 1]))
    y = net.add(graph.ResizeOp(y, scales=[1, 1, 2, 2]))
    y = net.add(graph.SliceOp(y, starts=[0, 0, 1, 1], sizes=[1, 4, 9, 9]))
    return net.add(graph.ReduceOp("max", net.add(graph.GatherOp(y, np.array([2, 0]), axis=1)), axes=[3]))


def concat(net: Network, x: SSAValue) -> SSAValue:
    other = net.quantize(net.add(graph.UnaryOp("tanh", x)), 0.01, 100)
    return net.add(graph.ConcatOp([x, other, x], axis=1))


INTEGER: dict[str, tuple[Callable[[Network, SSAValue], SSAValue], float]] = {
    "conv": (conv, 0.05),
    "depthwise": (depthwise, 0.03),
    "gemm": (gemm, 0.05),
    "matmul": (matmul, 0.02),
    "attention": (attention, 0.1),
    "add": (add, 0.04),
    "subtract": (subtract, 0.03),
    "multiply": (multiply, 0.03),
    "mean": (mean, 0.003),
    "average": (average, 0.03),
    "average_inside": (average_inside, 0.027),
    "average_of_windows": (average_of_windows, 0.017),
    "moved": (moved, 0.03),
    "concat": (concat, 0.03),
}

FLOAT_LAYERS = ("conv", "gemm", "matmul", "pool", "reduce")


@pytest.mark.parametrize("element", [ui8, si8], ids=str)
@pytest.mark.parametrize("name", INTEGER)
def test_quantize(name: str, element: Attribute):
    """Integers differ from the f32 network by one step at most, rarely, as halves are rounded up and not to even."""
    build, scale = INTEGER[name]
    net = Network((1, 4, 8, 8))
    module = step(net, build, element, scale)
    before = run_graph(module, net.arrays())["result0"]
    apply(module, GraphNormalizePass(), GraphQuantizePass())
    for op in module.walk():
        if op.name.removeprefix("graph.") in FLOAT_LAYERS:
            assert element_of(op.results[0]) != f32, op
    after = run_graph(module, net.arrays())["result0"]
    steps = np.abs(after - before) / scale
    assert np.ptp(before) > 20 * scale
    assert steps.max() < 1.01
    assert np.mean(steps > 0.5) < 0.1


def test_accumulators_are_dequantised():
    net = Network((1, 4, 8, 8))
    x = net.quantize(net.inputs[0], 0.03, 3)
    module = net.finish(net.add(graph.UnaryOp("sigmoid", conv(net, x))))
    before = run_graph(module, net.arrays())["result0"]
    apply(module, GraphNormalizePass(), GraphQuantizePass())
    assert [n for n in names(module) if n != "weight"] == ["quantize", "conv", "dequantize", "unary"]
    np.testing.assert_allclose(run_graph(module, net.arrays())["result0"], before, rtol=1e-5, atol=1e-6)


def test_weights_that_leave_8_bits_stay_in_f32():
    net = Network((1, 4))
    x = net.quantize(net.inputs[0], 0.03, 3)
    w = np.array([[0, 255]] * 4, np.uint8)
    s, z = net.weight(np.array(0.1, np.float32)), net.weight(np.array(10, np.uint8))
    module = net.finish(net.add(graph.GemmOp(x, net.add(graph.DequantizeOp(net.weight(w), s, z)))))
    before = run_graph(module, net.arrays())["result0"]
    apply(module, GraphNormalizePass(), GraphQuantizePass())
    (op,) = (op for op in module.walk() if isinstance(op, graph.GemmOp))
    assert element_of(op.result) == f32
    np.testing.assert_array_equal(run_graph(module, net.arrays())["result0"], before)


def test_accumulators_never_overflow():
    """Where the sum of the largest products leaves i32, the layer stays in f32."""
    net = Network((1, 70000))
    x = net.quantize(net.inputs[0], 0.03, 3)
    w = net.quantized_weight(np.full((70000, 1), 127, np.int8), np.array(0.01), 0)
    module = net.finish(net.quantize(net.add(graph.MatmulOp(x, w)), 1.0, 0))
    apply(module, GraphNormalizePass(), GraphQuantizePass())
    (op,) = (op for op in module.walk() if isinstance(op, graph.MatmulOp))
    assert element_of(op.result) == f32


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), 1e-30])
def test_odd_scales_stay(scale: float):
    net = Network((1, 4, 8, 8))
    x = net.quantize(net.inputs[0], 0.03, 3)
    module = net.finish(net.quantize(conv(net, x), scale, 3))
    before = run_graph(module, net.arrays())["result0"]
    apply(module, GraphQuantizePass())
    np.testing.assert_allclose(run_graph(module, net.arrays())["result0"], before, rtol=1e-5)


# graph-fuse


@st.composite
def elementwise_networks(draw: st.DrawFn) -> tuple[ModuleOp, Network]:
    """Random networks of convolutions, elementwise layers, reductions and reshapes."""
    net = Network((1, 2, 4, 4), (1, 2, 4, 4))
    values = list(net.inputs)
    for _ in range(draw(st.integers(1, 12))):
        a, b = (values[draw(st.integers(0, len(values) - 1))] for _ in range(2))
        kind = draw(st.sampled_from(("unary", "binary", "conv", "softmax", "pool", "reshape", "constant")))
        if kind == "binary":
            op: graph.LayerOp = graph.BinaryOp(draw(st.sampled_from(("add", "mul", "max"))), a, b)
        elif kind == "conv":
            op = graph.ConvOp(a, net.weight(floats(2, 2, 3, 3)), strides=[1, 1], pads=[1] * 4)
        elif kind == "softmax":
            op = graph.SoftmaxOp(a, axis=3)
        elif kind == "pool":
            op = graph.PoolOp("max", a, kernel=[3, 3], strides=[1, 1], pads=[1] * 4)
        elif kind == "reshape":
            op = graph.ReshapeOp(net.add(graph.ReshapeOp(a, (32,))), (1, 2, 4, 4))
        elif kind == "constant":
            op = graph.BinaryOp("add", a, net.weight(floats(2, 1, 1)))
        else:
            op = graph.UnaryOp(draw(st.sampled_from(("relu", "tanh", "neg"))), a)
        values.append(net.add(op))
    results = draw(st.lists(st.sampled_from(values), min_size=1, max_size=3))
    return net.finish(*results), net


@settings(max_examples=60, deadline=None)
@given(elementwise_networks(), st.integers(1, 4))
def test_fuse(pair: tuple[ModuleOp, Network], max_layers: int):
    module, net = pair
    before = run_graph(module, net.arrays())
    apply(module, GraphFusePass(max_layers))
    after = run_graph(module, net.arrays())
    for name, array in before.items():
        np.testing.assert_array_equal(after[name], array)
    for op in module.walk():
        if isinstance(op, graph.FusedGroupOp):
            assert len(op.members()) <= max_layers
            assert tensor_type(op.outputs[0]) == op.yielded[0].type
        elif isinstance(op, graph.LayerOp) and not isinstance(op, graph.WeightOp | graph.ReshapeOp):
            assert isinstance(op.parent_op(), graph.FusedGroupOp)


@settings(max_examples=40, deadline=None)
@given(elementwise_networks())
def test_normalize_random(pair: tuple[ModuleOp, Network]):
    module, net = pair
    before = run_graph(module, net.arrays())
    after = run_graph(apply(module, GraphNormalizePass(), GraphQuantizePass()), net.arrays())
    for name, array in before.items():
        np.testing.assert_allclose(after[name], array, rtol=1e-3, atol=1e-3)
