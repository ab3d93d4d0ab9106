"""A problem on a machine of three memories, as the arrays that compiled code reads."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....costs.hierarchy import Architecture, Problem
from ....errors import TilewrightError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

LEVELS = 3


class Model(NamedTuple):
    """D dimensions (only those of bound > 1), T tensors of at most A axes, memories 0 to 2 from the innermost.

    `axis` (T, D) is the axis that a dimension moves (-1: none) and `step` (T, D) by how much; `slides` marks dimensions
    that share their axis with another one.  Energies in pJ per access of `block` words, bandwidths in words per cycle.
    `read_word` and `write_word` are the least energies of a word, where others fill its block.
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


def model_of(arch: Architecture, problem: Problem) -> tuple[Model, tuple[int, ...]]:
    """The arrays, and the problem's dimension behind each of theirs (TilewrightError where the mapper has limits)."""
    _check(arch, problem)
    dims = tuple(d for d, bound in enumerate(problem.bounds) if bound > 1) or (0,)
    axes = max(1, *(len(tensor.coefficients) for tensor in problem.tensors))
    shape = len(problem.tensors), len(dims)
    axis, step = np.full(shape, -1, np.int64), np.zeros(shape, np.int64)
    for t, tensor in enumerate(problem.tensors):
        for a, row in enumerate(tensor.coefficients):
            for d, dim in enumerate(dims):
                if row[dim]:
                    axis[t, d], step[t, d] = a, row[dim]
    slides = np.array([[a >= 0 and list(row).count(a) > 1 for a in row] for row in axis.tolist()], np.bool_)
    levels = arch.levels
    block = np.array([level.block_size for level in levels], np.int64)
    read_pj = np.array([level.energy_pj for level in levels], np.float64)
    write_pj = np.array([level.energy_of_write_pj for level in levels], np.float64)

    def limits(values: list[float | int | None]) -> Floats:
        return np.array([np.inf if value is None else value for value in values], np.float64)

    model = Model(
        bounds=np.array([problem.bounds[d] for d in dims], np.int64),
        axis=axis,
        step=step,
        slides=slides,
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
        mesh=np.array([arch.fan_out(level) for level in range(2)], np.int64),
    )
    return model, dims


def _check(arch: Architecture, problem: Problem) -> None:
    subject = f"{problem.name} on {arch.name}"
    if len(arch.levels) != LEVELS or arch.fan_out(LEVELS - 1) != (1, 1):
        expected = "three storage levels, one instance of the middle one"
        raise TilewrightError("mapping", subject, expected, f"{len(arch.levels)} levels")
    if any(level.hop_energy_pj for level in arch.levels):
        raise TilewrightError("mapping", subject, "networks without energy per hop", "a level with energy_per_hop")
    for tensor in problem.tensors:
        rows = tensor.coefficients
        twice = any(sum(1 for row in rows if row[d]) > 1 for d in range(len(problem.dims)))
        if twice or any(c < 0 for row in rows for c in row):
            expected = "each dimension on one axis, with a positive coefficient"
            raise TilewrightError("mapping", f"tensor {tensor.name} of {problem.name}", expected, str(rows))
    if problem.macs > 1 << 46:
        raise TilewrightError("mapping", subject, f"at most {1 << 46} operations", str(problem.macs))
