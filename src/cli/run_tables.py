"""What commands that run or compile print of it: rows about a run, layers, a mapping, cycles beside a DRAM device."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import TilewrightError
from .table_files import write_csv
from .tables import energy, more, number, print_table, share

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
    rows = ({**layer, "nodes": " ".join(layer["nodes"]), "share": layer["cycles"] / total} for layer in layers)
    write_csv(path, [{name: row.get(name) for name in COLUMNS} for row in rows])


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
    others = len(layer["nodes"]) - 1
    return [
        layer["name"] + (f" (+{others})" if others else ""),
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
    return [number(cycles), number(flat), more(cycles / flat - 1) if flat else ""]


def cost_rows(answer: dict[str, Any]) -> list[list[str]]:
    """What the run cost, under each what was predicted, and how far that is off."""
    predicted, gap = answer.get("predicted", {}), answer.get("predicted_gap", {})

    def row(label: str, key: str, text: str) -> list[list[str]]:
        return [[label, text + (f" ({more(gap[key])})" if key in gap else "")]] if key in predicted else []

    return [
        ["latency", number(answer["cycles"], "cycles")],
        *row("predicted latency", "cycles", number(predicted.get("cycles", 0), "cycles")),
        *row("latency in the model", "model_cycles", number(predicted.get("model_cycles", 0), "cycles")),
        ["energy", energy(answer["energy_pj"])],
        *row("predicted energy", "energy_pj", energy(predicted.get("energy_pj", 0))),
        ["DRAM traffic", number(answer["dram_bytes"], "B")],
        *row("predicted DRAM traffic", "dram_bytes", number(predicted.get("dram_bytes", 0), "B")),
    ]


def error_rows(answer: dict[str, Any]) -> list[list[str]]:
    """What the outputs were compared with, the verdict, and the worst element."""
    if answer["max_abs_error"] is None:
        return []
    worst = answer["worst"]
    return [
        ["compared with", answer["compared_with"]],
        ["verdict", "agrees" if answer["agrees"] else "differs"],
        ["largest error", f"{answer['max_abs_error']:.3g}"],
        ["relative to the output's range", f"{answer['max_rel_error']:.3g}"],
        *([["worst element", f"{worst['name']}{list(worst['index'])}"]] if worst else []),
        *([["found, expected", f"{worst['found']:.9g}, {worst['expected']:.9g}"]] if worst else []),
        ["equal in all bits", "yes" if answer["equal"] else "no"],
    ]


def end_rows(answer: dict[str, Any]) -> list[list[str]]:
    """The files that were written, and what the command took."""
    return [
        ["outputs", answer["outputs"]],
        *([["trace", answer["trace"]]] if answer.get("trace") else []),
        *([["page", answer["report"]]] if "report" in answer else []),
        ["CPU time", f"{answer['cpu_s']:.1f} s"],
    ]


COUNTS = ("reads", "fills", "updates")


def show_mapped(answer: dict[str, Any]) -> None:
    """The loop nest, the run as a whole, and words of each memory and tensor beside the cost model's."""
    print(f"{answer['kernel']} on {answer['target']}\n")
    print(answer["loops"])
    (units, used), *_ = answer["utilization"].items()
    rows = [
        *cost_rows(answer),
        ["least of any mapping", number(answer["lower_bound"]["cycles"], "cycles")],
        ["gap, bound by", f"{share(answer['gap'])}, {answer['bound_by']}"],
        ["steps", number(answer["counts"]["steps"])],
        [f"{units} used", share(used)],
        *error_rows(answer),
        ["as the cost model says", "yes" if answer["model"]["equal"] else "no"],
        *_device_rows(answer),
        *_mesh_rows(answer),
        *end_rows(answer),
    ]
    print_table("Run", ["what", "value"], rows)
    counted, modelled = answer["counts"]["memories"], answer["model"]["memories"]
    rows = [
        [memory, tensor, *(_beside_model(words[key], modelled[memory]["tensors"][tensor][key]) for key in COUNTS)]
        for memory, found in reversed(counted.items())
        for tensor, words in found["tensors"].items()
    ]
    print_table("Words", ["memory", "tensor", *COUNTS], rows)
    rows = [
        [memory, energy(found["energy_pj"]), *(number(words) for words in found["network_words"].values())]
        for memory, found in reversed(counted.items())
    ]
    tensors = next(iter(counted.values()))["network_words"]
    print_table("Memories", ["memory", "energy", *(f"{name} on the network below" for name in tensors)], rows)


def _device_rows(answer: dict[str, Any]) -> list[list[str]]:
    """What a device computed, on machines of threads."""
    if (found := answer.get("executed")) is None:
        return []
    if "missing" in found:
        return [["kernel", f"not run: no {found['missing']}; {found['install']}"]]
    equal = "equal in all bits" if found["equal"] else "agrees" if found["agrees"] else "differs"
    return [["kernel ran on", found["device"]], ["its output", f"{equal}, error {found['max_rel_error']:.3g}"]]


def _beside_model(counted: int, modelled: int) -> str:
    return number(counted) if counted == modelled else f"{number(counted)} (model: {number(modelled)})"


def _mesh_rows(answer: dict[str, Any]) -> list[list[str]]:
    """The run on the mesh, where there is one."""
    if (mesh := answer.get("noc")) is None:
        return []
    return [
        ["latency on the mesh", f"{number(mesh['cycles'], 'cycles')} ({more(mesh['cycles'] / answer['cycles'] - 1)})"],
        ["its bound", mesh["bound_by"]],
        ["flits sent, received", f"{number(mesh['sent_flits'])}, {number(mesh['received_flits'])}"],
        ["links passed", number(mesh["hops"])],
        ["energy of links, of tags", f"{energy(mesh['hop_energy_pj'])}, {energy(mesh['tag_energy_pj'])}"],
    ]
