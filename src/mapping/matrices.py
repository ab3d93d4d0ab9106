"""Mapping kernels on units that multiply fragments of matrices, by the search that every machine has."""

from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

from ..costs.exact import violations_of
from ..costs.hierarchy import Architecture, Level, LevelMapping, Loop, LoopMapping, Problem, Tensor, architecture_of
from ..dialects import nest
from ..driver import Progress
from ..errors import InfeasibleError
from ..frontends.acg import load_target
from ..machine import Machine
from ..machine.memory_chain import multiply_accumulates
from ..machine.threads import SIDE
from ..passes.nest.trees import only_kernel, types_of
from ..passes.nest_to_gpu.convert_nest_to_gpu import takes_types
from ..passes.nest_to_gpu.plan import SHARED
from ..passes.nest_to_gpu.planning import matrix_products
from .kernels import Layer
from .pipeline import MapOptions, map_layers

TRIES = 6
"""Searches with less and less shared memory, where tiles of windows are larger than those of fragments."""


@dataclass(frozen=True)
class MatrixMapping:
    """A mapping on a machine's units for matrices."""

    arch: Architecture
    mapping: LoopMapping


def map_matrix(
    group: nest.GroupOp, problem: Problem, target: str | Path | Machine, options: MapOptions, progress: Progress | None
) -> MatrixMapping | None:
    """The best mapping of a kernel on the target's units that multiply fragments, or None where these do not pay.

    They take kernels of their element types that have a product of matrices within (`matrix_products`), if fragments
    with what they have of padding are more points a cycle than the scalar units work on.
    """
    machine = load_target(target)
    scalar, *others = multiply_accumulates(machine)
    cores = architecture_of(machine, scalar).mac_instances
    elements, pads = types_of(only_kernel(group)), only_kernel(group).pads
    products = [] if any(pads.values()) else list(matrix_products(problem))
    if not products:
        return None
    dims = max(products, key=lambda dims: (_use(problem, dims), dims))
    for capability in others:
        arch = architecture_of(machine, capability)
        if takes_types(capability, arch, problem, elements) and arch.mac_instances * _use(problem, dims) > cores:
            return _map(arch, problem, dims, options, progress)
    return None


def _use(problem: Problem, dims: tuple[int, ...]) -> float:
    """Which part of the fragments' points is the problem's."""
    return prod(problem.bounds[dim] / (SIDE * -(-problem.bounds[dim] // SIDE)) for dim in dims)


def _map(
    arch: Architecture, problem: Problem, dims: tuple[int, int, int], options: MapOptions, progress: Progress | None
) -> MatrixMapping | None:
    layer, room = Layer(problem.name, in_fragments(problem, dims)), _without_exchange(arch)
    for _ in range(TRIES):
        try:
            answer = map_layers(problem.name, (layer,), of_fragments(room), options, progress)
        except InfeasibleError:
            return None
        mapping = with_lanes(arch, answer.layers[0].mapping, dims)
        if not violations_of(_without_exchange(arch), problem, mapping):
            return MatrixMapping(arch, mapping)
        room = _with_shared(room, room.levels[SHARED].entries or 0, 0.75)
    return None


def in_fragments(problem: Problem, dims: tuple[int, ...]) -> Problem:
    """The problem whose elements are fragments: steps of `dims` are 16 of the problem's.

    An axis that a window slides along has whole fragments at each of its steps, at least what it has indeed for strides
    of 1.
    """
    bounds = tuple(-(-bound // SIDE) if dim in dims else bound for dim, bound in enumerate(problem.bounds))
    tensors = tuple(
        replace(tensor, word_bits=(tensor.word_bits or 32) * prod(SIDE for dim in dims if _has(tensor, dim)))
        for tensor in problem.tensors
    )
    return replace(problem, bounds=bounds, tensors=tensors)


def _has(tensor: Tensor, dim: int) -> bool:
    return any(row[dim] for row in tensor.coefficients)


def of_fragments(arch: Architecture) -> Architecture:
    """The machine whose operation is a product of fragments, and whose cycle is as long as that takes."""
    units = arch.levels[0].instances
    cycles = SIDE**3 * units / arch.mac_instances
    return replace(
        arch,
        levels=tuple(_faster(level, cycles) for level in arch.levels),
        mac_instances=units,
        mac_mesh_x=arch.levels[0].mesh_x,
        mac_energy_pj=arch.mac_energy_pj * SIDE**3,
    )


def _faster(level: Level, times: float) -> Level:
    rates = {name: getattr(level, name) for name in ("read_bandwidth", "write_bandwidth", "shared_bandwidth")}
    return replace(level, **{name: rate and rate * times for name, rate in rates.items()})


def with_lanes(arch: Architecture, mapping: LoopMapping, dims: tuple[int, int, int]) -> LoopMapping:
    """The mapping of a problem whose mapping in fragments is this: lanes take each fragment."""
    rows, summed, columns = dims
    lanes = arch.fan_out(0)[0] // SIDE
    inner = mapping.levels[0]
    times = (Loop(summed, SIDE // lanes), *inner.temporal)
    first = LevelMapping(times, (Loop(rows, SIDE), Loop(summed, lanes)), (Loop(columns, SIDE),), inner.bypass)
    return LoopMapping((first, *mapping.levels[1:]))


def _without_exchange(arch: Architecture) -> Architecture:
    """The machine less the shared memory through which a block's warps hand on fragments of sums."""
    level = arch.levels[SHARED]
    warps = prod(arch.fan_out(SHARED))
    return _with_shared(arch, (level.entries or 0) - warps * SIDE**2 * 32 // level.word_bits)


def _with_shared(arch: Architecture, entries: int, part: float = 1.0) -> Architecture:
    levels = list(arch.levels)
    levels[SHARED] = replace(levels[SHARED], entries=int(entries * part))
    return replace(arch, levels=tuple(levels))
