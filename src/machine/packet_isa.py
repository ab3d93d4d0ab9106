"""A target's packet instructions, asked by meaning: what moves, adds or multiplies what, and what fits together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from ..algebra.expr import Statement
from ..errors import TilewrightError
from . import Capability, Machine
from .packet_program import Instruction
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

    @cached_property
    def memory(self) -> str:
        """The off-chip memory."""
        return next(memory.name for memory in self.machine.memories if memory.offchip)

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
        item = self.files[file]
        ways = item.width_bytes // self.narrowest(item.memory).width_bytes
        return item.syntax.format(*(number * ways + part for part in range(ways)))

    def effects(self, instruction: Instruction) -> Effects:
        """What an instruction reads and writes of registers."""
        if instruction not in self._effects:
            self._effects[instruction] = self._effects_of(instruction)
        return self._effects[instruction]

    def _effects_of(self, instruction: Instruction) -> Effects:
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


@cache
def canonical(statement: Statement) -> str:
    """The statement's text with names numbered in order of appearance."""
    from ..algebra.expr import Access, Call, Expr, Name, Num, Strided

    names: dict[str, str] = {}

    def number(name: str) -> str:
        return names.setdefault(name, f"n{len(names)}")

    def text(expr: Expr) -> str:
        match expr:
            case Num(value):
                return repr(value)
            case Name(id):
                return number(id)
            case Call(fn, args):
                return f"{fn}({','.join(text(arg) for arg in args)})"
            case Strided(tensor, dims):
                return f"{number(tensor)}{{{','.join(number(dim) for dim in dims)}}}"
            case Access(tensor, indices):
                return f"{number(tensor)}[{','.join(text(index) for index in indices)}]"

    return f"{text(statement.target)}{statement.reduce}{text(statement.value)}"


def _assign(needs: Sequence[tuple[tuple[str, ...], ...]], taken: frozenset[str]) -> bool:
    """Whether resources can be given to all needs, each resource once; needs are few."""
    if not needs:
        return True
    return any(taken.isdisjoint(together) and _assign(needs[1:], taken | frozenset(together)) for together in needs[0])
