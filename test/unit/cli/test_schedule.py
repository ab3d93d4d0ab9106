"""`tilewright schedule`: the keys of its answer, its errors, its picture."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import onnx
import pytest

from tilewright.cli import main

from ...onnx_files.networks import mobilenet


def answer(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    assert main(["schedule", *arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("model", ["exact", "soma"])
def test_answer(model: str, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    picture = tmp_path / "schedule.svg"
    arguments = ("gpt2_small_decode", "--tokens", "65", "--model", model, "--rounds", "50", "-o", str(picture))
    found = answer(capsys, *arguments)
    bound, plain = found["lower_bound"], found["stage1"]
    assert bound["latency_cycles"] <= found["latency_cycles"] <= plain["latency_cycles"]
    assert bound["energy_pj"] <= found["energy_pj"]
    assert bound["dram_bytes"] <= found["dram_bytes"]
    assert found["gap"] == pytest.approx(found["latency_cycles"] / bound["latency_cycles"] - 1)
    assert max(found["compute_cycles"], found["dram_cycles"]) <= found["latency_cycles"]
    assert found["max_buffer_bytes"] <= 8 << 20
    assert {"layer_groups", "fused_groups", "tiles", "cpu_s", "wall_s"} <= set(found)
    assert answer(capsys, *arguments)["latency_cycles"] == found["latency_cycles"]
    shapes = [item.tag.split("}")[1] for item in ElementTree.fromstring(picture.read_text()).iter()]
    assert shapes.count("rect") > found["tiles"] + found["dram_tensors"]


def test_a_model_file(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    onnx.save(mobilenet(size=32, width=0.25), tmp_path / "model.onnx")
    trace = tmp_path / "trace.json"
    found = answer(capsys, str(tmp_path / "model.onnx"), "--batch", "2", "--rounds", "20", "--trace", str(trace))
    assert found["batch"] == 2
    assert found["lower_bound"]["latency_cycles"] <= found["latency_cycles"]
    slices = [event for event in json.loads(trace.read_text())["traceEvents"] if event["ph"] == "X"]
    assert len(slices) >= found["tiles"] + found["dram_tensors"]


def test_table(capsys: pytest.CaptureFixture[str]):
    assert main(["schedule", "gpt2_small_decode", "--tokens", "9", "--rounds", "10"]) == 0
    shown = capsys.readouterr().out
    assert "gpt2_small_decode, batch 1" in shown
    assert "above the least of any schedule of the model; binding:" in shown


@pytest.mark.parametrize(
    ("arguments", "code", "kind"),
    [
        (("nonsense",), 1, "network"),
        (("resnet50", "--batch", "0"), 2, "usage"),
        (("resnet50", "--seed", "-1"), 2, "usage"),
        (("resnet50", "--time-limit", "0"), 2, "usage"),
        (("resnet50", "--energy-power", "nan"), 2, "usage"),
        (("resnet50", "--target", "tiny"), 1, "target"),
        (("no_such.onnx",), 1, "model"),
        (("resnet50", "--batch", "100000"), 1, "schedule"),
    ],
)
def test_errors(arguments: tuple[str, ...], code: int, kind: str, capsys: pytest.CaptureFixture[str]):
    assert answer(capsys, *arguments, code=code)["error"]["kind"] == kind
