"""How often each statement of docs/exact-mapper.md closes a node of the exact mapper's search.

    python bench/mapping_closed.py --rows conventional:alexnet:conv5,tpu_like:resnet18:fc --seconds 10
    python bench/mapping_closed.py --factors imperfect
    python bench/mapping_closed.py --model timeloop

A line per row: nodes of walks, leaves that were priced, and how many each statement closed.  Of these 6 and 7 close
spreads and skeletons for which others are as good; 8 skeletons, as soon as their spread is known; 10 to 12 skeletons by
tables, and walks at a node: 10 by the least energy that is settled and to come, 12 by least cycles; 2 those whose tiles
have no room; 13 loops that are as good elsewhere; and bounds of leaves, which rest on 15 to 17, mappings that are
not priced.  One closing may stand for many mappings, so counts of different statements are no shares of a space.
Functions are interpreted, so that calls can be counted: a search takes some hundred times longer, and stops after
`--seconds` of processor time.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

os.environ["NUMBA_DISABLE_JIT"] = "1"

from exchange import exchange
from mapping_table import NETWORKS, in_turns

from tilewright.mapping.machines import find_architecture
from tilewright.search.mapping.mappers import map_problem
from tilewright.search.mapping.values import Request, Space

PACKAGE = "tilewright.search.mapping.exact"
CLOSED = "2 room", "6", "7", "8", "10-12 tables", "10 walk", "12 walk", "13", "leaf"
ROWS = "conventional:alexnet:fc8,conventional:alexnet:conv5,tpu_like:alexnet:conv5,eyeriss_like:alexnet:fc8"

Function = Callable[..., Any]
counts: Counter[str] = Counter()


def counted(what: str, closed: bool) -> Callable[[Function], Function]:
    """A function that counts its answers that close something."""

    def change(right: Function) -> Function:
        def asked(*given: Any, **named: Any) -> Any:
            found = right(*given, **named)
            counts[what] += bool(found) == closed
            return found

        return asked

    return change


def by_cycles(affordable: Function) -> Function:
    """Tiles that fit, and are closed by least cycles."""

    def asked(*given: Any) -> bool:
        full = counts["2 room"]
        found = bool(affordable(*given))
        counts["12 walk"] += not found and counts["2 room"] == full
        return found

    return asked


def by_spread(skeletons: Function) -> Function:
    """Skeletons of a spread that are closed at once, beside those for which others are as good."""

    def asked(search: Any, spread: Any, family: int) -> Any:
        found = skeletons(search, spread, family)
        kind, before = search.families[family], counts["7"]
        if search.layouts(spread, kind.kept[0]) is not None:
            counts["8"] += len(kind.worthwhile(spread)) - len(found)
        counts["7"] = before
        return found

    return asked


def by_tables(asking: Function) -> Function:
    """Skeletons that tables close."""

    def asked(estimates: Any, spread: Any, kept: Any, bound: float, most: float) -> float:
        found: float = asking(estimates, spread, kept, bound, most)
        counts["10-12 tables"] += found >= most
        return found

    return asked


def by_leaf(finish: Function) -> Function:
    """Complete mappings that their bound closes."""

    def asked(task: Any, *given: Any) -> None:
        before = int(task.leaves.number[0])
        finish(task, *given)
        counts["leaf"] += int(task.leaves.number[0]) == before

    return asked


def count_all() -> None:
    """From here on all is counted."""
    for of, what, closed in (
        ("dominance.symmetries:first_of_its_kind", "6", False),
        ("dominance.symmetries:Places.superfluous", "7", True),
        ("bounds.nodes:fits", "2 room", False),
        ("bounds.nodes:hopeless", "10 walk", True),
        ("dominance.merging:some_merge", "13", True),
        ("dominance.merging:merging_left", "13", True),
        ("dominance.factors:better_outside", "13", True),
        ("dominance.factors:some_better_outside", "13", True),
    ):
        exchange(PACKAGE, of, counted(what, closed))
    exchange(PACKAGE, "bounds.nodes:affordable", by_cycles)
    exchange(PACKAGE, "tree.search:Search.skeletons", by_spread)
    exchange(PACKAGE, "bounds.estimates:Estimates.by_tables", by_tables)
    exchange(PACKAGE, "traffic.settle:finish", by_leaf)
    exchange(PACKAGE, "tree.walk:enter", counted("nodes", False))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default=ROWS, metavar="MACHINE:LAYER,...", help="pairs of docs/mapping_table.csv")
    parser.add_argument("--factors", choices=["perfect", "imperfect"], default="perfect", help="(default: perfect)")
    parser.add_argument("--model", choices=["exact", "timeloop"], default="exact", help="(default: exact)")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each search at most (default: 20)")
    asked = parser.parse_args()
    problems = {name: problem for name, problem, _ in in_turns(NETWORKS)}
    count_all()
    space = Space(bypass=True, split_axes=True, factors=asked.factors)
    request = Request(model=asked.model, space=space, time_limit_s=asked.seconds)
    print("| row | proven | nodes | priced |", " | ".join(CLOSED), "|")
    print("|---|---|" + "--:|" * (2 + len(CLOSED)))
    for row in asked.rows.split(","):
        machine, _, layer = row.partition(":")
        if layer not in problems:
            sys.exit(f"expected layers such as {', '.join(list(problems)[:4])}, found {layer}")
        counts.clear()
        found = map_problem(find_architecture(machine), problems[layer], "exact", request)
        numbers = [counts["nodes"], found.evaluated, *(counts[what] for what in CLOSED)]
        print(f"| `{layer}` on `{machine}` | {'yes' if found.proven else 'no'} |", end=" ")
        print(" | ".join(f"{number:,}" for number in numbers), "|", flush=True)


if __name__ == "__main__":
    main()
