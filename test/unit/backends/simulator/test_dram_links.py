"""Transfers to a device off chip: ticks of its clock, its latency before that of the link, and what is told of it."""

from typing import Any

import numpy as np
import pytest

from tilewright.errors import TilewrightError
from tilewright.machine.dram import dram_timing

INPUT = {"x": np.arange(4096, dtype=np.uint8)}
TWO = "LOAD TAG=1, N=64, NB=1\nSTORE WT0=1, WC0=1, D=8192, N=64, NB=1\n"


def ends(bench: Any, text: str, **options: Any) -> list[int]:
    result = bench.run(text, bench.bytes(4096), INPUT, **options)
    return [issue.end_cycle for issue in sorted(result.issues, key=lambda issue: issue.index)]


def test_a_burst_waits_for_its_row(bench: Any):
    """Activate, read, data: 17 + 17 + 4 ticks of 1.2 GHz are 32 cycles; then the link's 5."""
    assert ends(bench, "LOAD N=64, NB=1\n", dram="ddr4-2400") == [32 + 5]
    assert ends(bench, "LOAD N=64, NB=1\n", dram="flat") == ends(bench, "LOAD N=64, NB=1\n") == [13]


def test_a_slow_link_hides_the_device(bench: Any):
    """2048 bytes take 256 cycles over the link, and 17 + 17 + 32 * 4 ticks in the device."""
    assert ends(bench, "LOAD N=2048, NB=1\n", dram="ddr4-2400") == [5 + 256]


def test_what_is_written_lands_later_than_it_is_asked_for(bench: Any):
    """From cycle 37, tick 45: another row of the same bank, whose first one may close 39 ticks after tick 0."""
    timing = dram_timing("ddr4-2400:banks=1,groups=1,columns=64,rows=131072")
    first, second = ends(bench, TWO, dram=timing)
    assert first == 37
    tick = 45 + timing.rp + timing.rcd + timing.cwl + timing.burst_ticks
    assert second == -(-tick * 10 // 12) + 5


def test_values_are_those_of_any_run(bench: Any):
    tensors = (*bench.bytes(4096), bench.tensor("y", "output", np.zeros(64, np.uint8), 8192))
    results = [bench.run(TWO, tensors, INPUT, dram=name) for name in ("flat", "hbm2", "lpddr4-3200")]
    assert all((result.outputs["y"] == INPUT["x"][:64]).all() for result in results)
    assert len({result.energy_pj for result in results}) == 1
    assert [len(result.dram) for result in results] == [0, 1, 1]


def test_units_and_links_are_busy_while_they_wait(bench: Any):
    result = bench.run(TWO, bench.bytes(4096), INPUT, dram="ddr4-2400")
    assert result.counts.units["LD"].busy_cycles == result.counts.links["DRAM->SPAD"].busy_cycles == 37
    assert result.dram[0].as_dict() | {"refreshed": 0} == {
        "device": "ddr4-2400",
        "bursts": 2,
        "hits": 1,
        "opened": 1,
        "refreshed": 0,
        "hit_share": 0.5,
    }


def test_no_time_is_no_time(bench: Any):
    assert ends(bench, TWO, dram="ddr4-2400", timing=False) == [0, 0]


def test_programs_stay_within_the_device(bench: Any):
    with pytest.raises(TilewrightError, match="a program within its 1024 bytes"):
        ends(bench, "LOAD N=2048, NB=1\n", dram="ddr4-2400:rows=1,banks=1,groups=1,columns=128")


def test_unknown_devices_are_refused(bench: Any):
    with pytest.raises(TilewrightError, match="one of ddr4-2400, hbm2, lpddr4-3200"):
        ends(bench, TWO, dram="ddr6")
