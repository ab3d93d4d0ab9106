"""What is no TFLite model, damaged, or not taken, is an error that names it."""

import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("tflite", reason="the extra tflite is not installed")

from tilewright.cli import main
from tilewright.errors import TilewrightError
from tilewright.frontends.tflite import import_tflite, operator_names

from ....tflite_files.builder import Model
from ....tflite_files.recorded import MODELS

PAGE = Path(__file__).parents[4] / "docs" / "tflite.md"


def one_node(kind: str = "RELU", options: str = "", x: Any = None, made: Any = None, **fields: Any) -> bytes:
    """An operator of one input and one result of shape [1, 4]."""
    model = Model()
    read = model.input((1, 4), **(x or {}))
    result = model.tensor((1, 4), **(made or {}))
    model.node(kind, [read], [result], options, **fields)
    return model.bytes([result])


def never_made() -> bytes:
    model = Model()
    x, y = model.tensor((1, 4)), model.tensor((1, 4))
    model.node("RELU", [x], [y])
    return model.bytes([y])


def of_another_number(index: int) -> bytes:
    model = Model()
    x, y = model.input((1, 4)), model.tensor((1, 4))
    model.node("ADD", [x, index], [y], "AddOptions")
    return model.bytes([y])


def of_constant(kind: str, constant: Any, options: str = "", *, first: bool = False, outputs: int = 1) -> bytes:
    """An operator of an input of shape [1, 4] and a constant."""
    model = Model()
    x, fixed = model.input((1, 4)), model.constant(constant)
    results = [model.tensor((1, 4)) for _ in range(outputs)]
    model.node(kind, [fixed, x] if first else [x, fixed], results, options)
    return model.bytes(results)


def reshaped_at_run_time() -> bytes:
    model = Model()
    x, shape, y = model.input((1, 4)), model.input((2,), "int32"), model.tensor((2, 2))
    model.node("TRANSPOSE", [x, shape], [y])
    return model.bytes([y])


def grouped_wrongly() -> bytes:
    model = Model()
    x, y = model.input((1, 4, 4, 4)), model.tensor((1, 4, 4, 5))
    w = model.constant(np.ones((5, 1, 1, 3), np.float32))
    model.node("CONV_2D", [x, w], [y], "Conv2DOptions", StrideH=1, StrideW=1)
    return model.bytes([y])


def short_weights() -> bytes:
    model = Model()
    x, y = model.input((1, 4)), model.tensor((1, 3))
    w = model.tensor((3, 4), data=np.ones(11, np.float32))
    model.node("FULLY_CONNECTED", [x, w], [y], "FullyConnectedOptions")
    return model.bytes([y])


def sign_bit() -> bytes:
    return one_node("L2_NORMALIZATION", "L2NormOptions", FusedActivationFunction=5)


REFUSED = {
    "kind": (lambda: one_node("LSTM"), "operators that docs/tflite.md lists, found LSTM"),
    "custom": (lambda: one_node("TFLite_Detection_PostProcess"), "found CUSTOM TFLite_Detection_PostProcess"),
    "variable": (lambda: one_node(x={"IsVariable": True}), "tensor 't0': .* found a variable"),
    "activation": (sign_bit, "fused activation of .* found 5"),
    "scale": (lambda: one_node(x={"dtype": "int8", "scale": 0.0}), "positive scales"),
    "zero": (lambda: one_node(x={"dtype": "int8", "scale": 0.1, "zero": 300}), "zero points from -128 to 127"),
    "scales": (lambda: one_node(x={"dtype": "int8", "scale": [0.1] * 3, "axis": 1}), "one scale, or 4 along axis 1"),
    "result": (lambda: one_node(made={"dtype": "int8", "scale": [0.1] * 4, "axis": 1}), "8 or 16 bits with one scale"),
    "order": (never_made, "that no operator before it makes"),
    "number": (lambda: of_another_number(77), "numbers of tensors from 0 to 1, found 77"),
    "absent": (lambda: of_another_number(-1), "an input 1, found none"),
    "permutation": (reshaped_at_run_time, "constant permutation, found 't1', known at run time only"),
    "groups": (grouped_wrongly, "weights of a divisor of 4 channels, found 3"),
    "axis of two": (lambda: of_constant("ARG_MAX", np.array([0, 1], np.int32)), "one integer as axis, found 2"),
    "no axis": (lambda: of_constant("SPLIT", np.zeros(0, np.int32), first=True), "one integer as axis, found 0"),
    "pieces": (
        lambda: of_constant("SPLIT", np.array(1, np.int32), first=True, outputs=3),
        "a divisor of 4 as the number of pieces, found 3",
    ),
    "numbers": (lambda: of_constant("TRANSPOSE", np.ones(40, np.int32)), "at most 32 integers as .*, found 40"),
    "inputs": (lambda: Model().bytes([]), "a graph with outputs, found none"),
    "bytes": (short_weights, r"48 bytes for \[3, 4\], found 44"),
}
"""Files that are refused, and a part of what is said."""


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str):
    build, said = REFUSED[name]
    with pytest.raises(TilewrightError, match=said):
        import_tflite(build())


@pytest.mark.parametrize("data", [b"", b"x" * 40, b"\0\0\0\0TFL3", one_node()[:60], one_node()[:-40]])
def test_no_whole_file(data: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "x.tflite"
    path.write_bytes(data)
    assert main(["compile", str(path)]) == 1
    assert "x.tflite" in capsys.readouterr().err


def test_folders_and_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "a.tflite").mkdir()
    for name in ("a.tflite", "b.tflite"):
        assert main(["compile", str(tmp_path / name)]) == 1
        assert name in capsys.readouterr().err


def test_missing_package(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "tflite", None)
    with pytest.raises(TilewrightError, match=r"pip install 'tilewright\[tflite\]'"):
        import_tflite(one_node())


def test_changed_bytes():
    """No byte that is changed makes anything but a model or an error."""
    draw, refused = random.Random(1), 0
    names = ["mobilenet_v2", "strided_slice", "concat", "conv_uint8", "split_v"]
    files = [MODELS[name]() for name in names]
    for _ in range(300):
        data = bytearray(draw.choice(files))
        for _ in range(draw.choice((1, 1, 4))):
            data[draw.randrange(len(data))] = draw.choice((0, 1, 127, 128, 255))
        try:
            import_tflite(bytes(data))
        except TilewrightError:
            refused += 1
    assert 50 < refused < 300


def test_page_lists_the_operators():
    listed = PAGE.read_text().partition("## Operators")[2]
    assert all(f"`{name}`" in listed for name in operator_names())


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "conv.tflite"
    path.write_bytes(MODELS["depthwise_bytes"]())
    for arguments in (
        ["compile", str(path), "-o", str(tmp_path / "out")],
        ["map", str(path), "--target", "edge16"],
        ["partition", str(path)],
        ["schedule", str(path)],
        ["explore", str(path)],
    ):
        assert main([*arguments, "--json"]) == 0, capsys.readouterr().err
    assert main(["map", f"{path}:t3.conv.accumulator", "--target", "edge16", "--json"]) == 0
