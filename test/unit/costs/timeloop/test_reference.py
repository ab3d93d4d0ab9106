"""Agreement with counts that timeloop-model printed."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tilewright.costs.hierarchy import parse_architecture, parse_mapping, parse_problem
from tilewright.costs.price_file import price_file
from tilewright.costs.timeloop import price_batch

ROOT = Path(__file__).parents[4]
SAMPLE = ROOT / "test" / "data" / "timeloop_sample.json"
FULL = ROOT.parent / "shared" / "data" / "timeloop_ref.json"


def check(result: Mapping[str, Any], stats: Mapping[str, Any]):
    assert result["valid"] == stats["valid"]
    assert result["cycles"] == stats["cycles"]
    assert result["energy_pJ"] == pytest.approx(stats["energy_pJ"], rel=1e-9)
    for level, expected in stats["levels"].items():
        tensors = result["levels"][level]["tensors"]
        assert tensors.keys() == expected["tensors"].keys()
        for name, counts in expected["tensors"].items():
            assert {k: tensors[name][k] for k in ("reads", "fills", "updates")} == {
                k: counts[k] for k in ("reads", "fills", "updates")
            }


def entries(path: Path) -> list[Any]:
    data = json.loads(path.read_text())
    return data["random_mappings"] + data["link_transfer_mappings"]


@pytest.mark.parametrize(
    "path", [SAMPLE, pytest.param(FULL, marks=pytest.mark.skipif(not FULL.exists(), reason="no reference data"))]
)
def test_prices_equal_the_reference(path: Path):
    results: Any = price_file(path, "timeloop")["results"]
    expected = entries(path)
    assert len(results) == len(expected)
    for result, entry in zip(results, expected, strict=True):
        check(result, entry["stats"])


@pytest.mark.skipif(not FULL.exists(), reason="no reference data")
def test_networks_and_switched_off_links_equal_the_reference():
    data = json.loads(FULL.read_text())
    for entry in entries(FULL):
        if "stats_no_link_transfers" not in entry or entry["problem"] not in data["problems"]:
            continue
        arch = parse_architecture(data["archs"][entry["arch"]])
        problem = parse_problem(data["problems"][entry["problem"]])
        mapping = parse_mapping(entry["mapping"], arch, problem)
        for links, key in ((True, "stats"), (False, "stats_no_link_transfers")):
            prices = price_batch(arch, problem, [mapping], link_transfers=links)
            assert prices.cycles[0] == entry[key]["cycles"]
            assert prices.energy_pj[0] == pytest.approx(entry[key]["energy_pJ"], rel=1e-9)
