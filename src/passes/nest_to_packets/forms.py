"""How tensors lie in memory between kernels: lanes side by side, each place filled to whole vectors, room around.

<1x16x55x55xi8>, lanes along axis 1, one place around rows and columns:
57 x 57 places of 128 bytes, 16 of which are channels
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ...algebra.affine import index_forms
from ...algebra.element import ELEMENT_TYPES, Array
from ...algebra.expr import Access
from ...errors import TilewrightError
from ...machine.packet_program import Stored
from ...machine.packet_storage import Storage
from .ranges import Range, range_of_type

SINGLE = -1
"""The lanes' axis of a form in which every element fills a vector, all lanes alike."""


@dataclass(frozen=True)
class Form:
    """Elements of `type_name`: `shape`, lanes along axis `lane`, `before` and `after` places around along each axis.

    A tensor whose lanes' axis has size 1 (or with lane `SINGLE`) holds its element in all lanes of a vector.
    """

    type_name: str
    shape: tuple[int, ...]
    lane: int
    width_bytes: int
    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return ELEMENT_TYPES[self.type_name].itemsize

    @property
    def lanes(self) -> int:
        """Elements side by side; 1: all lanes hold the same element."""
        return 1 if self.lane == SINGLE else self.shape[self.lane]

    @property
    def pitch_bytes(self) -> int:
        """Bytes of a place: whole vectors."""
        return -(-self.lanes * self.itemsize // self.width_bytes) * self.width_bytes

    @property
    def sizes(self) -> tuple[int, ...]:
        """Places along each axis with those around; 1 along the lanes."""
        extra = [sum(pair) for pair in zip(self.before, self.after, strict=True)] or [0] * len(self.shape)
        return tuple(1 if i == self.lane else n + extra[i] for i, n in enumerate(self.shape))

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next along each axis."""
        strides, step = [0] * len(self.shape), self.pitch_bytes
        for axis in reversed(range(len(self.shape))):
            if axis == self.lane:
                strides[axis] = self.itemsize
            else:
                strides[axis] = step
                step *= self.sizes[axis]
        return tuple(strides)

    @property
    def origin_bytes(self) -> int:
        """Where the first element is."""
        return sum(n * s for n, s in zip(self.before or (0,) * len(self.shape), self.strides, strict=True))

    @property
    def size_bytes(self) -> int:
        """Bytes of all places."""
        return prod(self.sizes) * self.pitch_bytes

    def image(self, values: Array | None, around: int) -> bytes:
        """The bytes of a tensor in this form, `around` in the places around it (and everywhere without values)."""
        dtype = np.dtype(ELEMENT_TYPES[self.type_name])
        memory = np.full(self.size_bytes // self.itemsize, around, dtype)
        if values is not None:
            part = memory[self.origin_bytes // self.itemsize :]
            if self.lanes == 1:
                lanes = self.width_bytes // self.itemsize
                view = as_strided(part, (*self.shape, lanes), (*self.strides, self.itemsize))
                view[...] = np.asarray(values)[..., None]
            else:
                as_strided(part, self.shape, self.strides)[...] = values
        return memory.tobytes()


@dataclass
class Buffer:
    """A tensor at an address of the memory, in a form; what its values may be, and what they are if they are known.

    `around` are the values in the places around it.
    """

    name: str
    form: Form
    address: int
    limits: Range
    values: Array | None = None
    around: int = 0

    def steps(self, access: Access) -> tuple[int, dict[str, int]]:
        """Bytes from the address to an access's place at the point 0, and by dim; along lanes nothing counts."""
        at, steps = self.address + self.form.origin_bytes, dict[str, int]()
        for axis, (form, stride) in enumerate(zip(index_forms(access), self.form.strides, strict=True)):
            if axis == self.form.lane:
                continue
            at += form.const * stride
            for name, coefficient in form.terms:
                steps[name] = steps.get(name, 0) + coefficient * stride
        return at, steps

    def check(self, access: Access, extents: Mapping[str, int], lanes: bool = True) -> None:
        """`TilewrightError` where an access reaches beyond the places around the tensor; `lanes`: along lanes, too."""
        around = self.form.before or (0,) * len(self.form.shape), self.form.after or (0,) * len(self.form.shape)
        for axis, form in enumerate(index_forms(access)):
            low, high = form.range(extents)
            size = self.form.shape[axis]
            before, after = (0, 0) if axis == self.form.lane else (around[0][axis], around[1][axis])
            if (lanes or axis != self.form.lane) and (low < -before or high >= size + after):
                found = f"{low} to {high}"
                raise TilewrightError("unsupported", self.name, f"indices within 0 to {size - 1} and around", found)


@dataclass
class Memory:
    """The memory of a program of several kernels: buffers and constants, with what is known of them."""

    storage: Storage
    width_bytes: int
    derived: dict[tuple[str, str], Buffer] = field(default_factory=dict[tuple[str, str], Buffer])

    def buffer(self, name: str, form: Form, role: str, around: int = 0, limits: Range | None = None) -> Buffer:
        """A new buffer; `role` is that of `Stored`."""
        if around:
            address = self.storage.constant(form.image(None, around))
        else:
            address = self.storage.take(form.size_bytes)
        made = Buffer(name, form, address, limits or range_of_type(form.type_name), None, around)
        self.store(made, role)
        return made

    def store(self, buffer: Buffer, role: str) -> None:
        """Lets the program's caller know of a buffer."""
        form, address = buffer.form, buffer.address
        dtype, origin = ELEMENT_TYPES[form.type_name].name, form.origin_bytes
        copies = self.width_bytes // form.itemsize if form.lanes == 1 else 1
        shape, strides, size = form.shape, form.strides, form.size_bytes
        self.storage.stored.append(
            Stored(buffer.name, role, dtype, shape, strides, address, size, None, origin, copies)
        )

    def constant(self, name: str, values: Array, form: Form, around: int = 0) -> Buffer:
        """A tensor whose values are there from the start."""
        limits = (int(values.min()), int(values.max())) if values.size else (0, 0)
        address = self.storage.constant(form.image(values, around))
        return Buffer(name, form, address, limits, values, around)

    def derive(self, buffer: Buffer, what: str, values: Array) -> Buffer:
        """Constants made of a constant tensor's, in i32 and in the same order."""
        key = (f"{buffer.address}", what)
        if key not in self.derived:
            form = Form("i32", buffer.form.shape, buffer.form.lane, self.width_bytes)
            self.derived[key] = self.constant(f"{buffer.name}.{what}", values, form)
        return self.derived[key]
