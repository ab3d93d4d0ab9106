"""A problem on a hierarchy of memories, as the arrays that compiled code reads."""

from itertools import zip_longest
from math import inf, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .....algebra.factors import chains_of, divisors_of
from .....costs.compiled import bare_entry
from .....costs.exact.axes import axes_of, tile_words
from .....costs.exact.traffic import word_scale
from .....costs.hierarchy import Architecture, Problem
from .....costs.timeloop.batch_arrays import counted_parts
from ...values import CostModel, Space

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Bytes = NDArray[np.int8]

UNRELATED, PLAIN, WINDOW = 0, 1, 2
"""How a dimension indexes a tensor: not at all, by itself, or as one of the terms of a sliding axis."""

EVERY = -1
"""The set of all dimensions."""


TRIFLE = 1e-60
"""Energy (pJ) that a mapping takes at least in the search: factors of bounds and targets have no meaning over 0.  No
sum with an energy that counts shows it."""

MOST_DIVISORS = 1024
"""Divisors of a bound of a window beyond which little is known of what stays of it."""

MOST_CHAINS, MOST_STRIDES = 1024, 32
"""Ways to choose strides of loops of a dimension in a sum, and strides of each, beyond which these tell nothing."""


class Model(NamedTuple):
    """D dimensions (those of bound > 1), T tensors, L memories from the innermost to DRAM.

    `kind` (T, D) is one of the constants above; `window` (T, D) numbers sliding axes, `coefficient` their terms.
    `full` (T,) are all elements of a tensor, `least` (T,) those that surely move, `named` (T,) those of an operand that
    do if a memory keeps it and no sum is spread on the way past others.  `read` and `write` (L, T) are pJ per
    element, `weight` (L, T) words per element, `capacity` (L,) words of tiles; `bandwidth` (L, 4) in words per cycle
    for reads, writes, both, network;
    `latency` (L,) in cycles.  `halves` (L,): less than half of the children may idle, because a
    dimension has a factor along both axes (else, less than one row of one).  Perfect factors are among
    `divisors` (D, M) of the bounds, `many` (D,) of them, rising.  `room` (4, M, M) is for intermediate results.
    `moved` (D,) are the sets of tensors that loops of a dimension move, `slid` (D,) of those in whose windows it is,
    `sliding` of those with windows.
    `opposed` (T,): a sliding axis has terms of both signs, so loops may take it to either side.  `mesh` (L, 2) has the
    children of a memory along both axes, 0 where it costs more to send words further.  `timeloop`: words and cycles are
    Timeloop's, so results that leave a memory are not read there, and nothing waits for first and last tiles.  It takes
    whole blocks of `block` (L,) words.  `chains` (C, D, 3) are the first, the last and the sum of strides that loops of
    dimensions in sums may have, or zeros, also where they are too many; `boxes.may_move` keeps answers in `moves`.
    """

    bounds: Ints
    kind: Ints
    window: Ints
    coefficient: Ints
    windows: Ints
    is_output: Bools
    full: Floats
    least: Floats
    named: Floats
    read: Floats
    write: Floats
    weight: Floats
    capacity: Floats
    bandwidth: Floats
    latency: Floats
    base: float
    points: float
    perfect: bool
    halves: Bools
    divisors: Ints
    many: Ints
    room: Floats
    moved: Ints
    slid: Ints
    sliding: int
    opposed: Bools
    mesh: Ints
    timeloop: bool
    block: Ints
    chains: Ints
    moves: Bytes


def model_of(
    arch: Architecture, problem: Problem, space: Space, counts: CostModel = "exact"
) -> tuple[Model, tuple[int, ...]]:
    """The arrays, and the problem's dimension behind each of theirs, where that cost model `counts`."""
    timeloop = counts == "timeloop"
    if timeloop:
        arch, problem = counted_parts(arch, problem)
    dims = tuple(d for d, bound in enumerate(problem.bounds) if bound > 1) or (0,)
    kind, window, coefficient, windows = _indexing(problem, dims, boxes=timeloop)
    full = [float(tile_words(axes_of(t, problem.bounds), problem.bounds)) for t in problem.tensors]
    least = _least(problem) if timeloop else full
    weight = np.array([[word_scale(tensor, level) for tensor in problem.tensors] for level in arch.levels])
    read = np.array([[level.energy_pj / level.block_size] for level in arch.levels])
    written = [level.energy_pj if level.write_energy_pj is None else level.write_energy_pj for level in arch.levels]
    write = np.array([[energy / level.block_size] for energy, level in zip(written, arch.levels, strict=True)])
    rates = [(v.read_bandwidth, v.write_bandwidth, v.shared_bandwidth, v.network_bandwidth) for v in arch.levels]
    terms = [[w.coefficients for w in axes_of(tensor, problem.bounds).windows] for tensor in problem.tensors]
    perfect = space.factors == "perfect"
    both = not perfect and space.split_axes
    hops = any(level.hop_energy_pj > 0 for level in arch.levels)
    divisors = [divisors_of(problem.bounds[d]) if perfect else (1,) for d in dims]
    slid = sets_of(kind == WINDOW)
    strides = [problem.bounds[d] if timeloop and slides else 1 for d, slides in zip(dims, slid, strict=True)]
    chains = [*zip_longest(*(chains_of(n, MOST_CHAINS) for n in strides), fillvalue=(0, 0, 0)), [(0, 0, 0)] * len(dims)]
    sizes = *kind.shape, len(dims), *(min(MOST_STRIDES, max(len(divisors_of(bound)) for bound in strides)),) * 3
    model = Model(
        bounds=np.array([problem.bounds[d] for d in dims], np.int64),
        kind=kind,
        window=window,
        coefficient=coefficient,
        windows=windows,
        is_output=np.array([tensor.is_output for tensor in problem.tensors], np.bool_),
        full=np.array([prod(t.extents(problem.bounds)) for t in problem.tensors] if timeloop else full, np.float64),
        least=np.array(least),
        named=np.array([n if t.is_output else e for t, n, e in zip(problem.tensors, least, full, strict=True)]),
        read=read * weight,
        write=write * weight,
        weight=weight,
        capacity=np.array([inf if v.entries is None else v.entries / v.multiple_buffering for v in arch.levels]),
        bandwidth=np.nan_to_num(np.array(rates, np.float64), nan=inf, posinf=inf),
        latency=np.array([level.latency_cycles for level in arch.levels], np.float64),
        base=max(float(problem.macs * arch.mac_energy_pj), TRIFLE),
        points=float(prod(problem.bounds)),
        perfect=perfect,
        halves=np.array([both and min(arch.fan_out(level)) > 1 for level in range(len(arch.levels))]),
        divisors=np.array([*zip_longest(*divisors, fillvalue=1 << 62)], np.int64).T.copy(),
        many=np.array([len(found) for found in divisors], np.int64),
        room=np.zeros((4, *(min(max(map(len, divisors)), MOST_DIVISORS),) * 2)),
        moved=sets_of(kind != UNRELATED),
        slid=slid,
        sliding=int(sets_of(windows[:, None] > 0).item()),
        opposed=np.array([any(min(row) < 0 < max(row) for row in signs) for signs in terms], np.bool_),
        mesh=np.array([(0, 0) if hops else arch.fan_out(level) for level in range(len(arch.levels))], np.int64),
        timeloop=timeloop,
        block=np.array([level.block_size for level in arch.levels], np.int64),
        chains=np.array(chains, np.int64),
        moves=np.zeros(sizes, np.int8),
    )
    return model, dims


def sets_of(chosen: Bools) -> Ints:
    """Of tensors that are `chosen` (T, N), N sets."""
    return (1 << np.arange(len(chosen), dtype=np.int64)) @ chosen.astype(np.int64)


def _indexing(problem: Problem, dims: tuple[int, ...], *, boxes: bool) -> tuple[Ints, Ints, Ints, Ints]:
    """`kind`, `window`, `coefficient` and `windows` of a model; with `boxes` all axes but plain ones are windows, whose
    boxes may have more elements than iterations."""
    shape = len(problem.tensors), len(dims)
    kind, window, coefficient = np.zeros(shape, np.int64), np.full(shape, -1, np.int64), np.zeros(shape, np.int64)
    windows = np.zeros(shape[0], np.int64)
    for t, tensor in enumerate(problem.tensors):
        axes = axes_of(tensor, problem.bounds)
        plain = [d for d in axes.plain if d in dims]
        sums = [[(d, abs(c)) for d, c in zip(axis.dims, axis.coefficients, strict=True)] for axis in axes.windows]
        if boxes:
            rows = [[(d, row[d]) for d in dims if row[d]] for row in tensor.coefficients]
            plain = [row[0][0] for row in rows if [c for _, c in row] == [1]]
            sums = [row for row in rows if row and [c for _, c in row] != [1]]
        windows[t] = len(sums)
        kind[t, [dims.index(d) for d in plain]] = PLAIN
        for w, terms in enumerate(sums):
            for d, c in terms:
                place = t, dims.index(d)
                kind[place], window[place], coefficient[place] = WINDOW, w, c
    return kind, window, coefficient, windows


def _least(problem: Problem) -> list[float]:
    """Elements of each tensor at least: along each axis those of one term, or all, if no strides leave gaps."""
    found: list[float] = []
    for tensor in problem.tensors:
        rows = zip(tensor.coefficients, tensor.extents(problem.bounds), strict=True)
        most = (max(n if c else 1 for n, c in zip(problem.bounds, row, strict=True)) for row, _ in rows)
        closed = all(max(row, default=0) <= 1 for row in tensor.coefficients)
        found.append(float(prod(tensor.extents(problem.bounds) if closed else most)))
    return found


@bare_entry
def one_way(limits: Floats, back: bool) -> float:
    """Words per cycle between a memory with the bandwidths `limits` (4,) and its children, to them or `back`."""
    return min(limits[int(back)], limits[2], limits[3])
