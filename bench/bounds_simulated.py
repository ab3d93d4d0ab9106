"""Bounds of `partition` and of all programs against programs of the same files that run on the simulator.

    python bench/bounds_simulated.py --networks squeezenet,resnet50 --types int8,float --target edge16

makes the networks of the onnx wheel with seeded weights, float and int8, and random ones: `random:SEED`, `hostile:SEED`
(odd strides, large kernels, few pixels and channels), `random:FIRST-LAST`.  Each is compiled layer by layer, with
`--partition ours` and by default, simulated on values, and compared with NumPy and with what was predicted.  A row has
the simulated cycles and DRAM bytes, and what they are as multiples of each bound.  `partition` bounds the DRAM bytes of
programs in its groups: layer by layer tiles are others, and the default program keeps maps from group to group.  Its
bounds of cycles and energy, and all of `schedule`, are of models whose cores are not the machine's: programs may be
below them.
The exit code is 1 where a run goes below a bound, is not as predicted, traps, or outputs differ.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import onnx
from default_flow import open_batch
from onnx import ModelProto

from tilewright.driver import CompileOptions, RunOptions, RunResult, run
from tilewright.driver.partitions import program_partition
from tilewright.driver.pipelines import AUTO
from tilewright.errors import TilewrightError
from tilewright.frontends.input_shapes import InputShapes
from tilewright.search.fusion import PartitionOptions

sys.path.insert(0, str(Path(__file__).parents[1] / "test"))

from onnx_files.networks import mobilenet, seeded_light_model, transformer_block
from onnx_files.quantized import quantized

NETWORKS = (
    "squeezenet,mobilenet,shufflenet,inception_v1,resnet50,densenet121,inception_v2,transformer,random:0,random:1"
)
MADE = {"mobilenet": mobilenet, "transformer": transformer_block}
UNQUANTISED = ("transformer",)
TILE_ROWS = 32
REFUSALS = ("infeasible", "unsupported", "network")
"""Kinds of errors that say what a machine or a search cannot do; all others are faults."""
PROGRAMS = {"": "layers", "ours": "ours", AUTO: "default"}


def random_networks() -> ModuleType:
    """`test/random_networks.py`, which makes random networks."""
    path = Path(__file__).parents[1] / "test" / "random_networks.py"
    spec = importlib.util.spec_from_file_location("random_networks", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def random_network(kind: str, seed: int, integers: bool) -> ModelProto:
    """One of those networks."""
    made = random_networks()
    kinds = made.INTEGER if integers else made.FLOAT
    return made.grown(seed, kinds) if kind == "random" else made.hostile(seed, integers)


def expanded(names: str) -> Iterator[str]:
    """Names, with each seed of a range."""
    for name in names.split(","):
        kind, _, seeds = name.partition(":")
        first, _, last = seeds.partition("-")
        yield from (f"{kind}:{seed}" for seed in range(int(first), int(last) + 1)) if last else (name,)


def networks(names: str, types: str) -> Iterator[tuple[str, ModelProto, bool]]:
    """Names and models, and whether they are of integers."""
    for name in expanded(names):
        for kind in types.split(","):
            integers = kind == "int8"
            if integers and name in UNQUANTISED:
                continue
            made, _, seed = name.partition(":")
            if seed:
                model = random_network(made, int(seed), integers)
            else:
                model = MADE[name]() if name in MADE else seeded_light_model(name)
            yield f"{name} {kind}", quantized(model, samples=1) if integers else model, integers


@dataclass(frozen=True)
class Case:
    """A file on a machine, how long each search takes at most, and whether outputs are equal to the bit."""

    path: str
    target: str
    shapes: InputShapes
    seconds: float
    exact: bool


def least_of_groups(case: Case) -> float:
    """DRAM bytes that no program of groups goes below; 0 where `partition` refuses the network."""
    options = PartitionOptions("ours", "ema", 0, case.seconds)
    try:
        return program_partition(case.path, case.target, (TILE_ROWS, 0), options, shapes=case.shapes)["lower_bound"]
    except TilewrightError:
        return 0.0


def simulated(case: Case, partition: str) -> RunResult:
    """A program of the file, run and compared."""
    options = CompileOptions(partition=partition, prove=False, time_limit_s=case.seconds)
    with tempfile.TemporaryDirectory() as folder:
        return run(
            case.path,
            case.target,
            folder=folder,
            shapes=case.shapes,
            compile_options=options,
            options=RunOptions(trace=False),
        )


def faults(case: Case, made: RunResult, ratios: list[float]) -> Iterator[str]:
    """What is wrong with a run that is so many times each bound."""
    assert made.comparison is not None
    if min(ratios) < 1 - 1e-9:
        yield "BELOW A BOUND"
    if not made.agrees or (case.exact and not made.comparison.equal):
        yield "OTHER OUTPUTS"
    if made.simulation.cycles != made.predicted["cycles"] or abs(made.predicted_gap["energy_pj"]) > 1e-9:
        yield "NOT AS PREDICTED"
    if made.simulation.dram_bytes != made.predicted["dram_bytes"]:
        yield "OTHER TRAFFIC"


def rows(name: str, case: Case) -> Iterator[tuple[str, list[str]]]:
    """For each program a row of the table, and what is wrong."""
    of_groups = least_of_groups(case)
    for partition, label in PROGRAMS.items():
        try:
            made = simulated(case, partition)
        except TilewrightError as error:
            found = [] if error.kind in REFUSALS else [str(error)]
            yield " ".join((f"{name:18} {label:7} {error.kind}", *found)), found
            continue
        figures, least = made.simulation, made.bounds["lower_bound"]
        bounds = (of_groups if partition == "ours" else 0.0), least["dram_bytes"], least["cycles"], least["energy_pj"]
        values = figures.dram_bytes, figures.dram_bytes, figures.cycles, figures.energy_pj
        ratios = [value / bound if bound else float("inf") for value, bound in zip(values, bounds, strict=True)]
        cells = " ".join(f"{ratio:>9.3f}" for ratio in ratios)
        found = list(faults(case, made, ratios))
        yield " ".join((f"{name:18} {label:7} {figures.cycles:>11} {figures.dram_bytes:>11} {cells}", *found)), found


def main() -> None:
    """Print a row for each network and program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default=NETWORKS)
    parser.add_argument("--types", default="int8,float")
    parser.add_argument("--target", default="edge16")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=10, help="limit of each search")
    arguments = parser.parse_args()
    print(f"{'':26} {'cycles':>11} {'DRAM bytes':>11} {'of groups':>9} {'of all programs: bytes, cycles, energy':>29}")
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, model, integers in networks(arguments.networks, arguments.types):
            path = str(Path(folder) / "model.onnx")
            if arguments.batch > 1:
                open_batch(model)
            onnx.save(model, path)
            shapes = InputShapes(batch=arguments.batch if arguments.batch > 1 else None)
            for text, found in rows(name, Case(path, arguments.target, shapes, arguments.seconds, integers)):
                wrong += bool(found)
                print(text, flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
