"""Certificates of real layers: how large a gap they leave, and what finding, writing and checking them takes.

    python bench/certificates.py --machines conventional,simba_like --layers resnet18 --corrupt 5

A line per layer: the gap, seconds of the search, of writing the certificate, of the whole check and of one with
`--sample 1000`; and of `--corrupt` changes that make a certificate wrong (a letter left out or added, an empty array, a
region closed too soon), how many were refused.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from random import Random
from time import process_time

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
    match random.randrange(4):
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machines", default="conventional,eyeriss_like,simba_like")
    parser.add_argument("--layers", default="others", help="others, a network of the zoo, or names by commas")
    parser.add_argument("--corrupt", type=int, default=0, help="changes to each certificate (default: none)")
    found = parser.parse_args()
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
