"""What `tilewright map` prints for people."""

from math import isfinite
from typing import Any

from .tables import energy, number, print_table, share


def show_kernel(answer: dict[str, Any]) -> None:
    """The loop nest, words and energy per memory and tensor, and the price beside what any mapping needs."""
    dims = " ".join(f"{dim}={bound}" for dim, bound in answer["dims"].items())
    print(f"{answer['kernel']} on {answer['target']}: {dims}\n")
    print(answer["loops"])
    show_traffic(answer["traffic"])
    _show_price(answer)
    for violation in answer["violations"]:
        print(f"does not fit: {violation['message']}")
    for path in answer["files"]:
        print(f"wrote {path}")


def show_traffic(traffic: list[dict[str, Any]]) -> None:
    """Words and energy per memory and tensor."""
    rows = [
        [
            row["level"],
            row["tensor"],
            number(row["tile_words"]),
            number(row["instances"]),
            number(row["reads"]),
            number(row["fills"]),
            number(row["updates"]),
            energy(row["energy_pj"]),
        ]
        for row in traffic
    ]
    print_table("Words", ["memory", "tensor", "tile", "copies", "reads", "fills", "updates", "energy"], rows)


def _show_price(answer: dict[str, Any]) -> None:
    rows = [*_beside_bounds(answer), ["utilisation", share(answer["utilization"]), "", ""]]
    print_table("Price", ["what", "this mapping", "any mapping, at least", "above that by"], rows)
    if answer["model"] != "exact":
        print("the bounds are those of the exact model, and so is what the mapping is above them by")
    for what, term in answer["lower_bound"].get("binding", {}).items():
        print(f"the bound of {what.replace('dram_words', 'DRAM words')} is set by {term}")
    print(f"{answer['mapper']} mapper, {answer['factors']} factors, {answer['model']} model: {_proof(answer)}")
    print(f"{answer['evaluated']} mappings priced in full, {answer['cpu_s']:.2f} s")


def _proof(answer: dict[str, Any]) -> str:
    if answer["proven"]:
        return "no mapping is better"
    gap = answer["search_gap"]
    within = "" if gap is None else f", at most {_percent(gap)} above it"
    return f"not proven best{within}: the search was cut short or is heuristic"


def _proven(layer: dict[str, Any]) -> str:
    """Whether a layer's mapping is the best, or how far from it at most."""
    if layer["proven"]:
        return "yes"
    return "no" if layer["search_gap"] is None else f"to {_percent(layer['search_gap'])}"


def _percent(part: float) -> str:
    """A part as percent, of two digits where it is small."""
    return share(part) if part >= 0.01 else f"{100 * part:.2g} %"


def _joule_cycles(value: float) -> str:
    return f"{value:.5g} J*cycle"


def _beside_bounds(answer: dict[str, Any]) -> list[list[str]]:
    """Rows of EDP, energy and cycles: the price, its bound, and by how much the price is above."""
    shown = (("energy x delay", _joule_cycles, "edp"), ("energy", energy, "energy_pj"), ("cycles", number, "cycles"))
    bound, exact = answer["lower_bound"], answer["exact"]
    return [[what, show(answer[k]), show(bound[k]), _over(exact[k], bound[k])] for what, show, k in shown]


def _over(value: float, bound: float) -> str:
    return share(value / bound - 1) if bound > 0 else "0.0 %" if value == 0 else "-"


def show_network(answer: dict[str, Any]) -> None:
    """A line per layer, and the whole network."""
    rows = [
        [
            layer["kernel"].removeprefix(f"{answer['network']}:"),
            number(layer["repeats"]),
            f"{layer['edp']:.4g}",
            energy(layer["energy_pj"]),
            number(layer["cycles"]),
            _proven(layer),
            f"{100 * layer['gap']:.0f} %" if isfinite(layer["gap"]) else "-",
            f"{layer['cpu_s']:.2f} s",
        ]
        for layer in answer["layers"]
    ]
    header = ["layer", "times", "EDP", "energy", "cycles", "proven", "gap", "CPU"]
    print_table(f"{answer['network']} on {answer['target']} (EDP in J*cycle)", header, rows)
    total = _beside_bounds(answer)
    print_table("All layers", ["what", "these mappings", "any mapping, at least", "above that by"], total)
    seconds = f"{answer['cpu_s']:.1f} CPU seconds of search, {answer['wall_s']:.1f} s in all"
    print(f"{answer['solved']} different layers, {seconds}")


def show_cases(answer: dict[str, Any]) -> None:
    """A line per case of a file."""
    rows = [
        [
            str(index),
            f"{result['edp_J_cycle']:.6g}",
            energy(result["energy_pJ"]),
            number(result["cycles"]),
            "yes" if result["proven"] else "no",
            f"{result['cpu_s']:.2f} s",
        ]
        for index, result in enumerate(answer["results"])
    ]
    print_table("Best mappings", ["case", "EDP in J*cycle", "energy", "cycles", "proven", "CPU time"], rows)
