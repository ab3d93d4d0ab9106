"""Networks of which VTA runs some layers and the host the others: outputs of the whole graph, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import SSAValue

from tilewright.dialects import graph
from tilewright.dialects.types import si8, tensor
from tilewright.driver import reference
from tilewright.driver.hosted import compile_hosted
from tilewright.errors import TilewrightError
from tilewright.frontends.integer_layers import IntegerLayers

RNG = np.random.default_rng(1)


def conv(layers: IntegerLayers, x: SSAValue, name: str) -> SSAValue:
    w = layers.weight(f"{name}.w", RNG.integers(-127, 128, (16, 16, 3, 3)).astype(np.int8))
    made = graph.ConvOp(x, w, strides=[1, 1], pads=[1] * 4, pad_value=-5)
    sums = layers.add(made, f"{name}.sums")
    scaled = graph.RequantizeOp(sums, layers.number(1234567891), layers.number(41), element=si8, zero_point=-5)
    return layers.add(scaled, name)


def product(layers: IntegerLayers, a: SSAValue, b: SSAValue, name: str) -> SSAValue:
    """Of two maps, which the machine does not do."""
    made = layers.binary("mul", layers.wide(a), layers.wide(b))
    return layers.add(graph.RequantizeOp(made, layers.number(1), layers.number(7), element=si8), name)


def mixed() -> ModuleOp:
    """Two branches with a product of two maps each; their difference; sums of 32 bits at the end."""
    layers = IntegerLayers.of([tensor((1, 16, 8, 8), si8)])
    x = layers.block.args[0]
    first = conv(layers, x, "first")
    other = product(layers, first, x, "other")
    squared = conv(layers, product(layers, first, first, "square"), "after")
    difference = layers.binary("sub", layers.wide(other), layers.wide(squared))
    last = layers.add(graph.RequantizeOp(difference, layers.number(1), layers.number(1), element=si8), "difference")
    total = layers.add(graph.ReduceOp("sum", layers.wide(last), axes=[2, 3], keepdims=True), "total")
    return layers.module(["x"], ["y", "d"], [total, other])


def test_outputs_are_those_of_the_graph() -> None:
    module = mixed()
    program = compile_hosted(module, "vta")
    given = {"x": RNG.integers(-128, 128, (1, 16, 8, 8)).astype(np.int8)}
    run, expected = program.run(given), reference(module, given)
    assert all((run.outputs[name] == value).all() for name, value in expected.items())
    assert expected["y"].any()
    assert {"other", "square"} <= set(program.host_layers)
    assert not {"first", "after", "difference", "total"} & set(program.host_layers)
    assert "a sum of 8-bit values times numbers" in program.host_layers["other"]


def test_cycles_are_the_machines_alone() -> None:
    program = compile_hosted(mixed(), "vta")
    run = program.run({"x": np.ones((1, 16, 8, 8), np.int8)})
    counted = [step.program.predicted["cycles"] for step in program.steps if step.program is not None]
    assert run.cycles == sum(counted) > 0
    assert [cycles for cycles, _ in run.of_steps if cycles] == counted
    assert run.of_steps[[step.program is None for step in program.steps].index(True)] == (0, 0)


def test_what_the_machine_can_do_is_one_program() -> None:
    layers = IntegerLayers.of([tensor((1, 16, 8, 8), si8)])
    module = layers.module(["x"], ["y"], [conv(layers, conv(layers, layers.block.args[0], "a"), "b")])
    program = compile_hosted(module, "vta")
    assert [step.layers for step in program.steps] == [("a", "b")]
    assert not program.host_layers


def test_other_machines_are_refused() -> None:
    with pytest.raises(TilewrightError, match="a machine of stages"):
        compile_hosted(mixed(), "edge16")


def test_the_host_alone() -> None:
    """Floats are the host's."""
    layers = IntegerLayers.of([tensor((4, 16), si8)])
    module = layers.module(["x"], ["y"], [layers.add(graph.CastOp(layers.block.args[0], f32), "wide")])
    program, given = compile_hosted(module, "vta"), {"x": RNG.integers(-128, 128, (4, 16)).astype(np.int8)}
    assert [step.program for step in program.steps] == [None]
    assert (program.run(given).outputs["y"] == reference(module, given)["y"]).all()
