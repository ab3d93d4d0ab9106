"""Tell what binds a compiled network, and what more of each resource would bring.

The network is compiled again for each resource of the target times the factor: room on chip, bandwidths, and the width
of compute nodes.  --resource names others by path: GBUF.depth, DRAM.bandwidth, GBUF->MXU.bandwidth, MXU.instances_x,
MXU.mac.k_lanes, VPU.lanes, LD.depth, frequency.
"""

import argparse
from pathlib import Path
from typing import Any

from ..errors import TilewrightError
from .options import Number, add_count
from .run_tables import MOST_ROWS
from .tables import energy, number, print_table, progress_bar, share


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="DIR", help="a folder that `compile` wrote")
    parser.add_argument("--layer", metavar="NAME", help="tell of this layer, or of those whose names have this in them")
    parser.add_argument(
        "--resource", action="append", default=[], metavar="PATH", help="an attribute of the target; may be repeated"
    )
    check = Number("--factor", float, 0, 1e6, above=True)
    parser.add_argument("--factor", type=check, default=2.0, metavar="X", help="how much of it (default: 2)")
    add_count(parser, "--jobs", "processes that compile (default: 1)", default=1)


def execute(arguments: argparse.Namespace) -> dict[str, Any]:
    from ..driver.explain import explain

    with progress_bar() as progress:
        answer = explain(
            arguments.folder, arguments.resource, factor=arguments.factor, jobs=arguments.jobs, progress=progress
        )
    if arguments.layer is not None:
        names = [layer["name"] for layer in answer["layers"]]
        found = [layer for layer in answer["layers"] if arguments.layer in (layer["name"], *layer["nodes"])]
        found = found or [layer for layer in answer["layers"] if arguments.layer in layer["name"]]
        if not found:
            raise TilewrightError("layer", arguments.layer, f"one of {', '.join(names[:40])}", "no such layer")
        answer["layers"] = found
    return answer


def show(answer: dict[str, Any]) -> None:
    told = [number(answer["cycles"], "cycles")]
    told += [energy(answer["energy_pj"])] if answer["energy_pj"] is not None else []
    print(f"{', '.join(told)}, {number(answer['dram_bytes'], 'B')} off chip")
    if "gap" in answer:
        print(f"{share(answer['gap'])} above the least of any program, which {answer['bound_by']} sets")
    if not answer["as_compiled"]:
        print("the folder was compiled by another version: its program takes other cycles")
    rows = [_row(answer, lever) for lever in answer["levers"]]
    names = ["resource", "times", "cycles", "faster by", "DRAM", "energy", "least of any", "bound by"]
    print_table("With more of each resource, compiled again", names, rows)
    for lever in answer["levers"]:
        if "error" in lever:
            print(f"{lever['attribute']}: {TilewrightError(**lever['error']).paragraph()}")
    _show_layers(answer)
    _show_hiding(answer)
    for reason in answer["refused"]:
        print(f"What kept a plan with more on chip from being taken: {reason}")


def _row(answer: dict[str, Any], lever: dict[str, Any]) -> list[str]:
    start = [lever["attribute"], f"{lever['factor']:g}"]
    if "error" in lever:
        return [*start, "no program", *[""] * 5]
    least = lever.get("lower_bound", {}).get("cycles")
    return [
        *start,
        number(lever["cycles"]),
        share(lever["faster"]),
        number(lever["dram_bytes"], "B"),
        energy(lever["energy_pj"]),
        number(least) if least else "",
        lever.get("bound_by", ""),
    ]


def _show_layers(answer: dict[str, Any]) -> None:
    """The longest layers, and their cycles with more of each resource."""
    paths = [lever["attribute"] for lever in answer["levers"] if "error" not in lever]
    longest = sorted(answer["layers"], key=lambda layer: -layer["cycles"])[:MOST_ROWS]
    rows = [
        [
            layer["name"],
            number(layer["cycles"]),
            layer["bound_by"],
            *(number(lever["cycles"]) if lever["cycles"] is not None else "" for lever in layer["levers"]),
        ]
        for layer in longest
    ]
    print_table(
        f"Cycles of the {len(rows)} longest layers, and with more of", ["layer", "now", "bound by", *paths], rows
    )


def _show_hiding(answer: dict[str, Any]) -> None:
    """What hides the waits of layers, and what is left of them with the most that was tried."""
    rows = [
        [
            layer["name"],
            f"{one['attribute']} {one['value']:g}",
            f"{one['factor']:g}",
            number(one["size_bytes"], "B") if "size_bytes" in one else "",
            one["wait"] if one["wait"] != "left" else number(one["wait_cycles"], "cycles"),
            number(one["cycles"]),
        ]
        for layer in answer["layers"]
        for one in layer["hiding"]
    ]
    if rows:
        names = ["layer", "with", "times", "room", "the wait is then", "cycles of the run"]
        print_table("What hides the longest waits of layers, compiled again", names, rows)
