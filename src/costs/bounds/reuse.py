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

from functools import lru_cache
from itertools import product
from math import ceil, gcd, log, prod

import numpy as np

from ..exact.axes import Window, axes_of, distinct
from ..exact.compiled import Floats, compiled
from ..hierarchy.values import Problem, Tensor

BUDGETS = np.logspace(-3, 3, 97)
"""Values of `X` that are tried, in units of what fits."""

BETWEEN = 7
"""Numbers between the least and the largest ratio of two tensors' bits and costs that are tried."""

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


def least_costs(problem: Problem, costs: Floats, bits: Floats, storage_bits: Floats) -> Floats:
    """Least cost of the elements that cross into a memory, for many cases (N,) of `storage_bits` in all.

    An element of each tensor costs `costs` (N, T) to cross, and takes `bits` (N, T) inside; those of tensors that cost
    nothing may cross freely.
    """
    found = np.zeros(len(costs))
    shared = np.log([float(sharing(problem, tensor)) for tensor in problem.tensors])
    able = (costs > 0).any(axis=1) & (storage_bits > 0) & (problem.macs > 1)
    sets, which = np.unique(costs > 0, axis=0, return_inverse=True)
    for number, paid in enumerate(sets):
        rows = np.flatnonzero(able & (which.reshape(-1) == number))
        if len(rows):
            tensors = np.flatnonzero(paid)
            powers, fixed = _parts(_exponents(problem, tuple(tensors.tolist())))
            part = np.zeros(len(rows))
            cost, inside = (np.ascontiguousarray(table[rows][:, tensors]) for table in (costs, bits))
            _crossed(cost, inside, storage_bits[rows], powers, fixed, shared[tensors], log(problem.macs), BUDGETS, part)
            found[rows] = part
    return found


@compiled
def _crossed(
    costs: Floats,
    bits: Floats,
    storage: Floats,
    powers: Floats,
    fixed: Floats,
    shared: Floats,
    operations: float,
    budgets: Floats,
    out: Floats,
) -> None:
    """Fill `out` (N,) with least costs of tensors (N, T) that all cost something; `operations` is a logarithm.

    A unit of cost may be worth any number of bits inside: the best lies among or between the ratios of the tensors.
    """
    tensors, prices = costs.shape[1], np.empty(costs.shape[1] + BETWEEN)
    most, total, sums = np.empty(len(budgets)), np.empty(len(budgets)), np.zeros(len(powers))
    for t in range(tensors):
        sums += powers[:, t]
    for n in range(len(out)):
        count, scale = _prices(bits[n], costs[n], prices), storage[n] * (costs[n] / bits[n]).mean()
        most[:] = np.inf
        for price in prices[:count]:
            for x in range(len(budgets)):
                total[x] = np.log(storage[n] + price * scale * budgets[x])
            for e in range(len(powers)):
                known = fixed[e]
                for t in range(tensors):
                    known += powers[e, t] * (shared[t] - np.log(min(bits[n, t], price * costs[n, t])))
                for x in range(len(budgets)):
                    most[x] = min(most[x], sums[e] * total[x] + known)
        for x in range(len(budgets)):
            out[n] = max(out[n], scale * budgets[x] * (np.exp(operations - most[x]) - 1))


@compiled
def _prices(bits: Floats, cost: Floats, out: Floats) -> int:
    """Fill `out` with the ratios of `bits` and `cost`, and numbers between them, each once; how many."""
    ratios = np.sort(bits / cost)
    count = 0
    for ratio in ratios:
        if count == 0 or ratio > out[count - 1]:
            out[count] = ratio
            count += 1
    if count > 1:
        step = (ratios[-1] / ratios[0]) ** (1 / (BETWEEN + 1))
        for k in range(BETWEEN):
            out[count] = ratios[0] * step ** (k + 1)
            count += 1
    return count


def _parts(exponents: Floats) -> tuple[Floats, Floats]:
    """Powers (E, T) of rows of exponents, and what is added to the logarithm of operations whatever the sizes (E,).

    With `sum w_t z_t <= T` the product of `z_t^s_t` is largest where `w_t z_t` is the share `s_t / sum s` of `T`.
    """
    powers = np.ascontiguousarray(exponents[:, :-1])
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(powers > 0, powers * np.log(powers / powers.sum(axis=1)[:, None]), 0.0)
    return powers, shares.sum(axis=1) + exponents[:, -1]


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
    powers, fixed = _parts(exponents)
    shared = np.log([sharing(problem, problem.tensors[t]) for t, _ in paid])
    most = fixed + powers @ (shared - np.log([cost for _, cost in paid]))
    steps = log(min(units, problem.macs))
    return float(np.exp((steps - most) / powers.sum(axis=1) - steps).max(initial=0.0))


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
    from scipy.optimize import linprog  # slow to load, seldom needed

    every = np.column_stack([covers, np.eye(len(sizes))])
    rows = [np.zeros(covers.shape[1])]
    for logs in samples:
        solved = linprog(np.concatenate([logs, sizes]), A_ub=-every, b_ub=-np.ones(len(sizes)), bounds=(0, 1))
        if solved.status == 0:
            rows.append(np.clip(solved.x[: covers.shape[1]], 0.0, 1.0))
    return np.array(rows)
