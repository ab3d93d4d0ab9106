"""Devices: their data files, figures that contradict each other, and their place in targets."""

import pytest

from tilewright.errors import TilewrightError
from tilewright.frontends.acg import parse_target, print_target
from tilewright.machine.dram import (
    NUMBERS,
    differences,
    dram_timing,
    named_timing,
    timing_complaints,
    timing_names,
    with_figures,
)

TEXT = """acg one {{
  memory DRAM {{ data_width 8; depth {depth}; {place} {timing} }}
  memory BUF {{ data_width 8; depth 64; }}
  compute MAC {{ capability mac {{ O{{}} += A{{}} * B{{}}; types i32 = i8, i8; }} }}
  link DRAM <-> BUF <-> MAC;
}}
"""


def text(timing: str, depth: int = 4096, place: str = "offchip;") -> str:
    return TEXT.format(timing=timing, depth=depth, place=place)


def fault_of(**figures: int) -> str:
    named = named_timing("ddr4-2400")
    return next((f"{e}, found {f}" for e, f, _ in timing_complaints(with_figures(named, figures))), "")


@pytest.mark.parametrize("name", timing_names())
def test_devices_break_no_rule(name: str):
    timing = dram_timing(name)
    assert list(timing_complaints(timing)) == []
    assert differences(timing) == ({}, None)
    assert timing.capacity_bytes == 1 << sum(timing.bits(part) for part, _ in timing.address if part) << (
        timing.burst_bytes.bit_length() - 1
    )


@pytest.mark.parametrize(
    ("name", "peak_gb_s", "burst"), [("ddr4-2400", 19.2, 64), ("lpddr4-3200", 25.6, 32), ("hbm2", 256.0, 64)]
)
def test_peaks_are_those_of_the_standards(name: str, peak_gb_s: float, burst: int):
    timing = dram_timing(name)
    assert timing.channels * timing.bus_bits / 8 * 2 * timing.clock_hz == pytest.approx(peak_gb_s * 1e9)
    assert timing.burst_bytes == burst


def test_other_figures_by_name():
    timing = dram_timing("hbm2:channels=2,window=8")
    assert (timing.channels, timing.window, dict(timing.address)["channel"]) == (2, 8, 1)
    assert differences(timing) == ({"channels": 2, "window": 8}, None)


@pytest.mark.parametrize(
    "given", ["ddr5", "", "ddr4-2400:rows", "ddr4-2400:rows=x", "ddr4-2400:size=3", "ddr4-2400:rows=3", "hbm2:ccd_s=1"]
)
def test_no_device(given: str):
    with pytest.raises(TilewrightError) as error:
        dram_timing(given)
    assert error.value.kind == "dram"


@pytest.mark.parametrize("name", NUMBERS)
def test_every_figure_has_a_range(name: str):
    assert f"{name} from 1 to" in fault_of(**{name: 0})
    assert f"{name} from 1 to" in fault_of(**{name: 1 << 41})


@pytest.mark.parametrize(
    ("figures", "expected"),
    [
        ({"banks": 3}, "a power of two of banks"),
        ({"bus_bits": 12}, "a bus of whole bytes"),
        ({"columns": 4}, "rows of at least a burst"),
        ({"ccd_s": 3}, "two bursts would share the bus at one time"),
        ({"rtw": 8}, "a burst read and one written would share the bus"),
        ({"wtr_l": 2}, "wtr_l of at least wtr_s"),
        ({"ras": 12}, "ras of at least rcd"),
        ({"rc": 50}, "rc of at least ras + rp, 56"),
        ({"refi": 450}, "nothing but refresh"),
    ],
)
def test_contradictions(figures: dict[str, int], expected: str):
    assert expected in fault_of(**figures)


def test_targets_name_a_device():
    machine = parse_target(text('timing "ddr4-2400" { rcd 18; map row, bank, column 3, group, column 4, channel; }'))
    timing = machine.memories[0].timing
    assert timing is not None
    assert timing.rcd == 18
    assert timing.address[2:5] == (("column", 3), ("group", 2), ("column", 4))
    assert parse_target(print_target(machine)) == machine
    assert parse_target(text('timing "hbm2";')).memories[0].timing == dram_timing("hbm2")


@pytest.mark.parametrize(
    ("timing", "expected", "place"),
    [
        ('timing "ddr9";', "ddr4-2400, hbm2, lpddr4-3200", "offchip;"),
        ('timing "hbm2"; timing "hbm2";', "timing once", "offchip;"),
        ('timing "hbm2" { map row; map row; }', "map once", "offchip;"),
        ('timing "hbm2" { size 3; }', "clock_hz or channels", "offchip;"),
        ('timing "hbm2" { map row, bank, column, group, rank; }', "a map of row, bank, group", "offchip;"),
        ('timing "hbm2" { map row, bank, column, group; }', "the 3 bits of channel", "offchip;"),
        ('timing "hbm2" { map row, row, bank, column, group, channel; }', "the 15 bits of row", "offchip;"),
        ('timing "ddr4-2400" { ccd_s 2; }', "ccd_s of at least 4", "offchip;"),
        ('timing "hbm2" { rows 1; columns 4; banks 1; groups 1; channels 1; }', "at most the 64 bytes", "offchip;"),
    ],
)
def test_targets_that_contradict_themselves(timing: str, expected: str, place: str):
    with pytest.raises(TilewrightError) as error:
        parse_target(text(timing, place=place))
    assert expected.replace("row, bank, group", "row, bank") in error.value.expected
    assert ":2" in error.value.subject


def test_memories_on_chip_have_no_device():
    wrong = text("").replace("depth 64;", 'depth 64; timing "hbm2";')
    with pytest.raises(TilewrightError, match="a memory that is `offchip`"):
        parse_target(wrong)


def test_two_bursts_do_not_share_one_bank_time():
    with pytest.raises(TilewrightError, match="two bursts would share one place"):
        parse_target(text('timing "ddr4-2400" { map row, bank 1, column, group, channel; }'))
