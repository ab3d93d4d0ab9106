"""Instructions by meaning: loads, stores, additions, functions, with the numbers put into the right fields."""

from collections.abc import Sequence

from ...algebra.element import ELEMENT_TYPES
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
                if self.moved(item) == self.isa.files[file].width_bytes:
                    found.append(item)
        return sorted(found, key=lambda item: -item.align_bytes)

    def moved(self, mnemonic: PackedMnemonic) -> int:
        """Bytes that a copy moves."""
        count = 1
        for _, extent in mnemonic.extents:
            count *= int(extent)
        return count * ELEMENT_TYPES[mnemonic.places[0].type_name].itemsize

    def load(self, file: str, register: int, base: int, offset: int, part: str, align: int = 1 << 20) -> Instruction:
        """Memory at `base` + `offset` bytes into a register; `align` is what the address is a multiple of."""
        return self.copy(False, file, register, base, offset, part, align)

    def store(self, file: str, register: int, base: int, offset: int, part: str, align: int = 1 << 20) -> Instruction:
        """A register to memory at `base` + `offset` bytes."""
        return self.copy(True, file, register, base, offset, part, align)

    def copy(self, store: bool, file: str, register: int, base: int, offset: int, part: str, align: int) -> Instruction:
        for item in self.copies(file, store):
            place, inside = self.ends(item)
            number = next((f for f in item.fields if f.name == place.offset), None)
            if number is None or align % item.align_bytes or item.advance is not None or offset % place.scale:
                continue
            steps = offset // place.scale
            if number.lowest <= steps <= number.highest:
                values = ((inside.base, register), (place.base, base), (number.name, steps))
                return Instruction(item.name, values, () if store else (part,), (part,) if store else ())
        return self.refused(f"a {'store' if store else 'load'} of {file} at {offset} bytes from a register")

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

    def advancing(self, store: bool, file: str, register: int, base: int, step: int, part: str) -> Instruction:
        """A copy at `base`, which is then moved on by `step` bytes."""
        for item in self.copies(file, store):
            if item.advance is None or step % item.advance.scale:
                continue
            number = next(f for f in item.fields if f.name == item.advance.offset)
            steps = step // item.advance.scale
            if number.lowest <= steps <= number.highest:
                _, inside = self.ends(item)
                values = ((inside.base, register), (item.advance.base, base), (number.name, steps))
                return Instruction(item.name, values, () if store else (part,), (part,) if store else ())
        return self.refused(f"a copy of {file} that moves its address on by {step} bytes")

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
        item = self.isa.choose("a constant", self.isa.executing(CONSTANT))
        return Instruction(item.name, ((item.places[0].base, target), (item.immediates[0][1], value)))

    def broadcast(self, target: int, source: int) -> Instruction:
        """A scalar register into every element of a vector."""
        item = self.isa.choose("a broadcast", self.isa.executing(BROADCAST))
        return Instruction(item.name, ((item.places[0].base, target), (item.places[1].base, source)))

    def place(self, item: PackedMnemonic, registers: Sequence[int]) -> Instruction:
        """A mnemonic on registers, in the order of its capability's operands."""
        capability = self.isa.capability(item)
        assert capability is not None
        bases = {place.operand: place.base for place in item.places}
        named = (bases[operand] for operand in capability.operands)
        return Instruction(item.name, tuple(zip(named, registers, strict=True)))

    def rotated(self, item: PackedMnemonic, target: int, source: int, by: int) -> Instruction:
        """`target` is `source` rotated by the bytes in scalar register `by`."""
        capability = self.isa.capability(item)
        assert capability is not None
        bases = {place.operand: place for place in item.places}
        first, second = (bases[operand] for operand in capability.operands)
        return Instruction(item.name, ((first.base, target), (second.base, source), (second.rotated, by)))

    def function(self, name: str, type_name: str, arity: int) -> PackedMnemonic | None:
        """The vector instruction that applies a function to registers of a type."""
        key = (name, type_name, arity)
        if key not in self.isa.functions:
            self.isa.functions[key] = self._function(name, type_name, arity)
        return self.isa.functions[key]

    def _function(self, name: str, type_name: str, arity: int) -> PackedMnemonic | None:
        args = ", ".join(("A{i}", "B{i}", "C{i}")[:arity])
        memory = self.isa.files[self.vectors].memory
        for item in self.isa.executing(parse_statement(f"O{{i}} = F({args})")):
            if [choice for _, choice in item.functions] == [name]:
                if all(p.type_name == type_name and p.memory == memory for p in item.places):
                    return item
        return None

    def refused(self, what: str) -> Instruction:
        raise TilewrightError("unsupported", what, f"an instruction of {self.isa.machine.name} for it", "none")
