"""A problem on a hierarchy of memories as the arrays that compiled code reads."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...algebra.element import Bools, Floats, Ints
from ..hierarchy.values import Architecture, Problem


class Model(NamedTuple):
    """D dimensions, T tensors of at most A axes, L memories from the innermost.

    `axis` (T, D) is the axis that a dimension moves (-1: none) and `step` (T, D) by how much; tensors have `full` (T,)
    words.  Energies in pJ per access of `block` words, bandwidths in words per cycle.  `mesh` (L, 2) are the columns
    and rows of children below a memory, a hop to which takes `hop_pj` (L,) a word.
    """

    axis: Ints
    step: Ints
    axes: int
    is_output: Bools
    full: Ints
    read_pj: Floats
    write_pj: Floats
    block: Ints
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


def counted_parts(arch: Architecture, problem: Problem) -> tuple[Architecture, Problem]:
    """The same without what Timeloop's model does not count: widths of elements, latencies, bandwidths of networks."""
    levels = (
        replace(level, entries=level.capacity_words, multiple_buffering=1.0, latency_cycles=0, network_bandwidth=None)
        for level in arch.levels
    )
    tensors = tuple(replace(tensor, word_bits=None) for tensor in problem.tensors)
    return replace(arch, levels=tuple(levels)), replace(problem, tensors=tensors)


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

    def limits(values: list[float | int | None]) -> Floats:
        return np.array([np.inf if value is None else value for value in values], np.float64)

    return Model(
        axis=axis,
        step=step,
        axes=axes,
        is_output=np.array([tensor.is_output for tensor in problem.tensors], np.bool_),
        full=np.array([int(np.prod(tensor.extents(problem.bounds))) for tensor in problem.tensors], np.int64),
        read_pj=np.array([level.energy_pj for level in levels], np.float64),
        write_pj=np.array([level.energy_of_write_pj for level in levels], np.float64),
        block=np.array([level.block_size for level in levels], np.int64),
        read=limits([level.read_bandwidth for level in levels]),
        write=limits([level.write_bandwidth for level in levels]),
        shared=limits([level.shared_bandwidth for level in levels]),
        mac_energy=float(arch.mac_energy_pj),
        macs=problem.macs,
        mesh=np.array([arch.fan_out(level) for level in range(len(levels))], np.int64),
        hop_pj=np.array([level.hop_energy_pj for level in levels], np.float64),
    )
