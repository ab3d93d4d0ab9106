"""No program that runs on the simulator goes below the bounds that commands state for programs of its file."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto

from tilewright import CompileOptions, compile, simulate
from tilewright.arrays import make_inputs
from tilewright.backends.simulator import SimulationResult
from tilewright.cli import main
from tilewright.costs.fusion.values import Metric
from tilewright.driver.partitions import program_partition
from tilewright.driver.schedules import ScheduleOptions, schedule_network_for
from tilewright.search.dram import Effort
from tilewright.search.fusion import PartitionOptions

from ..onnx_files.quantized import quantized
from .patterns import PATTERNS, Maker

CASES = [("residual", True), ("shared", True), ("squeeze_excite", False), ("grouped", False), ("vit", False)]


def simulated(path: str, target: str, partition: str) -> SimulationResult:
    program = compile(path, target, options=CompileOptions(partition=partition, prove=False))
    signature = {t.name: (t.shape, np.dtype(t.dtype)) for t in program.tensors if t.role == "input"}
    run = simulate(program, make_inputs(signature, 0))
    assert run.cycles >= program.lower_bound["cycles"]
    return run


@pytest.mark.parametrize(("name", "integers"), CASES)
def test_simulated_programs_are_at_or_above_the_bounds(name: str, integers: bool, tmp_path: Path):
    model, path = PATTERNS[name](), str(tmp_path / "model.onnx")
    onnx.save(quantized(model) if integers else model, path)
    answer = program_partition(path, "edge16", (32, 0), PartitionOptions("greedy"))
    least = answer["program_lower_bound"]
    for partition in ("", "ours"):
        run = simulated(path, "edge16", partition)
        assert run.dram_bytes >= least["dram_bytes"]
        assert run.dram_bytes >= answer["lower_bound"] * (1 - 1e-9) or partition != "ours"
        assert run.cycles >= least["cycles"]


def few_channels() -> ModelProto:
    """A convolution whose rows an array of 64 channels makes many at a time."""
    maker = Maker()
    return quantized(maker.model({"x": (1, 4, 9, 12)}, maker.conv("x", (4, 2), 3)), samples=1)


def test_bounds_of_models_are_not_of_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Cores of both models make one pixel at a time, those of a program several rows: they say what they bound."""
    onnx.save(few_channels(), path := str(tmp_path / "model.onnx"))
    run = simulated(path, "cloud128", "ours")
    found, _ = schedule_network_for(path, "cloud128", ScheduleOptions(effort=Effort(rounds=1)))
    metric: Metric = "latency"
    answer = program_partition(path, "cloud128", (32, 0), PartitionOptions("ours", metric))
    assert answer["program_lower_bound"]["cycles"] <= run.cycles
    assert run.cycles < min(found["lower_bound"]["latency_cycles"], answer["lower_bound"])
    main(["schedule", path, "--target", "cloud128", "--rounds", "1"])
    assert "no schedule of the model below" in " ".join(capsys.readouterr().out.split())
    for objective, said in (("latency", "less latency in Cocco's model"), ("dram", "less ema (proven)")):
        main(["partition", path, "--target", "cloud128", "--tile-rows", "32", "--objective", objective])
        assert said in capsys.readouterr().out


def test_a_default_program_keeps_what_groups_of_a_partition_pass_through_dram(tmp_path: Path):
    """A softmax runs in no group, so that its operand passes through DRAM in every partition, and stays by default."""
    maker, path = Maker(), str(tmp_path / "model.onnx")
    flat = maker.node("Flatten", maker.node("GlobalAveragePool", maker.conv("x", (3, 40), 3)))
    onnx.save(maker.model({"x": (1, 3, 8, 8)}, maker.node("Softmax", flat)), path)
    answer = program_partition(path, "edge16", (32, 0), PartitionOptions("ours"))
    least, moved = answer["program_lower_bound"], simulated(path, "edge16", "auto").dram_bytes
    assert least["dram_bytes"] <= moved
    assert simulated(path, "edge16", "ours").dram_bytes == answer["lower_bound"] == moved + 2 * 40 * 4
