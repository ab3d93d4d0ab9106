"""Certificates of real layers: how large a gap they leave, and what finding, writing and checking them takes.

    python bench/certificates.py --machines conventional,simba_like --layers resnet18 --corrupt 5
    python bench/certificates.py --pairs 1000 --seed 5000 --corrupt 1 --faults

A line per layer: the gap, seconds of the search, of writing the certificate, of the whole check and of one with
`--sample 1000`; and of `--corrupt` changes of its letters (`STEPS`), how many were refused.
`--seconds` begins no layer after so much processor time, `--whole` also checks everything, and with `--regions` there
are at most so many of a layer, which leave a larger gap.  The last line sums up.

With `--pairs` random tiny problems on random tiny machines instead, whose spaces are enumerated: how many certificates
of the best mapping are accepted; by kind of change (`STEPS` and `CLAIMS`), how many are refused, and of those that are
not how many claim what enumeration contradicts.  With `--faults`, for each way to make bounds wrong, of how many pairs
some mapping costs less than the bound of a region that it is in.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from statistics import median
from time import process_time
from typing import Any

import pytest

from tilewright.certificates.bounds import price
from tilewright.certificates.check import SLACK, Certificate, Follower
from tilewright.certificates.make import MOST_REGIONS
from tilewright.certificates.space import GOALS
from tilewright.costs.hierarchy import Problem
from tilewright.costs.hierarchy.statement import problem_of_statement
from tilewright.errors import TilewrightError
from tilewright.frontends.einsum import parse_einsum
from tilewright.mapping.certify import certify
from tilewright.mapping.machines import find_architecture
from tilewright.search.mapping.mappers import map_problem
from tilewright.search.mapping.values import Request, Space
from tilewright.zoo.mapping_layers import layer, layers

sys.path.insert(0, str(Path(__file__).parents[1] / "test"))

from unit.certificates.pairs import Pair, pair_of
from unit.certificates.test_certificates import FAULTS, wrongly_closed
from unit.search.mapping.exact.enumerate import every_mapping

Change = Callable[[Certificate, Random], Certificate]

OTHERS = {
    "gemm64": "O[m,n] += A[m,k] * B[k,n]; m=64 n=64 k=64",
    "gemm512": "O[m,n] += A[m,k] * B[k,n]; m=512 n=512 k=512",
    "gemm1024x768": "O[m,n] += A[m,k] * B[k,n]; m=1024 n=768 k=768",
    "mobilenet_dw_28": "O[c,p,q] += I[c,p+r,q+s] * W[c,r,s]; c=256 p=28 q=28 r=3 s=3",
    "mobilenet_pw_14": "O[k,p,q] += I[c,p,q] * W[k,c]; k=512 c=512 p=14 q=14",
    "gpt2_qkv": "O[m,n] += A[m,k] * B[k,n]; m=1024 n=2304 k=768",
    "gpt2_mlp": "O[m,n] += A[m,k] * B[k,n]; m=1024 n=3072 k=768",
    "gpt2_scores": "O[h,m,n] += A[h,m,k] * B[h,k,n]; h=12 m=1024 n=1024 k=64",
    "gpt2_token": "O[n] += A[k] * B[k,n]; n=3072 k=768",
    "mobilenet_dw_14": "O[c,p,q] += I[c,p+r,q+s] * W[c,r,s]; c=512 p=14 q=14 r=3 s=3",
    "mobilenet_pw_7": "O[k,p,q] += I[c,p,q] * W[k,c]; k=1024 c=1024 p=7 q=7",
}


def problem_of(name: str) -> Problem:
    """A layer of the zoo, or one of `OTHERS`."""
    return problem_of_statement(*parse_einsum(OTHERS[name])) if name in OTHERS else layer(name)


def seconds_of(certificate: Certificate, sample: int | None) -> float:
    """Processor seconds of an accepted check."""
    begun = process_time()
    Follower(certificate, "certificate", sample).follow()
    return process_time() - begun


def _with_letter(letter: str, instead_of: str) -> Change:
    """Another letter for a region, one of those that have a certain one."""

    def change(pair: Certificate, random: Random) -> Certificate:
        places = [n for n, found in enumerate(pair.steps) if found in instead_of]
        place = random.choice(places) if places else 0
        return replace(pair, steps=f"{pair.steps[:place]}{letter}{pair.steps[place + 1 :]}")

    return change


def _exchanged(certificate: Certificate, random: Random) -> Certificate:
    """Two letters that differ, exchanged."""
    steps = list(certificate.steps)
    pairs = [(n, m) for n in range(len(steps)) for m in range(n) if steps[n] != steps[m]]
    if pairs:
        n, m = random.choice(pairs)
        steps[n], steps[m] = steps[m], steps[n]
    return replace(certificate, steps="".join(steps))


def _with_level(**times: float) -> Change:
    """A memory with so many times some of its numbers, where it has any."""

    def change(certificate: Certificate, random: Random) -> Certificate:
        levels = list(certificate.question.arch.levels)
        n = random.randrange(len(levels))
        old = {name: getattr(levels[n], name) for name in times}
        changed = {name: type(own)(own * times[name]) for name, own in old.items() if own is not None}
        levels[n] = replace(levels[n], **changed)
        return _with_question(certificate, arch=replace(certificate.question.arch, levels=tuple(levels)))

    return change


def _with_question(certificate: Certificate, **fields: Any) -> Certificate:
    return replace(certificate, question=replace(certificate.question, **fields))


def _with_other_objective(certificate: Certificate, random: Random) -> Certificate:
    goals = [goal for goal in GOALS if goal != certificate.question.goal]
    return _with_question(certificate, goal=random.choice(goals))


STEPS: dict[str, Change] = {
    "the last letter left out": lambda found, random: replace(found, steps=found.steps[:-1]),
    "one letter more": lambda found, random: replace(found, steps=f"{found.steps}b"),
    "an unknown letter": _with_letter("x", "sabp"),
    "statement 1 for 3 or 4": _with_letter("a", "bp"),
    "statement 4 for 3": _with_letter("p", "b"),
    "a region closed too soon": _with_letter("b", "s"),
    "a region split that is closed": _with_letter("s", "bp"),
    "two letters exchanged": _exchanged,
}
"""Changes to the letters of regions."""

CLAIMS: dict[str, Change] = {
    "energies of a memory by 100": _with_level(energy_pj=0.01, write_energy_pj=0.01),
    "bandwidths of a memory times 4": _with_level(read_bandwidth=4, write_bandwidth=4, shared_bandwidth=4),
    "a memory four times as large": _with_level(entries=4),
    "another objective": _with_other_objective,
    "tensors may pass memories by": lambda found, random: _with_question(found, bypass=True),
    "dimensions along both axes": lambda found, random: _with_question(found, split_axes=True),
    "dimensions in another order": lambda found, random: _with_question(found, dims=found.question.dims[::-1]),
}
"""Changes to what a certificate claims, or of the order in which regions are split."""


def changed(certificate: Certificate, random: Random) -> Certificate:
    """The certificate with other letters."""
    return random.choice(list(STEPS.values()))(certificate, random)


def claims_too_much(certificate: Certificate, pair: Pair) -> bool:
    """Whether some mapping is better than a certificate says, by enumeration."""
    question = certificate.question
    space = Space(question.bypass, question.split_axes, "perfect")
    mappings = every_mapping(question.arch, question.problem, space, 20_000) or [one for _, one in pair.priced]
    prices = (price(question.arch, question.problem, mapping, question.goal) for mapping in mappings)
    own = price(question.arch, question.problem, certificate.mapping, question.goal)
    return min(prices) < own * (1 - certificate.gap) * SLACK


def refused(certificate: Certificate) -> bool:
    """Whether the checker finds the fault."""
    try:
        Follower(certificate, "certificate").follow()
    except TilewrightError:
        return True
    return False


def _layers(name: str) -> list[str]:
    if ":" in name or name in OTHERS:
        return [name]
    return [f"{name}:{own}" for own, _, _ in layers(name)]


def random_pairs(count: int, first: int, corrupt: int, faults: bool) -> None:
    """Certificates of so many random pairs of seeds from `first`, and what catches faults in them and in bounds."""
    pairs, seed, counts, begun = list[Pair](), first, Counter[str](), process_time()
    seen = {name: Counter[str]() for name in (*STEPS, *CLAIMS)}
    while len(pairs) < count:
        if (pair := pair_of(seed, 300)) is not None:
            pairs.append(pair)
            question, random = pair.question, Random(seed)
            made = certify(question.arch, question.problem, pair.priced[0][1], pair.request)
            counts["accepted, no gap" if made.gap == 0 else "accepted, with a gap"] += not refused(made)
            for name in random.sample(list(seen), min(corrupt, len(seen))):
                wrong = (STEPS | CLAIMS)[name](made, random)
                if wrong == made:
                    seen[name]["no change"] += 1
                elif refused(wrong):
                    seen[name]["refused"] += 1
                else:
                    seen[name]["accepted, WRONG" if claims_too_much(wrong, pair) else "accepted, and holds"] += 1
        seed += 1
    print(f"{count} of {seed - first} draws, {dict(counts)}, {process_time() - begun:.0f} s", flush=True)
    for name, found in seen.items():
        print(f"{name}: {dict(found)}", flush=True)
    if not faults:
        return
    print(f"no fault: {sum(map(bool, map(wrongly_closed, pairs)))} pairs with a bound above a price", flush=True)
    for name, fault in FAULTS.items():
        with pytest.MonkeyPatch.context() as patch:
            fault(patch)
            print(f"{name}: {sum(map(bool, map(wrongly_closed, pairs)))} pairs", flush=True)


def real_layers(machines: list[str], names: list[str], found: argparse.Namespace) -> None:
    """Certificates of layers, one machine after the other for each."""
    gaps, refusals, begun = list[float](), 0, process_time()
    for name, machine in product(names, machines):  # those of all machines soon
        if process_time() - begun > found.seconds:
            break
        arch, problem, random = find_architecture(machine), problem_of(name), Random(name)
        request = Request(space=Space(True, True, "perfect"), time_limit_s=5)
        mapped = map_problem(arch, problem, request=request)
        started = process_time()
        try:
            made = certify(arch, problem, mapped.mapping, request, found.regions)
            wrote = process_time() - started
            sampled = seconds_of(made, 1000)
            whole = seconds_of(made, None) if found.whole else float("nan")
        except TilewrightError as error:
            refusals += 1
            print(f"{machine} {name}: {error}", flush=True)
            continue
        gaps.append(made.gap)
        caught = sum(refused(changed(made, random)) for _ in range(found.corrupt))
        times = f"search {mapped.cpu_s:.2f} write {wrote:.1f} check {whole:.1f} sample {sampled:.1f} s"
        faults = f" refused {caught} of {found.corrupt}" if found.corrupt else ""
        print(f"{machine} {name}: gap {made.gap:.3%} {len(made.steps)} regions {times}{faults}", flush=True)
    shares = ", ".join(
        f"{sum(gap <= most for gap in gaps)} up to {most:.1%}" for most in (0.0, 0.01, 0.05, 0.1, 0.2, 1.0)
    )
    middle = f", median gap {median(gaps):.2%}" if gaps else ""
    print(f"{len(gaps)} accepted, {refusals} not; gaps: {shares}{middle}, {process_time() - begun:.0f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machines", default="conventional,eyeriss_like,simba_like")
    parser.add_argument("--layers", default="others", help="by commas: others, networks of the zoo, or layers")
    parser.add_argument("--corrupt", type=int, default=0, help="changes to each certificate (default: none)")
    parser.add_argument("--pairs", type=int, metavar="N", help="random pairs instead of layers")
    parser.add_argument("--seed", type=int, default=0, help="of the first pair (default: 0)")
    parser.add_argument("--faults", action="store_true", help="of pairs, how many see that a bound is wrong")
    parser.add_argument("--regions", type=int, default=MOST_REGIONS, help="of a layer, at most (default: as map does)")
    parser.add_argument("--whole", action="store_true", help="of layers, check everything, too")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no layer after so long")
    found = parser.parse_args()
    if found.pairs is not None:
        return random_pairs(found.pairs, found.seed, found.corrupt, found.faults)
    names = [each for name in found.layers.split(",") for each in (OTHERS if name == "others" else [name])]
    real_layers(found.machines.split(","), [full for name in names for full in _layers(name)], found)


if __name__ == "__main__":
    main()
