"""Layers on a machine of packets: simulated, under qemu where it is installed, and by NumPy."""

import json
import os
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest

import tilewright
from tilewright.arrays import make_inputs
from tilewright.backends.hexagon import missing_tools
from tilewright.backends.program import load_program
from tilewright.cli import main
from tilewright.driver import CompileOptions, load_model, reference
from tilewright.errors import TilewrightError
from tilewright.machine.packet_program import executed_packets
from tilewright.zoo.covenant_layers import LAYERS, covenant_layer

QUICK = ("bert_atn1", "bert_atn2", "dlrm_fc1", "dlrm_fc4", "mobilenetv3_conv1", "resnet50_conv2")


def check_cut(name: str, folder: Path) -> None:
    answer = tilewright.run(name, "hvx", folder=folder).as_dict()
    assert answer["equal"] is True
    assert answer["compared_with"] == "NumPy"
    assert answer["packets"] == answer["cycles"] == answer["predicted"]["packets"]
    assert answer["trace"] is None
    assert 0 < answer["utilization"]["words"] <= 1
    if missing_tools():
        assert answer["qemu"] is None
        assert answer["missing_tools"]
    else:
        assert answer["qemu"]["equal"] is True
        assert answer["qemu"]["packets"] == answer["packets"]


@pytest.mark.parametrize("layer", QUICK)
def test_cuts_of_covenant_s_layers(layer: str, tmp_path: Path):
    check_cut(f"covenant_u8_cut:{layer}", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("layer", "network"), [*zip(LAYERS, cycle(("covenant_cut", "covenant_u8_cut")), strict=False)])
def test_cuts_of_all_layers_by_turns_of_types(layer: str, network: str, tmp_path: Path):
    check_cut(f"{network}:{layer}", tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(bool(missing_tools()), reason=f"not installed: {', '.join(missing_tools())}")
@pytest.mark.parametrize("layer", LAYERS)
def test_layers_in_full_size_under_qemu(layer: str):
    program = tilewright.compile(f"covenant_u8:{layer}", "hvx")
    inputs = make_inputs({t.name: (t.shape, np.dtype(t.dtype)) for t in program.tensors if t.role == "input"}, 0)
    ran = program.control.execute(program, inputs)
    assert ran is not None
    assert ran.outputs is not None
    for name, array in reference(load_model(f"covenant_u8:{layer}"), inputs).items():
        np.testing.assert_array_equal(ran.outputs[name], array)
    assert ran.packets == executed_packets(program.decoded.code)
    print(f"{layer}: {covenant_layer(layer).macs / ran.packets:.1f} multiplications a packet")


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    text = "O[i,j] = max(A[i,j], B[i,j]); i=3 j=40"
    assert main(["run", text, "--target", "hvx", "--json", "-o", str(tmp_path)]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["equal"]
    assert {"packets", "qemu", "cycles", "outputs", "cpu_s"} <= set(answer)
    assert np.load(answer["outputs"])["O"].shape == (3, 40)
    assert main(["run", text, "--target", "hvx", "-o", str(tmp_path)]) == 0
    assert "packets" in capsys.readouterr().out


def test_compiled_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    text = "O[i] = A[i] + B[i]; i=320"
    assert main(["compile", text, "--target", "hvx", "--json", "-o", str(tmp_path)]) == 0
    answer = json.loads(capsys.readouterr().out)
    table = json.loads((tmp_path / "program.json").read_text())
    assert [(item["name"], item["role"]) for item in table["tensors"]] == [
        ("A", "input"),
        ("B", "input"),
        ("O", "output"),
    ]
    assert answer["dram_bytes"] == 3 * 320 * 4
    assert answer["energy_pj"] is None
    assert answer["cycles"] == table["predicted"]["packets"] > 20
    assert (tmp_path / "program.s").read_text().count("{") == answer["code_packets"]
    assert (tmp_path / "program").exists() == (not missing_tools())
    assert main(["compile", text, "--target", "hvx", "-o", str(tmp_path)]) == 0
    assert "instructions" in capsys.readouterr().out
    assert main(["run", str(tmp_path), "--json", "-o", str(tmp_path / "run")]) == 0
    ran = json.loads(capsys.readouterr().out)
    assert ran["packets"] == answer["cycles"]
    assert ran["compared_with"] == ""
    inputs = make_inputs({name: ((320,), np.dtype(np.int32)) for name in "AB"})
    np.testing.assert_array_equal(np.load(ran["outputs"])["O"], inputs["A"] + inputs["B"])
    assert (ran["qemu"] is None) == bool(missing_tools())


@pytest.mark.skipif(bool(missing_tools()), reason=f"not installed: {', '.join(missing_tools())}")
def test_the_linked_program_may_be_executed(tmp_path: Path):
    assert main(["compile", "O[i] = A[i] + B[i]; i=32", "--target", "hvx", "-o", str(tmp_path)]) == 0
    assert os.access(tmp_path / "program", os.X_OK)


def test_layouts_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """One operand is packed, one has rows filled up; both are told, and how to pack is in the table."""
    text = "O[m,n] += A[m,k] * B[k,n]; m=5 n=40 k=22"
    assert main(["compile", text, "--target", "hvx", "--json", "-o", str(tmp_path)]) == 0
    answer = json.loads(capsys.readouterr().out)
    packed = "packed [tile][axes 0 / 4][vector][32 of axes 1][4], 128 added"
    assert {entry["name"]: entry["layout"] for entry in answer["layouts"]} == {
        "A": "strides 24,1 bytes",
        "B": packed,
        "O": "strides 256,4 bytes",
    }
    tensors = {entry["name"]: entry for entry in json.loads((tmp_path / "packets.json").read_text())["stored"]}
    assert tensors["B"]["packing"]["lanes"] == 32
    assert tensors["A"]["packing"] is None
    assert main(["run", text, "--target", "hvx", "--json", "-o", str(tmp_path)]) == 0
    assert json.loads(capsys.readouterr().out)["layouts"] == answer["layouts"]


def test_packed_weights_are_named(tmp_path: Path):
    model = tmp_path / "product.mlir"
    model.write_text("""func.func @main(%x : tensor<3x16xui8>) -> tensor<3x8xi32> {
      %w = graph.weight @w = dense<1> : tensor<16x8xsi8> : tensor<16x8xsi8>
      %y = graph.matmul %x, %w : (tensor<3x16xui8>, tensor<16x8xsi8>) -> tensor<3x8xi32>
      func.return %y : tensor<3x8xi32>
    }""")
    answer = tilewright.run(model, "hvx", folder=tmp_path).as_dict()
    weights = [item for item in answer["layouts"] if item["role"] == "weight"]
    layout = "packed [tile][axes 0 / 4][vector][32 of axes 1][4], 128 added"
    assert weights == [{"name": "w", "role": "weight", "layout": layout}]
    assert answer["equal"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("O[i] = tanh(A[i]); i=3", "functions of integers"), ("operator:softmax", "as QDQ nodes around it")],
)
def test_refusals(text: str, expected: str, tmp_path: Path):
    with pytest.raises(TilewrightError, match=expected):
        tilewright.run(text, "hvx", folder=tmp_path)


def test_groups_of_layers_are_refused():
    with pytest.raises(TilewrightError, match="no groups of layers on hvx"):
        tilewright.compile("O[i] = A[i] + B[i]; i=8", "hvx", options=CompileOptions(partition="greedy"))


def test_a_folder_whose_tensors_are_not_those_of_its_packets(tmp_path: Path):
    program = tilewright.compile("O[i] = A[i] + B[i]; i=8", "hvx")
    tensors = tuple(replace(t, shape=(9,)) if t.name == "B" else t for t in program.tensors)
    folder = replace(program, tensors=tensors).save
    with pytest.raises(TilewrightError, match="as stored"):
        folder(tmp_path)
    (tmp_path / "p").mkdir()
    program.save(tmp_path / "p")
    (tmp_path / "p/packets.json").write_text("{}")
    with pytest.raises(TilewrightError, match="its bytes as they were written"):
        load_program(tmp_path / "p")
