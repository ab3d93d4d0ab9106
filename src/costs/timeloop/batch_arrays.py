"""A problem on a hierarchy of memories as the arrays that compiled code reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..hierarchy.values import Architecture, Problem

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Model(NamedTuple):
    """D dimensions, T tensors of at most A axes, L memories from the innermost.

    `axis` (T, D) is the axis that a dimension moves (-1: none) and `step` (T, D) by how much; `slides` marks dimensions
    that share their axis with another one.  Energies in pJ per access of `block` words, bandwidths in words per cycle.
    `read_word` and `write_word` are the least energies of a word, where others fill its block; `mesh` (L, 2) the
    columns and rows of children below a memory, a hop to which takes `hop_pj` (L,) a word.
    """

    bounds: Ints
    axis: Ints
    step: Ints
    slides: NDArray[np.bool_]
    axes: int
    is_output: NDArray[np.bool_]
    full: Ints
    read_pj: Floats
    write_pj: Floats
    read_word: Floats
    write_word: Floats
    block: Ints
    capacity: Floats
    read: Floats
    write: Floats
    shared: Floats
    mac_energy: float
    macs: int
    mesh: Ints
    hop_pj: Floats


def moves_one_axis(problem: Problem) -> bool:
    """Whether each dimension moves each tensor along one axis at most, and forwards: compiled code knows no others."""
    return all(
        min(row[d] for row in tensor.coefficients) >= 0 and sum(row[d] > 0 for row in tensor.coefficients) <= 1
        for tensor in problem.tensors
        if tensor.coefficients
        for d in range(len(problem.dims))
    )


def model_of(arch: Architecture, problem: Problem, dims: Sequence[int]) -> Model:
    """The arrays, with some of the problem's dimensions."""
    axes = max(1, *(len(tensor.coefficients) for tensor in problem.tensors))
    shape = len(problem.tensors), len(dims)
    axis, step = np.full(shape, -1, np.int64), np.zeros(shape, np.int64)
    for t, tensor in enumerate(problem.tensors):
        for a, row in enumerate(tensor.coefficients):
            for d, dim in enumerate(dims):
                if row[dim]:
                    axis[t, d], step[t, d] = a, row[dim]
    levels = arch.levels
    block = np.array([level.block_size for level in levels], np.int64)
    read_pj = np.array([level.energy_pj for level in levels], np.float64)
    write_pj = np.array([level.energy_of_write_pj for level in levels], np.float64)

    def limits(values: list[float | int | None]) -> Floats:
        return np.array([np.inf if value is None else value for value in values], np.float64)

    return Model(
        bounds=np.array([problem.bounds[d] for d in dims], np.int64),
        axis=axis,
        step=step,
        slides=np.array([[a >= 0 and list(row).count(a) > 1 for a in row] for row in axis.tolist()], np.bool_),
        axes=axes,
        is_output=np.array([tensor.is_output for tensor in problem.tensors], np.bool_),
        full=np.array([int(np.prod(tensor.extents(problem.bounds))) for tensor in problem.tensors], np.int64),
        read_pj=read_pj,
        write_pj=write_pj,
        read_word=read_pj / block,
        write_word=write_pj / block,
        block=block,
        capacity=limits([level.capacity_words for level in levels]),
        read=limits([level.read_bandwidth for level in levels]),
        write=limits([level.write_bandwidth for level in levels]),
        shared=limits([level.shared_bandwidth for level in levels]),
        mac_energy=float(arch.mac_energy_pj),
        macs=problem.macs,
        mesh=np.array([arch.fan_out(level) for level in range(len(levels))], np.int64),
        hop_pj=np.array([level.hop_energy_pj for level in levels], np.float64),
    )
