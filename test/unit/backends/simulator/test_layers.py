"""Figures of layers computed by hand on the small machine: a copy of n bytes takes 5 + ceil(n / 8)."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.backends.assembler import assemble
from tilewright.backends.program import Program
from tilewright.backends.simulator import simulate
from tilewright.backends.simulator.layers import Advance, advances
from tilewright.errors import TilewrightError
from tilewright.machine.layer_table import Layer, LayerTable
from tilewright.resources import Resources

TEXT = """
LOAD TAG=1, N=64, NB=1
MAC TAG=2, WT0=1, WC0=1, O=512, M=4, N=3, K=5, OM=12, ON=4, AM=5, AK=1, BK=3, BN=1
LOAD TAG=1, D=64, N=64, NB=1
FILL O=1024, N=60, OA=4
STORE D=4096, S=0, N=8, NB=1
"""
TABLE = LayerTable(
    (Layer("mac", ("mac", "relu")), Layer("hidden", ("hidden",)), Layer("fill", ("fill",), "group 1")),
    ((0, 2), (1, 1), (2, 2)),
)

MAC = "MAC WT0=2, WC0=1, O=512, M=2, N=3, K=4, OM=12, ON=4, AM=5, AK=1, BK=3, BN=1"
"""Takes 1 + 1 * 3 * 4 cycles."""


def program(bench: Any, table: LayerTable = TABLE) -> Program:
    return Program(bench.machine, assemble(bench.machine, TEXT), bench.bytes(4096), Resources(), layer_table=table)


def test_figures_by_hand(bench: Any):
    """The first load ends at 13 and the MAC at 44, the second load within that at 26, and the fill at 60.

    The MAC's 60 operations are 3.75 cycles of 16 lanes.  The store waits for nothing but the channel of loads.
    """
    found = program(bench).layers
    assert [(one.name, one.nodes, one.group) for one in found] == [
        ("mac", ("mac", "relu"), ""),
        ("hidden", ("hidden",), ""),
        ("fill", ("fill",), "group 1"),
    ]
    assert [one.instructions for one in found] == [2, 1, 2]
    assert [one.cycles for one in found] == [44, 0, 16]
    assert [one.dram_bytes for one in found] == [64, 64, 8]
    assert [one.bound_by for one in found] == ["MXU", "dram", "VPU"]
    assert [one.utilization for one in found] == pytest.approx([60 / 16 / 44, 0, 0])
    assert found[1].energy_pj == 64 * 10 + 64 * 2


def test_figures_add_up(bench: Any):
    result = simulate(program(bench), {"x": np.zeros(4096, np.uint8)}, checks=False)
    assert result.layers == program(bench).layers
    assert sum(one.cycles for one in result.layers) == result.cycles
    assert sum(one.dram_bytes for one in result.layers) == result.dram_bytes
    assert sum(one.energy_pj for one in result.layers) == pytest.approx(result.energy_pj, rel=1e-12)


def test_what_waits_is_bound_by_nothing(bench: Any):
    """Three units one after another, each for about a third of the time: 13, 13 and 12 cycles."""
    text = """
LOAD TAG=1, N=64, NB=1
FILL TAG=2, WT0=1, WC0=1, O=1024, N=13, OA=4
STORE WT0=2, WC0=1, D=4096, S=1024, N=52, NB=1
"""
    table = LayerTable((Layer("all", ("all",)),), ((0, 3),))
    found = Program(bench.machine, assemble(bench.machine, text), bench.bytes(4096), Resources(), layer_table=table)
    assert [(one.cycles, one.bound_by) for one in found.layers] == [(38, "dram")]  # a channel for both copies
    text = text.replace("STORE WT0=2, WC0=1, D=4096, S=1024, N=52, NB=1", MAC)
    found = Program(bench.machine, assemble(bench.machine, text), bench.bytes(4096), Resources(), layer_table=table)
    assert [(one.cycles, one.bound_by) for one in found.layers] == [(13 + 13 + 13, "waiting")]


def test_a_table_of_another_program_is_refused(bench: Any):
    with pytest.raises(TilewrightError, match="runs of 5 instructions in all, found 4"):
        simulate(program(bench, LayerTable(TABLE.layers, ((0, 4),))))


def test_a_program_without_layers_has_none(bench: Any):
    assert program(bench, LayerTable()).layers == ()


def test_advances_are_disjoint_and_joined():
    found = advances([(0, 5), (0, 9), (1, 7), (1, 12), (0, 12), (0, 14)])
    assert found == [Advance(0, 0, 9), Advance(1, 9, 12), Advance(0, 12, 14)]


def test_traces_name_layers(bench: Any, tmp_path: Path):
    path = tmp_path / "trace.json"
    simulate(program(bench), {"x": np.zeros(4096, np.uint8)}, checks=False, trace=path)
    events = json.loads(path.read_text())["traceEvents"]
    rows = {e["args"]["name"]: e["tid"] for e in events if e["name"] == "thread_name"}
    slices = [e for e in events if e["ph"] == "X"]
    layers = [(e["name"], e["ts"], e["dur"], e["args"]) for e in slices if e["tid"] == rows["layers"]]
    assert layers == [
        ("mac", 0, pytest.approx(0.044), {"nodes": "mac relu"}),
        ("fill", pytest.approx(0.044), pytest.approx(0.016), {"nodes": "fill", "group": "group 1"}),
    ]
    own = {e["args"]["instruction"]: e["args"]["layer"] for e in slices if e["tid"] != rows["layers"]}
    assert own == {0: "mac", 1: "mac", 2: "hidden", 3: "fill", 4: "fill"}
