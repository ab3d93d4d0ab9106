"""Layers on a machine of packets: simulated, under qemu where it is installed, and by NumPy."""

import json
import os
from math import prod
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright import load_target
from tilewright.arrays import make_inputs
from tilewright.backends.hexagon import missing_tools, run_program
from tilewright.backends.packets.text import assembly
from tilewright.cli import main
from tilewright.driver import RunOptions, reference
from tilewright.driver.packets import compile_packets, kernel_of, packet_module, run_packets
from tilewright.errors import TilewrightError
from tilewright.machine.packet_isa import Isa
from tilewright.machine.packet_program import executed_packets
from tilewright.zoo.covenant_layers import LAYERS

HVX = load_target("hvx")
QUICK = ("bert_atn1", "bert_atn2", "dlrm_fc1", "dlrm_fc4", "mobilenetv3_conv1", "resnet50_conv2")


def check_cut(name: str, folder: Path) -> None:
    result = run_packets(name, HVX, folder=folder, options=RunOptions(trace=False))
    answer = result.as_dict()
    assert answer["equal"] is True
    assert answer["compared_with"] == "NumPy"
    assert answer["packets"] == executed_packets(result.program.code)
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
@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("network", ["covenant_u8_cut", "covenant_cut"])
def test_cuts_of_all_layers_and_types(network: str, layer: str, tmp_path: Path):
    check_cut(f"{network}:{layer}", tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(bool(missing_tools()), reason=f"not installed: {', '.join(missing_tools())}")
@pytest.mark.parametrize("layer", LAYERS)
def test_layers_in_full_size_under_qemu(layer: str):
    module, lowered = packet_module(f"covenant_u8:{layer}")
    model = compile_packets(HVX, lowered)
    inputs = make_inputs(model.inputs, 0)
    ran = run_program(assembly(Isa(HVX), model.program.code), model.program, inputs)
    ((name, shape),) = model.outputs.items()
    np.testing.assert_array_equal(ran.outputs[name].reshape(shape), reference(module, inputs)[name])
    assert ran.packets == executed_packets(model.program.code)
    print(f"{layer}: {_work(lowered) / ran.packets:.1f} multiplications a packet")


def _work(module: ModuleOp) -> int:
    kernel = kernel_of(module)
    assert kernel is not None
    return prod(kernel.extents.values())


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
    assert {item["name"] for item in table["tensors"]} == {"A", "B", "O"}
    assert answer["dram_bytes"] == 3 * 320 * 4
    assert answer["energy_pj"] is None
    assert answer["cycles"] == table["predicted"]["packets"] > 20
    assert (tmp_path / "program.s").read_text().count("{") == answer["code_packets"]
    assert (tmp_path / "program").exists() == (not missing_tools())
    assert main(["compile", text, "--target", "hvx", "-o", str(tmp_path)]) == 0
    assert "instructions" in capsys.readouterr().out
    with pytest.raises(TilewrightError, match="a model"):
        run_packets(tmp_path, HVX, folder=tmp_path)


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
    tensors = {entry["name"]: entry for entry in json.loads((tmp_path / "program.json").read_text())["tensors"]}
    assert tensors["B"]["layout"] == packed
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
    answer = run_packets(model, HVX, folder=tmp_path, options=RunOptions(trace=False)).as_dict()
    weights = [item for item in answer["layouts"] if item["role"] == "weight"]
    layout = "packed [tile][axes 0 / 4][vector][32 of axes 1][4], 128 added"
    assert weights == [{"name": "w", "role": "weight", "layout": layout}]
    assert answer["equal"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("O[i] = tanh(A[i]); i=3", "functions of integers"),
        ("operator:softmax", "quantise the model"),
    ],
)
def test_refusals(text: str, expected: str, tmp_path: Path):
    with pytest.raises(TilewrightError, match=expected):
        run_packets(text, HVX, folder=tmp_path)
