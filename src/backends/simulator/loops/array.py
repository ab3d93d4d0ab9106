"""An array engine at work: transfers by the loops around them, and the sums of one tile."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....algebra.element import ELEMENT_TYPES, Ints
from ....algebra.expr import Call, Expr, Num, Statement, Strided, accesses, dims_of
from ....algebra.kernel import Kernel, make_kernel
from ....algebra.layout import Operand
from ....machine import Capability, Engine, Machine, OperandBinding
from ....machine.loop_rules import instruction_memory
from .chip import Chip, points, reached, span
from .groups import ArrayGroup, Transfer

READ, WRITE = 2, 3
MAX_POINTS = 1 << 24
"""Issues inside a tile, and tiles of a group."""


@dataclass(frozen=True)
class Tile:
    """One iteration of the loops over tiles: transfers before and after the sums, and whether sums begin or end."""

    loads: tuple[Transfer, ...]
    stores: tuple[Transfer, ...]
    indices: tuple[int, ...]
    first: bool
    last: bool


def tiles(group: ArrayGroup) -> Iterator[Tile]:
    """The tiles of a group in order.

    A transfer inside the first d loops runs when the others are at their first iteration (a load) or at their last (a
    store).  Sums begin where the marked loops are at their first iteration; they end, and stores run, where the
    marked loops are at their last.
    """
    counts = [n for _, n in group.tile]
    if prod(counts) > MAX_POINTS:
        raise group.step.trap("illegal", f"at most {MAX_POINTS} tiles", str(prod(counts)))
    marked = [i for i, (loop, _) in enumerate(group.tile) if loop in group.reductions]
    for indices in product(*(range(n) for n in counts)):
        first = all(indices[i] == 0 for i in marked)
        last = all(indices[i] == counts[i] - 1 for i in marked)
        loads = [t for t in group.transfers if not t.store and not any(indices[t.depth :])]
        done = [all(i == n - 1 for i, n in zip(indices[t.depth :], counts[t.depth :])) for t in group.transfers]
        stores = [t for t, end in zip(group.transfers, done) if t.store and end and last]
        yield Tile(tuple(loads), tuple(stores), indices, first, last)


def memory_of(machine: Machine, transfer: Transfer) -> str:
    """The memory on chip of a transfer."""
    memory = instruction_memory(machine) if transfer.program else None
    return transfer.memory if memory is None else memory.name


class ArrayRun:
    """Executes the tiles of a group on a chip; the same kernels serve all tiles."""

    def __init__(self, machine: Machine, chip: Chip, group: ArrayGroup) -> None:
        unit = next(unit for unit in machine.units if unit.name == group.unit)
        assert unit.engine is not None
        self.machine, self.chip, self.group, self.engine = machine, chip, group, unit.engine
        node = machine.compute_by_name[self.engine.node]
        self.capability = next(c for c in node.capabilities if c.name == self.engine.capability)
        self.granules = {name: int(word) for name, word in self.engine.granules}
        self.interleave = {name: int(word) for name, word in self.engine.interleave}
        self.issues = prod(n for _, n in group.inner)
        if self.issues > MAX_POINTS:
            raise group.step.trap("illegal", f"at most {MAX_POINTS} iterations inside a tile", str(self.issues))
        self.sums = _Sums(chip, group, self.engine, self.capability)

    def bytes_of(self, transfer: Transfer) -> int:
        """Bytes that a transfer moves each time."""
        granule = self.granules.get(memory_of(self.machine, transfer))
        if granule is None:
            raise transfer.step.trap("illegal", "a memory with a granule", transfer.memory)
        return transfer.size * granule * points(transfer.loops)

    def address(self, transfer: Transfer, indices: Sequence[int]) -> int:
        """Where in DRAM a transfer begins for a tile."""
        side = 1 if transfer.store else 0
        moves = [self.group.strides.get((transfer.memory, side, loop), 0) for loop, _ in self.group.tile]
        return transfer.base + sum(i * stride for i, stride in zip(indices, moves, strict=True))

    def move(self, transfer: Transfer, indices: Sequence[int]) -> None:
        """Carries a transfer out: each iteration of its outermost loop begins at a row, whose rest a load clears."""
        if transfer.program:
            return
        chip, name = self.chip, transfer.memory
        row = chip.row_bytes(name)
        size = self.bytes_of(transfer) // points(transfer.loops)
        outer = transfer.loops[0][0] if transfer.loops else 1
        length = self.bytes_of(transfer) // outer
        rows = -(-length // row)
        chip.check_rows(transfer.step, name, 0, outer * rows)
        pieces, flags = chip.view(self.address(transfer, indices), transfer.loops, size)
        buffer = chip.data[name][: outer * rows * row].reshape(outer, rows * row)
        if transfer.store:
            chip.check_written(transfer.step, name, np.arange(outer * rows))
            pieces[...] = buffer[:, :length].reshape(pieces.shape)
            flags[...] = True
            return
        turned = _interleaved(pieces.reshape(-1), row, self.interleave.get(name, 1))
        buffer[:, :length] = turned.reshape(outer, length)
        buffer[:, length:] = 0
        known = np.ones((outer, rows * row), np.bool_)
        known[:, :length] = flags.reshape(outer, length)
        chip.written[name][:] = False
        chip.written[name][: outer * rows] = known.reshape(outer * rows, row).all(axis=1)

    def compute(self, first: bool) -> None:
        """The sums of one tile."""
        self.sums.run(first)


def _interleaved(data: NDArray[np.uint8], row: int, rows: int) -> NDArray[np.uint8]:
    """Bytes in the order of rows, where consecutive bytes go to `rows` rows in turn."""
    whole = len(data) // (row * rows) * (row * rows)
    if rows == 1 or not whole:
        return data
    turned = data[:whole].reshape(-1, row, rows).transpose(0, 2, 1).reshape(-1)
    return np.concatenate([turned, data[whole:]])


class _Sums:
    """The issues inside a tile: `O += I * W` at every point of the inner loops, from `initial` or what is there."""

    def __init__(self, chip: Chip, group: ArrayGroup, engine: Engine, capability: Capability) -> None:
        self.chip, self.group = chip, group
        self.target = next(o for o in engine.operands if o.operand == capability.operands[0])
        self.sources = [o for o in engine.operands if o is not self.target]
        loaded = {transfer.memory for transfer in self.group.transfers if not transfer.store}
        self.initial = [o for o in engine.initial if o.memory in loaded]
        self.dims = [f"loop{loop}" for loop, _ in group.inner]
        self.extents = {dim: n for dim, (_, n) in zip(self.dims, group.inner, strict=True)}
        self.extents |= {dim.name: dim.limit for dim in capability.dims}
        self.rows = {o.memory: self._reach(o) for o in (self.target, *self.sources, *self.initial)}
        self._check_in_place()
        wide = {operand.operand: self._access(operand) for operand in engine.operands}
        value, target = widened(capability.statement.value, wide), wide[self.target.operand]
        by_name = {operand.operand: operand for operand in engine.operands}
        ordered = [by_name[access.tensor] for access in accesses(capability.statement)[1:]]
        self.more = self._kernel(Statement(target, capability.statement.reduce, value), ordered)
        begin: list[Expr] = [Strided("initial", self._access(operand).dims) for operand in self.initial]
        self.start = self._kernel(Statement(target, "=", begin[0] if begin else Num(0)), self.initial)

    def _strides(self, operand: OperandBinding, side: int = READ) -> list[int]:
        return [self.group.strides.get((operand.memory, side, loop), 0) for loop, _ in self.group.inner]

    def _reach(self, operand: OperandBinding) -> Ints:
        """The rows that an operand uses."""
        sides = self._strides(operand, WRITE if operand is self.target else READ)
        loops = [(n, stride) for (_, n), stride in zip(self.group.inner, sides, strict=True) if n > 1 and stride]
        low, high = span(loops)
        self.chip.check_rows(self.group.step, operand.memory, low, high + 1)
        return reached(loops)

    def _check_in_place(self) -> None:
        reads, writes = self._strides(self.target), self._strides(self.target, WRITE)
        for (loop, n), read, write in zip(self.group.inner, reads, writes, strict=True):
            if n > 1 and read != write:
                found = f"strides {read} and {write} of loop {loop}"
                raise self.group.step.trap("illegal", "sums that are read where they are written", found)

    def _access(self, operand: OperandBinding) -> Strided:
        side = WRITE if operand is self.target else READ
        moved = [dim for dim, stride in zip(self.dims, self._strides(operand, side), strict=True) if stride]
        return Strided(operand.operand, (*moved, *(dim for dim, _ in operand.strides)))

    def _operand(self, operand: OperandBinding) -> Operand:
        row = self.chip.row_bytes(operand.memory)
        side = WRITE if operand is self.target else READ
        strides = {d: s * row for d, s in zip(self.dims, self._strides(operand, side), strict=True)}
        strides |= {dim: int(word) for dim, word in operand.strides}
        return Operand(ELEMENT_TYPES[operand.type_name], strides)

    def _kernel(self, statement: Statement, sources: list[OperandBinding]) -> tuple[Kernel, list[OperandBinding]]:
        """A statement over the inner loops, with its sources in the order of its accesses."""
        used = {dim: self.extents[dim] for dim in dims_of(statement)}
        return make_kernel(statement, used, self._operand(self.target), [self._operand(o) for o in sources]), sources

    def run(self, first: bool) -> None:
        """The sums of one tile; `first`: from the initial rows (or 0), not from what is there."""
        if first:
            self._run(*self.start)
            self.chip.written[self.target.memory][self.rows[self.target.memory]] = True
        self._run(*self.more)

    def _run(self, kernel: Kernel, sources: list[OperandBinding]) -> None:
        for operand in sources:
            self.chip.check_written(self.group.step, operand.memory, self.rows[operand.memory])
        data = self.chip.data
        views: list[Any] = [
            layout.view(data[operand.memory], int(operand.address))
            for layout, operand in zip(kernel.sources, sources, strict=True)
        ]
        kernel.run(kernel.target.view(data[self.target.memory], int(self.target.address)), views, {})

    def read_bytes(self) -> dict[str, int]:
        """Bytes that the issues of a tile read from and write to each memory, a row each."""
        issues = prod(n for _, n in self.group.inner)
        names = [self.target.memory, *(o.memory for o in self.sources)]
        return {name: issues * self.chip.row_bytes(name) for name in names}


def widened(expr: Expr, accesses_: dict[str, Strided]) -> Expr:
    """An expression with other dims of each tensor."""
    match expr:
        case Strided(tensor, _):
            return accesses_[tensor]
        case Call(fn, args):
            return Call(fn, tuple(widened(arg, accesses_) for arg in args))
        case _:
            return expr
