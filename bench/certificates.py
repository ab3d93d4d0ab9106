"""Certificates of real layers: how large a gap they leave, and what finding, writing and checking them takes.

    python bench/certificates.py --machines conventional,simba_like --layers resnet18 --corrupt 5
    python bench/certificates.py --pairs 1000 --corrupt 1

A line per layer: the gap, seconds of the search, of writing the certificate, of the whole check and of one with
`--sample 1000`; and of `--corrupt` changes that make a certificate wrong (a letter left out or added, an empty array, a
region closed too soon), how many were refused.

With `--pairs` random tiny problems on random tiny machines instead, whose spaces are enumerated: how many certificates
of the best mapping are accepted, how many changes are refused, and for each way to make bounds wrong, of how many pairs
some mapping costs less than the bound of a region that it is in.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from time import process_time

import pytest

from tilewright.certificates.check import STATEMENTS, Certificate, Follower
from tilewright.costs.hierarchy import Problem
from tilewright.costs.hierarchy.statement import problem_of_statement
from tilewright.errors import TilewrightError
from tilewright.frontends.einsum import parse_einsum
from tilewright.mapping.machines import find_architecture
from tilewright.search.mapping.certify import certify
from tilewright.search.mapping.mappers import map_problem
from tilewright.search.mapping.values import Request, Space
from tilewright.zoo.mapping_layers import layer, layers

sys.path.insert(0, str(Path(__file__).parents[1] / "test"))

from unit.certificates.pairs import Pair, pair_of
from unit.certificates.test_certificates import FAULTS, wrongly_closed

OTHERS = {
    "gemm64": "O[m,n] += A[m,k] * B[k,n]; m=64 n=64 k=64",
    "gemm512": "O[m,n] += A[m,k] * B[k,n]; m=512 n=512 k=512",
    "gemm1024x768": "O[m,n] += A[m,k] * B[k,n]; m=1024 n=768 k=768",
    "mobilenet_dw_28": "O[c,p,q] += I[c,p+r,q+s] * W[c,r,s]; c=256 p=28 q=28 r=3 s=3",
    "mobilenet_pw_14": "O[k,p,q] += I[c,p,q] * W[k,c]; k=512 c=512 p=14 q=14",
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


def changed(certificate: Certificate, random: Random) -> Certificate:
    """The certificate with one change that makes it wrong."""
    steps, place = certificate.steps, random.randrange(len(certificate.steps))
    match random.randrange(4) if "b" in steps and "s" in steps[: place + 1] else 0:
        case 0:
            return replace(certificate, steps=steps[:-1])
        case 1:
            return replace(certificate, steps=f"{steps}b")
        case 2:
            place = steps.index("b", place) if "b" in steps[place:] else steps.index("b")
            return replace(certificate, steps=f"{steps[:place]}a{steps[place + 1 :]}")
        case _:
            place = steps.rindex("s", 0, place + 1)
            return replace(certificate, steps=f"{steps[:place]}{random.choice(list(STATEMENTS))}{steps[place + 1 :]}")


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


def random_pairs(count: int, corrupt: int) -> None:
    """Certificates of so many random pairs, and what catches faults in them and in bounds."""
    pairs, seed, counts, begun = list[Pair](), 0, Counter[str](), process_time()
    while len(pairs) < count:
        if (pair := pair_of(seed, 300)) is not None:
            pairs.append(pair)
            question, random = pair.question, Random(seed)
            made = certify(question.arch, question.problem, pair.priced[0][1], pair.request)
            counts["accepted, no gap" if made.gap == 0 else "accepted, with a gap"] += not refused(made)
            for _ in range(corrupt):
                counts["corrupted and refused" if refused(changed(made, random)) else "corrupted and accepted"] += 1
        seed += 1
    print(f"{count} of {seed} draws, {dict(counts)}, {process_time() - begun:.0f} s", flush=True)
    print(f"no fault: {sum(map(bool, map(wrongly_closed, pairs)))} pairs with a bound above a price", flush=True)
    for name, fault in FAULTS.items():
        with pytest.MonkeyPatch.context() as patch:
            fault(patch)
            print(f"{name}: {sum(map(bool, map(wrongly_closed, pairs)))} pairs", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machines", default="conventional,eyeriss_like,simba_like")
    parser.add_argument("--layers", default="others", help="others, a network of the zoo, or names by commas")
    parser.add_argument("--corrupt", type=int, default=0, help="changes to each certificate (default: none)")
    parser.add_argument("--pairs", type=int, metavar="N", help="random pairs instead of layers")
    found = parser.parse_args()
    if found.pairs is not None:
        return random_pairs(found.pairs, found.corrupt)
    names = list(OTHERS) if found.layers == "others" else found.layers.split(",")
    names = [full for name in names for full in _layers(name)]
    for machine in found.machines.split(","):
        for name in names:
            arch, problem, random = find_architecture(machine), problem_of(name), Random(name)
            request = Request(space=Space(True, True, "perfect"), time_limit_s=5)
            mapped = map_problem(arch, problem, request=request)
            begun = process_time()
            made = certify(arch, problem, mapped.mapping, request)
            wrote = process_time() - begun
            whole, sampled = seconds_of(made, None), seconds_of(made, 1000)
            caught = sum(refused(changed(made, random)) for _ in range(found.corrupt))
            times = f"search {mapped.cpu_s:.2f} write {wrote:.1f} check {whole:.1f} sample {sampled:.1f} s"
            faults = f" refused {caught} of {found.corrupt}" if found.corrupt else ""
            print(f"{machine} {name}: gap {made.gap:.3%} {len(made.steps)} regions {times}{faults}", flush=True)


if __name__ == "__main__":
    main()
