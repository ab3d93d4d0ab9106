"""Figures of a report: marks, bars and boxes are where their numbers say."""

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from tilewright.backends.report.charts_svg import energy_svg, roofline_svg, timeline_svg
from tilewright.backends.report.svg import Axis
from tilewright.backends.timeline import TimelineRow

SVG = "{http://www.w3.org/2000/svg}"


def layer(name: str, ops: int, dram_bytes: int, bound_by: str) -> dict[str, Any]:
    return {
        **{"name": name, "ops": ops, "dram_bytes": dram_bytes, "bound_by": bound_by},
        **{"cycles": 100, "busy_cycles": {"MXU": 50}},
    }


ANSWER: dict[str, Any] = {
    "name": "net",
    "cycles": 400,
    "target": {
        **{"name": "m", "array": "MXU", "array_peaks": {"mac": 1000.0}},
        "links": [{"offchip": True, "bytes_per_cycle": 10.0}],
    },
    "layers": [
        layer("a", 1000, 1000, "dram"),
        layer("b", 9000, 10, "MXU"),
        layer("c", 500, 0, "VPU"),
        layer("d", 0, 9, "dram"),
    ],
    "counts": {
        "memories": {"DRAM": {"energy_pj": 3e6, "read_bytes": 2000, "write_bytes": 0}},
        "computes": {"MXU": {"energy_pj": 1e6}},
        "links": {"DRAM->GBUF": {"energy_pj": 0}},
        "units": {"LD": {"instructions": 4, "busy_cycles": 100}, "ST": {"instructions": 0, "busy_cycles": 0}},
    },
}


def titles(text: str, kind: str) -> list[str]:
    found = ElementTree.fromstring(text).iter(f"{SVG}{kind}")
    return [title.text or "" for item in found if (title := item.find(f"{SVG}title")) is not None]


def texts(text: str) -> list[str]:
    return [item.text or "" for item in ElementTree.fromstring(text).iter(f"{SVG}text")]


def test_a_mark_for_each_layer_with_work_by_what_binds_it():
    text = roofline_svg(ANSWER)
    assert titles(text, "circle") == ["a: bound by dram, 25.0 % of the run"]
    assert titles(text, "rect") == ["b: bound by MXU, 25.0 % of the run"]
    assert titles(text, "polygon") == ["c: bound by VPU, 25.0 % of the run"]
    assert {"MXU: 1 K per cycle", "off chip: 10 B/cycle"} <= set(texts(text))


def test_bars_have_their_numbers():
    told = texts(energy_svg(ANSWER))
    assert [told[place + 1] for place, name in enumerate(told) if name in ("DRAM", "MXU", "DRAM read", "LD")] == [
        *("3 uJ, 75.0 %", "1 uJ, 25.0 %", "2 KB", "25.0 %")
    ]
    assert "ST" not in told
    assert "DRAM written" not in told


def row(unit: str, name: str, start: int, end: int) -> TimelineRow:
    return TimelineRow(0, "MAC", unit, "MXU", name, start, end, 0, 0, 0.0)


def test_neighbours_of_a_layer_are_one_box():
    rows = [
        row("MX", "a", 0, 400),
        row("LD", "b", 0, 10),
        row("MX", "a", 400, 500),
        row("MX", "b", 500, 900),
        row("MX", "b", 950, 1000),
    ]
    text = timeline_svg(rows, "net")
    assert titles(text, "rect") == ["a: 0 to 500", "b: 500 to 900", "b: 950 to 1,000", "b: 0 to 10"]
    widths = {
        title: float(width)
        for width, title in re.findall(r'<rect [^>]*?width="([\d.]+)"[^>]*><title>(.*?)</title>', text)
    }
    assert abs(widths["a: 0 to 500"] / widths["b: 500 to 900"] - 500 / 400) < 0.01


def test_axes_are_round():
    decades = Axis.of([3.0, 700.0], 0, 300)
    assert (decades.low, decades.high, decades.steps) == (1, 1000, (1, 10, 100, 1000))
    assert [decades.at(value) for value in (1, 10, 1e9, -5)] == [0, 100, 300, 0]
    even = Axis.linear([10, 20], 100, 0)
    assert even.steps == (10, 12, 14, 16, 18, 20)
    assert even.at(15) == pytest.approx(50)
