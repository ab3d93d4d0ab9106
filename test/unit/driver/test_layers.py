"""Layers of whole networks: their names are the model's, their figures add up, on every kind of machine."""

import csv
import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tilewright
from tilewright.backends.program import load_program
from tilewright.backends.simulator import SimulationResult
from tilewright.cli import main
from tilewright.driver import CompileOptions, RunOptions, run


def chain(layers: int) -> onnx.ModelProto:
    """Convolutions called conv0, conv1, ... each with a relu without a name behind it."""
    random = np.random.default_rng(0)
    nodes: list[onnx.NodeProto] = []
    for i in range(layers):
        source = "x" if i == 0 else f"r{i - 1}"
        nodes.append(helper.make_node("Conv", [source, f"w{i}"], [f"c{i}"], f"conv{i}", pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("Relu", [f"c{i}"], [f"r{i}"]))
    shape = [1, 4, 8, 8]
    weights = [numpy_helper.from_array(random.standard_normal((4, 4, 3, 3)).astype(np.float32) / 8, f"w{i}")
               for i in range(layers)]  # fmt: skip
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in ("x", f"r{layers - 1}")]
    graph = helper.make_graph(nodes, "chain", ends[:1], ends[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("chain") / "chain.onnx"
    onnx.save(chain(22), path)
    return path


def check_sums(result: SimulationResult) -> None:
    """The figures of layers are those of the run."""
    assert result.layers
    for key in ("cycles", "dram_bytes", "instructions"):
        assert sum(getattr(layer, key) for layer in result.layers) == getattr(result, key)
    assert sum(layer.energy_pj for layer in result.layers) == pytest.approx(result.energy_pj, rel=1e-9)
    assert all(0 <= layer.utilization <= 1 for layer in result.layers)


@pytest.mark.parametrize("partition", ["", "greedy"])
def test_layers_have_the_names_of_nodes_and_add_up(file: Path, tmp_path: Path, partition: str):
    program = tilewright.compile(file, "edge16", options=CompileOptions(prove=False, partition=partition))
    result = tilewright.simulate(program, functional=False)
    check_sums(result)
    named = [(layer.name, layer.nodes) for layer in result.layers]
    assert named == [(f"conv{i}", (f"conv{i}", f"r{i}")) for i in range(22)]
    assert {layer.group for layer in result.layers} == ({"group 1"} if partition else {""})
    assert result.layers == program.layers == load_program(program.save(tmp_path / "p")).layers


def test_layers_of_a_machine_of_loops_add_up(tmp_path: Path):
    """A layer of 64 by 64 channels with its bias, in several blocks of instructions."""
    options = RunOptions(check=False, trace=True)
    done = run("covenant_cut:resnet50_conv2", "dnnweaver", folder=tmp_path, options=options)
    check_sums(done.simulation)
    assert done.simulation.layers[0].bound_by in ("dram", "PE", "SIMD")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert {e["args"]["layer"] for e in events if "instruction" in e["args"]} == {
        layer.name for layer in done.simulation.layers
    }


def test_the_table_has_the_longest_layers_and_the_file_all(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    table = tmp_path / "layers.csv"
    wanted = ["compile", str(file), "--no-prove", "--gap", "1000", "-o", str(tmp_path / "p"), "--csv", str(table)]
    assert main(wanted) == 0
    out = capsys.readouterr().out
    assert "the 20 longest of 22; all with --csv FILE or --json" in out
    assert "all 22" in out
    assert main([*wanted, "--json"]) == 0
    layers = json.loads(capsys.readouterr().out)["layers"]
    with table.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["name"] for row in rows] == [layer["name"] for layer in layers] == [f"conv{i}" for i in range(22)]
    assert [int(row["cycles"]) for row in rows] == [layer["cycles"] for layer in layers]
    assert sum(float(row["share"]) for row in rows) == pytest.approx(1)
    assert rows[0]["nodes"] == "conv0 r0"
    assert {"name", "cycles", "dram_bytes", "energy_pj", "utilization", "bound_by"} <= set(layers[0])
