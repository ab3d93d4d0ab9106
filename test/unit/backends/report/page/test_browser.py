"""The page in a browser at three sizes of its window: what it shows, and what clicks and keys do.

Skipped where Playwright or a Chromium (`apt-get install chromium`, or `playwright install chromium`) is missing.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pytest

import tilewright
from tilewright.backends.report.page import write_report

from .conftest import Report

SIZES = [(1920, 1080), (1366, 768), (640, 900)]


@pytest.fixture(params=SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def page(browser: Any, report: Report, request: pytest.FixtureRequest) -> Iterator[Any]:
    """The report, opened; errors and requests to anywhere else fail the test."""
    width, height = request.param
    opened = browser.new_page(viewport={"width": width, "height": height})
    faults: list[str] = []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    opened.on("request", lambda asked: faults.append(asked.url) if not asked.url.startswith("file:") else None)
    opened.goto(report.page.as_uri())
    opened.wait_for_selector("html[data-ready]", state="attached")
    yield opened
    opened.close()
    assert faults == []


def whole(text: str) -> int:
    return int(re.sub(r"[^\d]", "", text))


def test_cards_tell_the_numbers(page: Any, report: Report):
    cards = {card.locator("h3").inner_text(): card for card in page.locator(".card").all()}
    assert whole(cards["Latency"].locator(".value").inner_text()) == report.answer["cycles"]
    assert whole(cards["Least of any program"].locator(".value").inner_text()) == report.answer["lower_bound"]["cycles"]
    told = cards["Least of any program"].locator("p").first.inner_text()
    assert told.startswith(f"{100 * report.answer['gap']:.1f} % above it, bound by {report.answer['bound_by']}")


def test_nothing_is_wider_than_the_window(page: Any):
    page.locator("#table tbody tr").first.click()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    outside = """() => [...document.querySelectorAll('h1, h2, h3, .value, .card p, .legend, .buttons, #advice li')]
        .filter((item) => item.offsetParent && item.getBoundingClientRect().right > innerWidth + 1)
        .map((item) => item.textContent)"""
    assert page.evaluate(outside) == []


def test_the_table_is_that_of_the_layers(page: Any, report: Report):
    layers = report.answer["layers"]
    rows = page.locator("#table tbody tr")
    assert rows.count() == len(layers)
    names = page.locator("#table tbody td.name").all_inner_texts()
    assert names == [layer["name"] for layer in layers]
    keys = page.locator("#table thead th").evaluate_all("cells => cells.map((cell) => cell.dataset.key)")
    for key in ("cycles", "instructions"):
        shown = page.locator(f"#table tbody td:nth-child({keys.index(key) + 1})").all_inner_texts()
        assert [whole(text) for text in shown] == [layer[key] for layer in layers]
        total = page.locator(f"#table tfoot td:nth-child({keys.index(key) + 1})").inner_text()
        assert whole(total) == report.answer[key]


def fixed(value: float, digits: int) -> str:
    """As JavaScript's `toFixed`: halves go up."""
    return str(Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def in_unit(value: float, unit: str, prefixes: str = " KMGTP") -> str:
    """A number as the page writes it: three digits and the prefix of its thousands."""
    place = 0
    while abs(value) >= 999.5 and place < len(prefixes) - 1:
        value, place = value / 1000, place + 1
    digits = 0 if (value == int(value) and not place) or abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{fixed(value, digits)} {prefixes[place].strip()}{unit}"


def joules(energy_pj: float) -> str:
    return in_unit(energy_pj, "J", "pn\u00b5m K")


def part(share: float) -> str:
    return "< 0.1 %" if 0 < share < 0.0005 else f"{fixed(100 * share, 1)} %"


def test_every_number_of_the_table_is_that_of_the_answer(page: Any, report: Report):
    layers, total = report.answer["layers"], sum(layer["cycles"] for layer in report.answer["layers"])
    memories = [memory["name"] for memory in report.answer["target"]["memories"]]
    rows = [row.locator("td").all_inner_texts() for row in page.locator("#table tbody tr").all()]
    group = ["group"] if any(layer["group"] for layer in layers) else []
    expected = [
        [
            *(str(number), layer["name"], *(layer[key] for key in group), f"{layer['cycles']:,}"),
            *(part(layer["cycles"] / total), f"{max(layer['busy_cycles'].values()):,}", layer["bound_by"]),
            part(layer["utilization"]),
            *(in_unit(layer["memory_bytes"].get(name, 0), "B") for name in memories),
            *(joules(layer["energy_pj"]), f"{layer['instructions']:,}"),
        ]
        for number, layer in enumerate(layers, 1)
    ]
    assert [[text.strip() for text in row] for row in rows] == expected


def test_every_number_of_the_bars_is_that_of_the_answer(page: Any, report: Report):
    counts, whole_pj = report.answer["counts"], report.answer["energy_pj"]
    energies, traffic, units = (
        [
            (bars.locator("span:not(.track)").nth(place).inner_text())
            for place in range(3 * bars.locator(".track").count())
        ]
        for bars in page.locator("#energy-body .bars").all()
    )
    spent = {name: one["energy_pj"] for kind in ("memories", "computes", "links") for name, one in counts[kind].items()}
    ordered = sorted(((pj, name) for name, pj in spent.items() if pj > 0), reverse=True)
    assert energies == [text for pj, name in ordered for text in (name, joules(pj), part(pj / whole_pj))]
    moved = {name: one for name, one in counts["memories"].items() if one["read_bytes"] + one["write_bytes"]}
    assert traffic == [
        text
        for name, one in moved.items()
        for what, key in (("read", "read_bytes"), ("written", "write_bytes"))
        for text in (f"{name} {what}", in_unit(one[key], "B"), "")
    ]
    assert units == [
        text
        for name, one in counts["units"].items()
        if one["instructions"]
        for text in (name, f"{one['instructions']:,} instr.", part(one["busy_cycles"] / report.answer["cycles"]))
    ]


def test_remarks_are_those_of_the_answer(page: Any, report: Report):
    shown = [item.locator("span").first.inner_text() for item in page.locator("#advice li").all()]
    assert shown == [remark["text"] for remark in report.answer["advice"]]
    levers = [item.locator(".lever").inner_text() for item in page.locator("#advice li").all()]
    assert levers == [remark["lever"].replace("`", "") for remark in report.answer["advice"]]


def test_paper_is_light(page: Any):
    page.keyboard.press("d")
    assert page.evaluate("document.documentElement.classList.contains('dark')")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert not page.evaluate("document.documentElement.classList.contains('dark')")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.documentElement.classList.contains('dark')")


def test_sorting_and_filtering(page: Any, report: Report):
    page.locator("th[data-key=cycles] button").click()
    names = page.locator("#table tbody td.name").all_inner_texts()
    longest = sorted(report.answer["layers"], key=lambda layer: -layer["cycles"])
    assert names[0] == longest[0]["name"]
    assert page.locator("th[data-key=cycles]").get_attribute("aria-sort") == "descending"
    page.fill("#filter", names[0])
    found = page.locator("#table tbody td.name").all_inner_texts()
    assert names[0] in found
    assert len(found) < len(names)


def test_a_click_on_a_row_shows_the_layer_everywhere(page: Any, report: Report):
    layer = report.answer["layers"][1]
    page.locator("#table tbody tr").nth(1).click()
    inspector = page.locator("#inspector")
    assert inspector.locator("h2").inner_text() == layer["name"]
    told = dict(zip(inspector.locator("dt").all_inner_texts(), inspector.locator("dd").all_inner_texts(), strict=True))
    assert told["cycles"].startswith(f"{layer['cycles']:,} ")
    assert told["bound by"] == layer["bound_by"]
    assert page.locator(".box.selected").count() == 1
    assert "nest.group" in page.locator("#code").inner_text()
    inspector.get_by_role("tab", name="assembly").click()
    lines = page.locator("#code").inner_text().strip().splitlines()
    assert len(lines) == layer["instructions"]
    assert page.evaluate("location.hash") == f"#layer={layer['name']}"
    page.keyboard.press("Escape")
    assert inspector.is_hidden()


def shown_range(page: Any) -> tuple[int, int]:
    first, last = re.findall(r"[\d,]+", page.locator("#range").inner_text())[:2]
    return whole(first), whole(last)


def test_zoom_from_the_run_to_an_instruction(page: Any, report: Report):
    cycles = report.answer["cycles"]
    page.locator("#lanes").scroll_into_view_if_needed()
    assert shown_range(page) == (0, cycles)
    page.locator("#zoom-in").click()
    page.wait_for_function("document.getElementById('range').textContent.split(' ')[0] !== '0'")
    first, last = shown_range(page)
    assert abs((last - first) - cycles / 2) <= 1
    page.locator("#lanes").focus()
    for _ in range(30):
        page.keyboard.press("+")
    page.wait_for_timeout(100)
    first, last = shown_range(page)
    assert last - first <= 9
    page.keyboard.press("0")
    page.wait_for_timeout(100)
    assert shown_range(page) == (0, cycles)


def test_a_click_on_the_timeline_opens_the_instruction(page: Any, report: Report):
    """The first load starts at once: the left end of the first unit's row."""
    lanes = page.locator("#lanes")
    lanes.scroll_into_view_if_needed()
    lanes.click(position={"x": 108, "y": 24 + 27 + 8})
    facts = page.locator("#inspector dl").first
    facts.wait_for()
    assert facts.locator("dd").first.inner_text() == "LOAD #0"
    marked = page.locator("#code mark").inner_text()
    assert marked.split()[:2] == ["0", "LOAD"]
    assert page.locator("#inspector h2").inner_text() == report.answer["layers"][0]["name"]


def test_search_finds_a_layer_in_the_network(page: Any, report: Report):
    name = report.answer["layers"][-1]["name"]
    page.keyboard.press("/")
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    assert page.locator(".box.selected").count() == 1
    assert page.locator("#inspector h2").inner_text() == name
    box, place = page.locator(".box.selected").bounding_box(), page.locator("#graph").bounding_box()
    assert place["x"] <= box["x"] + box["width"] / 2 <= place["x"] + place["width"]
    assert place["y"] <= box["y"] + box["height"] / 2 <= place["y"] + place["height"]


def test_keys_walk_the_layers_and_change_the_theme(page: Any, report: Report):
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.locator("#inspector h2").inner_text() == report.answer["layers"][1]["name"]
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.keyboard.press("d")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != ground


def test_a_link_opens_its_layer(page: Any, report: Report):
    name = report.answer["layers"][2]["name"]
    page.goto(f"{report.page.as_uri()}#layer={name}")
    page.reload()
    page.wait_for_selector("#inspector h2")
    assert page.locator("#inspector h2").inner_text() == name


@pytest.fixture(scope="module", params=["resnet50", "gpt2_small_decode"])
def whole_network(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, Any]]:
    """ResNet-50 and a block of GPT-2 in int8, as they are compiled by default: the page and its answer."""
    page = tmp_path_factory.mktemp("whole") / "page.html"
    program = tilewright.compile(request.param)
    result = tilewright.simulate(program, functional=False, checks=False)
    return page, write_report(page, program, result, program.title)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_a_whole_network(browser: Any, whole_network: tuple[Path, dict[str, Any]], size: tuple[int, int]):
    """Below 5 MB, there in two seconds; the slowest layer is found, shown, and zoomed into."""
    path, answer = whole_network
    assert path.stat().st_size < 5_000_000
    opened = browser.new_page(viewport={"width": size[0], "height": size[1]})
    start = time.monotonic()
    opened.goto(path.as_uri())
    opened.wait_for_selector("html[data-ready]", state="attached")
    assert time.monotonic() - start < 2
    assert opened.locator("#table tbody tr").count() == len(answer["layers"])
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
    slowest = max(answer["layers"], key=lambda layer: layer["cycles"])
    opened.locator("th[data-key=cycles] button").click()
    opened.locator("#table tbody tr").first.click()
    inspector = opened.locator("#inspector")
    inspector.locator("h2").wait_for()
    as_slow = {layer["name"] for layer in answer["layers"] if layer["cycles"] == slowest["cycles"]}
    assert inspector.locator("h2").inner_text() in as_slow
    told = dict(zip(inspector.locator("dt").all_inner_texts(), inspector.locator("dd").all_inner_texts(), strict=True))
    assert whole(told["cycles"].split(" ")[0]) == slowest["cycles"]
    opened.locator("#lanes").focus()
    before = shown_range(opened)
    opened.keyboard.press("+")
    opened.wait_for_timeout(200)
    after = shown_range(opened)
    assert after[1] - after[0] < before[1] - before[0]
    opened.close()
