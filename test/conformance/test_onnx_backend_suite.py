"""ONNX's own backend tests, compiled and simulated: of each operator a test that passes, and all that are refused.

`bench/conformance.py` runs all of them and writes `not_passing.json`, the tests that do not pass, with the reasons, and
`sample.json`, the names of the sample.  No test gives wrong numbers.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tilewright import CompileOptions

from ..bench_scripts import bench

conformance = bench("conformance")


NOT_PASSING: dict[str, str] = json.loads(conformance.EXPECTED.read_text())
"""Reasons by test."""

SAMPLE: list[str] = json.loads(conformance.SAMPLE.read_text())
"""Names of a file, as it takes seconds to make all tests, which workers that run none of these need not do."""

FIRST_WAY = CompileOptions(gap=1000.0)
"""Any program is near enough to the bound: of the operators' long chains one is made, not twenty to choose from."""

REQUIRED = 1860
"""How many tests of the suite must pass."""


def test_the_sample_has_the_smallest_test_of_each_operator() -> None:
    assert conformance.sample(NOT_PASSING) == SAMPLE, "run bench/conformance.py --update"


@pytest.mark.parametrize("name", SAMPLE)
def test_simulated(name: str) -> None:
    outcome = conformance.run_case(name, options=FIRST_WAY)
    assert outcome.kind == ("refused" if name in NOT_PASSING else "pass"), outcome.reason


@pytest.mark.parametrize("name", [n for n in SAMPLE if n not in NOT_PASSING])
def test_interpreted(name: str) -> None:
    outcome = conformance.run_case(name, interpret=True)
    assert outcome.kind == "pass", outcome.reason


def test_what_is_refused_is_refused_for_the_reason_in_the_list() -> None:
    """But for tests of other rounding, which compile."""
    names = [name for name in NOT_PASSING if name not in conformance.ROUNDING]
    found = {name: conformance.run_case(name, options=FIRST_WAY) for name in names}
    assert {name: outcome.reason[:160] for name, outcome in found.items()} == {n: NOT_PASSING[n] for n in names}
    assert all(outcome.kind == "refused" for outcome in found.values())


def test_enough_pass() -> None:
    assert len(conformance.cases()) - len(NOT_PASSING) >= REQUIRED


def test_the_document_says_what_stays_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = tmp_path / "onnx.md"
    document = conformance.DOCUMENT.read_text()
    written.write_text(document)
    monkeypatch.setattr(conformance, "DOCUMENT", written)
    conformance.write_document()
    assert written.read_text() == document
