"""Check a certificate that `tilewright map --certificate` wrote: that no mapping of its space is better.

The checker knows the cost model and the statements of docs/exact-mapper.md, and no search.  It prices the certificate's
mapping, goes through all regions of the space, and recomputes what closes each of them.  A certificate may say that no
mapping is better, or no mapping by more than some share.

examples:
  tilewright map 'O[m,n] += A[m,k] * B[k,n]; m=8 n=8 k=8' --target tpu_like --factors perfect --certificate best.json
  tilewright check best.json
"""

import argparse
from pathlib import Path
from time import process_time
from typing import Any

from .options import add_count
from .tables import number, print_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a certificate (.json)")
    add_count(parser, "--sample", "recompute about N closed regions, drawn evenly (default: all)")


def execute(arguments: argparse.Namespace) -> dict[str, Any]:
    from ..backends.report import loop_nest
    from ..certificates import check_certificate
    from ..costs.exact import evaluate

    begun = process_time()
    found = check_certificate(arguments.file, arguments.sample)
    question, mapping = found.certificate.question, found.certificate.mapping
    prices = evaluate(question.arch, question.problem, mapping)
    return {
        "kernel": question.problem.name,
        "target": question.arch.name,
        "objective": question.goal,
        "accepted": True,  # what does not hold ends in an error that names the region
        "refused": [],
        "proven": arguments.sample is None and found.certificate.gap == 0,
        "gap": found.certificate.gap,
        "sample": arguments.sample is not None,
        "edp": prices.edp_j_cycle,
        "energy_pj": prices.energy_pj,
        "cycles": prices.cycles,
        "regions": len(found.certificate.steps),
        "closed": found.closed,
        "checked": found.followed,
        "priced": found.mappings,
        "dims": dict(zip(question.problem.dims, question.problem.bounds, strict=True)),
        "loops": loop_nest(question.arch, question.problem, mapping),
        "cpu_s": process_time() - begun,
    }


def show(answer: dict[str, Any]) -> None:
    dims = " ".join(f"{dim}={bound}" for dim, bound in answer["dims"].items())
    print(f"{answer['kernel']} on {answer['target']}: {dims}\n")
    print(answer["loops"])
    rows = [[name, number(count)] for name, count in answer["closed"].items()]
    print_table("Regions closed", ["by", "regions"], rows)
    print(f"{answer['regions']} regions cover the space, {answer['priced']} mappings priced, {answer['cpu_s']:.2f} s")
    less = f"less {answer['objective']}" + (f" by more than {answer['gap']:.3%}" if answer["gap"] else "")
    if answer["sample"]:
        print(f"{answer['checked']} regions of the sample hold: evidence, no proof, that no mapping has {less}")
    else:
        print(f"accepted: no mapping with perfect factors has {less}")
