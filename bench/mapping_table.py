"""Every layer and kernel of the papers on every machine: EDP, energy, cycles, seconds, whether proven, and the gap.

A row is appended to the table as soon as it is there, and rows that are there are not made again, so that the table
can be made in parts.  Layers of all networks take turns, each on all machines.  `gap` is how far the EDP is above the
bound of the search, `limit` how far above what no mapping can go below.

    python bench/mapping_table.py --time-limit 0.5 --seconds 600
    python bench/mapping_table.py --summary
"""

from __future__ import annotations

import argparse
import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest
from math import exp, log
from pathlib import Path
from statistics import median
from time import process_time

from tilewright.costs.bounds import bounds_of
from tilewright.costs.hierarchy import Architecture, Problem
from tilewright.errors import TilewrightError
from tilewright.mapping.machines import find_architecture
from tilewright.search.mapping.mappers import map_problem
from tilewright.search.mapping.values import Factors, Request, Space
from tilewright.zoo.mapping_layers import layers

NETWORKS = {
    "resnet18": 16, "resnet50": 1, "resnext50": 1, "inception_v3_wu": 16, "deepbench": 1, "alexnet": 1,
    "mttkrp": 1, "sddmm": 1, "ttmc": 1, "mmc": 1, "tcl": 1,
}  # fmt: skip
"""Networks and kernels of the papers, with their batch."""

MACHINES = "conventional,eyeriss_like,simba_like,cosa_simba,diannao_like,tpu_like"
COLUMNS: list[str] = [
    "machine", "layer", "count", "factors", "limit_s", "edp_j_cycle", "energy_pj", "cycles", "cpu_s", "proven", "gap",
    "limit", "error",
]  # fmt: skip

Row = dict[str, str]


@dataclass(frozen=True)
class Options:
    """What the command line asked for."""

    only: str
    machines: tuple[str, ...]
    factors: Factors
    limit_s: float
    seconds: float
    mapper: str
    out: Path


def main() -> None:
    options, summary = _options()
    done = _read(options.out)
    if not summary:
        with options.out.open("a", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            if not done:
                writer.writeheader()
            for row in _rows(options, {_key(row) for row in done}):
                done.append(row)
                writer.writerow(row)
                file.flush()
                print(" ".join(f"{row[column]:>12}" for column in COLUMNS if row[column]), flush=True)
    for line in markdown(done):
        print(line)


def _options() -> tuple[Options, bool]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="REGEX", help="machine/network:layer must match")
    parser.add_argument("--machines", default=MACHINES, help="names, by commas")
    parser.add_argument("--factors", choices=("perfect", "imperfect"), default="imperfect")
    parser.add_argument("--mapper", default="exact", help="default: exact")
    parser.add_argument("--time-limit", type=float, default=1.0, help="processor seconds per layer (default 1)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="processor seconds of the whole run")
    parser.add_argument("--out", type=Path, default=Path("out/mapping_table.csv"), help="the table")
    parser.add_argument("--summary", action="store_true", help="make no rows; print what is there as markdown")
    found = parser.parse_args()
    found.out.parent.mkdir(parents=True, exist_ok=True)
    machines = tuple(found.machines.split(","))
    options = Options(found.only, machines, found.factors, found.time_limit, found.seconds, found.mapper, found.out)
    return options, found.summary


def _read(path: Path) -> list[Row]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def _key(row: Row) -> tuple[str, ...]:
    return row["machine"], row["layer"], row["factors"]


def _rows(options: Options, done: set[tuple[str, ...]]) -> Iterator[Row]:
    """Rows that are not there yet, until the time is over."""
    machines = [find_architecture(name) for name in options.machines]
    for layer, problem, count in in_turns():
        for name, machine in zip(options.machines, machines, strict=True):
            if (name, layer, options.factors) in done or not re.search(options.only, f"{name}/{layer}"):
                continue
            if process_time() > options.seconds:
                return
            row = {"machine": name, "layer": layer, "count": str(count), "factors": options.factors}
            yield dict.fromkeys(COLUMNS, "") | row | _figures(machine, problem, options)


def in_turns() -> Iterator[tuple[str, Problem, int]]:
    """Different layers of all networks, one of each network, then the next ones: (name, problem, how often)."""
    seen: set[Problem] = set()
    tables = [[(f"{name}:{layer[0]}", *layer[1:]) for layer in layers(name, batch)] for name, batch in NETWORKS.items()]
    for turn in zip_longest(*tables):
        for layer in turn:
            if layer is not None and (alike := replace(layer[1], name="")) not in seen:
                seen.add(alike)
                yield layer


def _figures(machine: Architecture, problem: Problem, options: Options) -> Row:
    space = Space(bypass=True, split_axes=True, factors=options.factors)
    try:
        found = map_problem(machine, problem, options.mapper, Request(space=space, time_limit_s=options.limit_s))
    except TilewrightError as error:
        return {"limit_s": f"{options.limit_s:g}", "error": error.paragraph()}
    limit = bounds_of(machine, problem).edp_j_cycle
    return {
        "limit_s": f"{options.limit_s:g}",
        "edp_j_cycle": f"{found.edp:.6g}",
        "energy_pj": f"{found.energy:.6g}",
        "cycles": str(found.cycles),
        "cpu_s": f"{found.cpu_s:.3f}",
        "proven": "yes" if found.proven else "no",
        "gap": f"{found.edp / found.lower_bound - 1:.5f}" if found.lower_bound else "",
        "limit": f"{found.edp / limit - 1:.5f}",
    }


def markdown(rows: list[Row]) -> Iterator[str]:
    """By machine and kind of factors: how many layers, proofs, seconds and gaps."""
    yield "| machine | factors | layers | proven | median s | most s | gap: median | mean | above any mapping's limit |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|"
    for machine, factors in dict.fromkeys((row["machine"], row["factors"]) for row in rows):
        own = [row for row in rows if (row["machine"], row["factors"]) == (machine, factors)]
        solved = [row for row in own if row["edp_j_cycle"]]
        if not solved:
            continue
        seconds = [float(row["cpu_s"]) for row in solved]
        gaps = [float(row["gap"] or "inf") for row in solved]
        cells = [machine, factors, f"{len(solved)} of {len(own)}", str(sum(row["proven"] == "yes" for row in solved))]
        cells += [f"{median(seconds):.2f}", f"{max(seconds):.2f}", f"{100 * median(gaps):.1f} %"]
        cells += [f"{100 * _mean(gaps):.1f} %", f"{100 * _mean(float(row['limit']) for row in solved):.1f} %"]
        yield f"| {' | '.join(cells)} |"


def _mean(gaps: Iterable[float]) -> float:
    """The geometric mean of ratios that are gaps above 1."""
    logs = [log(1 + max(0.0, gap)) for gap in gaps]
    return exp(sum(logs) / len(logs)) - 1


if __name__ == "__main__":
    main()
