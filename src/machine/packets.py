"""What control model `packets` adds to an accelerator: what may issue together, registers, instructions as text.

A packet is a set of instructions that read all registers before any of them writes.  Everything that limits a packet
is a resource (slots too): each instruction needs some, often with a choice, and each resource serves one.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from .fields import Field

Alternatives = tuple[tuple[str, ...], ...]
"""What one need of an instruction may be met by: any of these sets of resources."""


@dataclass(frozen=True)
class RegisterFile:
    """`count` registers of `width_bytes` in `memory`; the n-th lies at byte n * width, so that files may overlap.

    In `syntax`, `{0}` is the register's number counted in the memory's narrowest file; `{1}` one more, and so on.
    """

    name: str
    memory: str
    width_bytes: int
    count: int
    syntax: str


@dataclass(frozen=True)
class Place:
    """Where an operand lies: a register field, or memory at `base` (a register field) + `scale` * `offset` (an ifield).

    `strides` are bytes per dim of the capability.  With `rotated`, a register field, byte n of a register operand is
    its byte n + that register's value, around the operand's end.
    """

    operand: str
    memory: str
    base: str
    offset: str
    scale: int
    type_name: str
    strides: tuple[tuple[str, str], ...]
    rotated: str = ""


@dataclass(frozen=True)
class Advance:
    """After the instruction the register in field `base` is larger by `scale` * the ifield `offset`."""

    base: str
    offset: str
    scale: int


@dataclass(frozen=True)
class LoopStart:
    """The instruction starts a loop of as many trips as the ifield or register in field `trips` says.

    Level 0 (inside) and up: a hardware loop, ended by `suffix` on its last packet.  Level -1: the instruction stands
    at the loop's end and counts `trips` down to 0.
    """

    level: int
    trips: str
    suffix: str = ""


@dataclass(frozen=True)
class PackedMnemonic:
    """An instruction of a packet: its text, what it needs, and its meaning, an execution of `node.capability`.

    `registers` are fields that name a register of a file.  `words` of the packet's words are taken; a result should be
    used `latency_packets` later (earlier use stalls, it is not wrong).  A reduction goes on from the
    target's old value, or starts `from_identity`.  Addresses in memory are multiples of `align_bytes`.  It means this
    only where the register fields of `given` hold those numbers.
    """

    name: str
    syntax: str
    registers: tuple[tuple[str, str], ...] = ()
    fields: tuple[Field, ...] = ()
    needs: tuple[Alternatives, ...] = ()
    words: int = 1
    latency_packets: int = 1
    align_bytes: int = 1
    node: str = ""
    capability: str = ""
    extents: tuple[tuple[str, str], ...] = ()
    places: tuple[Place, ...] = ()
    immediates: tuple[tuple[str, str], ...] = ()
    functions: tuple[tuple[str, str], ...] = ()
    advance: Advance | None = None
    from_identity: bool = False
    loop: LoopStart | None = None
    given: tuple[tuple[str, str], ...] = ()

    def limits(self, files: Iterable[RegisterFile]) -> dict[str, tuple[int, int]]:
        """The least and the largest number of each field: registers of `files`, then immediates."""
        counts = {file.name: file.count for file in files}
        registers = {field: (0, counts[file] - 1) for field, file in self.registers}
        return registers | {field.name: (field.lowest, field.highest) for field in self.fields}


@dataclass(frozen=True)
class PacketIsa:
    """What packets are made of.

    A packet has `words` words and each of `resources`, slots among them, once.
    Register 0 of file `base` holds the address of the off-chip memory's first byte when a program starts.
    `executor` names tools that run such programs independently of our simulator.
    """

    words: int
    resources: tuple[str, ...]
    base: str
    executor: str = ""
    files: tuple[RegisterFile, ...] = ()
    mnemonics: tuple[PackedMnemonic, ...] = ()
