"""Mappings run on machines without instructions: outputs against NumPy, counts and cycles against the cost model.

    python bench/mappings_run.py --pairs 300 --layers --seconds 0.5

Random pairs of a kernel and a machine by seed, and 40 layers (ResNet-18, MobileNet, grouped ones, products of several
tensors) on five machines.  Bounds of a layer are halved, the largest first, until it has at most `--points` points.
Inputs are whole numbers, so that sums are equal in any order.  A line per group: how many ran, with equal outputs,
equal counts, equal cycles; and a line for each run that was not equal.  The exit code is 1 where an output differs, or
a count of a kernel that is no transposed convolution.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np

from tilewright.algebra.affine import index_forms
from tilewright.algebra.expr import Access, accesses, tensors_of
from tilewright.arrays import write_arrays
from tilewright.costs.hierarchy import Problem
from tilewright.costs.hierarchy.statement import text_of_problem
from tilewright.driver import RunOptions
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import target_files
from tilewright.frontends.einsum import parse_einsum
from tilewright.mapping import MapOptions, MappedRun, is_map_only, run_mapped
from tilewright.zoo.mapping_layers import layer, layers

MACHINES = ("eyeriss_like", "simba_like", "tpu_like", "conventional", "diannao_like")

MOBILENET = (
    *(("dw", 32, 112, 1), ("pw", 64, 112, 32), ("dw2", 64, 56, 1), ("pw", 128, 56, 64), ("dw", 256, 28, 1)),
    *(("dw2", 256, 14, 1), ("pw", 512, 14, 256), ("dw", 512, 14, 1), ("pw", 1024, 7, 512), ("dw", 1024, 7, 1)),
)

OTHERS = (
    *("alexnet:conv1", "alexnet:conv2", "resnext50:conv2_1_3x3", "mmc:attention512", "mmc:attention1024"),
    *(f"{kernel}:{name}" for kernel in ("mttkrp", "ttmc") for name in ("nell2", "netflix", "poisson1")),
    *("sddmm:bcsstk17", "sddmm:cant", "tcl:alexnet", "tcl:vgg"),
    *("covenant:bert_gemm1", "resnet18_wu:conv2_1", "inception_v3:L01_3x3"),
)

KERNELS = (
    "O[m,n] += A[m,k] * B[k,n]; m={} n={} k={}",
    "O[k,p] += I[c,{s}*p+{d}*r] * W[k,c,r]; k={} p={} c={} r={}",
    "O[k,p,q] += I[c,{s}*p+r,q+{d}*s] * W[k,c,r,s]; k={} p={} q={} c={} r={} s={}",
    "O[c,p,q] += I[c,{s}*p+r,{s}*q+s] * W[c,r,s]; c={} p={} q={} r={} s={}",
    "O[i,j] += A[i,k,l] * B[k,j] * C[l,j]; i={} j={} k={} l={}",
    "O[i,l,m] += A[i,j,k] * B[j,l] * C[k,m]; i={} l={} m={} j={} k={}",
    "O[i,j] += S[i,j] * A[i,k] * B[k,j]; i={} j={} k={}",
    "O[4*g+k,p] += I[4*g+c,p] * W[4*g+k,c]; g={} k=4 p={} c=4",
    "O[k,{s}*p+r] += I[c,p] * W[k,c,r]; k={} p={} c={} r={}",
)
"""The last one is a transposed convolution, whose results several tiles share."""


def random_pairs(count: int, seed: int) -> Iterator[tuple[str, str, str]]:
    """Group, kernel text and machine."""
    machines = [name for name in target_files() if is_map_only(name)]
    for number in range(seed, seed + count):
        random = Random(number)
        text = random.choice(KERNELS)
        sizes = [random.choice((1, 2, 3, 4, 5, 7, 8, 12, 16, 17)) for _ in range(text.count("{}"))]
        group = "transposed" if text == KERNELS[-1] else "random"
        yield group, text.format(*sizes, s=random.randint(1, 3), d=random.randint(1, 2)), random.choice(machines)


def named_layers(points: int) -> Iterator[tuple[str, str, str]]:
    """Group, kernel text and machine: layers of networks, cut to so many points."""
    found: list[tuple[str, str | Problem]] = [("resnet18", problem) for _, problem, _ in layers("resnet18", 1)]
    for kind, channels, size, depth in MOBILENET:
        stride = 2 if kind == "dw2" else 1
        text = f"O[c,p,q] += I[c,{stride}*p+r,{stride}*q+s] * W[c,r,s]; c={channels} p={size} q={size} r=3 s=3"
        if kind == "pw":
            text = f"O[k,p,q] += I[c,p,q] * W[k,c]; k={channels} c={depth} p={size} q={size}"
        found.append(("mobilenet", text))
    found += [("others", layer(name, 1)) for name in OTHERS]
    for group, kernel in found:
        for machine in MACHINES:
            yield group, kernel if isinstance(kernel, str) else text_of_problem(cut(kernel, points)), machine


def cut(problem: Problem, points: int) -> Problem:
    """The problem with its largest bounds halved until it has at most so many points."""
    bounds = list(problem.bounds)
    while replace(problem, bounds=tuple(bounds)).macs > points:
        largest = bounds.index(max(bounds))
        bounds[largest] = -(-bounds[largest] // 2)
    return replace(problem, bounds=tuple(bounds))


def write_inputs(path: Path, text: str, seed: int) -> None:
    """Whole numbers for all inputs of a kernel."""
    statement, extents = parse_einsum(text)
    random = np.random.default_rng(seed)
    shapes = {
        access.tensor: tuple(form.range(extents)[1] + 1 for form in index_forms(access))
        for access in accesses(statement)
        if isinstance(access, Access)
    }
    inputs = tensors_of(statement)[1:]
    write_arrays(path, {name: random.integers(-3, 4, shapes[name]).astype(np.float32) for name in inputs})


def run(text: str, machine: str, seconds: float, folder: Path) -> MappedRun:
    """The best mapping of a kernel that is found in so many seconds, run."""
    write_inputs(folder / "in.npz", text, 0)
    options = MapOptions(time_limit_s=seconds)
    return run_mapped(text, machine, folder=folder, map_options=options, options=RunOptions(folder / "in.npz"))


def main() -> int:
    """Prints the table; see above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--layers", action="store_true")
    parser.add_argument("--points", type=int, default=1 << 27)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each search")
    arguments = parser.parse_args()
    cases = [*random_pairs(arguments.pairs, arguments.seed)]
    cases += named_layers(arguments.points) if arguments.layers else []
    table: dict[str, Counter[str]] = {}
    start = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        for number, (group, text, machine) in enumerate(cases):
            if sys.stderr.isatty():
                print(f"{number} of {len(cases)}", end="\r", file=sys.stderr)
            row = table.setdefault(group, Counter())
            row["cases"] += 1
            try:
                found = run(text, machine, arguments.seconds, Path(folder))
            except TilewrightError as error:
                print(f"{machine}: {text}: {error}", flush=True)
                continue
            assert found.comparison is not None
            counted, modelled = found.simulation.prices, found.prices
            same = {
                "ran": True,
                "equal outputs": found.comparison.equal,
                "equal counts": found.counted == found.modelled,
                "equal cycles": counted.cycles == modelled.cycles,
            }
            row.update(name for name, equal in same.items() if equal)
            if not all(same.values()):
                print(
                    f"{machine}: {text}: {', '.join(name for name, equal in same.items() if not equal)}: no", flush=True
                )
    columns = ("cases", "ran", "equal outputs", "equal counts", "equal cycles")
    print(f"{'':12}", *(f"{name:>14}" for name in columns))
    for group, row in table.items():
        print(f"{group:12}", *(f"{row[name]:14}" for name in columns))
    print(f"{time.process_time() - start:.0f} CPU seconds")
    strict = [row for group, row in table.items() if group != "transposed"]
    differ = any(row["ran"] != min(row[name] for name in columns[2:]) for row in strict)
    return int(differ or any(row["ran"] != row["equal outputs"] for row in table.values()))


if __name__ == "__main__":
    sys.exit(main())
