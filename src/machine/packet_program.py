"""A program of packets as plain data, the instructions of a target that it is made of, and how operands are packed."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from math import prod

import numpy as np

from ..algebra.element import Array
from ..algebra.expr import Expr, Statement, print_expr
from ..errors import TilewrightError
from . import Capability, Machine
from .packets import PackedMnemonic, PacketIsa, RegisterFile

Granule = tuple[str, int]
"""A part of a register: its memory and its number among the memory's narrowest registers; or a loop counter."""


@dataclass(frozen=True)
class Effects:
    """What an instruction reads, and writes with the latency of each, in packets."""

    reads: tuple[Granule, ...]
    writes: tuple[tuple[Granule, int], ...]


class Isa:
    """The packet instructions of a machine, asked by meaning.

    What was found is kept: `copies` and `functions` by emitters, `pipelines` of loops.
    """

    def __init__(self, machine: Machine) -> None:
        if machine.packets is None:
            raise TilewrightError("target", machine.name, "instructions in packets", "none")
        self.machine = machine
        self.packets: PacketIsa = machine.packets
        self.mnemonics = {item.name: item for item in self.packets.mnemonics}
        self.files = {item.name: item for item in self.packets.files}
        owners = (*machine.computes, *machine.links)
        self.capabilities = {(owner.name, c.name): c for owner in owners for c in owner.capabilities}
        self._effects: dict[Instruction, Effects] = {}
        self._fits: dict[tuple[str, ...], bool] = {}
        self.copies: dict[tuple[str, bool], list[PackedMnemonic]] = {}
        self.functions: dict[tuple[str, str, int], PackedMnemonic | None] = {}
        self.pipelines: dict[tuple[Instruction, ...], tuple[tuple[int, ...], int] | None] = {}

    @property
    def memory(self) -> str:
        """The off-chip memory."""
        return self.machine.offchip[0]

    def capability(self, mnemonic: PackedMnemonic) -> Capability | None:
        """What the mnemonic executes."""
        return self.capabilities.get((mnemonic.node, mnemonic.capability))

    def narrowest(self, memory: str) -> RegisterFile:
        """The narrowest file of a register memory."""
        return min((f for f in self.packets.files if f.memory == memory), key=lambda f: f.width_bytes)

    def granules(self, file: str, number: int) -> tuple[Granule, ...]:
        """The parts of a register."""
        item = self.files[file]
        ways = item.width_bytes // self.narrowest(item.memory).width_bytes
        return tuple((item.memory, number * ways + part) for part in range(ways))

    def register_text(self, file: str, number: int) -> str:
        """A register as assembly text spells it."""
        return self.files[file].syntax.format(*(part for _, part in self.granules(file, number)))

    def effects(self, instruction: "Instruction") -> Effects:
        """What an instruction reads and writes of registers."""
        if instruction not in self._effects:
            self._effects[instruction] = self._effects_of(instruction)
        return self._effects[instruction]

    def _effects_of(self, instruction: "Instruction") -> Effects:
        mnemonic = self.mnemonics[instruction.mnemonic]
        files = dict(mnemonic.registers)
        reads: list[Granule] = []
        writes: list[tuple[Granule, int]] = []
        capability = self.capability(mnemonic)
        for place in mnemonic.places:
            assert capability is not None
            named = self.granules(files[place.base], instruction.value(place.base))
            if place.memory == self.memory or place.operand != capability.operands[0]:
                reads += named
            else:
                writes += [(granule, mnemonic.latency_packets) for granule in named]
                if capability.statement.reduce != "=" and not mnemonic.from_identity:
                    reads += named
            if place.rotated:
                reads += self.granules(files[place.rotated], instruction.value(place.rotated))
        for name, _ in mnemonic.given:
            reads += self.granules(files[name], instruction.value(name))
        if mnemonic.advance is not None:
            base = mnemonic.advance.base
            writes += [(granule, 1) for granule in self.granules(files[base], instruction.value(base))]
        if mnemonic.loop is not None:
            if mnemonic.loop.trips in files:
                reads += self.granules(files[mnemonic.loop.trips], instruction.value(mnemonic.loop.trips))
            writes.append((("", mnemonic.loop.level), 1))
        return Effects(tuple(reads), tuple(writes))

    def fits(self, names: Iterable[str]) -> bool:
        """Whether instructions of these mnemonics may be one packet."""
        key = tuple(sorted(names))
        if key not in self._fits:
            items = [self.mnemonics[name] for name in key]
            words = sum(item.words for item in items)
            needs = sorted((need for item in items for need in item.needs), key=len)
            self._fits[key] = words <= self.packets.words and _assign(needs, frozenset())
        return self._fits[key]

    def choose(self, what: str, found: Sequence[PackedMnemonic]) -> PackedMnemonic:
        """The first of the mnemonics that were found, or the complaint that there is none for `what`."""
        if not found:
            raise TilewrightError("unsupported", what, f"an instruction of {self.machine.name} for it", "none")
        return found[0]

    def executing(self, statement: Statement) -> list[PackedMnemonic]:
        """The mnemonics whose capability has this statement, up to the names of its dims and operands."""
        return self._by_meaning.get(canonical(statement), [])

    @cached_property
    def _by_meaning(self) -> dict[str, list[PackedMnemonic]]:
        found: dict[str, list[PackedMnemonic]] = {}
        for item in self.packets.mnemonics:
            if (capability := self.capability(item)) is not None:
                found.setdefault(canonical(capability.statement), []).append(item)
        return found


_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*\b(?!\()")
"""A name in the text of an expression, of a dim or an operand: functions have a parenthesis behind them."""


@cache
def canonical(statement: Statement) -> str:
    """The statement's text with names numbered in order of appearance."""
    names: dict[str, str] = {}

    def numbered(expr: Expr) -> str:
        return _NAME.sub(lambda name: names.setdefault(name[0], f"n{len(names)}"), print_expr(expr))

    return f"{numbered(statement.target)} {statement.reduce} {numbered(statement.value)}"


def _assign(needs: Sequence[tuple[tuple[str, ...], ...]], taken: frozenset[str]) -> bool:
    """Whether resources can be given to all needs, each resource once; needs are few."""
    if not needs:
        return True
    return any(taken.isdisjoint(together) and _assign(needs[1:], taken | frozenset(together)) for together in needs[0])


@dataclass(frozen=True)
class Packing:
    """`[batch][tile][reduction / group][vectors of the tile][lanes][group]`, bytes.

    `axes` are the tensor's axes for batch, reduction and lanes (so many of each); reduction position i holds
    `sources[i]`, zero for -1; elements are `flip` larger than the tensor's.  `tiles` are the vectors of each tile.
    """

    axes: tuple[int, ...]
    batch_axes: int
    reduced_axes: int
    sources: tuple[int, ...]
    lanes: int
    group: int
    tiles: tuple[int, ...]
    flip: int

    @property
    def text(self) -> str:
        """The form in words, as `packed [tile][axes 1 / 4][vector][32 of axes 0][4]`."""
        split = self.batch_axes + self.reduced_axes
        batch, reduced, lanes = self.axes[: self.batch_axes], self.axes[self.batch_axes : split], self.axes[split:]
        outer = f"[axes {_numbers(batch)}]" if batch else ""
        inner = (
            f"[axes {_numbers(reduced)} / {self.group}][vector][{self.lanes} of axes {_numbers(lanes)}][{self.group}]"
        )
        return f"packed {outer}[tile]{inner}{f', {self.flip} added' if self.flip else ''}"

    def size_bytes(self, shape: tuple[int, ...]) -> int:
        """Bytes of the packed form of a tensor."""
        batches = prod(shape[axis] for axis in self.axes[: self.batch_axes])
        return batches * len(self.sources) * sum(self.tiles) * self.lanes

    def pack(self, tensor: Array) -> Array:
        """The packed form as bytes."""
        ordered = tensor.transpose(self.axes)
        split = self.batch_axes + self.reduced_axes
        batches, reduced = prod(ordered.shape[: self.batch_axes]), prod(ordered.shape[self.batch_axes : split])
        values = ordered.reshape(batches, reduced, -1).astype(np.int16) + self.flip
        filled = np.zeros((batches, len(self.sources), sum(self.tiles) * self.lanes), np.uint8)
        sources = np.array(self.sources)
        known = np.flatnonzero(sources >= 0)
        filled[:, known, : values.shape[2]] = (values[:, sources[known]] & 255).astype(np.uint8)
        groups = filled.reshape(batches, -1, self.group, sum(self.tiles), self.lanes)
        parts: list[Array] = []
        first = 0
        for vectors in self.tiles:
            part = groups[:, :, :, first : first + vectors]  # batch, groups, in group, vectors, lanes
            parts.append(part.transpose(0, 1, 3, 4, 2).reshape(batches, -1))
            first += vectors
        return np.concatenate(parts, axis=1).reshape(-1)


def _numbers(axes: tuple[int, ...]) -> str:
    return ",".join(map(str, axes)) or "none"


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
    body: "tuple[Packet | Loop, ...]"
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
        size = np.dtype(self.dtype).itemsize
        dense = [size * prod(self.shape[axis + 1 :]) for axis in range(len(self.shape))]
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
