"""A machine, a problem and a mapping, as cost models and mappers see them.

Storage levels run from the innermost to DRAM.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod


@dataclass(frozen=True)
class Level:
    """One storage level.

    Bandwidths are in words per cycle and instance (None: unlimited); `energy_pj` is paid per access of `block_size`
    words of `word_bits`, `hop_energy_pj` per word and hop of the network below, which carries `network_bandwidth` words
    per cycle.  `entries` (words) is None where capacity is unlimited; `mesh_x` is the width of the array of all
    `instances`.  `write_energy_pj` (None: as a read) is paid for fills and updates.  `holds` names the operands of the
    machine (`Architecture.operands`) that may be kept here (None: all).  With `mesh_flit_bits` the network below is a
    mesh (`costs.noc.Mesh`), on which each child compares the tag of each word that is sent, for `tag_energy_pj`.
    """

    name: str
    entries: int | None
    instances: int
    mesh_x: int
    block_size: int
    energy_pj: float
    read_bandwidth: float | None = None
    write_bandwidth: float | None = None
    shared_bandwidth: float | None = None
    hop_energy_pj: float = 0.0
    multiple_buffering: float = 1.0
    word_bits: int = 16
    write_energy_pj: float | None = None
    network_bandwidth: float | None = None
    latency_cycles: int = 0
    holds: tuple[str, ...] | None = None
    mesh_flit_bits: int = 0
    mesh_queue_flits: int = 4
    mesh_router_cycles: int = 1
    tag_energy_pj: float = 0.0

    @property
    def energy_of_write_pj(self) -> float:
        """pJ of an access that writes."""
        return self.energy_pj if self.write_energy_pj is None else self.write_energy_pj

    @property
    def capacity_words(self) -> int | None:
        """Words of tiles that one instance holds."""
        return None if self.entries is None else int(self.entries / self.multiple_buffering)

    def words_of(self, bits: int) -> float:
        """The words that so many bits are: an integer where they are whole ones."""
        return bits / self.word_bits if bits % self.word_bits else bits // self.word_bits


@dataclass(frozen=True)
class Architecture:
    """A chain of storage levels, innermost first, above an array of multiply-accumulate units.

    `operands` names what a unit works on, the output first: `("O", "I", "W")`.  With `sums_apart`, instances of
    memories side by side do not add to one result: only dimensions of the output may be spread over them.
    """

    name: str
    levels: tuple[Level, ...]
    mac_name: str
    mac_instances: int
    mac_mesh_x: int
    mac_energy_pj: float
    operands: tuple[str, ...] = ("O", "I", "W")
    sums_apart: bool = False

    def may_spread(self, problem: Problem) -> tuple[bool, ...]:
        """Which of the problem's dimensions spatial loops may run over, above the lanes of a multiply-accumulator."""
        (output,) = (tensor for tensor in problem.tensors if tensor.is_output)
        return tuple(
            not self.sums_apart or any(row[d] for row in output.coefficients) for d in range(len(problem.dims))
        )

    def roles(self, problem: Problem) -> tuple[str, ...]:
        """Which operand of the machine each tensor of the problem is; a role that no operand has means a free one."""
        output, *inputs = self.operands
        given = {tensor.role for tensor in problem.tensors}
        free = [name for name in inputs if name not in given]
        roles: list[str] = []
        taken = 0
        for tensor in problem.tensors:
            by_order = output if tensor.is_output else inputs[min(taken, len(inputs) - 1)]
            if tensor.role and tensor.role not in self.operands and free and not tensor.is_output:
                by_order = free[0]
            taken += not tensor.is_output
            roles.append(tensor.role if tensor.role in self.operands else by_order)
        return tuple(roles)

    def may_hold(self, level: int, problem: Problem) -> tuple[bool, ...]:
        """Which of the problem's tensors may be kept at a level."""
        holds = self.levels[level].holds
        return tuple(holds is None or role in holds for role in self.roles(problem))

    def fan_out(self, level: int) -> tuple[int, int]:
        """Columns and rows of children (instances of the level below, or MACs) under one instance of `level`."""
        parent = self.levels[level]
        instances, mesh_x = self.mac_instances, self.mac_mesh_x
        if level > 0:
            instances, mesh_x = self.levels[level - 1].instances, self.levels[level - 1].mesh_x
        columns = max(1, mesh_x // parent.mesh_x)
        return columns, max(1, instances // parent.instances // columns)

    def counting_words(self) -> Architecture:
        """The machine where a word of the outermost memory takes 1 pJ, and nothing else takes any."""
        free = [replace(level, energy_pj=0.0, write_energy_pj=None, hop_energy_pj=0.0) for level in self.levels]
        free[-1] = replace(free[-1], energy_pj=1.0, block_size=1)
        return replace(self, levels=tuple(free), mac_energy_pj=0.0)


@dataclass(frozen=True)
class Tensor:
    """One operand: axis `a` is indexed by the sum over dims `d` of `coefficients[a][d] * d`.

    An element takes `word_bits` (None: one word of whatever memory it is in); `role` is the operand of the machine that
    it is (empty: the output, the first input, or the second for all others).
    """

    name: str
    coefficients: tuple[tuple[int, ...], ...]
    is_output: bool = False
    word_bits: int | None = None
    role: str = ""

    def shift(self, dim: int, stride: int) -> tuple[int, ...]:
        """How far the tensor's box moves when `dim` advances by `stride`."""
        return tuple(row[dim] * stride for row in self.coefficients)

    def extents(self, tile: tuple[int, ...]) -> tuple[int, ...]:
        """The bounding box of an iteration tile, holes included."""
        return tuple(1 + sum(abs(c) * (t - 1) for c, t in zip(row, tile, strict=True)) for row in self.coefficients)


@dataclass(frozen=True)
class Problem:
    """A dense tensor operation with constant bounds; exactly one tensor is the output."""

    name: str
    dims: tuple[str, ...]
    bounds: tuple[int, ...]
    tensors: tuple[Tensor, ...]

    @cached_property
    def macs(self) -> int:
        """Points of the iteration space."""
        return prod(self.bounds)

    def tensor(self, name: str) -> Tensor:
        """The tensor of that name (KeyError if there is none)."""
        return next(t for t in self.tensors if t.name == name)

    def with_dims(self, dims: Sequence[int]) -> Problem:
        """The problem with these dimensions alone; all others must have bound 1."""
        rows = [tuple(tuple(row[d] for d in dims) for row in tensor.coefficients) for tensor in self.tensors]
        tensors = tuple(replace(tensor, coefficients=mine) for tensor, mine in zip(self.tensors, rows, strict=True))
        names, bounds = tuple(self.dims[d] for d in dims), tuple(self.bounds[d] for d in dims)
        return replace(self, dims=names, bounds=bounds, tensors=tensors)


@dataclass(frozen=True)
class Loop:
    """A loop over dimension number `dim` of the problem."""

    dim: int
    bound: int


@dataclass(frozen=True)
class LevelMapping:
    """Loops at one storage level, each tuple from inner to outer; spatial ones spread over the children below."""

    temporal: tuple[Loop, ...] = ()
    spatial_x: tuple[Loop, ...] = ()
    spatial_y: tuple[Loop, ...] = ()
    bypass: frozenset[str] = field(default_factory=lambda: frozenset[str]())

    @property
    def spatial(self) -> tuple[Loop, ...]:
        """All spatial loops, inner to outer: those along X first."""
        return self.spatial_x + self.spatial_y


@dataclass(frozen=True)
class LoopMapping:
    """A mapping: one entry per storage level of the machine, innermost first.

    Along each dimension the tile of a level is the inner tile times the bounds of the level's loops.  Factors are
    perfect if they multiply to the problem's bound; where the product is larger (imperfect), tiles are cut off at the
    bound: the last iteration of a loop covers less, or nothing and is left out, and the last spatial instances idle.
    """

    levels: tuple[LevelMapping, ...]

    def tiles(self, dim_count: int) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
        """Per level, the iteration tile of its spatial children together, and of the level itself."""
        tile = (1,) * dim_count
        pairs: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
        for level in self.levels:
            children = _grow(tile, level.spatial)
            tile = _grow(children, level.temporal)
            pairs.append((children, tile))
        return tuple(pairs)


def _grow(tile: tuple[int, ...], loops: tuple[Loop, ...]) -> tuple[int, ...]:
    sizes = list(tile)
    for loop in loops:
        sizes[loop.dim] *= loop.bound
    return tuple(sizes)
