"""A vector engine at work: rows of lanes through bodies of instructions inside loops."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ....algebra.element import Ints
from ....algebra.expr import Statement, Strided, accesses
from ....algebra.kernel import Kernel, make_kernel
from ....algebra.layout import Operand
from ....machine import Capability, Machine
from .actions import Step
from .array import widened
from .chip import Chip, offsets, points, span
from .groups import Compute, Immediate, Nest, Place, Transfer, VectorGroup

MAX_STEPS = 1 << 20
MAX_POINTS = 1 << 24


@dataclass(frozen=True)
class _Prepared:
    """An instruction of a body ready to run over the loops that run at once."""

    compute: Compute
    capability: Capability
    kernel: Kernel
    roles: tuple[str, ...]  # of its sources
    rows: dict[str, Ints]


class VectorRun:
    """Executes the events of a group on a chip, once per tile."""

    def __init__(self, machine: Machine, chip: Chip, group: VectorGroup) -> None:
        self.chip, self.group = chip, group
        unit = next(unit for unit in machine.units if unit.name == group.unit)
        assert unit.engine is not None
        self.granules = {name: int(word) for name, word in unit.engine.granules}
        self.latency = unit.engine.latency_cycles
        self.nodes = {
            c.name: (node.instances_x * node.instances_y, c) for node in machine.computes for c in node.capabilities
        }
        self.nests = {id(e): _NestRun(self, e) for e in group.events if isinstance(e, Nest)}

    def bytes_of(self, transfer: Transfer) -> int:
        """Bytes of DRAM that a transfer moves each time."""
        if transfer.memory not in self.granules:
            raise transfer.step.trap("illegal", "a memory with a granule", transfer.memory)
        return transfer.size * self.granules[transfer.memory] * points(transfer.loops)

    def address(self, transfer: Transfer, turn: int) -> int:
        """Where in DRAM a transfer begins at the `turn`-th tile."""
        address = transfer.base
        for n, stride in reversed(transfer.walk):
            address += turn % n * stride
            turn //= n
        return address

    def move(self, transfer: Transfer, turn: int) -> None:
        """Carries a transfer out: elements of its width are words of 32 bits on chip, sign-extended."""
        if transfer.width_bits not in (8, 16, 32):
            raise transfer.step.trap("illegal", "elements of 8, 16 or 32 bits", f"{transfer.width_bits}")
        dtype = np.dtype(f"i{transfer.width_bits // 8}")
        total = self.bytes_of(transfer)
        lanes = self.chip.row_bytes(transfer.memory) // 4
        rows = -(-total // dtype.itemsize // lanes)
        self.chip.check_rows(transfer.step, transfer.memory, transfer.row, transfer.row + rows)
        pieces, flags = self.chip.view(self.address(transfer, turn), transfer.loops, total // points(transfer.loops))
        words = self.chip.data[transfer.memory].view(np.int32)[transfer.row * lanes :][: total // dtype.itemsize]
        written = self.chip.written[transfer.memory][transfer.row : transfer.row + rows]
        if transfer.store:
            self.chip.check_written(transfer.step, transfer.memory, np.arange(transfer.row, transfer.row + rows))
            pieces[...] = words.astype(dtype).view(np.uint8).reshape(pieces.shape)
            flags[...] = True
        else:
            words[:] = np.ascontiguousarray(pieces).reshape(-1).view(dtype)
            written[:] = bool(flags.all())

    def set(self, event: Immediate) -> None:
        """Writes a scalar."""
        self.chip.check_rows(event.step, event.memory, event.index, event.index + 1)
        self.chip.data[event.memory].view(np.int32)[event.index] = event.value
        self.chip.written[event.memory][event.index] = True

    def run(self, nest: Nest) -> None:
        """Runs a body inside its loops."""
        self.nests[id(nest)].run()

    def cycles(self, nest: Nest) -> int:
        """Issues of a nest, a row each, and the engine's latency."""
        per = sum(_cycles(self.nodes[compute.step.names["function"]][1]) for compute in nest.body)
        return per * points([(n, 0) for n in nest.extents]) + self.latency


def _cycles(capability: Capability) -> int:
    from ....algebra.formula import evaluate_formula

    return int(evaluate_formula(capability.cycles, {"ops": 1}))


class _NestRun:
    """A nest: loops whose iterations do not meet run at once, the others one after another."""

    def __init__(self, run: VectorRun, nest: Nest) -> None:
        self.owner, self.chip, self.nest = run, run.chip, nest
        for compute in nest.body:
            if compute.step.names.get("function", "") not in run.nodes:
                raise compute.step.trap("illegal", "an instruction with a meaning", compute.step.text.split()[0])
        if points([(n, 0) for n in nest.extents]) > MAX_POINTS:
            raise nest.body[0].step.trap("illegal", f"at most {MAX_POINTS} iterations of a body", f"{nest.extents}")
        self.kept = [a for a, n in enumerate(nest.extents) if n > 1 and self._moves_targets(a)]
        if not self._apart():
            self.kept = []
        self.turned = [a for a, n in enumerate(nest.extents) if n > 1 and a not in self.kept]
        if points([(nest.extents[a], 0) for a in self.turned]) > MAX_STEPS:
            raise nest.body[0].step.trap("illegal", f"at most {MAX_STEPS} steps one after another", "more")
        self.prepared = [self._prepare(compute) for compute in nest.body]

    def _targets(self) -> list[Place]:
        return [compute.places["O"] for compute in self.nest.body]

    def _moves_targets(self, axis: int) -> bool:
        return all(place.strides[axis] for place in self._targets())

    def _rows(self, place: Place, axes: Sequence[int]) -> Ints:
        return offsets([(self.nest.extents[a], place.strides[a]) for a in axes]) + place.base

    def _apart(self) -> bool:
        """Whether iterations of the kept loops write different rows and read only their own of what is written."""
        for target in self._targets():
            rows = self._rows(target, self.kept)
            if len(np.unique(rows)) < rows.size:
                return False
            for place in self._uses(target.memory):
                same = all(place.strides[a] == target.strides[a] for a in self.kept)
                if not (same and self._together(place, target)) and not self._disjoint(place, target):
                    return False
        return True

    def _uses(self, memory: str) -> Iterator[Place]:
        for compute in self.nest.body:
            names = self._sources(compute)
            yield from (p for role, p in compute.places.items() if p.memory == memory and role in ("O", *names))

    def _sources(self, compute: Compute) -> list[str]:
        capability = self.owner.nodes[compute.step.names["function"]][1]
        return [access.tensor for access in accesses(capability.statement)[1:]]

    def _together(self, a: Place, b: Place) -> bool:
        """At every point of the other loops both are at the same row."""
        others = [axis for axis, n in enumerate(self.nest.extents) if n > 1 and axis not in self.kept]
        return a.base == b.base and all(a.strides[axis] == b.strides[axis] for axis in others)

    def _disjoint(self, a: Place, b: Place) -> bool:
        every = [axis for axis, n in enumerate(self.nest.extents) if n > 1]
        return not np.isin(np.unique(self._rows(a, every)), self._rows(b, every)).any()

    def _prepare(self, compute: Compute) -> _Prepared:
        lanes, capability = self.owner.nodes[compute.step.names["function"]]
        dims = [f"loop{a}" for a in self.kept]
        extents = {dim: self.nest.extents[a] for dim, a in zip(dims, self.kept, strict=True)} | {"lane": lanes}
        roles = self._sources(compute)
        rows: dict[str, Ints] = {}
        operands: dict[str, Operand] = {}
        for role in ("O", *roles):
            place = compute.places[role]
            self._check(compute.step, place)
            rows[role] = self._rows(place, self.kept).reshape(-1)
            size = self.chip.row_bytes(place.memory)
            strides = {dim: place.strides[a] * size for dim, a in zip(dims, self.kept, strict=True)}
            operands[role] = Operand(np.dtype(np.int32), strides | {"lane": 4 if size > 4 else 0})
        wide = {role: Strided(role, tuple(d for d, s in operands[role].strides.items() if s)) for role in operands}
        value = widened(capability.statement.value, wide)
        statement = Statement(wide["O"], capability.statement.reduce, value)
        kernel = make_kernel(statement, extents, operands["O"], [operands[role] for role in roles])
        return _Prepared(compute, capability, kernel, tuple(roles), rows)

    def _check(self, step: Step, place: Place) -> None:
        low, high = span([(n, s) for n, s in zip(self.nest.extents, place.strides, strict=True)])
        self.chip.check_rows(step, place.memory, place.base + low, place.base + high + 1)

    def run(self) -> None:
        for point in product(*(range(self.nest.extents[a]) for a in self.turned)):
            for prepared in self.prepared:
                self._issue(prepared, point)

    def _issue(self, prepared: _Prepared, point: tuple[int, ...]) -> None:
        moved = {
            role: sum(i * place.strides[a] for i, a in zip(point, self.turned, strict=True))
            for role, place in prepared.compute.places.items()
        }
        views: list[Any] = []
        for role, layout in zip(prepared.roles, prepared.kernel.sources, strict=True):
            place = prepared.compute.places[role]
            self.chip.check_written(prepared.compute.step, place.memory, prepared.rows[role] + moved[role])
            views.append(layout.view(*self._at(place, moved[role])))
        target = prepared.compute.places["O"]
        scalars = {name: np.int64(prepared.compute.shift) for name, _ in prepared.capability.immediates}
        prepared.kernel.run(prepared.kernel.target.view(*self._at(target, moved["O"])), views, scalars)
        self.chip.written[target.memory][prepared.rows["O"] + moved["O"]] = True

    def _at(self, place: Place, moved: int) -> tuple[Any, int]:
        return self.chip.data[place.memory], (place.base + moved) * self.chip.row_bytes(place.memory)
