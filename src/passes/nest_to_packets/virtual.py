"""Registers without numbers: groups of neighbours that get their places when all uses are known."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ...errors import InfeasibleError
from ...machine.packet_program import Instruction
from .emit import Emitter

MOST = 4
"""Registers of a group; the number of register i of group g is `MOST * g + i`."""

Section = list[Instruction]


@dataclass
class Groups:
    """Groups by size; `lasting` ones keep their registers over all sections."""

    sizes: list[int] = field(default_factory=list[int])
    lasting: set[int] = field(default_factory=set[int])

    def take(self, size: int = 1, lasting: bool = False) -> int:
        """The number of the first register of a new group, which begins at a multiple of its size (1, 2 or 4)."""
        size = next(n for n in (1, 2, 4) if n >= size)
        if lasting:
            self.lasting.add(len(self.sizes))
        self.sizes.append(size)
        return MOST * (len(self.sizes) - 1)


def assigned(emitter: Emitter, groups: Groups, sections: Sequence[Section], reuse: bool) -> list[Section]:
    """The sections with registers of the machine; `InfeasibleError` where they do not suffice.

    Without `reuse` every group has registers of its own, which leaves a schedule all freedom.  With it, registers are
    free after their last use, and the one longest free is taken first.
    """
    count = emitter.isa.files[emitter.vectors].count
    uses = [_groups_of(emitter, instruction) for section in sections for instruction in section]
    last = {group: i for i, used in enumerate(uses) for group in used}
    free_since = dict.fromkeys(range(count), -1)
    places: dict[int, int] = {}

    def place(group: int) -> None:
        size = groups.sizes[group]
        starts = [s for s in range(0, count - size + 1, size) if all(s + i in free_since for i in range(size))]
        if not starts:
            raise InfeasibleError("vector registers", count + size, count, "registers", "a shorter expression")
        places[group] = min(starts, key=lambda s: (max(free_since[s + i] for i in range(size)), s))
        for i in range(size):
            del free_since[places[group] + i]

    for group in sorted(groups.lasting & last.keys()):
        place(group)
    for i, used in enumerate(uses):
        for group in used:
            if group not in places:
                place(group)
        for group in dict.fromkeys(used):
            if reuse and last[group] == i and group not in groups.lasting:
                free_since |= dict.fromkeys(range(places[group], places[group] + groups.sizes[group]), i)
    return [[_placed(emitter, item, places) for item in section] for section in sections]


def _fields(emitter: Emitter, instruction: Instruction) -> Iterable[tuple[str, int]]:
    """Its fields that name vectors, with how many a register of their file takes."""
    isa = emitter.isa
    memory, width = isa.files[emitter.vectors].memory, emitter.vector_bytes
    for name, file in isa.mnemonics[instruction.mnemonic].registers:
        if isa.files[file].memory == memory:
            yield name, isa.files[file].width_bytes // width


def _groups_of(emitter: Emitter, instruction: Instruction) -> list[int]:
    return [instruction.value(name) // MOST for name, _ in _fields(emitter, instruction)]


def _placed(emitter: Emitter, instruction: Instruction, places: dict[int, int]) -> Instruction:
    ways = dict(_fields(emitter, instruction))
    values = tuple(
        (name, (places[value // MOST] + value % MOST) // ways[name]) if name in ways else (name, value)
        for name, value in instruction.values
    )
    return Instruction(instruction.mnemonic, values, instruction.reads, instruction.writes, instruction.label)
