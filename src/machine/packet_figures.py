"""What an execution of a program of packets does: instructions, words, bytes of memory, energy.  Exact, by the code."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from ..algebra.element import ELEMENT_TYPES
from ..algebra.formula import evaluate_formula
from .packet_program import Code, Isa, Loop, executed_packets
from .packets import PackedMnemonic, Place


def executed(code: Code) -> Counter[str]:
    """How often each mnemonic is executed."""
    counts: Counter[str] = Counter()
    for item in code:
        if isinstance(item, Loop):
            inside = executed(item.body)
            if item.end is not None:
                inside[item.end.mnemonic] += 1
            for name, count in inside.items():
                counts[name] += item.trips * count
        else:
            counts.update(instruction.mnemonic for instruction in item)
    return counts


def words_of(isa: Isa, counts: Mapping[str, int]) -> int:
    """Words of the packets that are issued."""
    return sum(count * isa.mnemonics[name].words for name, count in counts.items())


def figures(isa: Isa, code: Code) -> dict[str, float]:
    """`cycles` and `packets` (the same), `dram_bytes`, and `energy_pj` where the target's file gives energies.

    `dram_bytes` are those that instructions read from and write to the off-chip memory, whatever caches are in between.
    """
    counts, packets = executed(code), executed_packets(code)
    known: dict[str, float] = {"cycles": packets, "packets": packets, "dram_bytes": moved_bytes(isa, counts)}
    energy = energy_pj(isa, counts)
    return known if energy is None else known | {"energy_pj": energy}


def moved_bytes(isa: Isa, counts: Mapping[str, int]) -> int:
    """Bytes that instructions read from and write to the off-chip memory."""
    return accessed_bytes(isa, counts)[isa.memory].total


@dataclass
class Accessed:
    """Bytes of a memory that instructions read and write."""

    read: int = 0
    written: int = 0

    @property
    def total(self) -> int:
        """Both together."""
        return self.read + self.written


def accessed_bytes(isa: Isa, counts: Mapping[str, int]) -> dict[str, Accessed]:
    """What instructions do to each memory; a reduction that goes on reads its target, too."""
    found = {memory.name: Accessed() for memory in isa.machine.memories}
    for name, count in counts.items():
        item = isa.mnemonics[name]
        capability = isa.capability(item)
        for place in item.places:
            assert capability is not None
            written = place.operand == capability.operands[0]
            again = written and capability.statement.reduce != "=" and not item.from_identity
            memory, size = found[place.memory], count * _bytes(item, place)
            memory.written += size if written else 0
            memory.read += size if not written or again else 0
    return found


def energy_pj(isa: Isa, counts: Mapping[str, int]) -> float | None:
    """The energy of all accesses and operations; None where the target's file gives none."""
    own = {name: own_energy_pj(isa, isa.mnemonics[name]) for name in counts}
    memories = isa.machine.memories
    if not any(m.read_energy_pj_per_byte or m.write_energy_pj_per_byte for m in memories) and not any(own.values()):
        return None
    accessed = accessed_bytes(isa, counts)
    accesses = sum(
        accessed[m.name].read * m.read_energy_pj_per_byte + accessed[m.name].written * m.write_energy_pj_per_byte
        for m in memories
    )
    return accesses + sum(count * own[name] for name, count in counts.items())


def own_energy_pj(isa: Isa, item: PackedMnemonic) -> float:
    """The energy of one execution, without its accesses."""
    capability = isa.capability(item)
    if capability is None:
        return 0.0
    extents = {dim: int(extent) for dim, extent in item.extents}
    names = extents | {f"{dim}_ways": 1 for dim in extents} | {"ops": prod(extents.values())}
    return float(evaluate_formula(capability.energy_pj, names))


def _bytes(item: PackedMnemonic, place: Place) -> int:
    """Bytes of an operand, each once."""
    extents = dict(item.extents)
    moving = [int(extents[dim]) for dim, stride in place.strides if int(stride)]
    return prod(moving) * ELEMENT_TYPES[place.type_name].itemsize
