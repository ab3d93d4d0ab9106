"""The page holds the numbers of the run, its layers and its graph, and nothing that a browser would fetch."""

import json
import re
from pathlib import Path

import pytest

from tilewright.backends.report.page import page_of
from tilewright.backends.report.page.summary import graph_of
from tilewright.cli import main
from tilewright.machine.layer_table import LayerSource, Read, layer_source_of

from .conftest import Report


def test_the_page_holds_the_answer(report: Report):
    assert report.embedded() == json.loads(json.dumps(report.answer))


def test_numbers_are_those_of_the_run(report: Report):
    run = json.loads(json.dumps(report.result.as_dict()))
    embedded = report.embedded()
    layers = [{key: value for key, value in layer.items() if key != "waits"} for layer in embedded["layers"]]
    assert {key: embedded[key] for key in run if key != "layers"} == {k: v for k, v in run.items() if k != "layers"}
    assert layers == run["layers"]
    assert embedded["lower_bound"] == report.program.lower_bound
    assert embedded["gap"] == embedded["cycles"] / embedded["lower_bound"]["cycles"] - 1


def test_the_command_answers_with_the_same(report: Report, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    page = tmp_path / "other.html"
    assert main(["report", str(report.folder), "-o", str(page), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert {key: answer[key] for key in report.answer} == report.embedded()
    assert page.read_text() == report.page.read_text()


def test_a_run_writes_the_page_of_its_numbers(report: Report, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    page = tmp_path / "run.html"
    assert main(["run", str(report.folder), "-o", str(tmp_path / "out"), "--report", str(page), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["report"] == str(page)
    assert page.read_text() == report.page.read_text()


def test_levers_are_those_of_explain(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = str(tmp_path / "kernel")
    assert main(["compile", "O[m,n] += A[m,k] * B[k,n]; m=100 n=40 k=60", "-o", folder, "--json"]) == 0
    capsys.readouterr()
    assert main(["explain", folder, "--json"]) == 0
    explained = json.loads(capsys.readouterr().out)
    assert main(["report", folder, "--explain", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["levers"] == explained["levers"]
    assert [layer["levers"] for layer in answer["layers"]] == [layer["levers"] for layer in explained["layers"]]


def test_layers_add_up(report: Report):
    answer = report.answer
    for key in ("cycles", "dram_bytes", "instructions"):
        assert sum(layer[key] for layer in answer["layers"]) == answer[key]
    for name, count in answer["counts"]["memories"].items():
        moved = sum(layer["memory_bytes"][name] for layer in answer["layers"])
        assert moved == count["read_bytes"] + count["write_bytes"]


@pytest.mark.parametrize("target", ["tiny", "cocco_npu", "cloud128", "dnnweaver", "hvx"])
def test_every_machine_has_a_page(target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    kernel = "O[m,n] += A[m,k] * B[k,n]; m=8 n=16 k=8"
    page = str(tmp_path / "page.html")
    assert main(["run", kernel, "--target", target, "-o", str(tmp_path), "--report", page, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["report"] == page
    assert f"on {target}" in (tmp_path / "page.html").read_text()


def test_the_graph_is_the_network(report: Report):
    """Two bottlenecks: both sums read the map before the bottleneck and the map within it."""
    graph = report.answer["graph"]
    names = [box["name"] for box in graph["boxes"]]
    assert names[0] == "input 1x3x32x32xf32"
    assert {box["layer"] for box in graph["boxes"][1:]} == set(range(len(report.answer["layers"])))
    read = [sum(edge["target"] == number for edge in graph["edges"]) for number in range(len(names))]
    assert read.count(2) == 2
    assert all(edge["source"] < edge["target"] and edge["memory"] == "GBUF" for edge in graph["edges"])


def test_ir_of_each_layer_is_kept_in_the_folder(report: Report):
    assert all({"nest", "codelet"} <= set(source.ir) for source in report.program.sources)
    assert "nest.kernel" in report.program.sources[0].ir["nest"]
    assert "codelet.compute" in report.program.sources[0].ir["codelet"]
    assert report.program.origin["model"].endswith("residual.onnx")


def test_a_source_survives_json():
    source = LayerSource("b", ("b", "r"), (Read("a", "X", "4xf32", 16, "GBUF"),), {"kept": True}, {"nest": "text"})
    assert layer_source_of(json.loads(json.dumps(source.as_dict()))) == source


def test_layers_that_the_program_does_not_know_are_boxes_without_figures():
    sources = [
        LayerSource("a", ("a",), (Read("", "X", "4xf32", 16),)),
        LayerSource("b", ("b",), (Read("a", "X", "4xf32", 16),)),
    ]
    graph = graph_of(sources, [["b"]])
    assert [(box["name"], box["layer"]) for box in graph["boxes"]] == [("input 4xf32", None), ("a", None), ("b", 0)]
    assert [(edge["source"], edge["target"]) for edge in graph["edges"]] == [(0, 1), (1, 2)]


def test_the_page_needs_no_network(report: Report):
    text = report.page.read_text()
    assert not re.search(r"(src|href)=[\"'](?!#)", text)
    assert not re.search(r"@import|url\(|https?://(?!www\.w3\.org/2000/svg)", text)


def test_names_cannot_break_out_of_the_page(report: Report):
    name = "</script><b>&{{STYLE}}"
    page = page_of({**report.answer, "name": name}, {})
    assert "</script><b>" not in page
    assert "<title>&lt;/script&gt;&lt;b&gt;&amp;{{STYLE}} on edge16</title>" in page
