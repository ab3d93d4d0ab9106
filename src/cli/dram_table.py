"""What `--dram` adds to the commands that simulate: the option, and cycles beside those of the flat bandwidth."""

from __future__ import annotations

import argparse
from typing import Any

from .tables import number, print_table, share

MOST_ROWS = 20
"""Layers that are printed at most: those that lose most cycles."""


def add_dram_option(parser: argparse.ArgumentParser) -> None:
    """`--dram`."""
    parser.add_argument(
        "--dram",
        metavar="DEVICE",
        help="time transfers by a device off chip: ddr4-2400, lpddr4-3200 or hbm2, perhaps with other figures "
        "(ddr4-2400:channels=2), or flat (default: as the target says, flat bandwidth where it says nothing)",
    )


def show_dram(answer: dict[str, Any]) -> None:
    """What each device did, and the layers that differ most from the flat bandwidth."""
    if "dram" not in answer:
        return
    rows = [
        [used["device"], number(used["bursts"]), share(used["hit_share"]), number(used["refreshed"])]
        for used in answer["dram"]
    ]
    print_table("DRAM", ["device", "bursts", "in open rows", "refreshes"], rows)
    layers = [layer for layer in answer["dram_layers"] if layer["cycles"] != layer["flat_cycles"]]
    lost = sorted(layers, key=lambda layer: layer["flat_cycles"] - layer["cycles"])[:MOST_ROWS]
    shown = [layer for layer in layers if layer in lost]
    rows = [[layer["name"], *_beside(layer["cycles"], layer["flat_cycles"])] for layer in shown]
    rows.append(["all", *_beside(answer.get("timed_cycles", answer["cycles"]), answer["flat_cycles"])])
    print_table("Against the flat bandwidth", ["layer", "cycles", "flat", "more"], rows)


def _beside(cycles: int, flat: int) -> list[str]:
    return [number(cycles), number(flat), f"{100 * (cycles / flat - 1):+.1f} %" if flat else ""]
