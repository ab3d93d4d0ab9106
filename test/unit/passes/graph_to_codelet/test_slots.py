"""Parts of memories that keep what they hold: nothing in use is replaced, and less is loaded."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, i32

from tilewright import compile, simulate
from tilewright.dialects import graph
from tilewright.dialects.types import si8, tensor
from tilewright.driver import reference
from tilewright.frontends.integer_layers import IntegerLayers
from tilewright.passes.codelet_to_queues.run import Slots
from tilewright.passes.graph_to_codelet import convert_graph_to_codelet as conversion
from tilewright.passes.graph_to_codelet.works import Tiles

RNG = np.random.default_rng(25)


def convolution(channels: int, size: int, out: int, step: int = 1) -> ModuleOp:
    """3 by 3 taps and a bias."""
    layers = IntegerLayers.of([tensor((1, channels, size, size), si8)])
    w = layers.weight("w", RNG.integers(-127, 128, (out, channels, 3, 3)).astype(np.int8))
    b = layers.weight("b", RNG.integers(-9999, 9999, out).astype(np.int32), i32)
    made = graph.ConvOp(layers.block.args[0], w, b, strides=[step] * 2, pads=[1] * 4)
    scaled = graph.RequantizeOp(layers.add(made, "conv"), layers.number(1), layers.number(11), element=si8, axis=1)
    return layers.module(["x"], ["y"], [layers.add(scaled, "scaled")])


def test_the_least_recently_used_is_replaced() -> None:
    slots = Slots(2)
    assert [slots.use(key) for key in (5, 6, 5, 7, 5, 6)] == [
        *((0, False), (1, False), (0, True), (1, False), (0, True), (1, False))
    ]
    assert list(slots.held) == [5, 6]


@pytest.mark.parametrize("outer", [True, False])
@pytest.mark.parametrize("turns", [1, 2])
@pytest.mark.parametrize(("parts", "kept"), [(1, 2), (1, 3), (1, 5), (3, 2), (3, 4), (4, 2)])
def test_every_way_to_cut_is_bit_exact(
    parts: int, kept: int, turns: int, outer: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, tiles = convolution(64, 7, 48), Tiles(2, 3, 7, parts, turns, kept, outer)
    monkeypatch.setattr(conversion, "choose_tiles", lambda *_: tiles)
    program = compile(module, "vta")
    x = RNG.integers(-128, 128, (1, 64, 7, 7)).astype(np.int8)
    result = simulate(program, {"x": x})  # which checks that no step uses what another replaces
    assert (result.outputs["y"] == reference(module, {"x": x})["y"]).all()


def test_weights_that_stay_are_not_loaded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    module, moved = convolution(64, 6, 16), []
    for kept in (2, 3, 4):
        monkeypatch.setattr(conversion, "choose_tiles", lambda *_, kept=kept: Tiles(1, 3, 6, 1, 1, kept))
        moved.append(simulate(compile(module, "vta"), functional=False).dram_bytes)
    part = 9 * 256
    assert moved[0] - moved[1] == pytest.approx(part, abs=200)
    assert moved[1] - moved[2] == pytest.approx(part, abs=200)


def test_traffic_of_a_layer_that_no_memory_holds() -> None:
    """Input, weights and sums of ResNet-18's C7 are each too large to be kept whole."""
    module = convolution(128, 28, 256, 2)
    program, x = compile(module, "vta"), RNG.integers(-128, 128, (1, 128, 28, 28)).astype(np.int8)
    result = simulate(program, {"x": x})
    assert (result.outputs["y"] == reference(module, {"x": x})["y"]).all()
    assert result.dram_bytes <= 1.15 * (128 * 28**2 + 128 * 256 * 9 + 256 * 14**2)
