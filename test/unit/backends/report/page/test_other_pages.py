"""The pages of `diff` and `sweep` in a browser; skipped as those of the report are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tilewright.backends.report.difference import difference
from tilewright.backends.report.page.pages import write_changes, write_study
from tilewright.driver import RunOptions
from tilewright.mapping import MapOptions, MappedRun, run_mapped

from .conftest import Report

KERNEL = "O[n,k,p] += I[n,c,p+r] * W[k,c,r]; n=1 k=4 c=4 p=6 r=3"


def opened(browser: Any, page: Path, width: int) -> Any:
    """The page, once it is ready; its errors fail the test."""
    found = browser.new_page(viewport={"width": width, "height": 800})
    found.on("pageerror", lambda error: pytest.fail(str(error)))
    found.goto(page.as_uri())
    found.wait_for_selector("html[data-ready]", state="attached")
    assert found.evaluate("document.documentElement.scrollWidth <= innerWidth")
    return found


@pytest.fixture(scope="module")
def mapped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, MappedRun]:
    """The page of a mapping that ran, and the run."""
    folder = tmp_path_factory.mktemp("mapped")
    options = RunOptions(report=folder / "page.html")
    how = MapOptions(mapper="sunstone")
    found = run_mapped(KERNEL, "eyeriss_like", folder=folder, map_options=how, options=options)
    return folder / "page.html", found


@pytest.mark.parametrize("width", [1600, 1000, 600])
def test_a_mapping(browser: Any, mapped: tuple[Path, MappedRun], width: int):
    path, run = mapped
    page = opened(browser, path, width)
    assert page.locator(".card .value").first.inner_text() == f"{run.cycles:,} cycles"
    bars = page.locator(".bars").first.locator(".value").all_inner_texts()
    assert len(bars) == 2 * sum(pj > 0 for pj in run.simulation.prices.energy_by_component_pj.values())
    words = [tuple(row.locator("td").all_inner_texts()[:3]) for row in page.locator("#table tbody tr").all()]
    assert words == [
        (memory, tensor, f"{found['reads']:,}")
        for memory, one in reversed(run.counted.items())
        for tensor, found in one["tensors"].items()
    ]
    page.keyboard.press("/")
    page.keyboard.type("dram")
    assert {row[0] for row in words if row[0] == "DRAM"} == {page.locator("#table tbody td").first.inner_text()}
    page.locator("#filter").blur()
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()


@pytest.mark.parametrize("width", [1600, 1000, 600])
def test_changes(browser: Any, report: Report, tmp_path: Path, width: int):
    first, *others = report.answer["layers"]
    other = {**report.answer, "cycles": 2 * report.answer["cycles"], "layers": [{**first, "cycles": 7}, *others]}
    write_changes(tmp_path / "diff.html", {"a": "before", "b": "after", **difference(report.answer, other)})
    page = opened(browser, tmp_path / "diff.html", width)
    assert page.locator(".card .value").first.inner_text() == "+100.0 %"
    cells = page.locator("#table tbody tr").first.locator("td").all_inner_texts()
    assert cells[:4] == [first["name"], "cycles", f"{first['cycles']:,}", "7"]
    page.fill("#filter", "no layer")
    assert page.locator("#table tbody tr").count() == 0


MACHINES = [
    {
        "attributes": {"GBUF.depth": depth, "DRAM.bandwidth": speed},
        **{"cycles": 1e6 / speed, "energy_pj": 1e9, "dram_bytes": 1e6, "room": depth + speed},
    }
    for depth in (4096, 8192)
    for speed in (16, 32)
]


@pytest.mark.parametrize("width", [1600, 1000, 600])
def test_a_study(browser: Any, tmp_path: Path, width: int):
    counts = {"name": "study", "points": 4, "done": 4, "failed": 0, "objectives": ["cycles", "room"], "rows": []}
    write_study(tmp_path / "study.html", {**counts, "machines": MACHINES, "front": [MACHINES[1], MACHINES[0]]})
    page = opened(browser, tmp_path / "study.html", width)
    assert page.locator("#picture rect").count() == 2
    assert page.locator("#picture circle").count() == 2
    assert page.locator("#map tbody tr").first.locator("td").all_inner_texts() == ["4,096", "62,500", "31,250"]
    page.select_option("#up", "room")
    assert page.locator("#picture svg").get_attribute("aria-label") == "room over room"
    rows = page.locator("#table tbody tr")
    assert [row.locator("td").first.inner_text() for row in rows.all()].count("\u25a0") == 2


def test_a_study_without_machines(browser: Any, tmp_path: Path):
    counts = {"name": "study", "points": 1, "done": 1, "failed": 1, "objectives": ["cycles"], "rows": []}
    write_study(tmp_path / "study.html", {**counts, "machines": [], "front": []})
    page = opened(browser, tmp_path / "study.html", 1000)
    assert page.locator(".card .value").all_inner_texts() == ["1", "1", "1", "0"]
