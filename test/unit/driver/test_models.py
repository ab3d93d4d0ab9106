"""The whole way on small models: outputs as NumPy has them, numbers that agree, the same bytes every time."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tilewright
from tilewright.arrays import compare, read_arrays, write_arrays
from tilewright.backends.program import Program
from tilewright.cli import main
from tilewright.driver import CompileOptions, RunOptions, load_model, pipeline_text, reference, run


def small_model() -> onnx.ModelProto:
    """Convolution, Relu, pooling, a residual addition, and a matrix product at the end."""
    random = np.random.default_rng(0)

    def weight(name: str, *shape: int) -> onnx.TensorProto:
        return numpy_helper.from_array((random.standard_normal(shape) / 4).astype(np.float32), name)

    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c1"], ["r1"]),
        helper.make_node("Conv", ["r1", "w2"], ["c2"], pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["c2", "r1"], ["a"]),
        helper.make_node("MaxPool", ["a"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("Gemm", ["f", "w3", "b3"], ["y"], transB=1),
    ]
    weights = [
        weight("w1", 4, 2, 3, 3),
        weight("b1", 4),
        weight("w2", 4, 4, 3, 3),
        weight("w3", 5, 64),
        weight("b3", 5),
    ]
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 5])],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "small.onnx"
    onnx.save(small_model(), path)
    return path


@pytest.fixture(scope="module")
def program() -> Program:
    return tilewright.compile(small_model())


@pytest.fixture(scope="module")
def built(program: Program, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of the program."""
    return str(program.save(tmp_path_factory.mktemp("program")))


def answer_of(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert main(arguments) == 0
    return json.loads(capsys.readouterr().out)


def test_outputs_are_those_of_numpy(program: Program):
    inputs = {"x": np.random.default_rng(1).standard_normal((1, 2, 8, 8)).astype(np.float32)}
    result = tilewright.simulate(program, inputs)
    assert compare(result.outputs, reference(load_model(small_model()), inputs)).max_rel_error < 1e-5
    assert result.cycles > 0
    assert result.energy_pj > 0


def test_predicted_traffic_is_that_of_the_simulator(program: Program):
    result = tilewright.simulate(program, {"x": np.zeros((1, 2, 8, 8), np.float32)})
    assert program.predicted["dram_bytes"] == result.dram_bytes


def test_a_module_is_left_as_it_was():
    module = tilewright.import_onnx(small_model())
    before = str(module)
    tilewright.compile(module)
    assert str(module) == before


def test_kept_intermediates_can_be_read(program: Program):
    kept = tilewright.compile(small_model(), options=CompileOptions(keep_intermediates=True))
    names = {tensor.name for tensor in kept.tensors}
    assert len(names) > len({tensor.name for tensor in program.tensors} - names)


def test_command_line_compiles_and_runs(model_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    built = answer_of(["compile", str(model_file), "--json", "-o", str(tmp_path / "built")], capsys)
    expected = {"dir", "mnemonics", "binary_bytes", "ops_max", "cycles", "energy_pj", "dram_bytes", "cpu_s"}
    assert expected <= set(built)
    assert {key: built[key] for key in built["predicted"]} == built["predicted"]
    assert {"cycles", "energy_pj", "dram_bytes"} <= set(built["predicted"])
    direct = answer_of(["run", str(model_file), "--json", "-o", str(tmp_path / "direct")], capsys)
    expected = {"cycles", "energy_pj", "dram_bytes", "peak_bytes", "utilization", "outputs", "trace", "cpu_s"}
    assert expected | {"max_abs_error", "max_rel_error", "equal"} <= set(direct)
    assert direct["max_rel_error"] < 1e-5
    assert Path(direct["trace"]).is_file()
    reused = answer_of(
        ["run", built["dir"], "--json", "-o", str(tmp_path / "reused"), "--expect", direct["outputs"]], capsys
    )
    assert reused["equal"] is True
    assert {key: reused[key] for key in ("cycles", "energy_pj", "dram_bytes")} == {
        key: direct[key] for key in ("cycles", "energy_pj", "dram_bytes")
    }


def test_command_line_for_people(model_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["run", str(model_file), "-o", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "latency" in out
    assert "compared with" in out
    assert main(["compile", str(model_file), "-o", str(tmp_path / "built")]) == 0
    assert "instructions" in capsys.readouterr().out


def test_given_inputs_and_expectations(model_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    inputs = {"x": np.ones((1, 2, 8, 8), np.float32)}
    write_arrays(tmp_path / "x.npz", inputs)
    write_arrays(tmp_path / "y.npz", reference(load_model(model_file), inputs))
    files = ["--inputs", str(tmp_path / "x.npz"), "--expect", str(tmp_path / "y.npz")]
    answer = answer_of(["run", str(model_file), "--json", "-o", str(tmp_path), *files], capsys)
    assert answer["max_rel_error"] < 1e-5
    assert list(read_arrays(Path(answer["outputs"]))) == ["y"]


@pytest.mark.parametrize("name", ["z", "x y"])
def test_unknown_input(name: str, built: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    write_arrays(tmp_path / "x.npz", {name: np.ones(3)})
    assert main(["run", built, "--json", "--inputs", str(tmp_path / "x.npz"), "-o", str(tmp_path)]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["kind"] == "inputs"
    assert name in error["found"]


def test_wrong_shape_of_input(built: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    write_arrays(tmp_path / "x.npz", {"x": np.ones((1, 2, 8, 9), np.float32)})
    assert main(["run", built, "--json", "--inputs", str(tmp_path / "x.npz"), "-o", str(tmp_path)]) == 1
    assert "8, 9" in json.loads(capsys.readouterr().out)["error"]["found"]


def test_text_between_all_passes(model_file: Path, tmp_path: Path):
    """Each stage prints; what it printed parses and prints the same again."""
    tilewright.compile(model_file, options=CompileOptions(dump=tmp_path, verify_each=True))
    dumped = sorted(tmp_path.glob("*.mlir"))
    assert len(dumped) == pipeline_text("edge16").count(",") + 2
    for path in dumped:
        assert str(load_model(path)).strip() == path.read_text().strip()
    for stage in ("codelet-allocate", "convert-codelet-to-mnemonic"):  # no layers are left to compare with
        (path,) = (path for path in dumped if path.stem.endswith(stage))
        ran = run(path, folder=tmp_path / "ran")
        assert (ran.agrees, ran.simulation.cycles) == (None, ran.predicted["cycles"])


def test_pipeline_from_text_gives_the_same_binary(program: Program, model_file: Path, tmp_path: Path):
    """The command `tilewright-opt -p` with the pipeline's text is the same as `compile`."""
    from tilewright.opt import main as opt

    pipeline = pipeline_text("edge16")
    assert opt([str(model_file), "-p", pipeline, "-o", str(tmp_path / "low.mlir")]) == 0
    assert program.code.hex().upper() in (tmp_path / "low.mlir").read_text().upper()


def test_same_bytes_whatever_the_hash_seed(model_file: Path, tmp_path: Path):
    """One seed in a process of its own, another here."""
    digests: list[str] = []
    command = [str(model_file), "--json", "-o"]
    code = f"from tilewright.cli import main; main(['compile', *{[*command, str(tmp_path / 'there')]!r}])"
    seed = {"PYTHONHASHSEED": "4711" if os.environ.get("PYTHONHASHSEED") == "0" else "0"}
    subprocess.run([sys.executable, "-c", code], env=os.environ | seed, check=True, capture_output=True)
    assert main(["compile", *command, str(tmp_path / "here")]) == 0
    for folder in (tmp_path / "there", tmp_path / "here"):
        state = hashlib.sha256()
        for path in sorted(folder.iterdir()):
            state.update(path.name.encode() + path.read_bytes())
        digests.append(state.hexdigest())
    assert len(set(digests)) == 1


def test_options_have_defaults():
    assert RunOptions().seed == 0
    assert "codelet-verify" in pipeline_text("edge16")
    assert "codelet-verify" not in pipeline_text("edge16", CompileOptions(prove=False))


def test_kernel_from_einsum_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = "O[n,k,p] += I[n,c,2*p+r] * W[k,c,r]; n=2 k=5 c=3 p=9 r=3"
    assert main(["run", kernel, "--json", "-o", str(tmp_path)]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["compared_with"] == "NumPy"
    assert answer["max_rel_error"] < 1e-6
    assert main(["run", kernel, "-o", str(tmp_path), "--no-trace"]) == 0
    assert "VP" in capsys.readouterr().out


def test_kernel_that_does_not_parse(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "O[m,n] += A[m,k*B[k,n]; m=4", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["subject"].startswith("einsum:1:")


def test_target_without_mnemonics() -> None:
    with pytest.raises(tilewright.TilewrightError, match="conventional: expected mnemonics, which programs consist of"):
        tilewright.compile("O[i] = A[i]; i=4", "conventional")
