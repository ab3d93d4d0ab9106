"""A small network as a compiled folder, its run, and the page about it."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import onnx
import pytest

import tilewright
from tilewright.backends.program import Program, load_program
from tilewright.backends.report.page import write_report
from tilewright.backends.simulator import SimulationResult

from .....networks.patterns import residual


class Report(NamedTuple):
    """A compiled folder with its page."""

    folder: Path
    page: Path
    program: Program
    result: SimulationResult
    answer: dict[str, Any]

    def embedded(self) -> dict[str, Any]:
        """The answer that the page holds."""
        found = re.search(
            r'<script type="application/json" id="answer">(.*?)</script>', self.page.read_text(), re.DOTALL
        )
        assert found is not None
        return json.loads(found[1])


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    place = tmp_path_factory.mktemp("report")
    onnx.save(residual(16, 32), place / "residual.onnx")
    folder = tilewright.compile(place / "residual.onnx").save(place / "compiled")
    program = load_program(folder)
    result = tilewright.simulate(program, functional=False, checks=False)
    answer = write_report(place / "page.html", program, result, program.title)
    return Report(folder, place / "page.html", program, result, answer)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium; tests that use it are skipped where Playwright or Chromium is missing."""
    tools = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed (pip install playwright)")
    with tools.sync_playwright() as started:
        path = shutil.which("chromium") or shutil.which("chromium-browser") or started.chromium.executable_path
        if not Path(path).exists():
            pytest.skip("no Chromium is installed (apt-get install chromium, or playwright install chromium)")
        found = started.chromium.launch(executable_path=path, args=["--no-sandbox"])  # containers run as root
        yield found
        found.close()
