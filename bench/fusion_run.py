"""Fused networks run on the simulator: DRAM traffic predicted and measured, and what fusion saves.

    python bench/fusion_run.py --networks resnet50,googlenet,randwire_a --size 64 --target cocco_npu

takes each network in 8-bit integers, groups its layers by `--method`, runs it layer by layer and in groups, and
compares the outputs bit by bit.  The exit code tells whether they are equal, traffic is as predicted to the byte by the
program and by the partition that was chosen, every region is used up to its end and no further, groups move less than
layers one by one, and cycles are within 3 % of those predicted.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from measure import Report
from xdsl.dialects.builtin import ModuleOp

from tilewright.arrays import make_inputs
from tilewright.backends.program import Program
from tilewright.backends.simulator import SimulationResult, simulate
from tilewright.driver import CompileOptions, compile
from tilewright.frontends.networks.images import image_module
from tilewright.frontends.networks.maker import Maker
from tilewright.zoo.paper_networks.networks import googlenet, randwire_a
from tilewright.zoo.schedule_networks.images import resnet

TABLES = {
    "googlenet": googlenet,
    "randwire_a": randwire_a,
    "resnet50": lambda size: resnet("resnet50", (3, 4, 6, 3), size),
}


def run(model: ModuleOp, target: str, options: CompileOptions) -> tuple[Program, SimulationResult, float]:
    """The program, its run, and the CPU seconds of both."""
    start = time.process_time()
    program = compile(model, target, options=options)
    signature = {t.name: (t.shape, np.dtype(t.dtype)) for t in program.tensors if t.role == "input"}
    result = simulate(program, make_inputs(signature, 0))
    return program, result, time.process_time() - start


def main() -> None:
    """Run the networks and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default="resnet50,googlenet,randwire_a", help=f"among {', '.join(TABLES)}")
    parser.add_argument("--size", type=int, default=64, help="rows and columns of the input")
    parser.add_argument("--target", default="cocco_npu")
    parser.add_argument("--method", default="ours")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--tile-columns", type=int, default=0, help="columns of a tile where full rows do not fit")
    arguments = parser.parse_args()
    report = Report()
    for name in arguments.networks.split(","):
        model = image_module(TABLES[name](arguments.size), Maker("i8"), 1)
        options = CompileOptions(
            partition=arguments.method, time_limit_s=arguments.seconds, tile_columns=arguments.tile_columns
        )
        program, fused, cpu_s = run(model, arguments.target, options)
        _, alone, _ = run(model, arguments.target, CompileOptions())
        equal = all(np.array_equal(fused.outputs[key], alone.outputs[key]) for key in alone.outputs)
        used = all(region.peak_bytes == region.bytes for region in fused.regions)
        print(
            f"{name}: {fused.dram_bytes} B measured, {program.predicted['dram_bytes']:.0f} B predicted, "
            f"{program.predicted['ema_bytes']:.0f} B by the partition, "
            f"{alone.dram_bytes} B layer by layer; {fused.cycles} cycles ({program.predicted['cycles']:.0f} predicted, "
            f"{alone.cycles} layer by layer), "
            f"{len(fused.regions)} regions, {program.instruction_count} instructions, {cpu_s:.1f} s"
        )
        report.add(f"{name}: outputs that differ", 0 if equal else 2, 1)
        report.add(f"{name}: regions not used as given", 0 if used else 2, 1)
        for key, what in (("dram_bytes", "prediction"), ("ema_bytes", "partition's EMA")):
            report.add(f"{name}: bytes off the {what}", abs(fused.dram_bytes - program.predicted[key]), 0.5)
        off = abs(fused.cycles / program.predicted["cycles"] - 1)
        report.add(f"{name}: cycles off the prediction", off, 0.03)
        report.add(f"{name}: bytes against layer by layer", fused.dram_bytes, alone.dram_bytes, "B")
    report.finish()


if __name__ == "__main__":
    main()
