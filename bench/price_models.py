"""Mappings priced per second and core by the exact model and by Timeloop's, and how much one energy is the other's."""

from __future__ import annotations

import argparse

import numpy as np
from measure import Report, cpu_seconds

from tilewright.costs import exact, timeloop
from tilewright.costs.hierarchy import Architecture, Level, MappingBatch, Problem, Tensor

COUNT = 4000
SECONDS_PER_10K = 1.0

ARCH = Architecture(
    "conventional",
    (
        Level("L1", 256, 1024, 32, 1, 2.05, 3, 4),
        Level("L2", 1_625_292, 1, 1, 4, 120.0, 64, 64),
        Level("DRAM", None, 1, 1, 4, 512.0),
    ),
    "MAC",
    1024,
    32,
    2.2,
)


def layer(name: str, bounds: tuple[int, ...], stride: int) -> Problem:
    """A convolution over N, K, C, P, Q, R, S."""
    one = tuple(tuple(int(i == j) for j in range(7)) for i in range(7))
    n, k, c, p, q, r, s = one
    rows = tuple(stride * a + b for a, b in zip(p, r, strict=True))
    columns = tuple(stride * a + b for a, b in zip(q, s, strict=True))
    tensors = (Tensor("I", (n, c, rows, columns)), Tensor("W", (k, c, r, s)), Tensor("O", (n, k, p, q), is_output=True))
    return Problem(name, tuple("NKCPQRS"), bounds, tensors)


def product(bound: int) -> Problem:
    """A product of square matrices."""
    rows = {"A": ((1, 0, 0), (0, 0, 1)), "B": ((0, 0, 1), (0, 1, 0)), "O": ((1, 0, 0), (0, 1, 0))}
    tensors = tuple(Tensor(name, axes, name == "O") for name, axes in rows.items())
    return Problem(f"gemm {bound}", ("M", "N", "K"), (bound,) * 3, tensors)


def random_mappings(problem: Problem, *, perfect: bool) -> MappingBatch:
    """Covering factors in random places, random loop orders, nothing bypassed."""
    draw = np.random.default_rng(0)
    levels, dims = len(ARCH.levels), len(problem.dims)
    shape = COUNT, levels, dims
    factors = [np.ones(shape, np.int64) for _ in range(3)]
    for n in range(COUNT):
        for dim, bound in enumerate(problem.bounds):
            left = bound
            for place in draw.permutation(3 * levels)[:3].tolist():
                level, kind = divmod(place, 3)
                most = left if kind == 0 else min(left, 8 // int(factors[kind][n, level].prod()))
                if kind and level != 1:
                    continue
                choices = [f for f in range(1, most + 1) if left % f == 0 or not perfect]
                factor = int(draw.choice(choices or [1]))
                factors[kind][n, level, dim] *= factor
                left = -(-left // factor)
            factors[0][n, -1, dim] *= left
    order, order_x, order_y = (np.argsort(draw.random(shape), axis=2) for _ in range(3))
    kept = np.ones((COUNT, levels, len(problem.tensors)), np.bool_)
    return MappingBatch(factors[0], order, factors[1], order_x, factors[2], order_y, kept)


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    report = Report()
    for problem in (
        layer("conv2_x of ResNet-18", (1, 64, 64, 56, 56, 3, 3), 1),
        layer("conv1 of ResNet-18", (1, 64, 3, 112, 112, 7, 7), 2),
        product(512),
    ):
        perfect, imperfect = (random_mappings(problem, perfect=flag) for flag in (True, False))
        exact.price_batch(ARCH, problem, perfect.part(slice(0, 1)))
        ours, prices = cpu_seconds(lambda: exact.price_batch(ARCH, problem, perfect), 3)
        ragged, _ = cpu_seconds(lambda: exact.price_batch(ARCH, problem, imperfect), 3)
        theirs, reference = cpu_seconds(lambda: timeloop.price_batch(ARCH, problem, perfect, link_transfers=False), 3)
        per_10k = 10_000 / COUNT
        report.add(f"{problem.name}: exact, perfect, 10 000", ours * per_10k, SECONDS_PER_10K, "s CPU")
        report.add(f"{problem.name}: exact, imperfect, 10 000", ragged * per_10k, SECONDS_PER_10K, "s CPU")
        ratio = np.median(prices.energy_pj / reference.energy_pj)
        print(
            f"  {COUNT / ours:.0f} and {COUNT / ragged:.0f} mappings/s; Timeloop's model without links "
            f"{COUNT / theirs:.0f}, {ours / theirs:.1f} times as many; median energy {ratio:.3f} of Timeloop's"
        )
    report.finish()


if __name__ == "__main__":
    main()
