"""Mappings for people: text, table and picture say the same."""

import re
from xml.etree import ElementTree

import pytest

from tilewright.backends.report import loop_nest, mapping_svg, traffic_rows
from tilewright.backends.report.svg import Svg, joules, short
from tilewright.costs.exact import evaluate
from tilewright.costs.hierarchy import Architecture, Level, LevelMapping, Loop, LoopMapping, Problem, Tensor

ARCH = Architecture(
    "toy & co",
    (Level("L1", 64, 4, 4, 1, 1.0), Level("L2", 1024, 1, 1, 1, 10.0), Level("DRAM", None, 1, 1, 1, 100.0)),
    "MAC",
    4,
    4,
    0.5,
)
GEMM = Problem(
    "gemm<int>",
    ("m", "n", "k"),
    (10, 6, 8),
    (
        Tensor("A", ((1, 0, 0), (0, 0, 1))),
        Tensor("B", ((0, 0, 1), (0, 1, 0))),
        Tensor("C", ((1, 0, 0), (0, 1, 0)), is_output=True),
    ),
)
MAPPING = LoopMapping(
    (
        LevelMapping((Loop(2, 8),)),
        LevelMapping((Loop(1, 6),), (Loop(0, 4),), bypass=frozenset("AC")),
        LevelMapping((Loop(0, 3),)),
    )
)


def test_the_loop_nest() -> None:
    assert loop_nest(ARCH, GEMM, MAPPING).splitlines() == [
        "DRAM  A, B, C",
        "  for m = 3  (4 each)",
        "    L2  B",
        "      for n = 6",
        "        spread m = 4 over L1 along x",
        "          L1  A, B, C",
        "            for k = 8",
        "              MAC",
    ]


def test_rows_of_traffic_add_up_to_the_price() -> None:
    prices = evaluate(ARCH, GEMM, MAPPING)
    rows = traffic_rows(prices)
    assert [(row.level, row.tensor) for row in rows] == [
        *(("DRAM", tensor) for tensor in "ABC"),
        ("L2", "B"),
        *(("L1", tensor) for tensor in "ABC"),
    ]
    energy = sum(row.energy_pj for row in rows) + 480 * 0.5
    assert energy == pytest.approx(prices.energy_pj)
    by_name = {(row.level, row.tensor): row for row in rows}
    assert by_name["L1", "A"].instances == 4
    assert by_name["L1", "A"].reads == 480
    assert by_name["DRAM", "A"].reads == 80
    assert by_name["L2", "B"].fills == 48


def test_the_picture_names_memories_loops_and_words() -> None:
    prices = evaluate(ARCH, GEMM, MAPPING)
    root = ElementTree.fromstring(mapping_svg(ARCH, GEMM, MAPPING, prices))
    texts = ["".join(node.itertext()).strip() for node in root.iter() if node.tag.endswith("text")]
    for expected in (
        "gemm<int> on toy & co",
        "L2",
        "MAC",
        "for m = 3  (4 each)",
        "spread m = 4 over L1 along x",
        "passes",
    ):
        assert expected in texts
    assert texts.count("passes") == 2
    tiles = [row.tile_words for row in traffic_rows(prices)]
    assert [text for text in texts if text.endswith("words")] == [
        f"{short(words)} words" for words in tiles if words > 1
    ]
    sums = [row for row in traffic_rows(prices) if GEMM.tensors[-1].name == row.tensor]
    assert [text for text in texts if text.endswith(" up")] == [f"{short(row.updates)} up" for row in sums]
    down = [f"{short(row.reads)} down" for row in sums if row.reads]
    assert down
    assert [text for text in texts if text.endswith(" down")] == down
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for node in root.iter():
        if node.tag.endswith("rect"):
            right = float(node.attrib.get("x", 0)) + float(node.attrib["width"])
            assert right <= width
            assert float(node.attrib.get("y", 0)) + float(node.attrib["height"]) <= height


def test_a_memory_that_keeps_nothing_is_not_called_used_or_full() -> None:
    mapping = LoopMapping(
        (MAPPING.levels[0], LevelMapping((Loop(1, 6),), (Loop(0, 4),), bypass=frozenset("ABC")), MAPPING.levels[2])
    )
    root = ElementTree.fromstring(mapping_svg(ARCH, GEMM, mapping, evaluate(ARCH, GEMM, mapping)))
    texts = ["".join(node.itertext()).strip() for node in root.iter() if node.tag.endswith("text")]
    after = texts[texts.index("L2") + 1 : texts.index("L1")]
    assert after[0] == "keeps nothing"
    assert not any("full" in text or "used" in text or "pJ" in text for text in after)
    assert sum("% full" in text for text in texts) == 1  # of L1


def test_text_is_escaped() -> None:
    svg = Svg()
    svg.text(1, 2, "<a & b>", fill='"x"')
    assert re.search(r"fill='\"x\"'>&lt;a &amp; b&gt;</text>", svg.parts[0])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (7, "7"),
        (1.25, "1.25"),
        (999, "999"),
        (1000, "1 K"),
        (53824, "53.8 K"),
        (2.5e9, "2.50 G"),
        (1e30, "1e+12 E"),
    ],
)
def test_short_numbers(value: float, text: str) -> None:
    assert short(value) == text


@pytest.mark.parametrize(("pj", "text"), [(0.5, "0.50 pJ"), (2.5e6, "2.50 uJ"), (1.72e16, "17.2 kJ")])
def test_energies(pj: float, text: str) -> None:
    assert joules(pj) == text
