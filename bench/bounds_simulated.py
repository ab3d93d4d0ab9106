"""Bounds of `schedule`, `partition` and all programs against programs of the same files that run on the simulator.

    python bench/bounds_simulated.py --networks squeezenet,resnet50 --types int8,float --target edge16

makes the networks of the onnx wheel with seeded weights, float and int8, and `random:SEED` ones.  Each is compiled
layer by layer, with `--partition ours` and by default, and simulated.  A row has the simulated cycles and DRAM bytes,
and what they are as multiples of each bound.  `partition` bounds programs whose groups pass maps through DRAM; the
default program keeps them on chip from group to group, and is compared with the other bounds.  The exit code is 1 where
a run goes below a bound.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from default_flow import open_batch
from onnx import ModelProto

from tilewright.arrays import make_inputs
from tilewright.backends.program import Program
from tilewright.backends.simulator import SimulationResult, simulate
from tilewright.costs.fusion.values import Metric
from tilewright.driver import CompileOptions, compile
from tilewright.driver.partitions import program_partition
from tilewright.driver.pipelines import AUTO
from tilewright.driver.schedules import ScheduleOptions, schedule_network_for
from tilewright.errors import InfeasibleError, TilewrightError
from tilewright.frontends.input_shapes import InputShapes
from tilewright.search.dram import Effort
from tilewright.search.fusion import PartitionOptions
from tilewright.zoo.onnx_models import mobilenet, seeded_light_model, transformer_block
from tilewright.zoo.quantized import quantized

NETWORKS = (
    "squeezenet,mobilenet,shufflenet,inception_v1,resnet50,densenet121,inception_v2,transformer,random:0,random:1"
)
MADE = {"mobilenet": mobilenet, "transformer": transformer_block}
UNQUANTISED = ("transformer",)
TILE_ROWS = 32
METRICS: tuple[Metric, ...] = "ema", "latency"
PROGRAMS = {"": "layers", "ours": "ours", AUTO: "default"}


def random_network(seed: int, integers: bool) -> ModelProto:
    """One of the networks of `test/networks/test_random.py`."""
    path = Path(__file__).parents[1] / "test" / "networks" / "test_random.py"
    spec = importlib.util.spec_from_file_location("test_random", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.grown(seed, module.INTEGER if integers else module.FLOAT)


def networks(names: str, types: str) -> Iterator[tuple[str, ModelProto]]:
    """Names and models."""
    for name in names.split(","):
        for kind in types.split(","):
            integers = kind == "int8"
            if integers and name in UNQUANTISED:
                continue
            if name.startswith("random:"):
                model = random_network(int(name.removeprefix("random:")), integers)
            else:
                model = MADE[name]() if name in MADE else seeded_light_model(name)
            yield f"{name} {kind}", quantized(model, samples=1) if integers else model


@dataclass(frozen=True)
class Case:
    """A file on a machine, and how long each search takes at most."""

    path: str
    target: str
    shapes: InputShapes
    seconds: float


def bounds(case: Case) -> dict[str, tuple[float, float]]:
    """Cycles and DRAM bytes that no program of a command goes below; 0 where it refuses the network."""
    effort = Effort(rounds=1, time_limit_s=case.seconds)
    answer, _ = schedule_network_for(case.path, case.target, ScheduleOptions(effort=effort, shapes=case.shapes))
    least = answer["lower_bound"]
    found: dict[Metric, float] = {}
    for metric in METRICS:
        options = PartitionOptions("ours", metric, 0, case.seconds)
        try:
            answer = program_partition(case.path, case.target, (TILE_ROWS, 0), options, shapes=case.shapes)
            found[metric] = answer["lower_bound"]
        except TilewrightError:
            found[metric] = 0.0
    return {
        "schedule": (least["latency_cycles"], least["dram_bytes"]),
        "partition": (found["latency"], found["ema"]),
    }


def simulated(case: Case, partition: str) -> tuple[Program, SimulationResult]:
    """A program of the file, and its run."""
    options = CompileOptions(partition=partition, prove=False, time_limit_s=case.seconds)
    program = compile(case.path, case.target, shapes=case.shapes, options=options)
    signature = {t.name: (t.shape, np.dtype(t.dtype)) for t in program.tensors if t.role == "input"}
    return program, simulate(program, make_inputs(signature, 0))


def rows(name: str, case: Case) -> Iterator[tuple[str, bool]]:
    """For each program a row of the table, and whether no bound is above it."""
    least = bounds(case)
    for partition, label in PROGRAMS.items():
        try:
            program, run = simulated(case, partition)
        except InfeasibleError as error:
            yield f"{name:18} {label:7} {error.kind}", True
            continue
        own = program.lower_bound["cycles"], program.lower_bound["dram_bytes"]
        of_groups = least["partition"] if partition != AUTO else (0.0, 0.0)
        cells, right = [f"{run.cycles:>11} {run.dram_bytes:>11}"], True
        right &= run.energy_pj >= program.lower_bound["energy_pj"]
        for cycles, size in (least["schedule"], of_groups, own):
            ratios = [
                made / bound if bound else float("inf")
                for made, bound in ((run.cycles, cycles), (run.dram_bytes, size))
            ]
            right &= min(ratios) >= 1 - 1e-9
            cells.append(f"{ratios[0]:>9.3f} {ratios[1]:>9.3f}")
        yield f"{name:18} {label:7} {' '.join(cells)}", right


def main() -> None:
    """Print a row for each network and program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default=NETWORKS)
    parser.add_argument("--types", default="int8,float")
    parser.add_argument("--target", default="edge16")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=10, help="limit of each search")
    arguments = parser.parse_args()
    over = " ".join(f"{what:>19}" for what in ("over schedule", "over partition", "over all programs"))
    print(f"{'':26} {'cycles':>11} {'DRAM bytes':>11} {over}", flush=True)
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, model in networks(arguments.networks, arguments.types):
            path = str(Path(folder) / "model.onnx")
            if arguments.batch > 1:
                open_batch(model)
            onnx.save(model, path)
            shapes = InputShapes(batch=arguments.batch if arguments.batch > 1 else None)
            for text, right in rows(name, Case(path, arguments.target, shapes, arguments.seconds)):
                wrong += not right
                print(text + ("" if right else "  BELOW A BOUND"), flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
