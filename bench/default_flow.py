"""Programs by default options against the bound of all programs of the same network.

    python bench/default_flow.py --networks squeezenet,resnet50 --types int8,f32 --batch 1 --target edge16

makes the networks of the onnx wheel with seeded weights, and transformers of the zoo by name, compiles each in the ways
of `--methods` (`none`: layer by layer, `greedy`: its groups alone, `soma` and `cocco`: their schedules) and by default,
and prints a row with the cycles of all, the bound, and the ratio of default over bound.  With `--run` the default
program is simulated on values, compared with NumPy, and its counts with the predicted ones; the exit code is 1 where
one differs or a run goes below the bound.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import dataclass
from math import exp, log
from pathlib import Path

import onnx

from tilewright.driver import CompileOptions, RunOptions, compile, run
from tilewright.errors import TilewrightError
from tilewright.frontends.input_shapes import InputShapes

sys.path.insert(0, str(Path(__file__).parents[1] / "test"))

from onnx_files.networks import LIGHT_NETWORKS, mobilenet, seeded_light_model, transformer_block
from onnx_files.quantized import quantized

METHODS = {
    "none": CompileOptions(partition="", prove=False),
    "greedy": CompileOptions(partition="greedy", prove=False),
    "soma": CompileOptions(schedule="soma", prove=False),
    "cocco": CompileOptions(schedule="cocco", prove=False),
}
MADE = {"mobilenet": mobilenet, "transformer": transformer_block}
NETWORKS = "squeezenet,mobilenet,shufflenet,inception_v1,inception_v2,resnet50,densenet121,gpt2_small_decode"
OTHER_NAMES = {"alexnet": "bvlc_alexnet", "zfnet": "zfnet512"}


def model_of(name: str, kind: str, batch: int, folder: Path) -> str | None:
    """A file of a network, or the name of one of the zoo; None where there is no such one."""
    name = OTHER_NAMES.get(name, name)
    if name not in MADE and name not in LIGHT_NETWORKS:
        return name if kind == "int8" else f"{name}:{kind}"
    model = MADE[name]() if name in MADE else seeded_light_model(name)
    if kind == "int8" and name != "transformer":
        model = quantized(model, samples=1)
    elif kind == "int8":
        return None
    if batch > 1:
        open_batch(model)
    path = folder / f"{name}_{kind}.onnx"
    onnx.save(model, path)
    return str(path)


def open_batch(model: onnx.ModelProto) -> None:
    """Leave the first axis of inputs and outputs open."""
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = "batch"
    del model.graph.value_info[:]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default=NETWORKS)
    parser.add_argument("--types", default="int8,f32")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--target", default="edge16")
    parser.add_argument("--methods", default="none", help=f"of {', '.join(METHODS)} (default: none)")
    parser.add_argument("--run", action="store_true")
    arguments = parser.parse_args()
    methods = [name for name in arguments.methods.split(",") if name]
    ratios: list[float] = []
    failed = False
    columns = " | ".join(["network, type", *methods, "default", "bound", "over it", "bound by", "CPU s"])
    print(f"| {columns} |  on {arguments.target}")
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.networks.split(","):
            for kind in arguments.types.split(","):
                model = model_of(name, kind, arguments.batch, Path(folder))
                if model is not None:
                    network = Network(f"{name}, {kind}", model, arguments.target, arguments.batch)
                    ratio, good = row(network, methods, arguments.run)
                    ratios += [ratio] if ratio else []
                    failed = failed or not good
    if ratios:
        print(f"geometric mean over the bound: {exp(sum(map(log, ratios)) / len(ratios)):.3f}")
    return int(failed)


@dataclass(frozen=True)
class Network:
    """A model, the machine that it is compiled for, and how many samples at once."""

    title: str
    model: str
    target: str
    batch: int

    @property
    def shapes(self) -> InputShapes | None:
        return InputShapes(batch=self.batch) if self.batch > 1 else None

    def cycles(self, options: CompileOptions) -> str:
        """As predicted, or what keeps it from being compiled."""
        try:
            return f"{compile(self.model, self.target, shapes=self.shapes, options=options).predicted['cycles']:,.0f}"
        except TilewrightError as error:
            return error.kind


def row(network: Network, methods: list[str], simulate: bool) -> tuple[float, bool]:
    """Prints one row: default cycles over the bound, and whether a run was as it should be."""
    title = " | ".join([network.title, *(network.cycles(METHODS[method]) for method in methods)])
    start = time.process_time()
    try:
        program = compile(network.model, network.target, shapes=network.shapes)
    except TilewrightError as error:
        print(f"| {title} | {error.paragraph()[:80]} |", flush=True)
        return 0.0, True
    spent = time.process_time() - start
    cycles, least = program.predicted["cycles"], program.lower_bound["cycles"]
    figures = f"{cycles:,.0f} | {least:,.0f} | {cycles / least:.3f} | {program.bound_by} | {spent:.1f}"
    verdict, good = "", True
    if simulate:
        with tempfile.TemporaryDirectory() as folder:
            options = RunOptions(trace=False)
            result = run(network.model, network.target, folder=folder, shapes=network.shapes, options=options)
        exact = result.simulation.cycles == cycles and result.simulation.dram_bytes == program.predicted["dram_bytes"]
        good = bool(result.agrees) and exact and result.simulation.cycles >= least
        verdict = " agrees, as predicted |" if good else " DIFFERS |"
    print(f"| {title} | {figures} |{verdict}", flush=True)
    return cycles / least, good


if __name__ == "__main__":
    sys.exit(main())
