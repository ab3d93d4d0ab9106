"""No program that runs on the simulator goes below the bounds that `schedule` and `partition` state for its file."""

from pathlib import Path

import numpy as np
import onnx
import pytest

from tilewright import CompileOptions, compile, simulate
from tilewright.arrays import make_inputs
from tilewright.backends.simulator import SimulationResult
from tilewright.costs.fusion.values import Metric
from tilewright.driver.partitions import program_partition
from tilewright.driver.schedules import ScheduleOptions, schedule_network_for
from tilewright.search.dram import Effort
from tilewright.search.fusion import PartitionOptions
from tilewright.zoo.quantized import quantized

from .patterns import PATTERNS, Maker

TARGET = "edge16"
CASES = [("residual", True), ("shared", True), ("squeeze_excite", False), ("grouped", False), ("vit", False)]


def simulated(path: str, partition: str) -> SimulationResult:
    program = compile(path, TARGET, options=CompileOptions(partition=partition, prove=False))
    signature = {t.name: (t.shape, np.dtype(t.dtype)) for t in program.tensors if t.role == "input"}
    return simulate(program, make_inputs(signature, 0))


@pytest.mark.parametrize(("name", "integers"), CASES)
def test_simulated_programs_are_at_or_above_the_bounds(name: str, integers: bool, tmp_path: Path):
    model, path = PATTERNS[name](), str(tmp_path / "model.onnx")
    onnx.save(quantized(model) if integers else model, path)
    answer, found = schedule_network_for(path, TARGET, ScheduleOptions(effort=Effort(rounds=1)))
    least = answer["lower_bound"]
    assert found.timetable.dram_bytes >= least["dram_bytes"] > 0
    metrics: tuple[Metric, ...] = "ema", "latency"
    size, cycles = (
        program_partition(path, TARGET, (32, 0), PartitionOptions("greedy", metric))["lower_bound"]
        for metric in metrics
    )
    for partition in ("", "ours"):
        run = simulated(path, partition)
        assert run.dram_bytes >= max(least["dram_bytes"], size * (1 - 1e-9))
        assert run.cycles >= max(least["latency_cycles"], cycles * (1 - 1e-9))


def test_a_default_program_keeps_what_groups_of_a_partition_pass_through_dram(tmp_path: Path):
    """A softmax runs in no group, so that its operand passes through DRAM in every partition, and stays by default."""
    maker, path = Maker(), str(tmp_path / "model.onnx")
    flat = maker.node("Flatten", maker.node("GlobalAveragePool", maker.conv("x", (3, 40), 3)))
    onnx.save(maker.model({"x": (1, 3, 8, 8)}, maker.node("Softmax", flat)), path)
    answer = program_partition(path, TARGET, (32, 0), PartitionOptions("ours"))
    least, moved = answer["program_lower_bound"], simulated(path, "auto").dram_bytes
    assert least["dram_bytes"] <= moved
    assert simulated(path, "ours").dram_bytes == answer["lower_bound"] == moved + 2 * 40 * 4
