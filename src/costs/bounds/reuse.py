"""How much a memory of a given size saves at most: words that must cross its boundary, in any order of work.

The argument is that of Hong and Kung (STOC 1981).  Cut the work wherever words that cost `X` have crossed.  What a
piece touches of tensor `t` was inside before it, or crossed: `z_t = r_t + x_t` elements with `sum b_t r_t <= S` bits
and `sum v_t x_t <= X`.  A piece then has at most `V` operations, so there are at least `G / V` pieces, all but one of
them paid in full: the cost is at least `X * (G / V - 1)`, for every `X`.

`V` follows from a discrete Hoelder-Brascamp-Lieb inequality (Dinh and Demmel, SPAA 2020, arXiv 2003.00119):
`V <= prod_t z_t^s_t * prod_d N_d^u_d` for all exponents with `sum of s_t over tensors indexed by d, + u_d >= 1` for
each dimension `d`.  A sliding window is handled as if each pair of indices had an element of its own; as an element
serves at most `R` pairs, `z_t` grows by `R` (arXiv 1911.05662).  With one width and a product of two matrices
`X = 2 S` gives `2 G / sqrt(S) - 2 S` (Smith et al., arXiv 1702.02017).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import ceil, gcd, log, prod

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from ..exact.axes import Window, axes_of, distinct
from ..hierarchy.values import Problem, Tensor

Floats = NDArray[np.float64]

STEPS = 97
"""Values of `X` that are tried."""

FRACTIONS = (0.0, 1 / 4, 1 / 3, 1 / 2, 2 / 3, 3 / 4, 1.0)
MAX_GRID = 4
"""Exponents that are tried for tensors, where there are at most so many; for more, linear programs give them."""


def touched(problem: Problem, tensor: Tensor) -> int:
    """Distinct elements of `tensor` that the problem touches."""
    axes = axes_of(tensor, problem.bounds)
    words = prod(problem.bounds[dim] for dim in axes.plain)
    for window in axes.windows:
        words *= distinct(window.coefficients, tuple(problem.bounds[dim] for dim in window.dims))
    return words


def sharing(problem: Problem, tensor: Tensor) -> int:
    """Most index tuples of the dimensions of `tensor` that lead to one element."""
    axes = axes_of(tensor, problem.bounds)
    return prod(_window_sharing(window, problem.bounds) for window in axes.windows)


def _window_sharing(window: Window, bounds: tuple[int, ...]) -> int:
    sizes = [bounds[dim] for dim in window.dims]
    if len(sizes) > 2:
        return prod(sizes) // max(sizes)
    (n, m), (u, v) = sizes, (abs(c) for c in window.coefficients)
    common = gcd(u, v)
    return min(ceil(n * common / v), ceil(m * common / u))


@dataclass(frozen=True)
class Crossing:
    """One tensor at a boundary: bits of an element inside, and the cost of an element that crosses."""

    tensor: int
    bits: float
    cost: float


def least_cost(problem: Problem, crossings: tuple[Crossing, ...], storage_bits: float) -> float:
    """Least cost of the elements of `crossings` that cross into `storage_bits` in all.

    Other tensors may cross freely.
    """
    paid = [c for c in crossings if c.cost > 0]
    if not paid or storage_bits <= 0 or problem.macs == 1:
        return 0.0
    exponents = _exponents(problem, tuple(c.tensor for c in paid))
    powers, fixed = exponents[:, : len(paid)], exponents[:, len(paid)]
    bits, cost = np.array([c.bits for c in paid]), np.array([c.cost for c in paid])
    shared = np.log([sharing(problem, problem.tensors[c.tensor]) for c in paid])
    budget = storage_bits * float((cost / bits).mean()) * np.logspace(-3, 3, STEPS)
    most = np.full(STEPS, np.inf)
    for price in _prices(bits, cost):
        worth = np.minimum(bits, price * cost)
        total = np.log(storage_bits + price * budget)
        most = np.minimum(most, _log_operations(powers, fixed, total, shared - np.log(worth)).min(axis=0))
    pieces = np.exp(log(problem.macs) - most)
    return max(0.0, float((budget * (pieces - 1)).max()))


def step_cost(problem: Problem, costs: tuple[tuple[int, float], ...], units: int) -> float:
    """Least cost per operation where (tensor, cost of an element) are brought anew for every step of at most `units`.

    A step that touches `z_t` elements of each has at most `prod_t z_t^s_t * prod_d N_d^u_d` operations.  With
    `sum s_t >= 1` a larger step costs less per operation, so the largest is the best.
    """
    paid = [(t, cost) for t, cost in costs if cost > 0]
    if not paid or problem.macs == 1:
        return 0.0
    exponents = _exponents(problem, tuple(t for t, _ in paid))
    exponents = exponents[exponents[:, : len(paid)].sum(axis=1) >= 1]
    powers, fixed = exponents[:, : len(paid)], exponents[:, len(paid)]
    shared = np.log([sharing(problem, problem.tensors[t]) for t, _ in paid])
    offset = shared - np.log([cost for _, cost in paid])
    most = _log_operations(powers, fixed, np.zeros(1), offset)[:, 0]
    steps = log(min(units, problem.macs))
    return float(np.exp((steps - most) / powers.sum(axis=1) - steps).max(initial=0.0))


def _prices(bits: Floats, cost: Floats) -> Floats:
    """What a unit of crossing cost is worth in bits inside: any gives a bound; the best lies among or between these."""
    ratios = np.sort(bits / cost)
    between = np.logspace(np.log10(ratios[0]), np.log10(ratios[-1]), 9)
    return np.unique(np.concatenate([ratios, between]))


def _log_operations(powers: Floats, fixed: Floats, total: Floats, offset: Floats) -> Floats:
    """Logarithm of the most operations per row of exponents (E) and budget (X): (E, X).

    With `sum w_t z_t <= T` the product of `z_t^s_t` is largest where `w_t z_t` is the share `s_t / sum s` of `T`.
    """
    sums = powers.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(powers > 0, powers * np.log(powers / sums[:, None]), 0.0)
    return (sums[:, None] * total[None, :]) + (shares.sum(axis=1) + powers @ offset + fixed)[:, None]


@lru_cache(maxsize=1024)
def _exponents(problem: Problem, tensors: tuple[int, ...]) -> Floats:
    """Valid exponents: rows of `s_t` for `tensors`, and the logarithm of what dimensions contribute.

    Any `s_t` are valid with `u_d` making up for what they lack; those that are best for some size of piece are kept.
    """
    related = [axes_of(problem.tensors[t], problem.bounds).related for t in tensors]
    dims = [dim for dim, bound in enumerate(problem.bounds) if bound > 1]
    sizes = np.log([float(problem.bounds[dim]) for dim in dims])
    covers = np.array([[float(dim in found) for found in related] for dim in dims])
    wholes = [float(touched(problem, problem.tensors[t]) * sharing(problem, problem.tensors[t])) for t in tensors]
    pieces = np.array([[log(2.0) * k] for k in range(0, min(44, problem.macs.bit_length() + 1), 2)])
    samples = np.concatenate([np.tile(pieces, len(tensors)), np.minimum(pieces, np.log(wholes))])
    powers = _grid(len(tensors)) if len(tensors) <= MAX_GRID else _solved(covers, samples, sizes)
    fixed = np.maximum(0.0, 1.0 - powers @ covers.T) @ sizes
    best = np.unique((powers @ samples.T + fixed[:, None]).argmin(axis=0))
    return np.column_stack([powers[best], fixed[best]])


def _grid(tensors: int) -> Floats:
    """Simple fractions for each tensor: the corners of the programs of up to four tensors that occur."""
    return np.array(list(product(FRACTIONS, repeat=tensors)))


def _solved(covers: Floats, samples: Floats, sizes: Floats) -> Floats:
    """The best powers of tensors for each of `samples`, by linear programs."""
    every = np.column_stack([covers, np.eye(len(sizes))])
    rows = [np.zeros(covers.shape[1])]
    for logs in samples:
        solved = linprog(np.concatenate([logs, sizes]), A_ub=-every, b_ub=-np.ones(len(sizes)), bounds=(0, 1))
        if solved.status == 0:
            rows.append(np.clip(solved.x[: covers.shape[1]], 0.0, 1.0))
    return np.array(rows)
