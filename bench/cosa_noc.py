"""Figure 10 of CoSA (ISCA 2021) again: schedules on a mesh, flit by flit, as speed over the random ones.

    python bench/cosa_noc.py --csv rows.csv --svg figure.svg

Schedulers: Random (the best of 5 valid mappings in the bandwidth model), Hybrid (Timeloop's), CoSA (its program),
ours by the bandwidth model, and ours by `--objective noc`.  Layers are a sample of each network; their largest bounds
are halved until the points fit.  The table has cycles on the mesh; what the bandwidth model says stands beside.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator
from dataclasses import replace
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np

from tilewright.backends.report.svg import INK, SOFT, Svg
from tilewright.costs.exact import evaluate
from tilewright.costs.hierarchy import Architecture, LoopMapping, Problem
from tilewright.costs.noc import make_program, run_program
from tilewright.errors import TilewrightError
from tilewright.mapping.machines import find_architecture
from tilewright.search.mapping.draw import Sampler, fits_arrays
from tilewright.search.mapping.mappers import map_problem
from tilewright.search.mapping.pricing import Pricer
from tilewright.search.mapping.values import Request, Space
from tilewright.zoo.mapping_layers import layers

NETWORKS = ("alexnet", "resnet50", "resnext50", "deepbench")
METHODS = ("random", "hybrid", "cosa", "ours", "ours_noc")
SPACE = Space(bypass=False, split_axes=True, factors="perfect")
COLOURS = ("#9aa7b4", "#d9a441", "#4f81bd", "#7fb27f", "#2e7d4f")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="cosa_simba")
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--layers", type=int, default=4, help="of each network, evenly from its list")
    parser.add_argument("--points", type=int, default=1 << 24)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each search but Hybrid's, which counts")
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--svg", type=Path)
    arguments = parser.parse_args()
    arch = find_architecture(arguments.target)
    rows: list[dict[str, Any]] = []
    for network in arguments.networks.split(","):
        for name, problem in sample(network, arguments.layers, arguments.points):
            rows.append({"layer": f"{network}:{name}", **measure(arch, problem, arguments.seconds)})
            show(rows[-1])
            if arguments.csv is not None:
                write(arguments.csv, rows)
    summary(rows)
    if arguments.svg is not None:
        arguments.svg.write_text(figure(rows))


def sample(network: str, count: int, points: int) -> Iterator[tuple[str, Problem]]:
    """Layers of a network, their bounds halved until they have so many points at most."""
    found = layers(network)
    for place in np.unique(np.linspace(0, len(found) - 1, count).astype(int)):
        name, problem, _ = found[place]
        while problem.macs > points:
            bounds = list(problem.bounds)
            largest = max(range(len(bounds)), key=lambda dim: (bounds[dim] % 2 == 0, bounds[dim]))
            bounds[largest] = -(-bounds[largest] // 2)
            problem = replace(problem, bounds=tuple(bounds))
        yield name, problem


def measure(arch: Architecture, problem: Problem, seconds: float) -> dict[str, Any]:
    """Cycles on the mesh, and by the bandwidth model, of each scheduler's mapping."""
    row: dict[str, Any] = {"macs": problem.macs}
    for method in METHODS:
        start = time.process_time()
        try:
            mapping = schedule(arch, problem, method, seconds)
            spent = time.process_time() - start
            run = run_program(arch, make_program(arch, problem, mapping))
        except TilewrightError as error:
            row |= {f"{method}_noc": None, f"{method}_error": str(error)[:80]}
            continue
        prices = evaluate(arch, problem, mapping)
        link = max(run.sent_flits, run.received_flits)
        row |= {f"{method}_noc": run.cycles, f"{method}_model": prices.cycles, f"{method}_by": run.bound_by}
        row |= {f"{method}_compute": run.compute_cycles, f"{method}_link": link, f"{method}_dram": run.dram_cycles}
        row |= {f"{method}_packets": run.packets, f"{method}_s": round(spent, 2)}
    return row


def schedule(arch: Architecture, problem: Problem, method: str, seconds: float) -> LoopMapping:
    """The mapping of a scheduler."""
    if method == "random":
        return best_of_five(arch, problem)
    if method == "hybrid":  # ends by its own rule, a count of mappings, so that its answer does not depend on the time
        return map_problem(arch, problem, method, Request("latency", space=SPACE)).mapping
    request = Request("latency", space=SPACE, time_limit_s=seconds)
    if method == "ours_noc":
        return map_problem(arch, problem, "refine", replace(request, objective="noc", time_limit_s=3 * seconds)).mapping
    return map_problem(arch, problem, "refine" if method == "ours" else method, request).mapping


def best_of_five(arch: Architecture, problem: Problem) -> LoopMapping:
    """The best by the bandwidth model of the first five random mappings that fit."""
    pricer, sampler = Pricer(arch, problem, Request("latency", space=SPACE)), Sampler(arch, problem, SPACE, 1)
    found: list[tuple[float, LoopMapping]] = []
    for _ in range(200):
        batch = fits_arrays(arch, sampler.draw(4096))
        values = pricer.values(batch)
        fitting = np.flatnonzero(np.isfinite(values))[: 5 - len(found)]
        found += [(float(values[i]), batch.mapping(int(i), problem)) for i in fitting]
        if len(found) == 5:
            break
    if not found:
        raise TilewrightError("infeasible", problem.name, "a random mapping that fits", "none")
    return min(found, key=lambda pair: pair[0])[1]


def show(row: dict[str, Any]) -> None:
    parts = [
        f"{method} {row[f'{method}_noc']} (model {row[f'{method}_model']}, {row[f'{method}_by']})"
        if row.get(f"{method}_noc")
        else f"{method} -"
        for method in METHODS
    ]
    print(f"{row['layer']:28}", "; ".join(parts), flush=True)


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)


def speeds(rows: list[dict[str, Any]], method: str, key: str = "noc") -> list[float]:
    """Speed over random, of the layers that both have."""
    pairs = [(row.get(f"random_{key}"), row.get(f"{method}_{key}")) for row in rows]
    return [slow / fast for slow, fast in pairs if slow and fast]


def mean(values: list[float]) -> float:
    """Geometric."""
    return exp(sum(map(log, values)) / len(values)) if values else float("nan")


def summary(rows: list[dict[str, Any]]) -> None:
    """Geometric means by network, and where the bandwidth model misleads."""
    networks = list(dict.fromkeys(row["layer"].partition(":")[0] for row in rows))
    print(f"\nspeed over random on the mesh (by the bandwidth model)\n{'':12}", *(f"{m:>18}" for m in METHODS))
    for network in (*networks, "all"):
        mine = [row for row in rows if network in ("all", row["layer"].partition(":")[0])]
        cells = (f"{mean(speeds(mine, m)):8.2f} ({mean(speeds(mine, m, 'model')):7.2f})" for m in METHODS)
        print(f"{network:12}", *(f"{cell:>18}" for cell in cells))
    print("\nmesh over bandwidth model: layers beyond 10 %, geometric mean; what their mesh cycles are bound by")
    for method in METHODS:
        known = [row for row in rows if row.get(f"{method}_noc")]
        ratios = [row[f"{method}_noc"] / row[f"{method}_model"] for row in known]
        beyond = [row for row, ratio in zip(known, ratios, strict=True) if ratio > 1.1]
        by = {why: sum(row[f"{method}_by"] == why for row in beyond) for why in ("compute", "mesh", "dram", "waiting")}
        print(f"{method:10} {len(beyond)} of {len(known)}, {mean(ratios):.2f};", by)


def figure(rows: list[dict[str, Any]]) -> str:
    """Bars of speed over random, on a logarithmic scale from 1/4 to 64."""
    svg, left, top, height, width = Svg(), 46, 30, 220, 12
    step = width * len(METHODS) + 14

    def y(value: float) -> float:
        return top + height * (1 - (log(min(max(value, 0.25), 64), 2) + 2) / 8)

    for power in range(-2, 7):
        svg.line(left, y(2.0**power), left + step * (len(rows) + 1), y(2.0**power))
        svg.text(left - 6, y(2.0**power) + 4, f"{2.0**power:g}", text_anchor="end", font_size=10)
    groups = [(row["layer"], {m: speeds([row], m) for m in METHODS}) for row in rows]
    groups.append(("geometric mean", {m: [mean(speeds(rows, m))] for m in METHODS}))
    for place, (name, values) in enumerate(groups):
        x = left + 8 + place * step
        for number, method in enumerate(METHODS):
            if values[method] and values[method][0] == values[method][0]:
                up = y(values[method][0])
                svg.rect(x + number * width, min(up, y(1)), width - 2, abs(y(1) - up), fill=COLOURS[number])
                svg.note(f"{name}, {method}: {values[method][0]:.2f}")
        turn = f"rotate(40 {x} {top + height + 14})"
        svg.text(x, top + height + 14, name, font_size=10, fill=SOFT, transform=turn)
    for number, method in enumerate(METHODS):
        svg.rect(left + 110 * number, 8, 10, 10, fill=COLOURS[number])
        svg.text(left + 14 + 110 * number, 17, method, fill=INK, font_size=11)
    title = "Speed over random schedules on the mesh"
    return svg.document(left + step * (len(rows) + 1) + 60, top + height + 130, title)


if __name__ == "__main__":
    main()
