"""A program of packets: instructions with numbers in their fields, packets, and loops of known trips."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from .packet_packing import Packing


@dataclass(frozen=True)
class Instruction:
    """A mnemonic with the number of each field: a register's, or an immediate's.

    `reads` and `writes` name parts of memory that it touches: instructions keep their order where one writes a part
    that the other touches, unless both write (parts written twice are written apart).  `label` is the loop that a
    loop's start refers to.
    """

    mnemonic: str
    values: tuple[tuple[str, int], ...]
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    label: int = -1

    def value(self, name: str) -> int:
        """The number of a field."""
        return next(value for key, value in self.values if key == name)


Packet = tuple[Instruction, ...]


@dataclass(frozen=True)
class Loop:
    """`trips` times `body`; ended by `suffix` on the last packet, or by an instruction that counts (`end`)."""

    label: int
    trips: int
    body: tuple[Packet | Loop, ...]
    suffix: str = ""
    end: Instruction | None = None


Code = Sequence[Packet | Loop]


def packets_of(code: Code) -> Iterator[Packet]:
    """Each packet once, in the order of the text; the one that ends a counted loop too."""
    for item in code:
        if isinstance(item, Loop):
            yield from packets_of(item.body)
            if item.end is not None:
                yield (item.end,)
        else:
            yield item


def executed_packets(code: Code) -> int:
    """How many packets an execution takes."""
    count = 0
    for item in code:
        if isinstance(item, Loop):
            count += item.trips * (executed_packets(item.body) + (item.end is not None))
        else:
            count += 1
    return count


def count_instructions(code: Code) -> int:
    """Instructions of the text."""
    return sum(len(packet) for packet in packets_of(code))


@dataclass(frozen=True)
class Stored:
    """A tensor in the program's memory: `shape` elements of `dtype` with byte `strides`, from `address` on.

    `role` is input, output, weight or scratch.  An input may be stored several times, in different forms.  With a
    `packing` the memory holds that form instead.  Its first element is `origin_bytes` after the address, and each
    element is there `copies` times, side by side.
    """

    name: str
    role: str
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    address: int
    size_bytes: int
    packing: Packing | None = None
    origin_bytes: int = 0
    copies: int = 1

    @property
    def elements(self) -> int:
        """How many there are."""
        return prod(self.shape)

    @property
    def layout(self) -> str:
        """How the host lays the tensor out: `row-major`, `packed ...`, or strides where that is not all."""
        if self.packing is not None:
            return self.packing.text
        size, dense = np.dtype(self.dtype).itemsize, list[int]()
        for extent in reversed(self.shape):
            dense.insert(0, size)
            size *= extent
        moved = [n for n, step, own in zip(self.shape, self.strides, dense, strict=True) if n > 1 and step != own]
        if not moved and not self.origin_bytes and self.copies == 1:
            return "row-major"
        origin = f", first element at byte {self.origin_bytes}" if self.origin_bytes else ""
        copies = f", each element {self.copies} times" if self.copies > 1 else ""
        return f"strides {','.join(map(str, self.strides))} bytes{origin}{copies}"


@dataclass(frozen=True)
class PacketProgram:
    """Code with its memory: `stored` tensors and constant bytes (`images`: address, bytes) below `memory_bytes`."""

    code: tuple[Packet | Loop, ...]
    stored: tuple[Stored, ...]
    memory_bytes: int
    images: tuple[tuple[int, bytes], ...] = field(default=(), repr=False)
