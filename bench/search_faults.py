"""Searches with a bound made wrong on purpose: what catches each.

    python bench/search_faults.py --pairs 60
    python bench/search_faults.py --only 'outlook' --tests
    python bench/search_faults.py --only '^(boxes|neighbours):' --pairs 30 --tests

Each fault multiplies a bound of the exact mapper by 1.001, or leaves out one of its terms or hypotheses.  With it,
random tiny pairs of a problem and a machine are searched until something notices:

- `answer`: `map` says `proven` of what is not the optimum of the enumerated space, or tells a bound above it;
- `sharp`: a skeleton's bound is above the price of its best mapping, or a search that begins just above the best price
  does not find it (`mapping_sweep.py --skeletons`);
- `certificate`: the answer is wrong, and making or checking its certificate refuses it;
- with `--tests`, `test`: where none of the above notices, those unit tests of the exact mapper fail that
  docs/exact-mapper.md names beside the statement.

A line per fault, with the number of pairs that the first two need; `-` where none of `--pairs` shows it.  Exit code 1
where nothing catches a fault.  Statement 17 is looked at in Timeloop's model.  Functions are interpreted, so that they
can be exchanged.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
import warnings
from collections.abc import Callable
from itertools import count, islice
from math import inf
from pathlib import Path
from random import Random
from time import process_time
from typing import Any, NamedTuple

os.environ["NUMBA_DISABLE_JIT"] = "1"

import pytest
from exchange import exchange as exchange_function

from tilewright.certificates.check import Follower
from tilewright.costs.hierarchy import Architecture, Problem
from tilewright.errors import TilewrightError
from tilewright.mapping.certify import certify
from tilewright.search.mapping.mappers import map_problem
from tilewright.search.mapping.values import OBJECTIVES, CostModel, Factors, Request, Space

sys.path.insert(0, str(Path(__file__).parents[1] / "test" / "unit" / "search" / "mapping"))

from exact.enumerate import every_mapping, verdict
from exact.skeletons import verdict_of_each
from mapping_sweep import KINDS, coarse

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "test" / "unit" / "search" / "mapping" / "exact"

MOST = 250
"""Mappings of a pair at most."""

MOST_ORDERED = 2500
"""The same in Timeloop's model, where all orders count."""

WITH_SUMS = "sliding", "shipped", "mixed"
"""Kinds of pairs that are looked at in Timeloop's model."""

TESTS_S = 60
"""Processor seconds of tests."""

LIMIT_S = 20
"""Processor seconds of one pair; a search that takes longer proves nothing, and so shows no fault."""

Function = Callable[..., Any]


class Fault(NamedTuple):
    """What is wrong with a function or method `of` a module of the exact mapper.

    `statement` is its number in docs/exact-mapper.md, or 0.
    """

    statement: int
    name: str
    of: str
    change: Callable[[Function], Function]


def scaled(found: Any, factor: float) -> Any:
    """Numbers, so many times as large; those of tuples and lists, too."""
    if isinstance(found, tuple | list):
        return type(found)(scaled(one, factor) for one in found)
    return found * factor


def times(factor: float) -> Callable[[Function], Function]:
    """Answers, so many times as large."""
    return lambda right: lambda *given, **named: scaled(right(*given, **named), factor)


def always(value: Any) -> Callable[[Function], Function]:
    """One answer, whatever is asked."""
    return lambda right: lambda *given, **named: value


def given(place: int, value: Any) -> Callable[[Function], Function]:
    """An argument by position is another one."""
    return lambda right: lambda *asked, **named: right(*asked[:place], value, *asked[place + 1 :], **named)


def out_times(place: int, factor: float) -> Callable[[Function], Function]:
    """An array that is filled has larger values."""

    def change(right: Function) -> Function:
        def wrong(*asked: Any, **named: Any) -> Any:
            found = right(*asked, **named)
            asked[place][...] *= factor
            return found

        return wrong

    return change


THOUSANDTH = times(1.001)


def at_high(sizes_of: Function) -> Function:
    """The largest sizes of cells for the smallest."""
    return lambda grid, high: sizes_of(grid, high=True)


def all_told_apart(told_apart: Function) -> Function:
    """All sizes of a cell lead to as many steps."""
    return lambda self, least, most, times: told_apart(self, least, least, times)


def first_of_each(orders_like: Function) -> Function:
    """The first order of each memory alone."""
    return lambda *asked: (islice(orders, 1) for orders in orders_like(*asked))


FAULTS = [
    Fault(8, "spreads: bound", "space.narrowing:bound_of_box", THOUSANDTH),
    Fault(8, "spreads: least of a set of kept tensors", "space.ways:least_at", THOUSANDTH),
    Fault(8, "spreads: energy between memories", "space.ways:settle", THOUSANDTH),
    Fault(8, "spreads: steps", "space.narrowing:lay_out", THOUSANDTH),
    Fault(8, "spreads: words of a window", "space.narrowing:window_share", THOUSANDTH),
    Fault(8, "spreads: instances with work", "traffic.busy:busy_along", times(2)),
    Fault(8, "skeletons at once: first words", "bounds.nodes:waiting_cycles", times(2)),
    Fault(8, "skeletons at once: bounds", "bounds.nodes:expand", out_times(5, 1.001)),
    Fault(8, "skeletons: cycles without waiting", "bounds.nodes:steady_cycles", THOUSANDTH),
    Fault(8, "least energy of inner memories", "space.skeleton:tensor_energy", THOUSANDTH),
    Fault(8, "energy of operands", "space.skeleton:operand_energy", THOUSANDTH),
    Fault(8, "instances that need the same words", "space.skeleton:spread_least", times(2)),
    Fault(8, "results without what is written first", "space.skeleton:spread_out", always(0.0)),
    Fault(10, "outermost memory: energy", "bounds.outer:Outer.term", THOUSANDTH),
    Fault(10, "outermost memory: words", "bounds.outer:Outer.words_sent", THOUSANDTH),
    Fault(10, "outermost memory: no order but the first", "bounds.outer:outcomes_of", lambda f: lambda *a: f(*a)[:1]),
    Fault(10, "cost to go of a memory", "bounds.inward:Step.least", THOUSANDTH),
    Fault(10, "tensors that rest", "bounds.resting:Terms.energy", THOUSANDTH),
    Fault(10, "tensors that rest: ragged ends left out", "bounds.resting:Terms._ragged", always(0.0)),
    Fault(10, "tensors that rest beyond a memory left out", "bounds.inward:Step._surviving", always(inf)),
    Fault(10, "least of all tables", "bounds.cost_to_go:Ahead.least", THOUSANDTH),
    Fault(10, "a node's outlook", "bounds.nodes:outlook", THOUSANDTH),
    Fault(10, "words settled by a loop", "traffic.settle:kill", THOUSANDTH),
    Fault(10, "all children busy", "traffic.settle:fewest", always(1.0)),
    Fault(11, "cells by their largest tile", "bounds.outer:sizes_of", at_high),
    Fault(11, "energy of a cell", "bounds.tables:Tables.settled", THOUSANDTH),
    Fault(11, "words of a cell", "bounds.tables:Tables.sent", THOUSANDTH),
    Fault(11, "cells told apart that are not", "bounds.tables:Tables.told_apart", all_told_apart),
    Fault(12, "energy times delay past a memory", "bounds.bypassing:least_product", THOUSANDTH),
    Fault(12, "energy times delay by sums", "bounds.estimates:Estimates._weighed", THOUSANDTH),
    Fault(12, "least cycles", "bounds.delays:Delays.least", THOUSANDTH),
    Fault(12, "cycles of ports", "bounds.outer:ports_of", times(2)),
    Fault(12, "cycles to fill and drain", "bounds.outer:Outer.waiting", times(2)),
    Fault(12, "cycles that may go by anyway left out", "bounds.delays:Delays.hidden", always(0.0)),
    Fault(12, "latencies", "bounds.nodes:latencies_of", lambda f: lambda *a: f(*a) + 1),
    Fault(12, "a node's cycles", "bounds.nodes:least_cycles", THOUSANDTH),
    Fault(12, "a node's steps", "bounds.nodes:compute_cycles", THOUSANDTH),
    Fault(12, "a node's ports", "bounds.nodes:port_cycles", times(2)),
    Fault(12, "a node's first and last tiles", "bounds.nodes:stream_cycles", lambda f: lambda *a: f(*a) + 1),
    Fault(13, "loops that move a tensor kept between merge", "dominance.merging:moves_kept", always(False)),
    Fault(13, "loops merge across arrays", "dominance.merging:may_cross", always(True)),
    Fault(13, "loops merge at ragged ends", "dominance.merging:rests_at_end", always(False)),
    Fault(13, "factors that others do not equal left out", "dominance.factors:better_outside", always(True)),
    Fault(14, "no other orders of a leaf", "tree.leaves:Settling.try_orders", always(True)),
    Fault(15, "what a step of a window finds left out", "traffic.window_reuse:kept_on_average", always(0.0)),
    Fault(15, "windows: best walk", "traffic.window_reuse:kept_on_average", times(0.9)),
    Fault(15, "windows: loops of other dimensions leave nothing", "traffic.window_reuse:falling_back", always(0.0)),
    Fault(15, "windows: what two tiles share", "traffic.windows:overlap", always(0)),
    Fault(16, "ragged ends: share that rests", "traffic.ragged:ragged_share", always(0.0)),
    Fault(16, "ragged ends: what windows keep", "traffic.ragged:most_kept", times(0.9)),
    Fault(16, "ragged ends: elements of all tiles", "traffic.ragged:all_tiles", THOUSANDTH),
    Fault(16, "ragged ends: scattered words", "traffic.ragged:scattered_words", THOUSANDTH),
    Fault(16, "all children have work", "traffic.busy:full_children", lambda f: lambda factor, *more: factor),
    Fault(17, "boxes: words of a step", "traffic.boxes:moved_along", THOUSANDTH),
    Fault(17, "boxes: other loops bring all of it", "traffic.boxes:outer_step", lambda f: lambda *a: float(a[5])),
    Fault(17, "boxes: no strides bring one back", "traffic.boxes:may_move", always((False, False))),
    Fault(17, "boxes: larger by one", "traffic.boxes:box_along", lambda f: lambda *a: f(*a) + 1),
    Fault(17, "boxes: fewer alike", "traffic.boxes:most_alike", times(0.9)),
    Fault(17, "elements that are named: cycles", "bounds.outer:Outer.least_busy", THOUSANDTH),
    Fault(17, "neighbours: never help", "traffic.boxes:passed_on", always(0.0)),
    Fault(17, "neighbours: never a step apart", "traffic.boxes:step_to", always(-1)),
    Fault(17, "neighbours: leave more to the parent", "traffic.boxes:share_sent", lambda f: lambda *a: f(*a) ** 0.9),
    Fault(17, "neighbours: leave more of later steps", "traffic.boxes:alone_later", always(1.0)),
    Fault(17, "neighbours: no other orders of a leaf", "tree.leaves:Settling.settle_boxes", always(True)),
    Fault(17, "neighbours: none helps a tensor that may rest", "bounds.outcomes:at_once", lambda f: lambda *a: a[2]),
    Fault(17, "neighbours: all orders of a memory", "traffic.settle:least_order", THOUSANDTH),
    Fault(17, "neighbours: orders of a leaf", "dominance.orders:orders_like", first_of_each),
    Fault(0, "links", "bounds.hops:Hops.least", THOUSANDTH),
]


def most_of(model: CostModel) -> int:
    """Mappings of a pair at most."""
    return MOST_ORDERED if model == "timeloop" else MOST


class Pair(NamedTuple):
    """A problem on a machine, and what is asked."""

    arch: Architecture
    problem: Problem
    request: Request


def tiny_pairs(wanted: int, model: CostModel) -> list[Pair]:
    """So many pairs with spaces that are quickly enumerated, in turns of all kinds, perfect and imperfect.

    In Timeloop's model, of kinds with sums, perfect alone, as it prices no others.
    """
    found, boxes = list[Pair](), model == "timeloop"
    factors_of: tuple[Factors, ...] = ("perfect",) if boxes else ("perfect", "imperfect")
    for seed in count():
        for kind, (problems, machines) in KINDS.items():
            for factors in factors_of if kind in WITH_SUMS or not boxes else ():
                random = Random(f"{kind} {seed}")
                problem, arch = random.choice(problems)(random), random.choice(machines)(random)
                space = Space(random.random() < 0.6, random.random() < 0.5, factors)
                request = Request(random.choice(OBJECTIVES[:3]), model, space)
                mappings = every_mapping(arch, problem, space, most_of(model), ordered=boxes)
                if mappings is not None and len(mappings) > 10:
                    found.append(Pair(arch, problem, request))
                if len(found) == wanted:
                    return found
    raise AssertionError


def counted_by(fault: Fault) -> CostModel:
    """The cost model in which a fault shows."""
    return "timeloop" if fault.statement == 17 else "exact"


def exchange(fault: Fault) -> None:
    """Put the fault into the modules of this process."""
    exchange_function("tilewright.search.mapping.exact", fault.of, fault.change)


def in_process(work: Callable[[], str], limit_s: int) -> str:
    """What a forked process answers; what ended it, if it does not."""
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        signal.setitimer(signal.ITIMER_PROF, limit_s)
        try:
            os.write(write, work().encode()[:4000])
        except BaseException as error:
            os.write(write, f"RAISED {type(error).__name__}: {error}".encode()[:4000])
        os._exit(0)
    os.close(write)
    with open(read) as answers:
        found = answers.read()
    os.waitpid(child, 0)
    return found or "late"


GOOD = "proven", "open", "nothing", "late", "many"


def certified(pair: Pair) -> bool:
    """Whether the answer has a certificate that is accepted."""
    try:
        mapped = map_problem(pair.arch, pair.problem, "exact", pair.request)
        Follower(certify(pair.arch, pair.problem, mapped.mapping, pair.request), "certificate").follow()
    except TilewrightError as error:
        return error.kind != "refuted"
    return True


def compare(fault: Fault | None, pair: Pair, how: Callable[..., str]) -> str:
    """The verdict on one pair with a fault."""

    def work() -> str:
        if fault is not None:
            exchange(fault)
        found = how(*pair, most_of(pair.request.model))
        if found not in GOOD and how is verdict and pair.request.space.factors == "perfect":
            found += "" if certified(pair) else " REFUSED"
        return found

    return in_process(work, LIMIT_S)


def first_shown(fault: Fault | None, pairs: list[Pair], how: Callable[..., str]) -> tuple[str, str]:
    """The number of pairs that it takes to see the fault, and what is seen."""
    for n, pair in enumerate(pairs, 1):
        if (found := compare(fault, pair, how)) not in GOOD:
            return str(n) if not found.startswith("RAISED") else f"{n}, but it raised", found
    return "-", ""


def tests_of(statement: int) -> list[str]:
    """The files of unit tests that docs/exact-mapper.md names beside a statement."""
    row = re.search(rf"^\| {statement} \|.*`test_.*", (ROOT / "docs" / "exact-mapper.md").read_text(), re.MULTILINE)
    names = re.findall(r"`(test_\w+)`", row.group()) if row else []
    return [str(path) for name in names for path in TESTS.glob(f"*/{name}.py")]


def outcome_of_tests(fault: Fault) -> str:
    """Of the unit tests of its statement: `failed`, `passed`, or `late`."""

    def work() -> str:
        exchange(fault)
        sys.stdout = sys.stderr = open(os.devnull, "w")
        done = pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-n", "0", *tests_of(fault.statement)])
        return "passed" if done == pytest.ExitCode.OK else "failed"

    return in_process(work, TESTS_S)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=80)
    parser.add_argument("--answers", type=int, default=6, help="pairs, the first of all, whose answers are looked at")
    parser.add_argument("--only", default="", help="faults whose names have this regular expression")
    parser.add_argument("--coarse", action="store_true", help="tables of few cells")
    parser.add_argument("--tests", action="store_true", help="run unit tests of the faults that no pair shows")
    parser.add_argument("--verbose", action="store_true", help="tell what is seen")
    found = parser.parse_args()
    warnings.simplefilter("ignore")
    if found.coarse:
        coarse()
    chosen, missed = [one for one in FAULTS if re.search(found.only, one.name)], 0
    models: set[CostModel] = {counted_by(fault) for fault in chosen}
    pairs_of = {model: tiny_pairs(found.pairs, model) for model in sorted(models)}
    for pair in (one for pairs in pairs_of.values() for one in pairs):
        for how in (verdict, verdict_of_each):
            if (right := compare(None, pair, how)) not in GOOD:
                print(f"without a fault: {right}")
                return 1
    print(f"{found.pairs} pairs, no fault: nothing is seen, {process_time():.0f} s", flush=True)
    for fault in chosen:
        pairs = pairs_of[counted_by(fault)]
        answer, text = first_shown(fault, pairs[: found.answers], verdict)
        sharp, more = first_shown(fault, pairs, verdict_of_each)
        refused = "refused" if text.endswith("REFUSED") else "-"
        test = "-"
        if answer == sharp == "-":
            test = outcome_of_tests(fault) if found.tests else "-"
            missed += test != "failed"
        print(f"{fault.statement} | {fault.name} | {answer} | {sharp} | {refused} | {test}", flush=True)
        if found.verbose:
            print(f"    {text[:150]}\n    {more[:150]}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
