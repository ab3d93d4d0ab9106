"""Compare the exact mapper with enumeration on many more random pairs than the tests do.

A pair is a tiny problem and a tiny machine; of those with more than `--most` mappings none is looked at.  Without a
time limit the answer must be the optimum where it says so, and its bound must never be above the optimum.  `--hurried`
stops searches at random times, `--skeletons` compares the best mapping of each skeleton, `--coarse` makes tables with
few cells, `--untimed` leaves out all bandwidths.  A faulty pair is printed with the arguments that repeat it, and the
status is 1.

    python test/unit/search/mapping/sweep.py --seeds 1000:1200
    python test/unit/search/mapping/sweep.py --kinds sliding,shipped --factors imperfect --untimed --most 20000
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from random import Random
from time import monotonic
from typing import NamedTuple

from bounded.enumerate import (
    random_arrays,
    random_few,
    random_kernel,
    random_machine,
    random_meshes,
    random_problem,
    random_shipped,
    random_sliding_problem,
    random_slow,
    untimed,
    verdict,
)
from bounded.skeletons import verdict_of_each

from tilewright.costs.hierarchy import Architecture, Problem
from tilewright.search.mapping.bounded import estimates, outer, rooms
from tilewright.search.mapping.values import OBJECTIVES, Factors, Request, Space

PROBLEMS = random_problem, random_sliding_problem, random_kernel
KINDS: dict[str, tuple[tuple[Callable[[Random], Problem], ...], tuple[Callable[[Random], Architecture], ...]]] = {
    "plain": ((random_problem,), (random_machine,)),
    "sliding": ((random_sliding_problem,), (random_arrays,)),
    "kernels": ((random_kernel,), (random_arrays, random_machine)),
    "shipped": (PROBLEMS, (random_shipped,)),
    "meshes": ((random_few,), (random_meshes,)),
    "slow": ((random_few, random_problem), (random_slow,)),
    "mixed": (PROBLEMS, (random_machine, random_arrays, random_shipped)),
}
"""Where problems and machines come from."""


class Pair(NamedTuple):
    """What to compare, and how."""

    kind: str
    factors: Factors
    seed: int
    most: int
    untimed: bool
    hurried: bool
    skeletons: bool


def check(pair: Pair) -> str:
    """The `verdict` of a pair."""
    random = Random(f"{pair.kind} {pair.seed}")
    problems, machines = KINDS[pair.kind]
    problem, arch = random.choice(problems)(random), random.choice(machines)(random)
    space = Space(random.random() < 0.6, random.random() < 0.5, pair.factors)
    objective, limit_s = random.choice(OBJECTIVES[:3]), random.choice([0.01, 0.05, 0.2]) if pair.hurried else None
    arch = untimed(arch) if pair.untimed else arch
    compare = verdict_of_each if pair.skeletons else verdict
    return compare(arch, problem, Request(objective=objective, space=space, time_limit_s=limit_s), pair.most)


def coarse() -> None:
    """Tables of few cells."""
    outer.MAX_CELLS = outer.MAX_BEST = outer.MAX_PERFECT = rooms.MAX_INNER = 6
    estimates.COARSE_CELLS, estimates.FINE_CELLS, estimates.WINDOW_CELLS = 6, 12, 12


def _named(names: str, known: tuple[str, ...]) -> list[str]:
    chosen = list(known) if names == "all" else names.split(",")
    if unknown := [name for name in chosen if name not in known]:
        sys.exit(f"expected some of {', '.join(known)}, found {', '.join(unknown)}")
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", default="all", help=f"by commas, of {', '.join(KINDS)} (default: all)")
    parser.add_argument("--factors", default="all", help="perfect, imperfect or all (default)")
    parser.add_argument("--seeds", default="0:100", metavar="FROM:TO", help="of each kind (default: 0:100)")
    parser.add_argument("--most", type=int, default=3000, help="mappings of a pair at most (default: 3000)")
    parser.add_argument("--untimed", action="store_true", help="machines without bandwidths")
    parser.add_argument("--hurried", action="store_true", help="stop each search at a random time")
    parser.add_argument("--skeletons", action="store_true", help="compare the best mapping of each skeleton")
    parser.add_argument("--coarse", action="store_true", help="tables of few cells")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no pair after so long")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: 1)")
    found = parser.parse_args()
    if found.skeletons and found.hurried:
        parser.error("--skeletons: searches through each skeleton are not stopped; leave out --hurried")
    first, last = map(int, found.seeds.split(":"))
    kinds, factors = _named(found.kinds, tuple(KINDS)), _named(found.factors, ("perfect", "imperfect"))
    make = partial(Pair, most=found.most, untimed=found.untimed, hurried=found.hurried, skeletons=found.skeletons)
    pairs = [make(kind, given, seed) for seed, kind, given in product(range(first, last), kinds, factors)]
    counts: dict[str, Counter[str]] = {f"{kind} {given}": Counter() for kind, given in product(kinds, factors)}
    begun = monotonic()
    with ProcessPoolExecutor(found.jobs, initializer=coarse if found.coarse else None) as pool:
        for pair, answer in zip(pairs, pool.map(check, pairs), strict=True):
            fault = answer not in ("many", "proven", "open", "nothing")
            counts[f"{pair.kind} {pair.factors}"]["wrong" if fault else answer] += 1
            if fault:
                print(f"--kinds {pair.kind} --factors {pair.factors} --seeds {pair.seed}:{pair.seed + 1}: {answer}")
                sys.stdout.flush()
            if monotonic() - begun > found.seconds:
                pool.shutdown(wait=False, cancel_futures=True)
                break
    for name, count in counts.items():
        print(f"{name}: {', '.join(f'{number} {answer}' for answer, number in sorted(count.items()))}")
    sys.exit(any(count["wrong"] for count in counts.values()))


if __name__ == "__main__":
    main()
