"""The table of layers that `run` and `compile` print and write."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import TilewrightError
from ..files import replacing
from .tables import energy, number, print_table, share

MOST_ROWS = 20
"""Layers that are printed at most: those that take longest."""

Layers = Sequence[Mapping[str, Any]]

COLUMNS = (
    *("name", "nodes", "group", "instructions", "cycles", "share"),
    *("dram_bytes", "energy_pj", "utilization", "bound_by"),
)


def add_layer_options(parser: argparse.ArgumentParser) -> None:
    """Options of commands that answer with layers."""
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write the table of all layers to FILE")


def write_layers(path: Path, layers: Layers) -> None:
    """All layers as a CSV file: bytes, cycles, pJ; nodes are separated by spaces."""
    if not layers:
        raise TilewrightError("usage", "--csv", "a program that knows its layers", "one that does not", "leave it out")
    total = max(sum(layer["cycles"] for layer in layers), 1)
    with replacing(path) as place, place.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore")
        writer.writeheader()
        for layer in layers:
            writer.writerow({**layer, "nodes": " ".join(layer["nodes"]), "share": layer["cycles"] / total})


def show_layers(layers: Layers, title: str) -> None:
    """The layers in program order, of many those that take longest, and their sums."""
    if not layers:
        return
    longest = sorted(range(len(layers)), key=lambda place: -layers[place]["cycles"])[:MOST_ROWS]
    shown = [layers[place] for place in sorted(longest)]
    if len(shown) < len(layers):
        title += f" (the {len(shown)} longest of {len(layers)}; all with --csv FILE or --json)"
    grouped = any(layer["group"] for layer in layers)
    total = max(sum(layer["cycles"] for layer in layers), 1)
    rows = [_row(layer, total, grouped) for layer in shown]
    if len(layers) > 1:
        rows.append(_sums(layers, grouped))
    names = ["layer", *(["group"] if grouped else [])]
    print_table(title, [*names, "cycles", "share", "DRAM", "energy", "of array's peak", "bound by"], rows)


def _row(layer: Mapping[str, Any], total: int, grouped: bool) -> list[str]:
    more = len(layer["nodes"]) - 1
    return [
        layer["name"] + (f" (+{more})" if more else ""),
        *([layer["group"]] if grouped else []),
        number(layer["cycles"]),
        share(layer["cycles"] / total),
        number(layer["dram_bytes"], "B"),
        energy(layer["energy_pj"]),
        share(layer["utilization"]),
        layer["bound_by"],
    ]


def _sums(layers: Layers, grouped: bool) -> list[str]:
    cycles, size, energy_pj = (sum(layer[key] for layer in layers) for key in ("cycles", "dram_bytes", "energy_pj"))
    count = f"all {len(layers)}"
    return [count, *([""] if grouped else []), number(cycles), share(1), number(size, "B"), energy(energy_pj), "", ""]
