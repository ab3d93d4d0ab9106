"""Products whose map serves as weights: as NumPy computes them, in the cycles foretold, where that saves work."""

import numpy as np
import pytest
from onnx import ModelProto
from xdsl.dialects.builtin import ModuleOp

from tilewright.algebra.expr import print_statement
from tilewright.backends.simulator import simulate
from tilewright.dialects import nest
from tilewright.driver import CompileOptions, compile, load_model, make_context, parse_passes, pipeline_text, reference

from .fused_models import Net, inputs_of


def channelwise(stride: int, channels: int = 24, group: int = 24) -> ModelProto:
    """Convolutions of one channel each; the last reads a map without room around it."""
    net = Net((1, 12, 17, 17))
    net.conv("x", "a", 24, kernel=1)
    net.conv("a", "b", channels, kernel=5, group=group)
    net.conv("b", "c", channels, kernel=5, group=group, stride=stride)
    net.add("Concat", ["b" if stride == 1 else "c", "c"], "d", 2 * channels, axis=1)
    net.conv("d", "y", 2 * channels, kernel=5, group=2 * group)
    return net.model("y")


def products(model: ModelProto, target: str) -> list[str]:
    """The statements of all products once their factors are swapped."""
    module: ModuleOp = load_model(model)
    before, _, _ = pipeline_text(target, CompileOptions(partition="schedule")).partition(",nest-tile")
    parse_passes(before).apply(make_context(), module)
    kernels = [op for op in module.walk() if isinstance(op, nest.KernelOp) and op.sym_name.data == "mac"]
    return [print_statement(kernel.statement.data).partition("+= ")[2] for kernel in kernels]


def maps_as_weights(model: ModelProto, target: str) -> list[bool]:
    return [statement.startswith("W") for statement in products(model, target)]


@pytest.mark.parametrize("stride", [1, 2])
def test_results_are_the_same_and_cycles_those_foretold(stride: int):
    model = channelwise(stride)
    assert maps_as_weights(model, "cocco_npu") == [False, True, True, False]
    program = compile(model, "cocco_npu", options=CompileOptions(partition="schedule", gap=1000.0))
    result = simulate(program, inputs_of(model))
    expected = reference(load_model(model), inputs_of(model))
    np.testing.assert_array_equal(result.outputs["y"], expected["y"])
    assert result.cycles == program.predicted["cycles"]
    assert result.dram_bytes == program.predicted["dram_bytes"]


def test_products_of_many_channels_stay():
    assert not any(maps_as_weights(channelwise(1, group=1), "cocco_npu"))


def test_where_loads_take_longer_than_products_nothing_is_copied():
    assert not any(maps_as_weights(channelwise(1), "cocco_npu:DRAM->WBUF.bandwidth=1,DRAM->GBUF.bandwidth=1"))
