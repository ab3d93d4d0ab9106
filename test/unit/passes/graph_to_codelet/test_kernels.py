"""Kernels on VTA: bit for bit the graph's integers, in the predicted cycles, with tokens that order everything."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, f32, i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue

from tilewright import compile, simulate
from tilewright.algebra.blocked import BlockedLayout
from tilewright.backends.program import Program
from tilewright.costs.stages.code import Copy, Kind, Row, read_code
from tilewright.dialects import graph
from tilewright.dialects.codelet import ProgramOp, TensorOp
from tilewright.dialects.codelet_rules import surrogate
from tilewright.dialects.mnemonic import LayoutAttr
from tilewright.dialects.types import Role, dtype_of, element_of, shape_of, si8, tensor, ui8
from tilewright.driver import make_context, parse_passes, reference
from tilewright.errors import TilewrightError
from tilewright.frontends.integer_layers import IntegerLayers
from tilewright.interpreters.codelet import run_program
from tilewright.interpreters.graph import argument_names
from tilewright.resources import resources_of

RNG = np.random.default_rng(7)


def numbers(*shape: int, most: int = 127) -> np.ndarray:
    return RNG.integers(-most, most + 1, shape).astype(np.int8 if most < 128 else np.int32)


def requantized(layers: IntegerLayers, x: SSAValue, shift: int | np.ndarray = 9, **known: int) -> SSAValue:
    many = isinstance(shift, np.ndarray)
    amount = layers.weight("shift", shift.astype(np.int32), i32) if isinstance(shift, np.ndarray) else None
    one = layers.weight("ones", np.full(len(shift), 4, np.int32), i32) if isinstance(shift, np.ndarray) else None
    made = graph.RequantizeOp(
        x,
        one if one is not None else layers.number(1 << known.pop("bits", 3)),
        amount if amount is not None else layers.number(int(shift) + 3 if not many else 0),
        element=si8,
        axis=1,
        **known,
    )
    return layers.add(made, "scaled")


def conv(
    channels: int, height: int, width: int, out: int, kernel: int, step: int = 1, pad: int = 0, groups: int = 1,
    shift: int | np.ndarray = 9, bias: int = 20000, samples: int = 1, **known: int,
) -> ModuleOp:  # fmt: skip
    layers = IntegerLayers.of([tensor((samples, channels, height, width), si8)])
    w = layers.weight("w", numbers(out, channels // groups, kernel, kernel))
    b = layers.weight("b", numbers(out, most=bias), i32) if bias else None
    made = graph.ConvOp(layers.block.args[0], w, b, strides=[step] * 2, pads=[pad] * 4, groups=groups)
    y = requantized(layers, layers.add(made, "conv"), shift, **known)
    return layers.module(["x"], ["y"], [y])


def gemm(rows: int, depth: int, columns: int, transposed: bool = False, shift: int = 10) -> ModuleOp:
    layers = IntegerLayers.of([tensor((rows, depth), si8)])
    w = layers.weight("w", numbers(columns, depth) if transposed else numbers(depth, columns))
    b = layers.weight("b", numbers(columns, most=3000), i32)
    y = layers.add(graph.GemmOp(layers.block.args[0], w, b, trans_b=transposed), "fc")
    return layers.module(["x"], ["y"], [requantized(layers, y, shift)])


def pool(channels: int, size: int, kernel: int, step: int, pads: list[int], samples: int = 1) -> ModuleOp:
    layers = IntegerLayers.of([tensor((samples, channels, size, size), si8)])
    made = graph.PoolOp("max", layers.block.args[0], kernel=[kernel] * 2, strides=[step] * 2, pads=pads)
    return layers.module(["x"], ["y"], [layers.add(made, "pool")])


def mean(channels: int, size: int, classes: int = 0, samples: int = 1) -> ModuleOp:
    """Means of channels, and a product with them where there are classes."""
    layers = IntegerLayers.of([tensor((samples, channels, size, size), si8)])
    total = layers.add(graph.ReduceOp("sum", layers.wide(layers.block.args[0]), axes=[2, 3], keepdims=True), "total")
    made = graph.RequantizeOp(total, layers.number(21 << 20), layers.number(30), element=si8)
    y = layers.add(made, "mean")
    if classes:
        flat = layers.add(graph.ReshapeOp(y, (samples, channels)), "flat")
        w = layers.weight("w", numbers(channels, classes))
        y = requantized(layers, layers.add(graph.GemmOp(flat, w), "fc"), 7)
    return layers.module(["x"], ["y"], [y])


def added(
    channels: int, size: int, factors: tuple[int, int], shift: int, low: int = -128, samples: int = 1
) -> ModuleOp:
    layers = IntegerLayers.of([tensor((samples, channels, size, size), si8)] * 2)
    wide = [layers.binary("mul", layers.wide(x), f) for x, f in zip(layers.block.args, factors, strict=True)]
    y = requantized(layers, layers.binary("add", *wide), shift, low=low)
    return layers.module(["a", "b"], ["y"], [y])


def fire(channels: int, size: int, samples: int = 1) -> ModuleOp:
    """A squeeze, two expansions that lie side by side, and a maximum of both."""
    layers = IntegerLayers.of([tensor((samples, channels, size, size), si8)])
    x = layers.block.args[0]
    for kernel, out in ((1, 16),):
        w = layers.weight("s", numbers(out, channels, kernel, kernel))
        x = requantized(layers, layers.add(graph.ConvOp(x, w, strides=[1, 1], pads=[0] * 4), "squeeze"), 9, low=0)
    parts: list[SSAValue] = []
    for kernel, out in ((1, 32), (3, 48)):
        w = layers.weight(f"e{kernel}", numbers(out, 16, kernel, kernel))
        made = graph.ConvOp(x, w, strides=[1, 1], pads=[kernel // 2] * 4)
        parts.append(requantized(layers, layers.add(made, f"expand{kernel}"), 9, low=0))
    whole = layers.add(graph.ConcatOp(parts, axis=1), "both")
    return layers.module(
        ["x"], ["y"], [layers.add(graph.PoolOp("max", whole, kernel=[3, 3], strides=[2, 2], pads=[0] * 4), "m")]
    )


def relu(low: int, high: int) -> ModuleOp:
    layers = IntegerLayers.of([tensor((1, 32, 9, 9), si8)])
    return layers.module(["x"], ["y"], [layers.add(graph.ClipOp(layers.block.args[0], min=low, max=high), "clip")])


def scaled(
    x: SSAValue, layers: IntegerLayers, channels: int = 0, kind: Attribute = si8, zero: int = 0, bits: int = 40
) -> SSAValue:  # fmt: skip
    """Requantised by factors near 2^(31 - bits), of each channel or of all, as ONNX's quantisers make them."""
    random = np.random.default_rng(5)
    numbers = random.integers(1 << 30, 1 << 31, channels or None)
    factor = layers.weight("m", np.array(numbers, np.int32), i32)
    shift = layers.weight("s", np.array(random.integers(bits, bits + 2, channels or None), np.int32), i32)
    made = graph.RequantizeOp(x, factor, shift, element=kind, axis=1 if channels else 0, zero_point=zero)
    return layers.add(made, "scaled")


def asymmetric(
    channels: int, size: int, out: int, kernel: int = 3, step: int = 1, groups: int = 1, samples: int = 1,
    kinds: tuple[Attribute, Attribute] = (si8, si8), zeros: tuple[int, int] = (-9, -128), each: bool = True,
    bits: int = 40,
) -> ModuleOp:  # fmt: skip
    """A convolution around which the zero point of its input lies."""
    layers = IntegerLayers.of([tensor((samples, channels, size, size), kinds[0])])
    w = layers.weight("w", numbers(out, channels // groups, kernel, kernel))
    b = layers.weight("b", numbers(out, most=20000), i32)
    made = graph.ConvOp(
        layers.block.args[0], w, b, strides=[step] * 2, pads=[kernel // 2] * 4, groups=groups, pad_value=zeros[0]
    )
    y = scaled(layers.add(made, "conv"), layers, out if each else 0, kinds[1], zeros[1], bits)
    return layers.module(["x"], ["y"], [y])


def blended(kinds: tuple[Attribute, Attribute, Attribute], zero: int = 0) -> ModuleOp:
    """A sum with factors of 20 bits and a constant."""
    layers = IntegerLayers.of([tensor((1, 40, 9, 9), kind) for kind in kinds[:2]])
    terms = [layers.binary("mul", layers.wide(x), f) for x, f in zip(layers.block.args, (987654, -345679), strict=True)]
    total = layers.binary("add", layers.binary("add", *terms), -7654321)
    one, shift = layers.weight("one", np.array(1, np.int32), i32), layers.weight("by", np.array(21, np.int32), i32)
    made = graph.RequantizeOp(total, one, shift, element=kinds[2], zero_point=zero)
    return layers.module(["a", "b"], ["y"], [layers.add(made, "blend")])


def rescaled(kinds: tuple[Attribute, Attribute] = (ui8, ui8)) -> ModuleOp:
    layers = IntegerLayers.of([tensor((1, 32, 12, 12), kinds[0])])
    wide = layers.binary("add", layers.wide(layers.block.args[0]), -117)
    return layers.module(["x"], ["y"], [scaled(wide, layers, 0, kinds[1], 3, 31)])


def average(kind: Attribute, size: int = 12) -> ModuleOp:
    layers = IntegerLayers.of([tensor((1, 24, size, size), kind)])
    made = graph.PoolOp("sum", layers.block.args[0], kernel=[3, 3], strides=[2, 2], pads=[0] * 4)
    return layers.module(["x"], ["y"], [scaled(layers.add(made, "sum"), layers, 0, kind, 3, 34)])


def flattened(channels: int = 20, size: int = 5, samples: int = 1) -> ModuleOp:
    """A product with all elements of a map in a line."""
    layers = IntegerLayers.of([tensor((samples, channels, size, size), ui8)])
    flat = layers.add(graph.ReshapeOp(layers.block.args[0], (samples, channels * size * size)), "flat")
    w = layers.weight("w", numbers(30, channels * size * size))
    y = layers.add(graph.GemmOp(flat, w, trans_b=True), "fc")
    return layers.module(["x"], ["y"], [scaled(y, layers, 30, ui8, 100, 42)])


def matmul() -> ModuleOp:
    """A product, a constant for each column, and a result that two layers read."""
    layers = IntegerLayers.of([tensor((9, 40), ui8)])
    y = layers.add(graph.MatmulOp(layers.block.args[0], layers.weight("w", numbers(40, 24))), "product")
    made = graph.BinaryOp("add", y, layers.weight("b", numbers(24, most=20000), i32))
    return layers.module(["x"], ["y"], [scaled(layers.add(made, "biased"), layers, 24, ui8, 100, 39)])


def joined(samples: int = 1) -> ModuleOp:
    """Pieces of 20, 7 and again 20 channels, and a piece of the whole that is asked for, too."""
    layers = IntegerLayers.of([tensor((samples, 20, 6, 5), ui8), tensor((samples, 7, 6, 5), ui8)])
    a, b = layers.block.args
    whole = layers.add(graph.ConcatOp([a, b, a], axis=1), "three")
    most = layers.add(graph.PoolOp("max", whole, kernel=[2, 2], strides=[1, 1], pads=[0] * 4), "most")
    wide = layers.add(graph.PoolOp("max", b, kernel=[2, 2], strides=[1, 1], pads=[0] * 4), "wide")
    return layers.module(["a", "b"], ["y", "w"], [layers.add(graph.ConcatOp([most, wide], axis=1), "all"), wide])


def dense(samples: int = 1) -> ModuleOp:
    """A layer that reads a part of a map and writes another part of it, and one that reads all."""
    layers = IntegerLayers.of([tensor((samples, 16, 9, 8), si8)])
    parts: list[SSAValue] = [layers.block.args[0]]
    for name, out in (("a", 32), ("b", 16), ("c", 16)):
        x = layers.add(graph.ConcatOp(parts[1:], axis=1), f"to {name}") if len(parts) > 2 else parts[-1]
        channels = sum(shape_of(part)[1] for part in (parts[1:] if len(parts) > 2 else parts[-1:]))
        w = layers.weight(f"w{name}", numbers(out, channels, 3, 3))
        made = graph.ConvOp(x, w, strides=[1, 1], pads=[1] * 4)
        parts.append(requantized(layers, layers.add(made, name), 10))
    return layers.module(["x"], ["y"], [parts[-1]])


def sixteens() -> ModuleOp:
    """Pieces of 16 channels that lie in the whole and are asked for: two samples."""
    layers = IntegerLayers.of([tensor((2, 16, 6, 5), si8), tensor((2, 32, 6, 5), si8)])
    parts = [layers.add(graph.ClipOp(x, min=-50, max=90), f"clip{n}") for n, x in enumerate(layers.block.args)]
    return layers.module(["a", "b"], ["y", "w"], [layers.add(graph.ConcatOp(parts, axis=1), "all"), parts[1]])


def dilated(kernel: int, gap: int, step: int = 1, pad: int = 0, groups: int = 1, samples: int = 1) -> ModuleOp:
    """Taps that are `gap` apart."""
    layers = IntegerLayers.of([tensor((samples, 32, 15, 14), si8)])
    w = layers.weight("w", numbers(32, 32 // groups, kernel, kernel))
    made = graph.ConvOp(layers.block.args[0], w, strides=[step] * 2, pads=[pad] * 4, dilations=[gap] * 2, groups=groups)
    return layers.module(["x"], ["y"], [requantized(layers, layers.add(made, "conv"), 7 if groups > 1 else 9)])


def most_apart(gap: int, step: int, pads: list[int]) -> ModuleOp:
    layers = IntegerLayers.of([tensor((1, 20, 13, 14), si8)])
    made = graph.PoolOp("max", layers.block.args[0], kernel=[3, 3], strides=[step] * 2, pads=pads, dilations=[gap] * 2)
    return layers.module(["x"], ["y"], [layers.add(made, "pool")])


def words(kind: str, samples: int = 1) -> ModuleOp:
    """Results of 32 bits: of a convolution, a product, a sum of maps times numbers."""
    layers = IntegerLayers.of([tensor((samples, 40) if kind == "product" else (samples, 40, 6, 7), ui8)])
    x = layers.block.args[0]
    if kind == "conv":
        w, b = layers.weight("w", numbers(24, 40, 3, 3)), layers.weight("b", numbers(24, most=1 << 30), i32)
        y = layers.add(graph.ConvOp(x, w, b, strides=[1, 1], pads=[1] * 4), "conv")
    elif kind == "product":
        y = layers.add(graph.GemmOp(x, layers.weight("w", numbers(40, 30))), "fc")
    else:
        y = layers.binary("add", layers.binary("mul", layers.wide(x), -(3 << 20)), 12345 << 16)
    return layers.module(["x"], ["y"], [y])


def channels_shifts(count: int, low: int = 4, high: int = 14) -> np.ndarray:
    return np.random.default_rng(3).integers(low, high, count) + 2


KERNELS: dict[str, Callable[[], ModuleOp]] = {
    "gemm 1x16x16": lambda: gemm(1, 16, 16),
    "gemm 5x40x24": lambda: gemm(5, 40, 24),
    "gemm 64x64x64": lambda: gemm(64, 64, 64),
    "gemm 128x96x160": lambda: gemm(128, 96, 160),
    "gemm transposed": lambda: gemm(33, 70, 50, True),
    "gemm tall": lambda: gemm(700, 32, 16),
    "gemm deep": lambda: gemm(3, 2000, 20),
    "gemm wide": lambda: gemm(2, 32, 1000),
    "gemm by 2^16": lambda: gemm(4, 512, 32, shift=16),
    "conv 1x1": lambda: conv(16, 8, 8, 16, 1),
    "conv 1x1 64 to 128": lambda: conv(64, 14, 14, 128, 1),
    "conv 1x1 by 2": lambda: conv(64, 14, 14, 32, 1, 2),
    "conv 3x3": lambda: conv(32, 14, 14, 48, 3),
    "conv 3x3 padded": lambda: conv(32, 14, 14, 48, 3, 1, 1),
    "conv 3x3 by 2": lambda: conv(32, 15, 13, 32, 3, 2, 1),
    "conv 3x3 by 3": lambda: conv(16, 20, 19, 16, 3, 3, 1),
    "conv 5x5": lambda: conv(16, 17, 11, 32, 5, 1, 2),
    "conv 7x7 by 2 of 3 channels": lambda: conv(3, 32, 32, 64, 7, 2, 3),
    "conv 2x2": lambda: conv(16, 9, 9, 16, 2, 1, 0),
    "conv 2x2 by 2": lambda: conv(48, 10, 10, 32, 2, 2),
    "conv odd channels": lambda: conv(20, 9, 10, 23, 3, 1, 1),
    "conv wide rows": lambda: conv(16, 4, 300, 16, 3, 1, 1),
    "conv large map": lambda: conv(16, 64, 64, 16, 3, 1, 1),
    "conv many channels": lambda: conv(256, 7, 7, 256, 3, 1, 1, shift=12),
    "conv rectified": lambda: conv(32, 8, 8, 32, 3, 1, 1, low=0),
    "conv narrow bounds": lambda: conv(32, 8, 8, 32, 1, low=-5, high=90),
    "conv without bias": lambda: conv(32, 8, 8, 32, 3, 1, 1, bias=0),
    "conv shifts by channel": lambda: conv(32, 8, 8, 40, 3, 1, 1, shift=channels_shifts(40)),
    "conv shifts by 0": lambda: conv(16, 24, 24, 16, 1, shift=0, bias=100),
    "conv 3x3 by 3 of a channel": lambda: conv(1, 20, 17, 16, 3, 3, 1, shift=7),
    "2 samples: conv 3x3 by 2 of 4 channels": lambda: conv(4, 13, 9, 24, 3, 2, samples=2),
    "conv in groups": lambda: conv(64, 8, 8, 64, 3, 1, 1, groups=4),
    "depthwise 3x3": lambda: conv(48, 14, 14, 48, 3, 1, 1, groups=48, shift=7),
    "depthwise by 2": lambda: conv(32, 15, 15, 32, 3, 2, 1, groups=32, shift=7),
    "depthwise 5x5": lambda: conv(20, 12, 12, 20, 5, 1, 2, groups=20, shift=channels_shifts(20, 3, 9)),
    "max 2x2": lambda: pool(32, 12, 2, 2, [0, 0, 0, 0]),
    "max 3x3 by 2 padded": lambda: pool(64, 28, 3, 2, [1, 1, 1, 1]),
    "max 3x3 by 2 padded after": lambda: pool(16, 14, 3, 2, [0, 0, 1, 1]),
    "max 3x3": lambda: pool(20, 13, 3, 1, [1, 1, 1, 1]),
    "mean 7x7": lambda: mean(64, 7),
    "mean 13x13": lambda: mean(40, 13),
    "add": lambda: added(64, 14, (1, 1), 1),
    "add scaled": lambda: added(40, 9, (3 << 14, 5 << 14), 17, 0),
    "subtract": lambda: added(16, 28, (64, -32), 7),
    "relu": lambda: relu(0, 127),
    "clip": lambda: relu(-7, 99),
    "fire": lambda: fire(32, 13),
    "3 samples: conv 3x3 by 2": lambda: conv(32, 9, 11, 32, 3, 2, 1, samples=3),
    "3 samples: conv in parts": lambda: conv(256, 14, 14, 128, 3, 1, 1, shift=12, samples=3),
    "3 samples: conv of 1x1 padded": lambda: conv(16, 1, 1, 32, 3, 1, 1, samples=3),
    "3 samples: depthwise": lambda: conv(48, 8, 8, 48, 3, 1, 1, groups=48, shift=7, samples=3),
    "3 samples: max": lambda: pool(20, 13, 3, 2, [1, 1, 1, 1], samples=3),
    "3 samples: means and a product": lambda: mean(40, 7, 24, samples=3),
    "3 samples: add": lambda: added(40, 9, (1, 3), 2, samples=3),
    "3 samples: fire": lambda: fire(32, 13, samples=3),
    "scales of channels": lambda: asymmetric(32, 9, 40, 1),
    "scale of all": lambda: asymmetric(32, 9, 40, 1, each=False),
    "zero points around": lambda: asymmetric(32, 14, 48),
    "zero points around by 2": lambda: asymmetric(20, 15, 24, step=2),
    "zero points around 7x7": lambda: asymmetric(3, 20, 16, 7, 2),
    "zero points around 5x5 by 2, without sign": lambda: asymmetric(3, 19, 24, 5, 2, kinds=(ui8, ui8), zeros=(120, 0)),
    "zero points around, wide": lambda: asymmetric(16, 70, 16),
    "zero points, depthwise": lambda: asymmetric(40, 11, 40, groups=40, bits=37),
    "zero points in groups": lambda: asymmetric(32, 9, 32, groups=2),
    "zero points of 3 samples": lambda: asymmetric(32, 9, 32, samples=3),
    "large sums": lambda: asymmetric(256, 6, 32, bits=43),
    "bytes without sign": lambda: asymmetric(32, 9, 40, kinds=(ui8, ui8), zeros=(120, 0)),
    "bytes without sign, signed": lambda: asymmetric(32, 9, 40, kinds=(ui8, si8), zeros=(0, 5)),
    "bytes with sign, unsigned": lambda: asymmetric(32, 9, 40, kinds=(si8, ui8), zeros=(0, 255)),
    "blend": lambda: blended((si8, si8, si8), -3),
    "blend without sign": lambda: blended((ui8, ui8, ui8), 77),
    "blend of both": lambda: blended((ui8, si8, ui8), 100),
    "rescale": lambda: rescaled(),
    "rescale to signed": lambda: rescaled((ui8, si8)),
    "average 3x3": lambda: average(si8),
    "average 3x3 without sign": lambda: average(ui8, 13),
    "product of a map": lambda: flattened(),
    "3 samples: product of a map": lambda: flattened(samples=3),
    "product with a constant": lambda: matmul(),
    "pieces of odd channels": lambda: joined(),
    "2 samples: pieces of odd channels": lambda: joined(2),
    "2 samples: pieces asked for": lambda: sixteens(),
    "parts of one map": lambda: dense(),
    "2 samples: parts of one map": lambda: dense(2),
    "conv 3x3, taps 2 apart": lambda: dilated(3, 2, pad=2),
    "conv 3x3 by 2, taps 2 apart": lambda: dilated(3, 2, 2, 1),
    "conv 2x2 by 3, taps 3 apart": lambda: dilated(2, 3, 3, 1, samples=2),
    "depthwise, taps 3 apart": lambda: dilated(3, 3, pad=3, groups=32),
    "max 3x3, taps 2 apart": lambda: most_apart(2, 1, [2, 2, 2, 2]),
    "max 3x3 by 2, taps 2 apart": lambda: most_apart(2, 2, [0, 1, 2, 0]),
    "32 bits of a conv": lambda: words("conv"),
    "2 samples: 32 bits of a conv": lambda: words("conv", 2),
    "5 samples: 32 bits of a product": lambda: words("product", 5),
    "32 bits of a sum": lambda: words("sum"),
}  # fmt: skip


def inputs_of(program: Program) -> dict[str, np.ndarray]:
    given = (tensor for tensor in program.tensors if tensor.role == "input")
    return {tensor.name: RNG.integers(-128, 128, tensor.shape).astype(tensor.dtype) for tensor in given}


@cache
def compiled(name: str) -> tuple[ModuleOp, Program]:
    """A kernel and its program; neither is changed by anything."""
    module = KERNELS[name]()
    return module, compile(module, "vta")


def test_there_are_forty() -> None:
    assert len(KERNELS) >= 40


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_is_bit_exact(name: str) -> None:
    module, program = compiled(name)
    given = inputs_of(program)
    result = simulate(program, given)
    expected = reference(module, given)
    assert len(np.unique(expected["y"])) > 5
    assert all((result.outputs[name] == value).all() for name, value in expected.items())
    assert result.cycles == program.predicted["cycles"]
    assert 0 < program.lower_bound["cycles"] <= result.cycles
    assert 0 < program.lower_bound["dram_bytes"] <= result.dram_bytes


def test_rows_and_columns_of_an_input_lie_beside_its_few_channels() -> None:
    """Two rows and two columns of 3 channels in 16 lanes: 16 taps of 7x7, where else there are 49."""
    program = compile(conv(3, 30, 33, 32, 7, 2, 3), "vta")
    result = simulate(program, functional=False)
    assert result.counts.computes["MAC"].issues == 16 * 15 * 17 * 2
    assert program.layouts[0]["layout"] == "pads 0+0,0+1,1+1,1+0; blocks 0,4,2,2; axes 0,1,3,5,4,6,2"


def test_bounds_are_of_what_each_program_moves_and_multiplies() -> None:
    """Immediates need not be loaded, and a depthwise convolution may be products with diagonal weights."""
    dense = compile(conv(32, 10, 9, 48, 3), "vta")
    products, moved = 32 * 8 * 7 * 48 * 9 // 256, 32 * 90 + 9 * 32 * 48 + 48 * 56
    assert dense.bound_by == "loads before conv.mac, then work of MAC"
    assert products <= dense.lower_bound["cycles"] <= products + 9 * 32 // 8 + 2
    assert dense.lower_bound["dram_bytes"] == moved
    depthwise = compile(conv(48, 14, 14, 48, 3, groups=48, shift=7), "vta")
    assert depthwise.lower_bound["dram_bytes"] == 48 * (14 * 14 + 9 + 12 * 12)
    assert depthwise.lower_bound["cycles"] == -(-depthwise.lower_bound["dram_bytes"] // 8)


MEANT = (
    *(
        "gemm 5x40x24",
        "gemm deep",
        "conv 3x3 by 2",
        "conv 1x1 by 2",
        "conv in groups",
        "depthwise by 2",
        "conv odd channels",
        "conv 7x7 by 2 of 3 channels",
    ),
    *("max 3x3 by 2 padded", "max 3x3, taps 2 apart", "3 samples: conv in parts", "3 samples: means and a product"),
    *(
        "zero points around by 2",
        "zero points around 5x5 by 2, without sign",
        "blend of both",
        "2 samples: parts of one map",
        "2 samples: 32 bits of a conv",
    ),
)


@pytest.mark.parametrize("name", MEANT)
def test_codelets_mean_what_the_graph_does(name: str) -> None:
    """The interpreter runs them, which knows no instructions, on tensors as they lie."""
    module, context = KERNELS[name](), make_context()
    function = next(op for op in module.body.block.ops if isinstance(op, FuncOp))
    named = zip(argument_names(function), function.body.block.args, strict=True)
    given = {n: RNG.integers(-128, 128, shape_of(x)).astype(dtype_of(element_of(x))) for n, x in named}
    expected = reference(module, given)
    passes = "graph-normalize,graph-quantize,graph-integers,convert-graph-to-codelet"
    parse_passes(f'load-target{{target="vta"}},{passes}').apply(context, module)
    program = next(op for op in module.body.block.ops if isinstance(op, ProgramOp))
    program.verify()
    tensors = [op for op in program.body.block.ops if isinstance(op, TensorOp)]
    inputs, outputs = ([op for op in tensors if op.role.data == role] for role in (Role.INPUT, Role.OUTPUT))
    packed = [layout_of(op).pack(given[op.tensor_name.data]).view(np.int8) for op in inputs]
    lying = tuple(x.reshape(surrogate(op.result).sizes) for x, op in zip(packed, inputs, strict=True))
    for op, data in zip(outputs, run_program(program, lying, resources_of(module)), strict=True):
        value, layout = expected[op.tensor_name.data], layout_of(op)
        extents, bytes_ = layout.extents(value.shape), data.view(np.uint8)
        seen = bytes_.reshape(4, *extents) if layout.planes else bytes_.view(value.dtype).reshape(extents)
        assert (layout.unpack(seen, value.shape, value.dtype) == value).all()


def layout_of(op: TensorOp) -> BlockedLayout:
    layout = op.attributes["layout"]
    assert isinstance(layout, LayoutAttr)
    return layout.data


@pytest.mark.parametrize("name", ["gemm 5x40x24", "conv 1x1", "conv 2x2 by 2", "max 2x2", "relu", "scale of all"])
def test_no_interleaving_of_the_stages_blocks(name: str) -> None:
    """All reachable combinations of what the three stages have done: each but the last can go on."""
    _, program = compiled(name)
    rows = read_code(program.machine, program.code).rows
    code = [rows[rows[:, Row.UNIT] == unit] for unit in range(3)]
    pops, pushes = (
        [np.stack([part[:, c] >> q & 1 for q in range(4)], 1) for part in code] for c in (Row.POPS, Row.PUSHES)
    )
    done = [[np.vstack([np.zeros(4, int), np.cumsum(x, 0)]) for x in side] for side in (pops, pushes)]
    frontier: list[tuple[int, ...]] = [(0, 0, 0)]
    seen = set(frontier)
    while frontier:
        at = frontier.pop()
        held = np.sum([done[1][u][at[u]] - done[0][u][at[u]] for u in range(3)], axis=0)
        assert (held >= 0).all()
        ends = [u for u in range(3) if at[u] < len(code[u]) and (held >= pops[u][at[u]]).all()]
        assert ends or at == tuple(len(part) for part in code)
        if not ends:
            assert (held == 0).all()
        for u in ends:
            after = (*at[:u], at[u] + 1, *at[u + 1 :])
            if after not in seen:
                seen.add(after)
                frontier.append(after)


REFUSED: dict[str, tuple[Callable[[], ModuleOp], str]] = {
    "floats": (lambda: _floats(), "results of 8 bits"),
    "a multiplier": (lambda: _multiplied(1 << 30, 20), "a scale by which sums are multiplied exactly"),
    "a product": (lambda: _squared(), "a sum of 8-bit values times numbers|a sum of products"),
    "rows together": (lambda: _rows(), "pieces side by side along channels"),
}  # fmt: skip


def _floats() -> ModuleOp:
    layers = IntegerLayers.of([tensor((4, 16), si8)])
    return layers.module(["x"], ["y"], [layers.add(graph.CastOp(layers.block.args[0], f32), "wide")])


def _multiplied(factor: int, shift: int) -> ModuleOp:
    layers = IntegerLayers.of([tensor((4, 16), si8)])
    y = layers.add(graph.GemmOp(layers.block.args[0], layers.weight("w", numbers(16, 16))), "fc")
    made = graph.RequantizeOp(y, layers.number(factor - 1), layers.number(shift), element=si8)
    return layers.module(["x"], ["y"], [layers.add(made, "scaled")])


def _rows() -> ModuleOp:
    layers = IntegerLayers.of([tensor((1, 16, 4, 4), si8)] * 2)
    return layers.module(["a", "b"], ["y"], [layers.add(graph.ConcatOp([*layers.block.args], axis=2), "both")])


def _squared() -> ModuleOp:
    layers = IntegerLayers.of([tensor((1, 16, 4, 4), si8)])
    x = layers.wide(layers.block.args[0])
    return layers.module(["x"], ["y"], [requantized(layers, layers.binary("mul", x, x))])


@pytest.mark.parametrize("name", REFUSED)
def test_what_it_cannot_do_is_refused_by_name(name: str) -> None:
    make, expected = REFUSED[name]
    with pytest.raises(TilewrightError, match=expected) as caught:
        compile(make(), "vta")
    assert caught.value.kind == "unsupported"
    assert "layer" in caught.value.subject or "tensor" in caught.value.subject


def test_values_without_names_get_some() -> None:
    module = pool(16, 8, 3, 1, [1, 1, 1, 1])
    for op in module.body.ops:
        for kind in ("graph.inputs", "graph.outputs"):
            op.attributes.pop(kind, None)
    program = compile(module, "vta")
    assert [t.name for t in program.tensors if t.role in ("input", "output")] == ["arg0", "result0"]


@pytest.mark.parametrize("name", ["conv 3x3 by 2", "max 3x3 by 2 padded", "blend of both", "32 bits of a conv"])
def test_numbers_that_change_are_read_where_they_are_written(name: str) -> None:
    """VTA's functional simulator reads them by the target's index, its Chisel design by the source's."""
    _, program = compiled(name)
    code = read_code(program.machine, program.code)
    lists = [program.constants[t.name].view(np.uint32) for t in program.tensors if t.name.endswith(".micro_ops")]
    micro, held, checked = iter(lists), lists[0], 0
    for number, row in enumerate(code.rows):
        if code.mnemonic(number).name == "LOAD_UOP" and row[Copy.COLUMNS]:
            held = next(micro)
        elif row[Row.KIND] == Kind.IMMEDIATE:
            fields = code.values(number)
            target, source = (held[fields["UB"] : fields["UE"]] >> first & 2047 for first in (0, 11))
            assert (target == source).all()
            assert (fields["DO"], fields["DI"]) == (fields["SO"], fields["SI"])
            checked += 1
    assert checked
