"""What kernels of the vector engine read from outside: numbers, constant rows, tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from xdsl.ir import SSAValue

from ...algebra.element import Ints
from ...algebra.expr import Access
from ...dialects import nest
from .forms import Form, form_of, unsupported
from .places import Epilogue, Rows, Store
from .rows import RowBuilder
from .tensors import Stored
from .terms import Term, constant, whole

if TYPE_CHECKING:
    from .program import LoopsProgram

SLOTS = ("x", "y", "batch")
"""Loops over rows, the innermost first; blocks of lanes are `n`."""


@dataclass(frozen=True)
class Scene:
    """A group: which outer value each argument is, extents of dims, and the dim of each slot (none: extent 1)."""

    outside: Mapping[SSAValue, SSAValue]
    extents: Mapping[str, int]
    slots: Mapping[str, str]

    @staticmethod
    def of(group: nest.GroupOp, slots: Mapping[str, str]) -> Scene:
        """The scene of a group."""
        return Scene(group.outside, group.extents, slots)


@dataclass
class Leaves:
    """Tensors that are loaded, and the terms of what is read."""

    program: LoopsProgram
    scene: Scene
    tensors: list[tuple[Rows, int]] = field(default_factory=list[tuple[Rows, int]])
    known: dict[tuple[SSAValue, tuple[tuple[str, int], ...]], Term] = field(
        default_factory=dict[tuple[SSAValue, tuple[tuple[str, int], ...]], Term]
    )

    def builder(self, width: int) -> RowBuilder:
        """What takes kernels, over rows of `width` elements."""
        made = RowBuilder(self.leaf, width, self.program.table.lanes)
        self._builder = made
        return made

    def epilogue(self, builder: RowBuilder, name: str, stores: Sequence[Store], blocks: int) -> Epilogue:
        """What a builder has taken, with constants of `blocks` blocks of columns."""
        vectors = tuple(self.program.table.constant(f"{name}.factors", v, blocks) for v in builder.vectors)
        return Epilogue(tuple(builder.operations), tuple(stores), vectors, tuple(self.tensors))

    def leaf(self, kernel: nest.KernelOp, access: Access) -> Term:
        """The term of an access of an outer value."""
        value = kernel.operands_by_name[access.tensor]
        outside, form = self.scene.outside.get(value), form_of(access)
        if outside is None:
            raise unsupported(kernel, "values of one chain", access.tensor)
        found = self.program.constant(outside)
        lane = self.scene.slots.get("n", "")
        if found is not None and found.dtype.kind in "iu":
            if form.dims <= {lane} and found.size == 1:
                return constant(int(found.reshape(-1)[0]))
            if form.dims == {lane}:
                return self._builder.vector(columns_of(form, found, (lane,), self.scene.extents, self.lanes))
            if form.dims and form.dims <= {self.scene.slots.get(slot) for slot in SLOTS}:
                return self.spread(outside, form, found)
        return self.tensor(kernel, outside, form)

    def spread(self, value: SSAValue, form: Form, values: Ints) -> Term:
        """A constant of rows alone, as the counts of an average with borders: each element fills a row of lanes."""
        dims = {slot: dim for slot in SLOTS if (dim := self.scene.slots.get(slot)) in form.dims}
        sizes = [self.scene.extents[dim] for dim in dims.values()]
        each = columns_of(form, values, tuple(dims.values()), self.scene.extents, 1)
        filled = np.repeat(each.astype(np.int32), self.lanes).reshape(*sizes, self.lanes)
        steps = [4 * self.lanes * prod(sizes[place + 1 :]) for place in range(len(sizes))]
        pitches = dict(zip(dims, steps, strict=True))
        key = value, (*pitches.items(), *((f"axis {place}", axis.const) for place, axis in enumerate(form.axes)))
        if key not in self.known:
            address = self.program.table.filled(self.program.name_of(value)[0], filled)
            self.tensors.append((Rows(address, pitches, 4 * self.lanes), 32))
            bounds = np.array([each.min()]), np.array([each.max()])
            self.known[key] = Term(f"tensor{len(self.tensors) - 1}", *bounds, "rows")
        return self.known[key]

    @property
    def lanes(self) -> int:
        """Elements of a row."""
        return self.program.table.lanes

    def tensor(self, kernel: nest.KernelOp, value: SSAValue, form: Form) -> Term:
        """A tensor that is loaded tile by tile, once for each way in which it is read."""
        place = self.program.place(value)
        if "n" in self.scene.slots and (lane := form.axis_of(self.scene.slots["n"])) >= 0:
            place = self.program.turned(value, lane)
        rows = self.rows(kernel, form, place)
        key = value, tuple(sorted({**rows.pitches, "at": rows.address}.items()))
        if key not in self.known:
            bits = 8 * self.program.dtype(value).itemsize
            self.tensors.append((rows, bits))
            self.known[key] = Term(f"tensor{len(self.tensors) - 1}", *whole(bits), "rows")
        return self.known[key]

    def rows(self, kernel: nest.KernelOp, form: Form, place: Stored) -> Rows:
        """A tensor by the slots of the result."""
        slots = self.scene.slots
        lane, dims = slots.get("n"), form.axes[place.lane].names
        if dims if lane is None else place.lane != form.axis_of(lane):
            found = f"{lane or 'no dim'} in the result, {', '.join(dims) or 'no dim'} in {form.name}"
            raise unsupported(kernel, "the same dim over lanes in the result and what it reads", found)
        pitches = {slot: place.pitch(form, dim) * _step(form, dim) for slot, dim in slots.items()}
        pitches["n"] = place.pitches[place.lane]
        return Rows(place.start(form), pitches, place.row_bytes)


def _step(form: Form, dim: str) -> int:
    return next((axis.coefficient(dim) for axis in form.axes if dim in axis.names), 1)


def columns_of(form: Form, values: Ints, columns: tuple[str, ...], extents: Mapping[str, int], lanes: int) -> Ints:
    """A constant for each column, in the order of the rows of lanes; lanes without a column have the last one's."""
    sizes = [extents[dim] for dim in columns]
    grid = np.indices(sizes)
    index = tuple(
        sum((axis.coefficient(d) * grid[i] for i, d in enumerate(columns)), np.full(sizes, axis.const))
        for axis in form.axes
    )
    found = np.broadcast_to(np.asarray(values, np.int64)[index] if index else values, sizes)
    unused = [(0, 0)] * len(sizes[:-1]) + [(0, -sizes[-1] % lanes)] if sizes else []
    return np.pad(found, unused, mode="edge").reshape(-1)
