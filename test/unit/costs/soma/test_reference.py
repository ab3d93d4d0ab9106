"""Prices of the tool's own schedules: its numbers, every one."""

import json
from pathlib import Path
from typing import Any

import pytest

from tilewright.costs.notation.price_file import price_schedule_document

ROOT = Path(__file__).parents[4]
SAMPLE = ROOT / "test/data/soma_sample.json"
FULL = ROOT.parent / "shared/data/soma_results.json"


def check(stage: Any, expected: Any, tensors: int) -> None:
    assert stage["latency_cycles"] == expected["latency"]
    assert stage["max_buffer_bytes"] == expected["max_buffer"]
    assert stage["dram_tensors"] == tensors
    assert stage["energy_pj"] == pytest.approx(expected["energy"], rel=1e-9)
    assert stage["mean_buffer_bytes"] == pytest.approx(expected["avg_buffer"], rel=1e-9)
    assert stage["valid"]
    assert stage["violations"] == []


def check_document(document: Any) -> None:
    answer: Any = price_schedule_document(document)
    assert len(answer["results"]) == len(document["runs"])
    for result, run in zip(answer["results"], document["runs"], strict=True):
        tensors = run["stage1"]["dram_tensors"]
        check(result["stage1"], run["stage1"], tensors)
        assert result["stage1"]["compute_cycles"] == run["ideal"]["sum_compute"]
        assert result["stage1"]["dram_cycles"] == run["ideal"]["sum_dram"]
        assert ("stage2" in result) == ("stage2" in run)
        if "stage2" in run:
            check(result["stage2"], run["stage2"], tensors)


def test_sample():
    check_document(json.loads(SAMPLE.read_text()))


@pytest.mark.skipif(not FULL.is_file(), reason="the full reference is not beside the checkout")
def test_all_runs():
    document = json.loads(FULL.read_text())
    check_document(document)
    for run in document["runs"]:
        answer: Any = price_schedule_document({"runs": [run], "arg_order": document["arg_order"]})
        places, expected = answer["results"][0]["stage1"]["energy_by_place_pj"], run["energy_breakdown"]
        assert places["buffer"] == pytest.approx(expected["ubuf_energy"], rel=1e-9)
        assert places["core"] == pytest.approx(expected["buffer_energy"], rel=1e-9)
        assert places["arithmetic"] == pytest.approx(expected["mac_energy"], rel=1e-9)
        assert places["dram"] == expected["dram_energy"]


@pytest.mark.skipif(not FULL.is_file(), reason="the full reference is not beside the checkout")
def test_all_runs_of_the_baseline():
    """The reconstructed baseline has a fusion only, beside the run's numbers."""
    document = json.loads(FULL.read_text())
    runs = document["cocco_reconstruction"]
    answer: Any = price_schedule_document({"runs": runs, "arg_order": document["arg_order"]})
    for result, run in zip(answer["results"], runs, strict=True):
        check(result["stage1"], run, run["dram_tensors"])
        assert result["stage1"]["tiles"] == run["compute_tiles"]
