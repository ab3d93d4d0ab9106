"""Timeloop's hybrid mapper (A. Parashar et al., ISPASS 2019): random factors; orders and bypasses in turn."""

from collections.abc import Iterator
from dataclasses import replace
from math import prod

import numpy as np

from ...costs.hierarchy import Architecture, MappingBatch, Problem
from .draw import Sampler
from .pricing import Bools, Floats, Ints, Pricer
from .random import Priced, best_drawn
from .values import Mapped, Request


def solve(
    arch: Architecture,
    problem: Problem,
    request: Request,
    victory: int = 20_000,
    timeout: int = 200_000,
    sweep: int = 2048,
) -> Mapped:
    """The best over random factors of orders and bypasses, at most `sweep` mappings for each choice of factors.

    Ends after `victory` valid mappings in a row without a better one, `timeout` draws in a row that do not fit, or at
    the time limit.  Raises InfeasibleError if nothing that fits was found.
    """
    pricer = Pricer(arch, problem, request)
    sampler = Sampler(arch, problem, request.space, request.seed)
    bypasses = sampler.bypasses()

    def around(drawn: MappingBatch, values: Floats) -> Iterator[Priced]:
        for row in np.flatnonzero(np.isfinite(values)).tolist():
            yield (batch := walk(drawn, row, bypasses, sweep)), pricer.values(batch)

    return best_drawn(pricer, sampler, around, victory, timeout, "hybrid")


def walk(batch: MappingBatch, row: int, bypasses: Bools, sweep: int) -> MappingBatch:
    """Mapping `row` with other orders and bypasses, in lexicographic order; a walk above `sweep` is thinned out evenly.

    Loops of one iteration and those of the innermost level stay where they are: they change nothing.
    """
    moving = [np.flatnonzero(level > 1) if i else np.zeros(0, np.int64) for i, level in enumerate(batch.temporal[row])]
    radices = [len(bypasses), *(digit for dims in moving for digit in range(1, len(dims) + 1))]
    total = prod(radices)
    count = min(total, sweep)
    digits = _digits([i * total // count for i in range(count)], radices)
    orders = np.repeat(batch.order[row][None], count, axis=0)
    first = 1
    for level, dims in enumerate(moving):
        own = digits[:, first : first + len(dims)][:, ::-1]
        first += len(dims)
        idle = np.setdiff1d(np.arange(orders.shape[2]), dims)
        orders[:, level] = np.hstack([_permuted(dims, own), np.repeat(idle[None], count, axis=0)])
    return replace(batch.repeated(row, count), order=orders, kept=bypasses[digits[:, 0]])


def _digits(numbers: list[int], radices: list[int]) -> Ints:
    digits = np.zeros((len(numbers), len(radices)), np.int64)
    for i, number in enumerate(numbers):
        for j, radix in enumerate(radices):
            number, digits[i, j] = divmod(number, radix)
    return digits


def _permuted(items: Ints, digits: Ints) -> Ints:
    """One permutation of `items` per row of `digits`: digit `i` picks among the `n - i` items that are left."""
    rows = ((items.tolist(), row) for row in digits.tolist())
    return np.array([[left.pop(digit) for digit in row] for left, row in rows], np.int64)
