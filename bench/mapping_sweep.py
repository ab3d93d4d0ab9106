"""Whole spaces, enumerated, against what `map` answers: random tiny problems on random tiny machines.

Pairs of more than `--most` mappings are left out.  Without a time limit an answer must be the optimum where it says so,
and its bound must never be above the optimum.  Objectives are energy times delay, energy, cycles, and off-chip words;
machines have two to five memories, up to two arrays, ports, networks and memories of some tensors only.  Kind `three`
has units that share an innermost memory, which `--models timeloop` treats in its own way.

`--hurried` stops searches at random times, `--skeletons` compares the best mapping of each skeleton, `--coarse` makes
tables with few cells, `--untimed` leaves out all bandwidths.  A faulty pair is printed with the arguments that repeat
it, and the status is 1.

    python bench/mapping_sweep.py --seeds 1000:1200
    python bench/mapping_sweep.py --kinds three --models timeloop --factors perfect
    python bench/mapping_sweep.py --kinds sliding,shipped --factors imperfect --untimed --most 20000
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from time import monotonic
from typing import NamedTuple

from tilewright.costs.hierarchy import Architecture, Problem
from tilewright.search.mapping.exact.bounds import cost_to_go, estimates, outer
from tilewright.search.mapping.values import OBJECTIVES, CostModel, Factors, Request, Space

sys.path.insert(0, str(Path(__file__).parents[1] / "test" / "unit" / "search" / "mapping"))

from exact.enumerate import (
    random_arrays,
    random_deep,
    random_few,
    random_kernel,
    random_machine,
    random_meshes,
    random_problem,
    random_shipped,
    random_sliding_problem,
    random_slow,
    random_three,
    untimed,
    verdict,
)
from exact.skeletons import verdict_of_each

PROBLEMS = random_problem, random_sliding_problem, random_kernel
KINDS: dict[str, tuple[tuple[Callable[[Random], Problem], ...], tuple[Callable[[Random], Architecture], ...]]] = {
    "plain": ((random_problem,), (random_machine,)),
    "sliding": ((random_sliding_problem,), (random_arrays,)),
    "kernels": ((random_kernel,), (random_arrays, random_machine)),
    "shipped": (PROBLEMS, (random_shipped,)),
    "meshes": ((random_few,), (random_meshes,)),
    "slow": ((random_few, random_problem), (random_slow,)),
    "deep": ((*PROBLEMS, random_few), (random_deep,)),
    "three": ((*PROBLEMS, random_few), (random_three,)),
    "mixed": (PROBLEMS, (random_machine, random_arrays, random_shipped)),
}
"""Where problems and machines come from."""


class Pair(NamedTuple):
    """What to compare, and how."""

    kind: str
    factors: Factors
    model: CostModel
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
    objective, limit_s = random.choice(OBJECTIVES), random.choice([0.01, 0.05, 0.2]) if pair.hurried else None
    if pair.skeletons and objective == "dram":
        objective = "edp"
    arch = untimed(arch) if pair.untimed else arch
    compare = verdict_of_each if pair.skeletons else verdict
    return compare(arch, problem, Request(objective, pair.model, space, time_limit_s=limit_s), pair.most)


def coarse() -> None:
    """Tables of few cells."""
    outer.MAX_CELLS = outer.MAX_PERFECT = cost_to_go.MAX_INNER = 6
    estimates.CELLS = estimates.WINDOW_CELLS = 12


def _named(names: str, known: tuple[str, ...]) -> list[str]:
    chosen = list(known) if names == "all" else names.split(",")
    if unknown := [name for name in chosen if name not in known]:
        sys.exit(f"expected some of {', '.join(known)}, found {', '.join(unknown)}")
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", default="all", help=f"by commas, of {', '.join(KINDS)} (default: all)")
    parser.add_argument("--factors", default="all", help="perfect, imperfect or all (default)")
    parser.add_argument("--models", default="exact", help="exact (default), timeloop or all")
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
    models = _named(found.models, ("exact", "timeloop"))
    make = partial(Pair, most=found.most, untimed=found.untimed, hurried=found.hurried, skeletons=found.skeletons)
    drawn = [chosen for chosen in product(kinds, factors, models) if chosen[1:] != ("imperfect", "timeloop")]
    pairs = [make(*chosen, seed) for seed, chosen in product(range(first, last), drawn)]
    counts: dict[str, Counter[str]] = {" ".join(chosen): Counter() for chosen in drawn}
    begun = monotonic()
    with ProcessPoolExecutor(found.jobs, initializer=coarse if found.coarse else None) as pool:
        for pair, answer in zip(pairs, pool.map(check, pairs), strict=True):
            fault = answer not in ("many", "proven", "open", "nothing")
            counts[f"{pair.kind} {pair.factors} {pair.model}"]["wrong" if fault else answer] += 1
            if fault:
                chosen = f"--kinds {pair.kind} --factors {pair.factors} --models {pair.model}"
                print(f"{chosen} --seeds {pair.seed}:{pair.seed + 1}: {answer}", flush=True)
            if monotonic() - begun > found.seconds:
                pool.shutdown(wait=False, cancel_futures=True)
                break
    for name, count in counts.items():
        print(f"{name}: {', '.join(f'{number} {answer}' for answer, number in sorted(count.items()))}")
    sys.exit(any(count["wrong"] for count in counts.values()))


if __name__ == "__main__":
    main()
