"""Tiles of small layers against all that fit, each written and timed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, i32

from tilewright import compile
from tilewright.dialects import graph
from tilewright.dialects.types import si8, tensor
from tilewright.driver import CompileOptions
from tilewright.errors import InfeasibleError
from tilewright.frontends.integer_layers import IntegerLayers
from tilewright.machine.stage_isa import StageIsa
from tilewright.passes.graph_to_codelet import choose
from tilewright.passes.graph_to_codelet import convert_graph_to_codelet as conversion
from tilewright.passes.graph_to_codelet.works import Tiles, Work, require_room
from tilewright.search.tiles import choice
from tilewright.search.tiles.choice import Effort


def conv(out: int, kernel: int, step: int = 1, groups: int = 1) -> ModuleOp:
    random, layers = np.random.default_rng(3), IntegerLayers.of([tensor((1, 32, 3, 3), si8)])
    w = layers.weight("w", random.integers(-9, 9, (out, 32 // groups, kernel, kernel)).astype(np.int8))
    b = layers.weight("b", random.integers(-99, 99, out).astype(np.int32), i32)
    pads = [kernel // 2] * 4
    made = graph.ConvOp(layers.block.args[0], w, b, strides=[step] * 2, pads=pads, groups=groups)
    scaled = graph.RequantizeOp(layers.add(made, "conv"), layers.number(1), layers.number(6), element=si8, axis=1)
    return layers.module(["x"], ["y"], [layers.add(scaled, "scaled")])


def most() -> ModuleOp:
    layers = IntegerLayers.of([tensor((1, 32, 4, 4), si8)])
    made = graph.PoolOp("max", layers.block.args[0], kernel=[3, 3], strides=[1, 1], pads=[1] * 4)
    return layers.module(["x"], ["y"], [layers.add(made, "pool")])


LAYERS: dict[str, Callable[[], ModuleOp]] = {
    "conv": lambda: conv(16, 3),
    "depthwise by 2": lambda: conv(32, 3, 2, 32),
    "max": most,
}


@pytest.mark.parametrize("name", LAYERS)
def test_tiles_are_near_the_best_of_all(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[StageIsa, Work, Tiles]] = []

    def chosen(isa: StageIsa, work: Work, effort: Effort) -> Tiles:
        seen.append((isa, work, choose.choose_tiles(isa, work, effort)))
        return seen[-1][2]

    monkeypatch.setattr(conversion, "choose_tiles", chosen)
    monkeypatch.setattr(choice, "MOST_ASKED", 1000)
    compile(LAYERS[name](), "vta", options=CompileOptions(gap=0))
    isa, work, tiles = seen[-1]
    figures: list[tuple[int, int]] = []
    for one in choose.candidates(isa, work):
        try:
            require_room(isa, work, one)
        except InfeasibleError:
            continue
        figures += filter(None, [choose.layer_figures(isa, work, one)])
    best, taken = min(figures)[0], choose.layer_figures(isa, work, tiles)
    assert len(figures) > 5
    assert taken is not None
    assert taken[0] <= (1 + choose.NEAR) * best
    assert choose.floor_cycles(isa, work) <= best
