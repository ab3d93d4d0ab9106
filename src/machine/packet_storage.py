"""Memory of a program: tensors and constants at addresses, and their values to bytes and back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..algebra.allocation import BumpAllocator
from ..algebra.element import ELEMENT_TYPES, Array
from .packet_program import PacketProgram, Packing, Stored


def contiguous_strides(sizes: Sequence[int], itemsize: int) -> tuple[int, ...]:
    """Byte strides of a dense array, the last index fastest."""
    return tuple(itemsize * prod(sizes[axis + 1 :]) for axis in range(len(sizes)))


@dataclass
class Storage(BumpAllocator):
    """Tensors and constants at addresses one after another."""

    stored: list[Stored] = field(default_factory=list[Stored])
    images: list[tuple[int, bytes]] = field(default_factory=list[tuple[int, bytes]])

    def constant(self, data: bytes) -> int:
        """The address of bytes that are there from the start."""
        address = self.take(len(data))
        self.images.append((address, data))
        return address

    def weight(self, name: str, type_name: str, values: Array, packing: Packing) -> Stored:
        """A constant tensor that is there from the start, in a packed form."""
        data, strides = packing.pack(values).tobytes(), (0,) * values.ndim
        dtype, address = ELEMENT_TYPES[type_name].name, self.constant(data)
        placed = Stored(name, "weight", dtype, values.shape, strides, address, len(data), packing)
        self.stored.append(placed)
        return placed

    def mark(self) -> tuple[int, int, int]:
        """What `back` goes back to."""
        return self.end, len(self.stored), len(self.images)

    def back(self, mark: tuple[int, int, int]) -> None:
        """Forgets what was placed since."""
        self.end = mark[0]
        del self.stored[mark[1] :], self.images[mark[2] :]

    def tensor(
        self,
        name: str,
        role: str,
        type_name: str,
        shape: Sequence[int],
        strides: Sequence[int],
        size_bytes: int,
        packing: Packing | None = None,
        origin_bytes: int = 0,
    ) -> Stored:
        """A tensor with the given byte strides in `size_bytes` bytes."""
        dtype = ELEMENT_TYPES[type_name].name
        address = self.take(size_bytes)
        placed = Stored(name, role, dtype, tuple(shape), tuple(strides), address, size_bytes, packing, origin_bytes)
        self.stored.append(placed)
        return placed


def initial_memory(program: PacketProgram, inputs: Mapping[str, Array]) -> Array:
    """The memory's bytes before the program runs."""
    memory = np.zeros(program.memory_bytes, np.uint8)
    for address, data in program.images:
        memory[address : address + len(data)] = np.frombuffer(data, np.uint8)
    for tensor in program.stored:
        if tensor.role == "input" and tensor.packing is not None:
            data = tensor.packing.pack(np.asarray(inputs[tensor.name]).reshape(tensor.shape))
            memory[tensor.address : tensor.address + len(data)] = data
        elif tensor.role == "input":
            data = np.asarray(inputs[tensor.name]).reshape(tensor.shape)
            for copy in range(tensor.copies):
                _view(memory, tensor, copy)[...] = data
    return memory


def outputs_of(program: PacketProgram, memory: Array) -> dict[str, Array]:
    """The output tensors in the memory's bytes."""
    return {t.name: np.ascontiguousarray(_view(memory, t)) for t in program.stored if t.role == "output"}


def _view(memory: Array, tensor: Stored, copy: int = 0) -> Array:
    dtype = np.dtype(tensor.dtype)
    first = tensor.address + tensor.origin_bytes + copy * dtype.itemsize
    part: Any = memory[first : tensor.address + tensor.size_bytes].view(dtype)
    return as_strided(part, tensor.shape, tensor.strides)
