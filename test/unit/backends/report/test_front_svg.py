"""The picture of a study."""

from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

from tilewright.backends.report.front_svg import front_svg


def machine(depth: int, cycles: float, area: float) -> dict[str, Any]:
    return {"attributes": {"GBUF.depth": depth, "DRAM.bandwidth": 8}, "cycles": cycles, "area_mm2": area}


def test_squares_are_the_front_and_attributes_that_differ_are_told():
    machines = [machine(1, 30, 2), machine(2, 20, 3), machine(4, 25, 4)]
    answer = {"name": "s", "objectives": ["cycles", "area_mm2"], "machines": machines, "front": machines[:2]}
    root = ElementTree.fromstring(front_svg(answer))
    found = {
        kind: [item[0].text for item in root.iter(f"{{http://www.w3.org/2000/svg}}{kind}") if len(item)]
        for kind in ("rect", "circle")
    }
    assert found == {"rect": ["1", "2"], "circle": ["4"]}


def test_labels_of_machines_that_are_alike_lie_below_each_other():
    machines = [machine(depth, 20, 3) for depth in (101, 102, 104)] + [machine(8, 90, 9)]
    answer = {"name": "s", "objectives": ["cycles", "area_mm2"], "machines": machines, "front": []}
    texts = ElementTree.fromstring(front_svg(answer)).iter("{http://www.w3.org/2000/svg}text")
    places = sorted(float(item.get("y", 0)) for item in texts if item.text in ("101", "102", "104"))
    assert len(places) == 3
    assert all(b - a >= 10 for a, b in pairwise(places))
