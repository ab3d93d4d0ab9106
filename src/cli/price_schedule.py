"""Price the DRAM schedules of a file.

FILE holds `runs` in JSON: SoMa's command line under `args`, and the encodings of its two stages.  The answer has
latency, energy, largest buffer and DRAM tensors of each stage, one result per run, by SoMa's model.

A .mlir file, as `tilewright schedule -o` writes it, holds one schedule in the dram dialect and names its model.
"""

import argparse
from pathlib import Path
from typing import Any

from .tables import energy, number, print_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a .json file of schedules, or a .mlir file")
    parser.add_argument("--model", choices=["soma"], default="soma", help="cost model (default: soma)")


def execute(arguments: argparse.Namespace) -> dict[str, Any]:
    if arguments.file.suffix == ".mlir":
        from ..driver.schedule_files import price_schedule_ir

        return price_schedule_ir(arguments.file)
    from ..costs.notation.price_file import price_schedule_file

    return price_schedule_file(arguments.file)


def show(answer: dict[str, Any]) -> None:
    rows = [
        [
            f"{index} {stage}",
            "yes" if prices["valid"] else "no",
            number(prices["latency_cycles"]),
            energy(prices["energy_pj"]),
            number(prices["max_buffer_bytes"], "iB", 1024),
            number(prices["dram_tensors"]),
        ]
        for index, result in enumerate(answer["results"])
        for stage, prices in result.items()
        if stage in ("stage1", "stage2", "schedule")
    ]
    print_table("Schedules", ["run", "valid", "latency in cycles", "energy", "largest buffer", "DRAM tensors"], rows)
