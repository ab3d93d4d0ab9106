"""The memories between off-chip storage and the multiply-accumulators, and which operands pass through each.

What mapping a loop nest needs to know of a machine: a chain of storage levels, wherever its links branch.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from ..algebra.expr import factors_of
from .complaint import Complaint
from .model import Capability, Compute, Machine, Memory
from .paths import reachable


@dataclass(frozen=True)
class MemoryChain:
    """Memories from the innermost to the off-chip one above `compute`, whose `capability` multiplies and accumulates.

    `served[i]` are the operands, in the capability's order, that may be kept in `memories[i]`.
    """

    compute: Compute
    capability: Capability
    memories: tuple[Memory, ...]
    served: tuple[tuple[str, ...], ...]


def multiply_accumulates(machine: Machine) -> Iterator[Capability]:
    """The capabilities of compute nodes that sum products of operands, in the order of the file."""
    for compute in machine.computes:
        for capability in compute.capabilities:
            if capability.statement.reduce == "+=" and len(factors_of(capability.statement.value)) > 1:
                yield capability


def multiply_accumulate(machine: Machine) -> Capability | None:
    """The first capability of a compute node that sums products of operands, or None."""
    return next(multiply_accumulates(machine), None)


def memory_chain(machine: Machine, capability: Capability) -> MemoryChain:
    """The chain for a capability: each memory on a path of one of its operands, outer ones with fewer instances first.

    An operand's path leads over links through memories that hold it; where instructions execute the capability, its
    last memory is one that they name.
    """
    paths = _paths(machine, capability)
    edges = {edge for edges, _ in paths.values() for edge in edges}
    left = [memory for memory in machine.memories if any(memory.name in on_path for _, on_path in paths.values())]
    ordered: list[Memory] = []
    while left:
        names = {memory.name for memory in left}
        free = [memory for memory in left if not any(dst == memory.name and src in names for src, dst in edges)]
        outer = min(free or left, key=lambda memory: (not memory.offchip, _instances(memory)))
        ordered.append(outer)
        left.remove(outer)
    ordered.reverse()
    served = tuple(tuple(name for name, (_, on_path) in paths.items() if m.name in on_path) for m in ordered)
    compute = machine.compute_by_name[capability.node]
    return MemoryChain(compute, capability, tuple(ordered), served)


def chain_complaints(machine: Machine) -> Iterator[Complaint]:
    """Broken rules of a machine that has arrays of memories, or memories for certain operands."""
    special = [memory for memory in machine.memories if memory.holds is not None or _instances(memory) != 1]
    if not special:
        return
    capability = multiply_accumulate(machine)
    if capability is None:
        lever = "give a compute node a capability like `O{} += I{} * W{}`"
        yield Complaint(f"memory {special[0].name}", "a capability that sums products of operands", "none", lever)
        return
    chain = memory_chain(machine, capability)
    yield from _holds(chain, special)
    for name in capability.operands:
        if not any(name in served for served in chain.served):
            way = "to" if name == capability.operands[0] else "from"
            expected = f"a path of links for {name} {way} an off-chip memory, through memories that hold it"
            yield Complaint(f"capability {capability.node}.{capability.name}", expected, "none")
    for outer, inner in pairwise((*reversed(chain.memories), chain.compute)):
        if inner.instances_x % outer.instances_x or inner.instances_y % outer.instances_y:
            kind = "compute" if isinstance(inner, Compute) else "memory"
            expected = f"instances that those of {outer.name} outside, {_shown(outer)}, divide"
            yield Complaint(f"{kind} {inner.name}", expected, _shown(inner))


def _holds(chain: MemoryChain, special: Iterable[Memory]) -> Iterator[Complaint]:
    served = {memory.name: names for memory, names in zip(chain.memories, chain.served, strict=True)}
    operands = chain.capability.operands
    for memory in special:
        holds = memory.holds or ()
        for name in holds:
            if name not in operands:
                yield Complaint(f"memory {memory.name}", f"operands among {', '.join(operands)}", f"`holds {name}`")
            elif name not in served.get(memory.name, ()):
                lever = f"link it, or leave {name} out"
                yield Complaint(f"memory {memory.name}", f"links that bring {name} here and on", "none", lever)
        if len(set(holds)) < len(holds):
            yield Complaint(f"memory {memory.name}", "each operand once", ", ".join(holds))


def _shown(node: Memory | Compute) -> str:
    return f"[{node.instances_x}][{node.instances_y}]"


def _instances(memory: Memory) -> int:
    return memory.instances_x * memory.instances_y


_Edges = set[tuple[str, str]]


def _paths(machine: Machine, capability: Capability) -> dict[str, tuple[_Edges, set[str]]]:
    """By operand: the links between memories (outer, inner) that it may take, and the memories on its paths."""
    memories = machine.memory_by_name
    bound = _bindings(machine, capability)
    inward = {(x.src, x.dst) for x in machine.links if not x.back and {x.src, x.dst} <= memories.keys()}
    inward = {(src, dst) for src, dst in inward if not memories[dst].offchip}
    between = {(x.src, x.dst) for x in machine.links if {x.src, x.dst} <= memories.keys()}
    outward = {(dst, src) for src, dst in between - inward}
    found: dict[str, tuple[_Edges, set[str]]] = {}
    for number, name in enumerate(capability.operands):
        holding = {m.name for m in machine.memories if m.holds is None or name in m.holds}
        edges = {(outer, inner) for outer, inner in (inward if number else outward) if {outer, inner} <= holding}
        ends = {(x.src, x.dst) if number else (x.dst, x.src) for x in machine.links}
        last = {memory for memory, node in ends if node == capability.node and memory in holding}
        last &= bound.get(name, last)
        offchip = holding & {*machine.offchip}
        on_path = reachable(edges, offchip) & reachable(((b, a) for a, b in edges), last)
        found[name] = ({(a, b) for a, b in edges if {a, b} <= on_path}, on_path)
    return found


def _bindings(machine: Machine, capability: Capability) -> dict[str, set[str]]:
    """By operand, the memories that instructions name for it; empty where none executes the capability."""
    found: dict[str, set[str]] = {}
    for mnemonic in machine.mnemonics:
        if (mnemonic.node, mnemonic.capability) == (capability.node, capability.name):
            for operand in mnemonic.operands:
                found.setdefault(operand.operand, set()).add(operand.memory)
    return found
