"""Instructions by meaning: loads, stores, additions, functions, with the numbers put into the right fields."""

from collections.abc import Sequence
from math import prod

from ...algebra.element import ELEMENT_TYPES
from ...algebra.expr import Statement
from ...algebra.parser import parse_statement
from ...errors import InfeasibleError, TilewrightError
from ...machine.packet_program import Granule, Instruction, Isa
from ...machine.packets import PackedMnemonic, Place


class Pool:
    """Hands out registers, the lowest numbers first; register 0 of the base's file is never free."""

    def __init__(self, isa: Isa) -> None:
        self.isa = isa
        self.taken: set[Granule] = set(isa.granules(isa.packets.base, 0))
        self.used = set(self.taken)

    def take(self, file: str) -> int:
        """A free register of the file."""
        for number in range(self.isa.files[file].count):
            granules = self.isa.granules(file, number)
            if self.taken.isdisjoint(granules):
                self.taken.update(granules)
                self.used.update(granules)
                return number
        count = self.isa.files[file].count
        raise InfeasibleError(f"registers {file}", count + 1, count, "registers", "smaller tiles")

    def give(self, file: str, number: int) -> None:
        """The register is free again."""
        self.taken.difference_update(self.isa.granules(file, number))

    def untouched(self, file: str) -> list[int]:
        """The registers of a file that were never taken."""
        numbers = range(self.isa.files[file].count)
        return [n for n in numbers if self.used.isdisjoint(self.isa.granules(file, n))]


COPY = parse_statement("O{i} = A{i}")
CONSTANT = parse_statement("O{} = V")
SUM_WITH_CONSTANT = parse_statement("O{} = A{} + V")
BROADCAST = parse_statement("O{i} = A{}")


class Emitter:
    """Makes instructions of one machine; `pool` are its registers."""

    def __init__(self, isa: Isa) -> None:
        self.isa = isa
        self.pool = Pool(isa)

    @property
    def scalars(self) -> str:
        """The file that addresses are in."""
        return self.isa.packets.base

    @property
    def vectors(self) -> str:
        """The file of the widest memory's narrowest registers."""
        memories = dict.fromkeys(file.memory for file in self.isa.packets.files)
        return max((self.isa.narrowest(m) for m in memories), key=lambda f: f.width_bytes).name

    @property
    def vector_bytes(self) -> int:
        """Bytes of a vector register."""
        return self.isa.files[self.vectors].width_bytes

    def copies(self, file: str, store: bool) -> list[PackedMnemonic]:
        """The loads into registers of a file, or the stores of them; those of the strictest alignment first."""
        if (file, store) not in self.isa.copies:
            self.isa.copies[file, store] = self._copies(file, store)
        return self.isa.copies[file, store]

    def _copies(self, file: str, store: bool) -> list[PackedMnemonic]:
        memory = self.isa.files[file].memory
        link = f"{memory}->{self.isa.memory}" if store else f"{self.isa.memory}->{memory}"
        found: list[PackedMnemonic] = []
        for item in self.isa.executing(COPY):
            files = dict(item.registers)
            register = next((p for p in item.places if p.memory == memory), None)
            if item.node == link and register is not None and files[register.base] == file:
                size = prod(int(extent) for _, extent in item.extents)
                if size * ELEMENT_TYPES[item.places[0].type_name].itemsize == self.isa.files[file].width_bytes:
                    found.append(item)
        return sorted(found, key=lambda item: -item.align_bytes)

    def load(self, file: str, register: int, base: int, offset: int, part: str, align: int = 1 << 20) -> Instruction:
        """Memory at `base` + `offset` bytes into a register; `align` is what the address is a multiple of."""
        return self.copy(False, file, register, base, offset, part, align)

    def store(self, file: str, register: int, base: int, offset: int, part: str, align: int = 1 << 20) -> Instruction:
        """A register to memory at `base` + `offset` bytes."""
        return self.copy(True, file, register, base, offset, part, align)

    def advancing(self, file: str, register: int, base: int, step: int, part: str) -> Instruction:
        """A load at `base`, which is then moved on by `step` bytes."""
        return self.copy(False, file, register, base, step, part, 0)

    def copy(self, store: bool, file: str, register: int, base: int, offset: int, part: str, align: int) -> Instruction:
        """A copy at `base` + `offset` bytes; with `align` 0 one at `base`, which is then moved on by `offset` bytes."""
        for item in self.copies(file, store):
            outside, inside = self.ends(item)
            place = outside if align else item.advance
            if place is None or align % item.align_bytes or (align and item.advance is not None):
                continue
            number = next((f for f in item.fields if f.name == place.offset), None)
            steps, left = divmod(offset, place.scale)
            if number is not None and not left and number.lowest <= steps <= number.highest:
                values = ((inside.base, register), (place.base, base), (number.name, steps))
                return Instruction(item.name, values, () if store else (part,), (part,) if store else ())
        what = f"a {'store' if store else 'load'} of {file}"
        return self.refused(
            f"{what} at {offset} bytes from a register" if align else f"{what} that moves on by {offset}"
        )

    def ends(self, mnemonic: PackedMnemonic) -> tuple[Place, Place]:
        """The place in memory and the register of a copy."""
        outside = next(p for p in mnemonic.places if p.memory == self.isa.memory)
        return outside, next(p for p in mnemonic.places if p is not outside)

    def reach(self, file: str, store: bool = False) -> range:
        """The offsets in bytes that a load or store takes, in steps of its scale."""
        for item in self.copies(file, store):
            place, _ = self.ends(item)
            for number in item.fields:
                if item.advance is None and number.name == place.offset:
                    low, high = number.lowest * place.scale, number.highest * place.scale
                    step = max(place.scale, item.align_bytes)
                    return range(-(-low // step) * step, high + 1, step)
        return range(0)

    def add(self, target: int, source: int, number: int) -> Instruction:
        """`target = source + number` in address registers."""
        for item in self.isa.executing(SUM_WITH_CONSTANT):
            field = next(f for f in item.fields if f.name == item.immediates[0][1])
            if field.lowest <= number <= field.highest:
                target_place, source_place = item.places
                values = ((target_place.base, target), (source_place.base, source), (field.name, number))
                return Instruction(item.name, values)
        return self.refused(f"adding {number} to a register")

    def address(self, target: int, address: int) -> Instruction:
        """An address of the off-chip memory into a register."""
        return self.add(target, 0, address)

    def constant(self, target: int, value: int) -> Instruction:
        """A number into an address register."""
        return constant(self.isa, target, value)

    def broadcast(self, target: int, source: int) -> Instruction:
        """A scalar register into every element of a vector."""
        item = self.isa.choose("a broadcast", self.isa.executing(BROADCAST))
        return Instruction(item.name, ((item.places[0].base, target), (item.places[1].base, source)))

    def places(self, item: PackedMnemonic) -> list[Place]:
        """The places of a mnemonic in the order of its capability's operands."""
        capability = self.isa.capability(item)
        assert capability is not None
        by_operand = {place.operand: place for place in item.places}
        return [by_operand[operand] for operand in capability.operands]

    def place(self, item: PackedMnemonic, registers: Sequence[int]) -> Instruction:
        """A mnemonic on registers, in the order of its capability's operands."""
        bases = (place.base for place in self.places(item))
        return Instruction(item.name, tuple(zip(bases, registers, strict=True)))

    def rotated(self, item: PackedMnemonic, target: int, source: int, by: int) -> Instruction:
        """`target` is `source` rotated by the bytes in scalar register `by`."""
        first, second = self.places(item)
        return Instruction(item.name, ((first.base, target), (second.base, source), (second.rotated, by)))

    def on_vectors(self, statement: Statement) -> list[PackedMnemonic]:
        """The mnemonics of a meaning whose operands are all in vectors."""
        memory = self.isa.files[self.vectors].memory
        return [m for m in self.isa.executing(statement) if all(place.memory == memory for place in m.places)]

    def move(self) -> PackedMnemonic:
        """The mnemonic that copies a vector."""
        moves = [m for m in self.on_vectors(COPY) if not any(place.rotated for place in m.places)]
        plain = [m for m in moves if len({place.type_name for place in m.places}) == 1]
        return self.isa.choose("moving a vector", plain)

    def binary(self, name: str, type_name: str) -> PackedMnemonic:
        """The mnemonic of a function of two vectors; `TilewrightError` where there is none."""
        item = self.function(name, type_name, 2)
        return self.isa.choose(f"{name} of {type_name}", [item] if item is not None else [])

    def function(self, name: str, type_name: str, arity: int) -> PackedMnemonic | None:
        """The vector instruction that applies a function to registers of a type."""
        key = (name, type_name, arity)
        if key not in self.isa.functions:
            self.isa.functions[key] = self._function(name, type_name, arity)
        return self.isa.functions[key]

    def _function(self, name: str, type_name: str, arity: int) -> PackedMnemonic | None:
        args = ", ".join(("A{i}", "B{i}", "C{i}")[:arity])
        for item in self.on_vectors(parse_statement(f"O{{i}} = F({args})")):
            if [choice for _, choice in item.functions] == [name] and {p.type_name for p in item.places} == {type_name}:
                return item
        return None

    def refused(self, what: str) -> Instruction:
        raise TilewrightError("unsupported", what, f"an instruction of {self.isa.machine.name} for it", "none")


def constant(isa: Isa, target: int, value: int) -> Instruction:
    """A number into a register of the base's file."""
    item = isa.choose("a constant", isa.executing(CONSTANT))
    return Instruction(item.name, ((item.places[0].base, target), (item.immediates[0][1], value)))
