"""`tilewright networks` and `tilewright partition`: keys, totals, errors."""

import json
from pathlib import Path
from typing import Any

import onnx
import pytest

from tilewright.cli import main
from tilewright.zoo.paper_networks import NAMES

from ...onnx_files.networks import mobilenet


def answer(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    assert main([*arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_networks(capsys: pytest.CaptureFixture[str]):
    rows = answer(capsys, "networks")["networks"]
    assert [row["name"] for row in rows] == list(NAMES)
    vgg = next(row for row in rows if row["name"] == "vgg16")
    assert (vgg["layers"], vgg["weight_bytes"]) == (21, 138344128)
    assert main(["networks", "--only", "schedule"]) == 0
    assert "resnet101" in capsys.readouterr().out


def test_partition_adds_up(capsys: pytest.CaptureFixture[str]):
    found = answer(capsys, "partition", "googlenet", "--method", "greedy")
    groups = found["groups"]
    assert sum(len(group["layers"]) for group in groups) == 72
    parts = ("weight_bytes", "input_bytes", "output_bytes")
    assert found["ema_bytes"] == found["cost"] == sum(group[part] for group in groups for part in parts)
    assert found["energy_pj"] == pytest.approx(sum(group["energy_pj"] for group in groups))
    assert found["latency_cycles"] == sum(group["latency_cycles"] for group in groups)
    assert found["lower_bound"] <= found["ema_bytes"]
    assert found["gap"] == pytest.approx(found["ema_bytes"] / found["lower_bound"] - 1)
    assert 0 < found["bandwidth"]["average_bytes_per_cycle"] <= found["bandwidth"]["peak_bytes_per_cycle"]
    assert not found["proven"]
    assert found["evaluations"] > 100
    assert found["cpu_s"] > 0


def test_bandwidth_on_average_is_at_most_the_most_of_a_single_group(capsys: pytest.CaptureFixture[str]):
    """The weights of the first group come before it."""
    speed = answer(capsys, "partition", "operator:conv")["bandwidth"]
    assert speed["average_bytes_per_cycle"] == speed["peak_bytes_per_cycle"] > 0


def test_alpha_weighs_the_metric_against_the_buffers(capsys: pytest.CaptureFixture[str]):
    found = answer(capsys, "partition", "googlenet", "--method", "greedy", "--alpha", "0.5")
    assert found["cost_with_buffers"] == 1024 * (1024 + 1152) + 0.5 * found["cost"]
    error = answer(capsys, "partition", "googlenet", "--alpha", "0", code=2)["error"]
    assert error["subject"] == "--alpha"


def test_jobs_search_from_several_seeds(capsys: pytest.CaptureFixture[str]):
    arguments = ("partition", "googlenet", "--method", "annealing", "--samples", "300", "--global-kib", "64")
    alone = [answer(capsys, *arguments, "--seed", str(seed)) for seed in (4, 5)]
    both = answer(capsys, *arguments, "--seed", "4", "--jobs", "2")
    assert both["ema_bytes"] == min(found["ema_bytes"] for found in alone)
    assert both["samples"] == sum(found["samples"] for found in alone)
    error = answer(capsys, *arguments, "--jobs", "2", "--state", "x.json", code=1)["error"]
    assert error["subject"] == "--state"


def test_partition_of_a_model_file(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    path = tmp_path / "small.onnx"
    onnx.save(mobilenet(size=32, width=0.25, classes=10), path)
    found = answer(capsys, "partition", str(path), "--global-kib", "6", "--weight-kib", "40", "--objective", "energy")
    assert found["proven"]
    assert found["cost"] == found["energy_pj"]
    assert len(found["groups"]) > 3
    assert main(["partition", str(path), "--method", "per-layer"]) == 0
    assert "external memory access" in capsys.readouterr().out
    error = answer(capsys, "partition", str(path), "--batch", "2", code=1)["error"]
    assert error["expected"] == "the file's batch of 1"


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (("nonet",), 1, "an .onnx, .tflite or .mlir file, or one of bert_base_block"),
        (("vgg16", "--method", "luck"), 2, "one of ours, genetic"),
        (("vgg16", "--batch", "0"), 2, "at least 1"),
        (("vgg16", "--global-kib", "-1"), 2, "at least 1"),
        (("vgg16", "--time-limit", "0"), 2, "more than 0"),
    ],
)
def test_bad_input(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int, expected: str):
    error = answer(capsys, "partition", *arguments, code=code)["error"]
    assert error["expected"].startswith(expected)


def test_explore(capsys: pytest.CaptureFixture[str]):
    found = answer(capsys, "explore", "vgg16", "--alpha", "0.001")
    assert found["proven"]
    total = found["buffers"]["total_bytes"] + 0.001 * found["energy_pj"]
    assert found["cost"] == pytest.approx(total)
    sizes = [point["global_bytes"] for point in found["front"]]
    assert sizes == sorted(sizes)
    assert main(["explore", "vgg16", "--separate", "--samples", "3000"]) == 0
    assert "cost (formula 2)" in capsys.readouterr().out
    error = answer(capsys, "explore", "vgg16", "--alpha", "0", code=2)["error"]
    assert error["expected"] == "more than 0"


@pytest.mark.parametrize("arguments", [("m.onnx", "--tile-rows", "0"), ("m.onnx", "--tile-rows", "4", "--cores", "2")])
def test_programs_have_rows_and_one_core(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]):
    assert answer(capsys, "partition", *arguments, code=2)["error"]["kind"] == "usage"
