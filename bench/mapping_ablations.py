"""The exact mapper with one part left out at a time: what each part is worth.

    python bench/mapping_ablations.py --rows 60
    python bench/mapping_ablations.py --only 'merge|tiles' --factors imperfect --rows 40

Rows are those of docs/mapping_table.csv: with perfect factors the ones that took longest, with imperfect ones as many
evenly from all.  Each is searched with all parts, then with each part left out, in a process of its own; where compiled
code changes, it is compiled for that part alone, which takes two minutes.  A line per part: rows proven in the limit (5
and 2 processor seconds), rows that took longer than nine tenths of the limit, seconds in all, and the geometric mean of
the energy times delay relative to that with all parts.  Nothing that is left out may make an answer wrong.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from math import exp, gcd, inf, log
from pathlib import Path
from typing import Any, NamedTuple, cast

import numba
from exchange import exchange
from mapping_table import NETWORKS, in_turns

from tilewright.mapping.machines import find_architecture
from tilewright.search.mapping.mappers import map_problem
from tilewright.search.mapping.values import Factors, Request, Space
from tilewright.zoo.mapping_layers import layer

ROOT = Path(__file__).parents[1]
LIMITS_S: dict[Factors, float] = {"perfect": 5.0, "imperfect": 2.0}

Function = Callable[..., Any]
Row = dict[str, Any]


def answer(value: Any) -> Callable[[Function], Function]:
    """A method or function of plain Python that answers the same whatever is asked."""
    return lambda right: lambda *given, **named: value


def compiled_answer(value: Any) -> Callable[[Function], Function]:
    """The same for a function that compiled code calls."""
    return lambda right: cast(Any, numba).njit(_nrt=False, no_cpython_wrapper=True)(lambda *given: value)


class Part(NamedTuple):
    """What is left out: functions of `tilewright.search.mapping` that are exchanged."""

    name: str
    changes: tuple[tuple[str, Callable[[Function], Function]], ...]

    @property
    def compiled(self) -> bool:
        """Whether compiled code changes."""
        return any(change.__qualname__.startswith("compiled") for _, change in self.changes)


NEVER = compiled_answer(False)
MERGING = (
    ("exact.dominance.merging:merges", NEVER),
    ("exact.dominance.merging:takes_over", NEVER),
    ("exact.dominance.factors:better_outside", NEVER),
)

PARTS = [
    Part("nothing", ()),
    Part("13: loops that merge", MERGING[:1]),
    Part("13: loops that take over others", MERGING[1:2]),
    Part("13: loops as good further out", MERGING[2:]),
    Part("13: all of these", MERGING),
    Part("7: places of instances that are as good", (
        ("exact.dominance.symmetries:Places.superfluous", answer(False)),
    )),
    Part("7: meshes that act as one", (("exact.dominance.symmetries:may_leave_gaps", answer(True)),)),
    Part("6: dimensions that may change places", (("exact.dominance.symmetries:symmetries", answer([])),)),
    Part("12: cycles in which inner tiles arrive", (("exact.bounds.cost_to_go:Ahead._with_arrivals", answer(-inf)),)),
    Part("10: costs when a memory's loops are over", (("exact.bounds.nodes:may_close", compiled_answer(True)),)),
    Part("15: children side by side have it all", (("exact.traffic.windows:present", compiled_answer(1 << 60)),)),
    Part("16: windows of two terms", (("exact.traffic.ragged:understood", NEVER),)),
    Part("refine: annealing", (("refine.anneal:Annealer.run", lambda right: lambda self, start, *more: start),)),
]  # fmt: skip


def rows_of(factors: Factors, count: int) -> list[tuple[str, str]]:
    """Machines and layers."""
    with (ROOT / "docs" / "mapping_table.csv").open() as file:
        found = [row for row in csv.DictReader(file) if row["factors"] == factors and not row["batch"]]
    if factors == "perfect":
        found.sort(key=lambda row: (-float(row["cpu_s"]), row["machine"], row["layer"]))
        found = found[:count]
    else:
        step = max(1, len(found) // count)
        while gcd(step, len({row["machine"] for row in found})) > 1:
            step -= 1
        found = found[::step]
    return [(row["machine"], row["layer"]) for row in found]


def measure(part: Part, factors: Factors, count: int) -> list[Row]:
    """The rows without a part; exchanges functions of this process."""
    for of, change in part.changes:
        exchange("tilewright.search.mapping", of, change)
    problems = {name: problem for name, problem, _ in in_turns(NETWORKS)}
    space, rows = Space(bypass=True, split_axes=True, factors=factors), list[Row]()
    conventional, warm = find_architecture("conventional"), layer("resnet18:conv5_1")
    map_problem(conventional, warm, "exact", Request(space=space, time_limit_s=2.0))
    for machine, name in rows_of(factors, count):
        request = Request(space=space, time_limit_s=LIMITS_S[factors])
        found = map_problem(find_architecture(machine), problems[name], "exact", request)
        rows.append({"row": f"{machine} {name}", "cpu_s": found.cpu_s, "proven": found.proven, "edp": found.edp})
    return rows


def in_process(part: Part, factors: Factors, count: int) -> list[Row]:
    """`measure` in a process of its own, compiled anew where that is needed."""
    command = [sys.executable, __file__, "--measure", part.name, "--factors", factors, "--rows", str(count)]
    with tempfile.TemporaryDirectory() as folder:
        more = {"NUMBA_CACHE_DIR": folder} if part.compiled else {}
        done = subprocess.run(command, env=os.environ | more, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="REGEX", help="parts whose names have this")
    parser.add_argument("--factors", choices=tuple(LIMITS_S), default="perfect")
    parser.add_argument("--rows", type=int, default=60)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--verbose", action="store_true", help="tell which rows change most")
    found = parser.parse_args()
    if found.measure:
        part = next(part for part in PARTS if part.name == found.measure)
        print(json.dumps(measure(part, found.factors, found.rows)))
        return
    whole = in_process(PARTS[0], found.factors, found.rows)
    for part in PARTS:
        if part is not PARTS[0] and not re.search(found.only, part.name):
            continue
        rows = whole if part is PARTS[0] else in_process(part, found.factors, found.rows)
        if not rows:
            print(f"| {part.name} | fails | | | |", flush=True)
            continue
        print(line_of(part, rows, whole, LIMITS_S[found.factors]), flush=True)
        if found.verbose:
            pairs = sorted(zip(rows, whole, strict=True), key=lambda pair: pair[1]["cpu_s"] - pair[0]["cpu_s"])
            for row, before in pairs[:5]:
                print(f"    {row['row']}: {before['cpu_s']:.2f} -> {row['cpu_s']:.2f} s, {row['proven']}", flush=True)


def line_of(part: Part, rows: list[Row], whole: list[Row], limit_s: float) -> str:
    """A row of a table in Markdown."""
    ratio = exp(sum(log(row["edp"] / before["edp"]) for row, before in zip(rows, whole, strict=True)) / len(rows))
    long = sum(row["cpu_s"] > 0.9 * limit_s for row in rows)
    proven, seconds = sum(row["proven"] for row in rows), sum(row["cpu_s"] for row in rows)
    return f"| {part.name} | {proven} of {len(rows)} | {long} | {seconds:.1f} | {ratio:.4f} |"


if __name__ == "__main__":
    main()
