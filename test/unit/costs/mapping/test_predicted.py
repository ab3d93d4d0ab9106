"""Two witnesses: what mappings are predicted to cost, and what the simulator counts for their binary."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from xdsl.parser import Parser

import tilewright
from tilewright.driver import make_context

LAYERS = (Path(__file__).parents[2] / "passes/graph_to_nest/layers.mlir").read_text()
CASES = {part.split("(", 1)[0]: f"func.func @main({part.split('(', 1)[1]}" for part in LAYERS.split("func.func @")[1:]}


@pytest.mark.parametrize(
    "name", ["conv", "conv_stride", "conv_groups", "conv_i8", "pool_max", "lrn", "softmax", "concat", "transpose"]
)
def test_prediction_is_what_the_simulator_counts(name: str):
    module = Parser(make_context(), CASES[name]).parse_module()
    program = tilewright.compile(module, target="edge16")
    arrays = {t.name: np.zeros(t.shape, t.dtype) for t in program.tensors if t.role == "input"}
    found = tilewright.simulate(program, arrays, functional=False)
    assert program.predicted["dram_bytes"] == found.dram_bytes
    assert program.predicted["energy_pj"] == pytest.approx(found.energy_pj, rel=1e-9)
    assert program.predicted["cycles"] == found.cycles
    assert program.predicted["model_energy_pj"] == pytest.approx(found.energy_pj, rel=0.05)
    assert program.predicted["model_cycles"] == pytest.approx(found.cycles, rel=0.35)
