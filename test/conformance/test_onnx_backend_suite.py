"""ONNX's own backend tests, compiled and simulated: of each operator a test that passes, and one that is refused.

`bench/conformance.py` runs all of them and writes `not_passing.json`, the tests that do not pass, with the reasons; the
sample here finds that list exact.  No test gives wrong numbers.
"""

from __future__ import annotations

import json
from functools import cache
from math import prod
from pathlib import Path

import pytest
from onnx import ModelProto

from tilewright import CompileOptions

from ..bench_scripts import bench

conformance = bench("conformance")


NOT_PASSING: dict[str, str] = json.loads((Path(__file__).parent / "not_passing.json").read_text())
"""Reasons by test."""

SLOW = ("Attention", "LinearAttention", "GridSample", "FlexAttention")
"""Operators of which the smallest test takes seconds; the networks of the test suite have products and softmax, too."""

FIRST_WAY = CompileOptions(gap=1000.0)
"""Any program is near enough to the bound: of the operators' long chains one is made, not twenty to choose from."""

REQUIRED = 1860
"""How many tests of the suite must pass."""


@cache
def sample() -> tuple[str, ...]:
    """The smallest test of each operator that passes, and the smallest that does not."""
    chosen: dict[tuple[str, bool], tuple[int, str]] = {}
    for name, case in conformance.cases().items():
        operator, passes = conformance.operator_of(case), name not in NOT_PASSING
        if not passes or operator not in SLOW:
            found = elements(conformance.model_of(case)), name
            chosen[operator, passes] = min(found, chosen.get((operator, passes), found))
    return tuple(name for _, name in chosen.values())


def elements(model: ModelProto) -> int:
    """How many numbers go into a model and come out, as far as it says."""
    tensors = (value.type.tensor_type for value in (*model.graph.input, *model.graph.output))
    return sum(prod(dim.dim_value for dim in tensor.shape.dim) for tensor in tensors)


@pytest.mark.parametrize("name", sample())
def test_simulated(name: str) -> None:
    outcome = conformance.run_case(name, options=FIRST_WAY)
    assert outcome.kind == ("refused" if name in NOT_PASSING else "pass"), outcome.reason


@pytest.mark.parametrize("name", [n for n in sample() if n not in NOT_PASSING])
def test_interpreted(name: str) -> None:
    outcome = conformance.run_case(name, interpret=True)
    assert outcome.kind == "pass", outcome.reason


def test_the_list_has_reasons_and_known_names() -> None:
    assert set(NOT_PASSING) <= set(conformance.cases())
    assert all(len(reason) > 10 for reason in NOT_PASSING.values())


def test_enough_pass() -> None:
    assert len(conformance.cases()) - len(NOT_PASSING) >= REQUIRED


def test_the_document_says_what_stays_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = tmp_path / "onnx.md"
    document = conformance.DOCUMENT.read_text()
    written.write_text(document)
    monkeypatch.setattr(conformance, "DOCUMENT", written)
    conformance.write_document()
    assert written.read_text() == document
