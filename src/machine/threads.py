"""What control model `threads` adds to an accelerator, and what it must satisfy."""

from collections.abc import Iterator
from math import prod

from ..algebra.expr import access_dims, accesses
from .complaint import Complaint
from .memory_chain import memory_chain, multiply_accumulate, multiply_accumulates
from .model import Capability, Machine, Memory

SIDE = 16
"""Rows, columns and summed elements of a product of fragments."""

THREADS = 32
"""Threads of a warp."""

FORM = f"`dims m <= {SIDE} lanes {SIDE}, n <= {SIDE} lanes {SIDE}, k <= {SIDE}; O{{m, n}} += I{{m, k}} * W{{k, n}};`"


def matrix_complaints(
    machine: Machine, capability: Capability, outer: tuple[Memory, ...], threads: int
) -> Iterator[Complaint]:
    """What is wrong with a capability that warps execute, below the `outer` memories that their `threads` have, too."""
    subject, chain = f"capability {capability.node}.{capability.name}", memory_chain(machine, capability)
    if len(chain.memories) != 3 or chain.memories[1:] != outer:
        expected = f"a memory of fragments below {', '.join(memory.name for memory in outer)}"
        yield Complaint(subject, expected, ", ".join(memory.name for memory in chain.memories) or "none")
        return
    if not _multiplies_matrices(capability):
        yield Complaint(subject, f"a product of matrices, {FORM}", "another one")
        return
    if any(row[1:] != ("f16", "f16") or row[0] not in ("f16", "f32") for row in capability.types):
        found = " | ".join(f"{row[0]} = {', '.join(row[1:])}" for row in capability.types)
        yield Complaint(subject, "types f32 = f16, f16 or f16 = f16, f16", found)
    counts = [node.instances_x * node.instances_y for node in (chain.memories[0], chain.compute)]
    if counts != [threads // THREADS] * 2 or threads % THREADS:
        expected = f"an instance for each {THREADS} of {threads} threads, with a {chain.memories[0].name}"
        yield Complaint(f"compute {capability.node}", expected, f"{counts[1]}, {counts[0]}")


def _multiplies_matrices(capability: Capability) -> bool:
    if len(capability.dims) != 3:
        return False
    m, n, k = capability.dims
    full = all(dim.limit == SIDE for dim in capability.dims) and m.lanes == n.lanes == SIDE
    indices = [access_dims(access) for access in accesses(capability.statement)]
    return full and SIDE % k.lanes == 0 and indices == [(m.name, n.name), (m.name, k.name), (k.name, n.name)]


MOST_THREADS = 1024
"""Threads of a block, by CUDA and OpenCL on all their devices."""


def thread_complaints(machine: Machine) -> Iterator[Complaint]:
    """Every broken rule."""
    if machine.control != "threads":
        return
    subject = f"acg {machine.name}"
    if machine.has_isa or machine.units or machine.packets is not None:
        yield Complaint(subject, "no instructions with control threads, whose programs are texts", "some")
    capability = multiply_accumulate(machine)
    if capability is None:
        lever = "give a compute node a capability like `O{} += I{} * W{}`"
        yield Complaint(subject, "a capability that sums products of operands", "none", lever)
        return
    chain = memory_chain(machine, capability)
    if len(chain.memories) != 3:
        expected = "three memories: a thread's registers, a block's shared memory, and one off chip"
        yield Complaint(subject, expected, ", ".join(memory.name for memory in chain.memories) or "none")
        return
    registers, shared, _ = chain.memories
    nodes = (shared, registers, chain.compute)
    blocks, threads, cores = (prod((node.instances_x, node.instances_y)) for node in nodes)
    if threads != cores or capability.dims:
        expected = f"registers for each of the {cores} instances of {chain.compute.name}, without lanes"
        yield Complaint(f"memory {registers.name}", expected, f"{threads}")
    if threads > MOST_THREADS * blocks:
        expected = f"at most {MOST_THREADS} threads below each {shared.name}"
        yield Complaint(f"memory {registers.name}", expected, f"{threads // blocks}")
    if capability.operands[0] in chain.served[1]:
        lever = f"say `holds {', '.join(capability.operands[1:])};`"
        yield Complaint(
            f"memory {shared.name}", "operands alone: sums stay in registers", capability.operands[0], lever
        )
    for other in multiply_accumulates(machine):
        if other is not capability:
            yield from matrix_complaints(machine, other, chain.memories[1:], threads)
