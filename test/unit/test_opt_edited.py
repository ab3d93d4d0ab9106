"""IR that was edited by hand between two passes is lowered or refused in words, never a crash of ours."""

import random
import re
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

import tilewright
from tilewright.driver import CompileOptions, pipeline_text
from tilewright.opt import main

STAGES = pipeline_text("tiny").split(",")
NUMBER = re.compile(r"\d+")
NAME = re.compile(r"(?<=[\[{(, =])[a-zA-Z]\w{0,4}(?=[\]}), =])")


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[int, str]]:
    """(number of passes done, text without the machine) of each stage of a small network."""
    nodes = [
        helper.make_node("MatMul", ["x", "y"], ["p"]),
        helper.make_node("Relu", ["p"], ["r"]),
        helper.make_node("Add", ["r", "x"], ["z"]),
    ]
    shape = [1, 6, 6]
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in "xy"]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_tensor_value_info("z", TensorProto.FLOAT, shape)])
    model: onnx.ModelProto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    folder = tmp_path_factory.mktemp("dump")
    tilewright.compile(model, target="tiny", options=CompileOptions(dump=folder))
    texts = [path.read_text() for path in sorted(folder.glob("*.mlir"))]
    start = re.compile(r"^  (func.func|codelet.program|mnemonic.program)", re.MULTILINE)
    return [(index, text[found.start() :]) for index, text in enumerate(texts[:-1]) if (found := start.search(text))]


def edit(text: str, choose: random.Random) -> str:
    """Change a few numbers and names, drop and double lines."""
    for _ in range(choose.randint(1, 3)):
        kind = choose.random()
        if kind < 0.6:
            found = choose.choice(list(NUMBER.finditer(text)))
            value = int(found.group())
            new = str(choose.choice([0, 1, -1, 2, 3, value + 1, value * 2, 10**6, 2**31, 2**63]))
        elif kind < 0.85:
            names = list(NAME.finditer(text))
            found, new = choose.choice(names), choose.choice(names).group()
        else:
            found = choose.choice(list(re.finditer(r".*\n", text)))
            new = choose.choice(["", found.group() * 2])
        text = text[: found.start()] + new + text[found.end() :]
    return text


@pytest.mark.parametrize("seed", range(120))
def test_edited(seed: int, stages: list[tuple[int, str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    choose = random.Random(seed)
    done, text = choose.choice(stages)
    path = tmp_path / "edited.mlir"
    path.write_text("builtin.module {\n" + edit(text, choose))
    passes = [STAGES[0], *STAGES[max(1, done) : done + choose.randint(1, 4)]]
    arguments = [str(path), "-p", ",".join(passes)]
    assert main(arguments) in (0, 1)
    err = capsys.readouterr().err
    assert "Traceback" not in err
    if "fault of tilewright" in err:
        with pytest.raises(Exception) as caught:  # noqa: PT011
            main([*arguments, "--traceback"])
        assert "xdsl" in str(caught.traceback[-1].path), caught.traceback[-1]
