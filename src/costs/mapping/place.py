"""Where a machine keeps the operands of a capability, and what moving them there costs."""

from dataclasses import dataclass
from itertools import pairwise

from ...errors import TilewrightError
from ...machine import Capability, Link, Machine, Memory
from ...machine.paths import shortest_path
from .matching import Match
from .problem import Group


@dataclass(frozen=True)
class Place:
    """A kernel's capability with the memory of each tensor of its statement, and the queue that issues it."""

    match: Match
    memories: tuple[tuple[str, str], ...]  # tensor of the statement -> memory
    unit: str


def place(machine: Machine, match: Match) -> Place:
    """The memories that the capability's mnemonic names for its operands, else memories linked to its node."""
    capability = match.capability
    bound, unit = _bound_memories(machine, capability)
    tensors = dict(match.tensors)
    memories = tuple(
        (tensors[operand], bound.get(operand) or _linked(machine, capability, operand == capability.operands[0]))
        for operand in capability.operands
    )
    return Place(match, memories, unit)


def _bound_memories(machine: Machine, capability: Capability) -> tuple[dict[str, str], str]:
    for mnemonic in machine.mnemonics:
        if mnemonic.node == capability.node and mnemonic.capability == capability.name:
            return {binding.operand: binding.memory for binding in mnemonic.operands}, mnemonic.unit
    for macro in machine.macros:
        if (macro.node, macro.capability) == (capability.node, capability.name):
            unit = next(m.unit for m in machine.mnemonics if m.name == macro.emissions[0].mnemonic)
            return {operand: memory for operand, memory, _ in macro.places}, unit
    return {}, capability.node


def _linked(machine: Machine, capability: Capability, is_target: bool) -> str:
    node = capability.node
    for link in machine.links:
        here, there = (link.src, link.dst) if is_target else (link.dst, link.src)
        if here == node and there in machine.memory_by_name:
            return there
    way = "from" if is_target else "to"
    raise TilewrightError("target", f"compute {node} of {machine.name}", f"a link {way} a memory", "none")


def buffer_memories(group: Group, places: tuple[Place, ...], machine: Machine) -> dict[str, str]:
    """The on-chip memory of each buffer.

    Raises `TilewrightError` (kind `unsupported`) where kernels want one buffer in different memories.
    """
    found: dict[str, str] = {}
    for kernel, chosen in zip(group.kernels, places, strict=True):
        buffers = dict(kernel.buffers)
        for tensor, memory in chosen.memories:
            kept = found.setdefault(buffers[tensor], memory)
            if kept != memory:
                raise TilewrightError(
                    "unsupported",
                    f"kernel @{kernel.name} on {machine.name}",
                    f"buffer {buffers[tensor]} in one memory",
                    f"{kept} and {memory}",
                    "split the group at this kernel",
                )
    return found


def memory_of(machine: Machine, name: str) -> Memory:
    """A memory by name."""
    return machine.memory_by_name[name]


def memory_path(machine: Machine, src: str, dst: str) -> tuple[Link, ...]:
    """The links of a shortest way from one memory to another over memories.

    Raises `TilewrightError` (kind `target`) if there is none.
    """
    between: dict[tuple[str, str], Link] = {}
    for link in machine.links:
        if {link.src, link.dst} <= machine.memory_by_name.keys():
            between.setdefault((link.src, link.dst), link)
    path = shortest_path(between, src, dst)
    if path is None:
        expected = f"links between memories from {src} to {dst}"
        lever = "link them, with mnemonics that copy: no way leads through computes"
        raise TilewrightError("target", f"target {machine.name}", expected, "none", lever)
    return tuple(between[ends] for ends in pairwise(path))


def offchip(machine: Machine) -> Memory:
    """The memory that holds whole tensors; raises `TilewrightError` (kind `target`) if none is off chip."""
    if not machine.offchip:
        raise TilewrightError("target", f"target {machine.name}", "an off-chip memory", "none")
    return machine.memory_by_name[machine.offchip[0]]
