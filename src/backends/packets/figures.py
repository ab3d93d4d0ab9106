"""What an execution of a program of packets does: instructions, words, bytes of memory, energy.  Exact, by the code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import prod

from ...algebra.element import ELEMENT_TYPES
from ...algebra.formula import evaluate_formula
from ...machine.packet_isa import Isa
from ...machine.packet_program import Code, Loop
from ...machine.packets import PackedMnemonic, Place


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


def moved_bytes(isa: Isa, counts: Mapping[str, int]) -> int:
    """Bytes that instructions read from and write to the off-chip memory, whatever caches are in between."""
    return sum(
        count * _bytes(isa.mnemonics[name], place)
        for name, count in counts.items()
        for place in isa.mnemonics[name].places
        if place.memory == isa.memory
    )


def energy_pj(isa: Isa, counts: Mapping[str, int]) -> float | None:
    """The energy of all accesses and operations; None where the target's file gives none."""
    prices = {m.name: (m.read_energy_pj_per_byte, m.write_energy_pj_per_byte) for m in isa.machine.memories}
    own = {name: _own_energy_pj(isa, isa.mnemonics[name]) for name in counts}
    if not any(any(pair) for pair in prices.values()) and not any(own.values()):
        return None
    total = 0.0
    for name, count in counts.items():
        item = isa.mnemonics[name]
        capability = isa.capability(item)
        accesses = own[name]
        for place in item.places:
            assert capability is not None
            read, write = prices[place.memory]
            written = place.operand == capability.operands[0]
            again = written and capability.statement.reduce != "=" and not item.from_identity
            accesses += _bytes(item, place) * ((write if written else 0.0) + (read if not written or again else 0.0))
        total += count * accesses
    return total


def _own_energy_pj(isa: Isa, item: PackedMnemonic) -> float:
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
