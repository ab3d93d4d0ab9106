"""Files of schedules: what `tilewright price-schedule` answers, and errors."""

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.costs.notation.price_file import (
    parse_fusion,
    parse_transfers,
    price_schedule_document,
    price_schedule_file,
    soma_parsed,
)
from tilewright.costs.soma import hardware
from tilewright.errors import TilewrightError
from tilewright.zoo.schedule_networks import schedule_network

SAMPLE = Path(__file__).parents[4] / "test/data/soma_sample.json"


def document() -> Any:
    return json.loads(SAMPLE.read_text())


def test_keys(tmp_path: Path):
    path = tmp_path / "runs.json"
    path.write_text(SAMPLE.read_text())
    answer: Any = price_schedule_file(path)
    assert answer["model"] == "soma"
    result = answer["results"][0]
    assert (result["network"], result["batch"]) == ("gpt2_small_decode", 1)
    for stage in ("stage1", "stage2"):
        assert {"latency_cycles", "energy_pj", "max_buffer_bytes", "dram_tensors", "valid"} <= set(result[stage])
    json.dumps(answer)


def test_encodings_are_read():
    run = document()["runs"][1]
    first, second = run["stage1"]["enc"], run["stage2"]["enc"]
    fusion = parse_fusion(first)
    assert list(fusion.order) == first["layer_order_to_id"]
    assert list(fusion.groups) == first["layer_group_partition"]
    assert list(fusion.cuts) == first["sub_layer_group_partition"]
    assert list(fusion.tiles) == first["tile_numbers"]
    found = soma_parsed(schedule_network("gpt2_small_prefill"), hardware(8, 1, 4, 256, 512), fusion, 1)
    order, start, end = (list(np.asarray(column)) for column in parse_transfers(second, found))
    assert order == second["tile_tensor_order"]
    assert [list(life) for life in zip(start, end, strict=True)] == second["tensor_times"]


def test_a_fusion_alone():
    run = document()["runs"][0]
    answer: Any = price_schedule_document({"runs": [{"args": run["args"], "enc": run["stage1"]["enc"]}]})
    assert answer["results"][0]["stage1"]["latency_cycles"] == run["stage1"]["latency"]
    assert "stage2" not in answer["results"][0]


def test_partitions_may_be_null():
    run = copy.deepcopy(document()["runs"][0])
    run["stage1"]["enc"] |= {"layer_group_partition": None, "sub_layer_group_partition": None, "tile_numbers": [1]}
    del run["stage2"]
    answer: Any = price_schedule_document({"runs": [run]})
    assert (answer["results"][0]["stage1"]["layer_groups"], answer["results"][0]["stage1"]["fused_groups"]) == (1, 1)


def test_an_illegal_schedule_has_no_times():
    data = document()
    data["runs"][0]["stage2"]["enc"]["tile_tensor_order"].reverse()
    answer: Any = price_schedule_document(data)
    stage = answer["results"][0]["stage2"]
    assert stage["valid"] is False
    assert stage["latency_cycles"] is None
    assert stage["violations"] == ["a tile waits for a transfer that may begin only after it"]
    assert answer["results"][1]["stage2"]["valid"] is True


def test_a_small_buffer_is_a_violation():
    data = document()
    data["runs"][0]["args"] = "107 2 513 1 4 1 1 4 256 512 1"
    stage: Any = price_schedule_document(data)["results"]
    assert stage[0]["stage1"]["valid"]
    assert stage[0]["stage2"]["violations"] == ["4723200 bytes of buffer where there are 4194304"]


def test_order_of_arguments_is_the_files():
    data = document()
    data["arg_order"] = "batch net seq bufMB bwratio pedim l2bw macs"
    data["runs"] = [data["runs"][0] | {"args": "1 107 513 8 1 4 256 512"}]
    answer: Any = price_schedule_document(data)
    assert answer["results"][0]["stage1"]["latency_cycles"] == 514588


def broken(*path: str | int, value: object) -> Any:
    """The sample with `value` at `path`."""
    data = document()
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "file: expected an object"),
        ({"runs": 3}, "file: runs: expected a list"),
        ({"runs": [4]}, r"runs\[0\]: expected an object"),
        ({"runs": [{}]}, r"runs\[0\].args: expected the command line as text"),
        (broken("arg_order", value=3), "the command line as text"),
        (broken("runs", 0, "args", value="107 2"), "no bufMB, batch"),
        (broken("runs", 0, "args", value="107 2 x 1 8 1 1 4 256 512 1"), "seq: expected a number, found x"),
        (broken("runs", 0, "args", value="3 2 513 1 8 1 1 4 256 512 1"), "net: expected a known network"),
        (broken("runs", 0, "args", value="2.5 2 513 1 8 1 1 4 256 512 1"), "net: expected an integer"),
        (broken("runs", 0, "args", value="nan 2 513 1 8 1 1 4 256 512 1"), "net: expected an integer"),
        (broken("runs", 0, "args", value="107 2 1 1 8 1 1 4 256 512 1"), "at least 2 tokens"),
        (broken("runs", 0, "args", value="107 2 513 2 8 1 1 4 256 512 1"), "nseg: expected 1"),
        (
            broken("runs", 0, "args", value="107 2 513 1 8 99999 1 4 256 512 1"),
            "batch: expected an integer from 1 to 1024",
        ),
        (broken("runs", 0, "args", value="107 2 513 1 8 1 1 4 256 511 1"), r"runs\[0\].args: MACs of a core"),
        (broken("runs", 0, "stage1", value=None), "stage1: expected an object"),
        (broken("runs", 0, "stage1", "enc", value=None), "stage1.enc: expected an object"),
        (broken("runs", 0, "stage1", "enc", "tile_numbers", value=[1, 1]), "3 tile counts"),
        (
            broken("runs", 0, "stage1", "enc", "tile_numbers", value=[1, True, 1]),
            r"tile_numbers\[1\]: expected an integer",
        ),
        (
            broken("runs", 0, "stage1", "enc", "tile_numbers", value=[1, 1, 64]),
            r"runs\[0\]: layer 41 .*use fewer tiles",
        ),
        (broken("runs", 0, "stage1", "enc", "layer_order_to_id", 0, value=5), "an order of the 42 layers"),
        (broken("runs", 0, "stage2", "enc", value=None), "stage2.enc: expected an object"),
        (broken("runs", 0, "stage2", "enc", "tensor_times", value=[]), "63 lives, one per tensor"),
        (
            broken("runs", 0, "stage2", "enc", "tensor_times", 2, value=[3]),
            r"tensor_times\[2\]: expected \[start, end\]",
        ),
        (broken("runs", 0, "stage2", "enc", "tensor_times", 2, value=[3, 99]), "-1 <= start < end <= 42"),
        (broken("runs", 0, "stage2", "enc", "tile_tensor_order", 0, value=1), "each of the 22 tensors"),
    ],
)
def test_malformed_files(data: object, message: str):
    with pytest.raises(TilewrightError, match=message):
        price_schedule_document(data)


def test_unreadable_files(tmp_path: Path):
    with pytest.raises(TilewrightError, match="no such file"):
        price_schedule_file(tmp_path / "none.json")
    broken_file = tmp_path / "broken.json"
    broken_file.write_text("{")
    with pytest.raises(TilewrightError, match="expected JSON"):
        price_schedule_file(broken_file)
    broken_file.write_text("[" * 100000)
    with pytest.raises(TilewrightError, match="expected JSON"):
        price_schedule_file(broken_file)
