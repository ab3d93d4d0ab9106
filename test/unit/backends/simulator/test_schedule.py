"""Cycles computed by hand on the small machine: a copy of n bytes takes 5 + ceil(n / 8)."""

import json
from pathlib import Path
from typing import Any

import numpy as np

INPUT = {"x": np.zeros(4096, np.uint8)}


def starts_and_ends(bench: Any, text: str, tmp_path: Path) -> list[tuple[int, int]]:
    path = tmp_path / "trace.json"
    bench.run(text, bench.bytes(4096), INPUT, trace=path, checks=False)
    events = json.loads(path.read_text())["traceEvents"]
    slices = sorted((e["args"]["instruction"], e["args"]["start_cycle"], e["dur"]) for e in events if e["ph"] == "X")
    return [(start, start + round(duration * 1000)) for _, start, duration in slices]


def test_one_unit_runs_in_order(bench: Any, tmp_path: Path):
    text = "LOAD N=64, NB=1\nLOAD D=64, N=8, NB=1\n"
    assert starts_and_ends(bench, text, tmp_path) == [(0, 13), (13, 19)]


def test_units_run_at_once_and_wait(bench: Any, tmp_path: Path):
    """MXU: latency 1 and ceil(4/2) * 3 * 5 = 30 cycles; with m over x (2) and n over y (4): 1 * 1 * 5."""
    text = """
LOAD TAG=1, N=64, NB=1
MAC TAG=2, WT0=1, WC0=1, O=512, M=4, N=3, K=5, OM=12, ON=4, AM=5, AK=1, BK=3, BN=1
LOAD TAG=1, D=64, N=64, NB=1
MAC WT0=1, WC0=2, O=512, M=4, N=3, K=5, OM=12, ON=4, AM=5, AK=1, BK=3, BN=1, SX=m, SY=n
FILL O=1024, N=7, OA=4
"""
    assert starts_and_ends(bench, text, tmp_path) == [(0, 13), (13, 44), (13, 26), (44, 50), (0, 7)]


def test_links_of_a_channel_exclude_each_other(bench: Any, tmp_path: Path):
    text = "LOAD N=64, NB=1\nSTORE D=4096, S=1024, N=8, NB=1\nSTORE D=4096, S=1024, N=8, NB=1\n"
    assert starts_and_ends(bench, text, tmp_path) == [(0, 13), (13, 19), (19, 25)]


def test_equal_starts_go_by_program_order(bench: Any, tmp_path: Path):
    text = "STORE D=4096, S=1024, N=8, NB=1\nLOAD N=64, NB=1\n"
    assert starts_and_ends(bench, text, tmp_path) == [(0, 6), (6, 19)]


def test_full_queue_holds_dispatch(bench: Any, tmp_path: Path):
    """LD holds two waiting instructions, so the fourth load and all behind it are dispatched when the second starts."""
    text = "LOAD N=8, NB=1\n" * 4 + "FILL O=1024, N=7, OA=4\n"
    assert starts_and_ends(bench, text, tmp_path) == [(0, 6), (6, 12), (12, 18), (18, 24), (6, 13)]


def test_bandwidth_bounds_copies(bench: Any, tmp_path: Path):
    assert starts_and_ends(bench, "LOAD N=1, NB=1\nLOAD N=9, NB=1\nLOAD N=0, NB=1\n", tmp_path) == [
        (0, 6),
        (6, 13),
        (13, 18),
    ]


def test_counters_of_several_units(bench: Any, tmp_path: Path):
    """Tag 1 is signalled at 13 (LD) and 7 (VP): a count of 1 is reached at 7."""
    text = """
LOAD TAG=1, N=64, NB=1
FILL TAG=1, O=1024, N=7, OA=4
MAC WT0=1, WC0=1, O=512, M=2, N=1, K=1
MAC WT0=1, WC0=2, O=512, M=2, N=1, K=1
"""
    assert starts_and_ends(bench, text, tmp_path) == [(0, 13), (0, 7), (7, 9), (13, 15)]


def test_energy_and_counts(bench: Any):
    """100 bytes over the link: read at 10, written at 2; 2x3x4 i8 products at 0.5: 8 + 12 bytes read, 24 written."""
    text = """
LOAD TAG=1, N=100, NB=1
MAC WT0=1, WC0=1, O=512, M=2, N=3, K=4, OM=12, ON=4, AM=4, AK=1, BK=3, BN=1
"""
    result = bench.run(text, bench.bytes(4096), INPUT)
    assert result.dram_bytes == 100
    assert result.energy_pj == 100 * 10 + 100 * 2 + 24 * 0.5 + 20 * 1 + 24 * 2
    assert result.counts.memories["SPAD"].read_bytes == 20
    assert result.counts.links["DRAM->SPAD"].bytes == 100
    assert result.counts.computes["MXU"].ops == 24
    assert result.counts.mnemonics["MAC"] == 1
    assert result.peak_bytes == {"DRAM": 100, "SPAD": 536}
    cycles = (5 + 13) + (1 + 1 * 3 * 4)
    assert result.cycles == cycles
    assert result.utilization["LD"] == 18 / cycles
    assert result.utilization["MXU"] == 24 / (2 * 8) / cycles
