"""Bad input ends in one paragraph that names what is wrong, and exit code 1."""

import json
import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.cli import main
from tilewright.frontends.acg import target_files


def info(name: str, shape: list[int | str]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def model(operator: str = "Relu", shape: list[int | str] | None = None, weight: float = 1.0) -> bytes:
    """Two inputs added, then one unary operator."""
    shape = shape or [1, 4]
    nodes = [
        helper.make_node("Add", ["x", "w"], ["a"], name="sum"),
        helper.make_node(operator, ["a"], ["y"], name="act"),
    ]
    constant = numpy_helper.from_array(np.full((1, 4), weight, np.float32), "w")
    graph = helper.make_graph(nodes, "g", [info("x", shape)], [info("y", shape)], [constant])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()


def fails(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one paragraph of a failing command; it is the same error as JSON."""
    assert main(arguments) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("tilewright: ")
    assert "Traceback" not in err
    assert main([*arguments, "--json"]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert {"kind", "subject", "expected", "found", "lever"} <= set(error)
    assert error["subject"] in err
    return err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (model()[:-30], ["x.onnx"]),
        (b"", ["x.onnx"]),
        (b"no model at all", ["x.onnx"]),
        (model("NonZero"), ["NonZero", "act"]),
        (model(shape=[1, "width"]), ["width"]),
        (model(weight=float("nan")), ["w", "nan"]),
    ],
    ids=["truncated", "empty", "text", "operator", "dynamic", "nan"],
)
def test_models(content: bytes, words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "x.onnx"
    path.write_bytes(content)
    message = fails(["compile", str(path), "-o", str(tmp_path / "out")], capsys)
    assert all(word.lower() in message.lower() for word in words), message


BAD_TARGETS = {
    "second link": (r"  unit DM", "  link SPAD -> DRAM { bandwidth 1; }\n  unit DM", "SPAD->DRAM"),
    "cycle": (
        r"  compute MXU",
        "  memory B { data_width 8; banks 1; depth 64; read_energy 1; write_energy 1; }\n"
        "  link SPAD -> B { bandwidth 1; }\n  link B -> SPAD { bandwidth 1; }\n  compute MXU",
        "cycle through SPAD, B",
    ),
    "control model": (r"control queues", "control packets", "queues"),
    "missing link": (r"link SPAD <-> MXU \{.*\}", "", "MXU"),
    "unknown node": (r"link SPAD <-> MXU", "link SPAD <-> NONE", "NONE"),
    "zero capacity": (r"depth 256", "depth 0", "depth"),
    "zero bandwidth": (r"bandwidth 16", "bandwidth 0", "bandwidth"),
    "overlapping fields": (r"RUN 10, NB 8", "RUN 10 at 0, NB 8 at 4", "RUN"),
    "word too long": (r"width 256", "width 64", "bits"),
    "syntax": (r"(?s)compute VPU.*", "", "expected"),
    "empty": (r"(?s).*", "", "expected"),
}


@pytest.mark.parametrize("name", BAD_TARGETS)
def test_targets(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    pattern, replacement, word = BAD_TARGETS[name]
    text = target_files()["tiny"].read_text()
    bad = re.sub(pattern, replacement, text, count=1)
    assert bad != text
    path = tmp_path / "bad.acg"
    path.write_text(bad)
    (tmp_path / "x.onnx").write_bytes(model())
    assert word in fails(["compile", str(tmp_path / "x.onnx"), "--target", str(path)], capsys)


def test_unknown_target(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "x.onnx").write_bytes(model())
    assert "tiny" in fails(["compile", str(tmp_path / "x.onnx"), "--target", "no-such"], capsys)


def test_too_large_for_the_target(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "x.onnx").write_bytes(model(shape=[100_000, 4]))
    message = fails(["compile", str(tmp_path / "x.onnx"), "--target", "tiny", "-o", str(tmp_path)], capsys)
    assert "infeasible" in message
    assert "at most 65536 bytes of DRAM, found 3200016 bytes; a DRAM of 3200016 bytes would hold" in message


@pytest.mark.parametrize("damage", ["program.bin", "program.json", "sources.json", "target.acg", "weights.npz"])
@pytest.mark.parametrize("content", [None, b"", b"\xff\x00{", b"{}"])
def test_damaged_folders(damage: str, content: bytes | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "x.onnx").write_bytes(model())
    folder = tmp_path / "built"
    assert main(["compile", str(tmp_path / "x.onnx"), "--target", "tiny", "-o", str(folder), "--json"]) == 0
    capsys.readouterr()
    if content is None:
        (folder / damage).unlink()
    else:
        (folder / damage).write_bytes(content)
    fails(["run", str(folder), "-o", str(tmp_path / "out")], capsys)


def test_folders_of_no_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """What the folder is comes before options that would be ignored with one."""
    message = fails(["run", str(tmp_path), "--target", "tiny", "-o", str(tmp_path / "out")], capsys)
    assert "a folder written by compile" in message


def test_text_of_a_kernel_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    fails(["run", "O[m] += A[m,k] * B[k; m=4", "-o", str(tmp_path)], capsys)
    fails(["run", "O[m] += A[m,k]" + " * B[m]" * 200 + "; m=4 k=2", "-o", str(tmp_path)], capsys)


@pytest.mark.parametrize("name", ["", "x\ny", "x" * 5000, "a\0b", "no-such-folder/"])
def test_names_of_no_file(name: str, capsys: pytest.CaptureFixture[str]):
    assert main(["run", name]) == 1
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert len(err) < 2500


@pytest.mark.parametrize(
    "text",
    [
        b"\xff\xfe",
        b"func.func @main(",
        b"builtin.module {" * 3000,
        b"func.func @main() { func.return }",
        b"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { func.return %x : tensor<4xf32> }",
        b'%0 = "test.op"() {a = 99999999999999999999 : i8} : () -> i32',
        b"",
    ],
)
def test_text_of_models(text: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "x.mlir"
    path.write_bytes(text)
    code = main(["run", str(path), "-o", str(tmp_path / "out")])
    out, err = capsys.readouterr()
    assert code == (0 if b"return" in text else 1), err
    assert "Traceback" not in out + err


def test_an_operation_that_does_not_verify_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """In each command that reads IR."""
    path = tmp_path / "plan.mlir"
    path.write_text(
        'dram.network @n {\n dram.input "x" 8x8x8\n dram.layer "A" conv 16x8x8 of ["x"]\n}\n'
        "dram.schedule @s of @n batch 1 on <side 4, macs 512, capacity 8192, buffer 8192, read 256, write 256,\n"
        " bandwidth 16, latency 0, align 64, exact 1> {\n"
        ' dram.layer_group {\n  dram.fused_group tiles 0 ["A"]\n }\n}\n'
    )
    for command in (["price-schedule", str(path)], ["run", "resnet50", "--schedule", str(path)]):
        assert 'in: "dram.fused_group"() <{tiles = 0 : i64, layers = ["A"]}>' in fails(command, capsys)
