"""What a machine of control model `threads` must satisfy: a chain of registers, shared memory, and what is off chip."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from .complaint import Complaint
from .memory_chain import memory_chain, multiply_accumulate, multiply_accumulates
from .model import Machine
from .warps import matrix_complaints

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
