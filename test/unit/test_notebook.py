"""The notebook runs, and shows what the calls answer; skipped where marimo is missing."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

import tilewright

NOTEBOOK = Path(__file__).parents[2] / "docs/notebooks/explore.py"


def test_the_notebook_runs():
    pytest.importorskip("marimo", reason="marimo is not installed (pip install 'tilewright[notebook]')")
    spec = spec_from_file_location("explore", NOTEBOOK)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    outputs, defined = module.app.run()
    program: Any = tilewright.compile(defined["model"].value, "edge16:DRAM.bandwidth=16,MXU.instances_x=4")
    assert defined["answer"]["cycles"] == program.predicted["cycles"]
    rows = {row["B/cycle"]: row["cycles"] for row in defined["swept"]}
    assert rows[16] == program.predicted["cycles"]
    assert list(rows.values()) == sorted(rows.values(), reverse=True)
    assert any("<svg" in output.text for output in outputs if output is not None and hasattr(output, "text"))
