"""Files of mappings: what `tilewright price` answers, and errors."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from tilewright.costs.hierarchy import Architecture, mapping_as_json, parse_architecture, parse_mapping, parse_problem
from tilewright.costs.price_file import price_document, price_file
from tilewright.errors import TilewrightError

ARCH: dict[str, Any] = {
    "name": "tiny",
    "mac": {"name": "MAC", "instances": 4, "meshX": 2, "word_bits": 16, "energy": 1.0},
    "levels": [
        {"name": "L1", "entries": 16, "instances": 4, "meshX": 2, "energy": 0.5, "read_bandwidth": 2},
        {"name": "DRAM", "entries": None, "instances": 1, "meshX": 1, "block_size": 4, "energy": 60, "dram": True},
    ],
}
PROBLEM: dict[str, Any] = {
    "name": "conv1d",
    "dims": {"P": 8, "R": 3},
    "coeffs": {"stride": 2},
    "tensors": [
        {"name": "I", "proj": [[["R", None], ["P", "stride"]]]},
        {"name": "W", "proj": [[["R", None]]]},
        {"name": "O", "write": True, "proj": [[["P", None]]]},
    ],
}
MAPPING: list[dict[str, Any]] = [
    {"target": "DRAM", "temporal": {"P": 2}, "order": ["R", "P"], "bypass": [], "spatial_x": [["P", 2]]},
    {"target": "L1", "temporal": {"R": 3, "P": 2}, "order": ["R", "P"], "bypass": ["W"]},
]


def document() -> Any:
    entry = {"arch": "tiny", "problem": "conv1d", "mapping": MAPPING}
    return copy.deepcopy({"archs": {"tiny": ARCH}, "problems": {"conv1d": PROBLEM}, "random_mappings": [entry]})


def first(answer: dict[str, object]) -> Any:
    results: Any = answer["results"]
    return results[0]


@pytest.mark.parametrize(("model", "inputs", "cycles"), [("timeloop", 20, 12), ("exact", 18, 12 + 1)])
def test_an_answer_has_the_keys_of_the_reference(model: str, inputs: int, cycles: int, tmp_path: Path):
    path = tmp_path / "mappings.json"
    path.write_text(json.dumps(document()))
    result = first(price_file(path, model))
    assert result["valid"] is True
    assert result["violations"] == []
    assert result["energy_pj"] == result["energy_pJ"] > 0
    assert result["cycles"] == cycles
    assert set(result["levels"]["L1"]["tensors"]) == {"I", "O"}
    # tiles of 2 outputs read 5 inputs at stride 2; the next tile lies 8 words further: 2 x 5 per child, 2 children;
    # the last word of one child is the first of the other.  A last tile of 2 results leaves L1 in one more cycle
    assert result["levels"]["DRAM"]["tensors"]["I"]["reads"] == inputs
    json.dumps(result)


def test_machines_and_problems_may_stand_in_the_entry():
    data = document()
    expected = price_document(data)
    data["random_mappings"][0] |= {"arch": ARCH, "problem": PROBLEM}
    assert price_document({"random_mappings": data["random_mappings"]}) == expected


def test_sections_are_answered_in_order():
    data = document()
    data["link_transfer_mappings"] = [dict(data["random_mappings"][0], mapping=[])]
    results: Any = price_document(data)["results"]
    assert [result["valid"] for result in results] == [True, False]


@pytest.mark.parametrize(("model", "factor"), [("timeloop", 3), ("timeloop", 1), ("exact", 1)])
def test_wrong_factors_are_a_violation(model: str, factor: int):
    data = document()
    data["random_mappings"][0]["mapping"][0]["temporal"] = {"P": factor}
    result = first(price_document(data, model=model))
    assert not result["valid"]
    assert result["cycles"] is None
    assert result["violations"][0]["message"] == f"all levels: {4 * factor} iterations of dimension P, bound 8"


def test_factors_may_exceed_a_bound():
    data = document()
    data["random_mappings"][0]["mapping"][0]["temporal"] = {"P": 3}
    assert first(price_document(data))["valid"]


def test_a_known_target_goes_before_the_machine_of_the_file():
    other = parse_architecture(ARCH | {"mac": ARCH["mac"] | {"energy": 100.0}})

    def find(name: str) -> Architecture | None:
        return other if name == "tiny" else None

    known = first(price_document(document(), find_target=find))
    assert known["energy_pj"] - first(price_document(document()))["energy_pj"] == pytest.approx(24 * 99.0)


def test_a_problem_of_no_list_is_a_layer_with_unit_stride():
    data = document()
    data["random_mappings"][0] = {
        "arch": "tiny",
        "problem": "elsewhere",
        "mapping": [
            {"target": "DRAM", "temporal": {"K": 2, "P": 4}, "order": ["K", "P"]},
            {"target": "L1", "temporal": {"R": 3}, "order": ["R"]},
        ],
    }
    result = first(price_document(data, model="timeloop"))
    assert result["macs"] == 24
    assert result["levels"]["DRAM"]["tensors"]["Inputs"]["partition_size"] == 6


def test_mappings_are_written_as_they_are_read():
    arch, problem = parse_architecture(ARCH), parse_problem(PROBLEM)
    mapping = parse_mapping(MAPPING, arch, problem)
    assert parse_mapping(json.loads(json.dumps(mapping_as_json(arch, problem, mapping))), arch, problem) == mapping


def put(path: str, value: object) -> Any:
    """The document with one value replaced."""
    data = document()
    *parents, last = [int(step) if step.isdigit() else step for step in path.split("/")]
    place = data
    for step in parents:
        place = place[step]
    place[last] = value
    return data


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("random_mappings", {}, "file: random_mappings: expected a list"),
        ("random_mappings/0", 3, "expected an object, found 3"),
        ("random_mappings/0/arch", "none", r"expected one of the file's archs \(tiny\), found none"),
        ("random_mappings/0/problem", None, "problem: expected a name, found nothing"),
        ("random_mappings/0/mapping/0/target", "L9", "expected one entry per level of tiny at most, found L9"),
        ("random_mappings/0/mapping/0/target", "L1", "expected one entry per level of tiny at most, found L1"),
        ("random_mappings/0/mapping/0/temporal", {"Q": 2}, "order: expected each of Q once"),
        ("random_mappings/0/mapping/0/order", ["P", "P"], "order: expected each of P once"),
        ("random_mappings/0/mapping/0/temporal/P", 0, "expected an integer from 1 to"),
        ("random_mappings/0/mapping/0/temporal/P", True, "expected an integer from 1 to"),
        ("random_mappings/0/mapping/0/spatial_x", [["P"]], r"expected \[dimension, factor\]"),
        ("random_mappings/0/mapping/0/spatial_x", [["P", 1 << 20]], "expected at most 65536 spatial children"),
        ("random_mappings/0/mapping/0/spatial_y", [["X", 2]], "expected a dimension of conv1d"),
        ("random_mappings/0/mapping/1/bypass", ["X"], "expected tensors of conv1d, found X"),
        ("random_mappings/0/mapping/1/bypass", [{}], "expected tensors of conv1d, found {}"),
        ("archs/tiny/levels", [], "expected at least one level"),
        ("archs/tiny/levels/0/energy", "much", "expected a finite number, zero or more, found much"),
        ("archs/tiny/levels/0/energy", float("nan"), "expected a finite number"),
        ("archs/tiny/levels/0/read_bandwidth", 0, "expected a bandwidth of at least 1e-09"),
        ("archs/tiny/levels/0/read_bandwidth", 1e-308, "expected a bandwidth of at least 1e-09"),
        ("archs/tiny/levels/0/multiple_buffering", 0.5, "expected at least 1"),
        ("archs/tiny/levels/0/instances", 3, "expected instances that fill rows of meshX"),
        ("archs/tiny/levels/1/instances", 3, "expected instances and meshX that divide"),
        ("archs/tiny/mac", None, "archs.tiny.mac: expected an object, found nothing"),
        ("problems/conv1d/dims", {"P": 1 << 32}, "expected at most 32 dimensions"),
        ("problems/conv1d/coeffs", {}, "expected a coefficient listed in coeffs"),
        ("problems/conv1d/tensors/0/proj/0/0", ["Z", None], "with a dimension of P, R"),
        ("problems/conv1d/tensors/0/proj", [[]] * 17, "expected at most 16 axes"),
        ("problems/conv1d/tensors/2/write", False, "exactly one tensor with write: true"),
    ],
)
def test_malformed_files_are_located(path: str, value: object, message: str):
    with pytest.raises(TilewrightError, match=message):
        price_document(put(path, value))


def test_an_unknown_problem_with_other_dimensions_is_located():
    data = put("random_mappings/0/problem", "none")
    data["random_mappings"][0]["mapping"][0]["temporal"] = {"X": 2}
    with pytest.raises(TilewrightError, match=r"expected one of the file's problems \(conv1d\), or a cnn-layer"):
        price_document(data)


@pytest.mark.parametrize(
    ("content", "message"),
    [("{", "expected JSON"), ("[" * 100_000, "expected JSON"), ("[]", "an object"), ("{}", "random_mappings")],
)
def test_files_of_another_kind_are_refused(tmp_path: Path, content: str, message: str):
    path = tmp_path / "x.json"
    path.write_text(content)
    with pytest.raises(TilewrightError, match=message):
        price_file(path)


def test_missing_files_and_unknown_models_are_refused(tmp_path: Path):
    with pytest.raises(TilewrightError, match="no such file"):
        price_file(tmp_path / "none.json")
    with pytest.raises(TilewrightError, match="model best: expected one of exact, timeloop"):
        price_file(tmp_path / "none.json", model="best")
