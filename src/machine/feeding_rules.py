"""What instructions must bring where: operands come from off chip, results get there, addresses reach everywhere.

Links say what could move; only a mnemonic that executes a capability moves anything.  These rules are those of machines
whose instructions each execute a capability (control model `queues`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .complaint import Complaint
from .model import Machine, Memory, Mnemonic, OperandBinding
from .paths import reachable


def feeding_complaints(machine: Machine) -> Iterator[Complaint]:
    """Every operand that nothing feeds, every result that nothing takes away, every address field that is too short."""
    if machine.control != "queues":
        return
    moves = [(mnemonic, *_ends(machine, mnemonic)) for mnemonic in machine.mnemonics]
    offchip = {memory.name for memory in machine.memories if memory.offchip}
    constants = {target.memory for _, target, sources in moves if target is not None and not sources}
    steps = [(s.memory, target.memory) for _, target, sources in moves if target is not None for s in sources]
    fed = reachable(steps, offchip | constants)
    drained = reachable([(dst, src) for src, dst in steps], offchip)
    for mnemonic, target, sources in moves:
        subject = f"mnemonic {mnemonic.name}"
        for source in sources:
            if source.memory not in fed:
                expected = f"instructions that bring {source.operand} from off chip to {source.memory}"
                yield Complaint(subject, expected, "none", f"add a mnemonic that copies to {source.memory}")
        if target is not None and target.memory not in drained:
            expected = f"instructions that bring {target.operand} from {target.memory} off chip"
            yield Complaint(subject, expected, "none", f"add a mnemonic that copies from {target.memory}")
    yield from _addresses(machine)


def _ends(machine: Machine, mnemonic: Mnemonic) -> tuple[OperandBinding | None, list[OperandBinding]]:
    """The operand that an instruction writes, and those that it reads."""
    owners = {owner.name: owner for owner in (*machine.computes, *machine.links)}
    capabilities = owners[mnemonic.node].capabilities if mnemonic.node in owners else ()
    found = next((c for c in capabilities if c.name == mnemonic.capability), None)
    if found is None:
        return None, []
    target = next((o for o in mnemonic.operands if o.operand == found.operands[0]), None)
    return target, [o for o in mnemonic.operands if o.operand in found.operands[1:]]


@dataclass(frozen=True)
class _Narrow:
    """An address field that does not reach all of its memory."""

    name: str
    memory: str
    width_bits: int
    needed_bits: int


def _narrow(machine: Machine) -> Iterator[_Narrow]:
    memories: dict[str, Memory] = {memory.name: memory for memory in machine.memories}
    for mnemonic in machine.mnemonics:
        fields = {item.name: item for item in (*machine.header, *mnemonic.fields)}
        for operand in mnemonic.operands:
            memory, item = memories.get(operand.memory), fields.get(operand.address)
            if memory is None or memory.depth is None or item is None or item.highest >= memory.capacity_bytes - 1:
                continue
            needed = (memory.capacity_bytes - 1).bit_length()
            yield _Narrow(f"{mnemonic.name}.{item.name}", memory.name, item.width_bits, needed)


def _addresses(machine: Machine) -> Iterator[Complaint]:
    """One complaint about all fields that are too short."""
    narrow = list(dict.fromkeys(_narrow(machine)))
    if not narrow:
        return
    needs = dict.fromkeys((item.memory, item.needed_bits) for item in narrow)
    texts = [f"{bits} bits, enough for an address in all of {memory}" for memory, bits in needs]
    first, *others = narrow
    found = ", ".join([f"{first.width_bits}", *(f"{item.width_bits} in {item.name}" for item in others)])
    yield Complaint(f"field {first.name}", "; ".join(texts), found, "widen them" if others else "widen it")
