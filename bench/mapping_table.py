"""Layers and kernels of the papers on every machine: EDP, energy, cycles, seconds, whether proven, and the gap.

A row is added to a table of JSON lines as soon as it is there, and rows that are there are not made again, so that the
table can be made in parts.  Layers of all networks take turns, each on all machines, with perfect factors and with
imperfect ones.  `gap` is how far the EDP is above the bound of the search, `limit` how far above what no mapping can go
below.  The first command takes less than twelve minutes on two cores, the second a quarter of an hour each time.

    python bench/mapping_table.py --jobs 2
    python bench/mapping_table.py --jobs 2 --networks all --seconds 900
    python bench/mapping_table.py --model timeloop --factors perfect --machines conventional --time-limit 5
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
from typing import Any

import rows

from tilewright.costs.bounds import bounds_of
from tilewright.costs.hierarchy import Problem
from tilewright.costs.model import evaluate_with
from tilewright.errors import TilewrightError
from tilewright.mapping.machines import find_architecture
from tilewright.search.mapping.mappers import map_problem
from tilewright.search.mapping.values import CostModel, Factors, Request, Space
from tilewright.zoo.mapping_layers import layers
from tilewright.zoo.mapping_layers.tables import KERNELS

ROOT = Path(__file__).parents[1]

NETWORKS = {
    "resnet18": 16, "resnet50": 1, "resnext50": 1, "inception_v3_wu": 16, "deepbench": 1, "alexnet": 1,
    "mttkrp": 1, "sddmm": 1, "ttmc": 1, "mmc": 1, "tcl": 1,
}  # fmt: skip
"""Networks and kernels of the papers, with their batch."""

USUAL = "resnet18,alexnet,mttkrp,sddmm,ttmc,mmc,tcl"
"""Networks of the usual table."""

MACHINES = "conventional,eyeriss_like,simba_like,cosa_simba,diannao_like,tpu_like"
LIMITS_S: dict[Factors, float] = {"perfect": 3.0, "imperfect": 2.0}
"""Processor seconds per layer."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """A row to make."""

    machine: str
    layer: str
    problem: Problem
    count: int
    factors: Factors
    limit_s: float
    mapper: str
    batch: int | None
    model: CostModel

    @property
    def key(self) -> tuple[str | float | None, ...]:
        return self.machine, self.layer, self.factors, self.limit_s, self.mapper, self.batch, self.model


def main() -> None:
    found = _options()
    done = rows.read(found.out)
    if not found.summary:
        parts = "machine", "layer", "factors", "limit_s", "mapper", "batch"
        known = {(*(row.get(part) for part in parts), row.get("model", "exact")) for row in done}
        tasks = [task for task in _tasks(found) if task.key not in known]
        for row in rows.make(found.out, tasks, _row, found.jobs, found.seconds):
            done.append(row)
            print(" ".join(f"{_text(value):>12}" for value in row.values()), flush=True)
    if found.csv is not None:
        write_csv(found.csv, done)
    for line in markdown(done):
        print(line)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="REGEX", help="machine/network:layer must match")
    parser.add_argument("--machines", default=MACHINES, help="names, by commas")
    parser.add_argument("--networks", default=USUAL, help=f"names, by commas, or all: {', '.join(NETWORKS)}")
    parser.add_argument("--batch", type=int, choices=range(1, 4097), metavar="N", help="of networks (default: theirs)")
    parser.add_argument("--factors", choices=(*LIMITS_S, "both"), default="both")
    parser.add_argument("--model", choices=("exact", "timeloop"), default="exact", help="how mappings are priced")
    parser.add_argument("--method", "--mapper", dest="mapper", default="exact", help="default: exact")
    parser.add_argument("--time-limit", type=float, help="processor seconds per layer (default 3, imperfect 2)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="seconds after which no row is begun")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
    parser.add_argument("--out", type=Path, default=ROOT / "out/mapping_table.jsonl", help="the table")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write all rows of the table as CSV, too")
    parser.add_argument("--summary", action="store_true", help="make no rows; print what is there as markdown")
    found = parser.parse_args()
    found.networks = tuple(NETWORKS) if found.networks == "all" else tuple(found.networks.split(","))
    if unknown := [name for name in found.networks if name not in NETWORKS]:
        parser.error(f"--networks: expected some of {', '.join(NETWORKS)}, found {', '.join(unknown)}")
    return found


def _tasks(found: argparse.Namespace) -> Iterator[Task]:
    kinds: list[Factors] = [kind for kind in LIMITS_S if found.factors in (kind, "both")]
    for layer, problem, count in in_turns(found.networks, found.batch):
        for machine in found.machines.split(","):
            if re.search(found.only, f"{machine}/{layer}"):
                for kind in kinds:
                    limit = LIMITS_S[kind] if found.time_limit is None else found.time_limit
                    yield Task(machine, layer, problem, count, kind, limit, found.mapper, found.batch, found.model)


def _text(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def in_turns(networks: Iterable[str], batch: int | None = None) -> Iterator[tuple[str, Problem, int]]:
    """Different layers of all networks, one of each network, then the next ones: (name, problem, how often)."""
    seen: set[Problem] = set()
    batches = {name: NETWORKS[name] if batch is None or name in KERNELS else batch for name in networks}
    tables = [[(f"{name}:{layer[0]}", *layer[1:]) for layer in layers(name, batches[name])] for name in networks]
    for turn in zip_longest(*tables):
        for layer in turn:
            if layer is not None and (alike := replace(layer[1], name="")) not in seen:
                seen.add(alike)
                yield layer


def _row(task: Task) -> Row:
    machine = find_architecture(task.machine)
    row: Row = {"machine": task.machine, "layer": task.layer, "count": task.count, "factors": task.factors}
    row |= {"limit_s": task.limit_s, "mapper": task.mapper, "batch": task.batch, "model": task.model}
    space = Space(bypass=True, split_axes=True, factors=task.factors)
    request = Request(model=task.model, space=space, time_limit_s=task.limit_s)
    try:
        found = map_problem(machine, task.problem, task.mapper, request)
    except TilewrightError as error:
        return row | {"error": error.paragraph()}
    prices = evaluate_with(task.model, machine, task.problem, found.mapping)
    return row | {
        "edp_j_cycle": found.edp,
        "energy_pj": found.energy,
        "cycles": found.cycles,
        "cpu_s": found.cpu_s,
        "proven": found.proven,
        "valid": prices.valid and abs(prices.edp_j_cycle - found.edp) <= 1e-9 * found.edp,
        "gap": found.edp / found.lower_bound - 1 if found.lower_bound else None,
        "limit": found.edp / bounds_of(machine, task.problem).edp_j_cycle - 1,
    }


COLUMNS = (
    *("machine", "layer", "batch", "count", "factors", "limit_s", "edp_j_cycle", "energy_pj", "cycles", "cpu_s"),
    *("proven", "valid", "gap", "limit", "error"),
)
"""Of the CSV file."""


def write_csv(path: Path, table: list[Row]) -> None:
    """All rows, by factors, layer and machine; numbers to nine digits, shares to five and seconds to two places."""
    places = {"cpu_s": ".2f", "gap": ".5f", "limit": ".5f"}
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in sorted(
            table, key=lambda row: (row["factors"], row["layer"], row["machine"], row["limit_s"], row.get("batch") or 0)
        ):
            cells = [row.get(column) for column in COLUMNS]
            writer.writerow(
                format(cell, places.get(column, ".9g")) if isinstance(cell, float) else cell
                for column, cell in zip(COLUMNS, cells, strict=True)
            )


def markdown(table: list[Row]) -> Iterator[str]:
    """By machine, kind of factors and limit: how many layers, proofs, seconds and gaps; then by kind of factors."""
    heads = "limit, s|layers|valid|proven|median s|most s|gap: median|mean|most|above any mapping's limit"
    yield f"| machine | factors | {' | '.join(heads.split('|'))} |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    groups: dict[tuple[str, str, float], list[Row]] = {}
    for row in table:
        for machine in row["machine"], "all":
            groups.setdefault((machine, row["factors"], row["limit_s"]), []).append(row)
    for (machine, factors, limit), own in sorted(groups.items(), key=lambda group: (group[0][1], group[0][0] == "all")):
        solved = [row for row in own if "cpu_s" in row]
        if not solved:
            continue
        seconds = [row["cpu_s"] for row in solved]
        gaps = [float("inf") if row["gap"] is None else row["gap"] for row in solved]
        valid, proven = (sum(row[key] for row in solved) for key in ("valid", "proven"))
        cells = [machine, factors, f"{limit:g}", f"{len(solved)} of {len(own)}", str(valid), str(proven)]
        cells += [f"{median(seconds):.2f}", f"{max(seconds):.2f}"]
        cells += [f"{100 * part:.2f} %" for part in (median(gaps), _mean(gaps), max(gaps))]
        cells += [f"{100 * _mean(row['limit'] for row in solved):.1f} %"]
        yield f"| {' | '.join(cells)} |"


def _mean(gaps: Iterable[float]) -> float:
    """The geometric mean of ratios that are gaps above 1."""
    logs = [log(1 + max(0.0, gap)) for gap in gaps]
    return exp(sum(logs) / len(logs)) - 1


if __name__ == "__main__":
    main()
