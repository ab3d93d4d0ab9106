"""What `compile --image` writes runs from its files alone."""

import json
from pathlib import Path

import numpy as np
import pytest

from tilewright import load_target
from tilewright.arrays import write_arrays
from tilewright.cli import main
from tilewright.driver import compile, load_model, reference
from tilewright.driver.binaries import run_binary

TEXT = """
func.func @main(%x: tensor<4x32xsi8>) -> tensor<4x16xsi8> attributes {graph.inputs = ["x"], graph.outputs = ["y"]} {
  %w = graph.weight @w = dense<3> : tensor<32x16xsi8> : tensor<32x16xsi8>
  %m = graph.weight @m = dense<1> : tensor<i32> : tensor<i32>
  %s = graph.weight @s = dense<5> : tensor<i32> : tensor<i32>
  %a = graph.gemm %x, %w {name = "fc"} : (tensor<4x32xsi8>, tensor<32x16xsi8>) -> tensor<4x16xi32>
  %y = graph.requantize %a, %m, %s axis 1 zero_point 0 range [-128, 127] {name = "fc"}
    : (tensor<4x16xi32>, tensor<i32>, tensor<i32>) -> tensor<4x16xsi8>
  func.return %y : tensor<4x16xsi8>
}
"""


def test_a_program_runs_from_its_image(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "fc.mlir").write_text(TEXT)
    folder, machine = tmp_path / "image", load_target("vta")
    arguments = [
        "compile",
        str(tmp_path / "fc.mlir"),
        "--target",
        "vta",
        "--image",
        str(folder),
        "-o",
        str(tmp_path / "o"),
    ]
    assert main([*arguments, "--json"]) == 0
    cycles = json.loads(capsys.readouterr().out)["cycles"]
    table = json.loads((folder / "addresses.json").read_text())
    places = {tensor["name"]: tensor for tensor in table["tensors"]}
    assert len((folder / "instructions.bin").read_bytes()) == 16 * table["instructions"]
    assert [one["name"] for one in table["micro_ops"]] == ["fc.micro_ops"]
    memory = np.frombuffer((folder / "image.bin").read_bytes(), np.uint8).copy()
    start = table["micro_ops"][0]["address"]
    assert (folder / "micro_ops.bin").read_bytes() == memory[start : start + table["micro_ops"][0]["bytes"]].tobytes()
    x = np.random.default_rng(0).integers(-128, 128, (4, 32)).astype(np.int8)
    placed = {tensor.name: tensor for tensor in compile(tmp_path / "fc.mlir", "vta").tensors}
    layout = placed["x"].layout
    assert layout is not None
    packed = layout.pack(x).reshape(-1).view(np.uint8)
    memory[places["x"]["address"] :][: packed.size] = packed
    write_arrays(tmp_path / "image.npz", {"0": memory})
    read = f"y={places['y']['address']}:int8:1x4x16"
    answer = run_binary(folder / "instructions.bin", machine, tmp_path / "image.npz", [read], tmp_path / "r", "", False)
    expected = reference(load_model(tmp_path / "fc.mlir"), {"x": x})["y"]
    assert (np.load(answer["outputs"])["y"][0] == expected).all()
    assert answer["cycles"] == cycles
