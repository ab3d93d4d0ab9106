"""The model's numbers from an accelerator description."""

from __future__ import annotations

from math import prod

from ...algebra.parser import parse_statement
from ...algebra.printer import print_expr
from ...errors import TilewrightError
from ...machine import Capability, Compute, Link, Machine, Memory
from ..soma.hardware import MIB, UNITS, hardware
from .instructions import DIMS, MAC, NO_ISSUE, SUMS_SHARE, Instructions
from .tables import Model

REQUANT_TYPES = "i8", "i32", "i32", "i32"
SUM_BYTES = 4

MEANINGS = {
    "mac": ("O{g, k, p, q} += X{g, p, q, c, r, s} * W{g, k, c, r, s}", ("i32", "i8", "i8")),
    "requant": (
        "O{a, b, c, d} = clip(rshift_round(A{a, b, c, d} * M{a, b, c, d}, S{a, b, c, d}) + Z, L, H)",
        REQUANT_TYPES,
    ),
    "move": ("O{a, b, c, d} = F(A{a, b, c, d})", ("i8", "i8")),
    "add": ("O{a, b, c, d} = F(A{a, b, c, d}, B{a, b, c, d})", ("i32", "i8", "i8")),
    "maximum": ("O{a, b, c} max= A{a, b, c, r, s, t}", ("i8", "i8")),
}
"""Statement and types of the capabilities that lowering uses."""

PRICED = "mac", "requant", "add", "move", "maximum"
"""Meanings by number of the formula of their cycles."""


def model_of(machine: Machine, *, exact: bool = True) -> Model:
    """How `machine` is priced: its DRAM, the buffer linked to it, and the array of multiply-accumulators.

    Energies within the cores are SoMa's for arrays of that size; SoMa's model knows no latency of transfers.
    Raises TilewrightError (kind `target`) where the description has no such parts.
    """
    link, buffer = _dram(machine)
    compute, capability = _cores(machine)
    side = compute.instances_x
    macs = prod(dim.lanes for dim in capability.dims)
    if side != compute.instances_y or macs not in UNITS:
        found = f"{compute.instances_x} x {compute.instances_y} of {macs}"
        known = ", ".join(map(str, UNITS))
        raise _refuse(machine, f"a square array of cores with {known} multiply-accumulates each", found)
    size = buffer.capacity_bytes
    read, write = _port(machine, buffer.name, compute.name), _port(machine, compute.name, buffer.name)
    bandwidth = int(link.bandwidth_bytes_per_cycle)
    if bandwidth < 1:
        raise _refuse(machine, "a DRAM link of at least 1 byte a cycle", f"{link.bandwidth_bytes_per_cycle}")
    array = hardware(max(1, size // MIB), 1.0, side, read, macs).array
    given = instructions_of(machine) if exact else None
    issue = NO_ISSUE if given is None else given.issue
    return Model(array, size, bandwidth, link.latency_cycles if exact else 0, write, int(exact), issue)


def instructions_of(machine: Machine) -> Instructions | None:
    """Cycles of the instructions that tiles become; None where the machine lacks one, and is priced by its cores."""
    buffer = buffer_of(machine)
    found = [capability for name in PRICED if (capability := _instruction(machine, name)) is not None]
    if len(found) < len(PRICED):
        return None
    array = next(node for node in machine.computes if node.name == found[MAC].node)
    formulas: list[str] = []
    for capability, dims in zip(found, DIMS, strict=True):
        if "".join(dim.name for dim in capability.dims) != dims:
            return None
        waits = [link.latency_cycles for link in machine.links if capability.node in (link.src, link.dst)]
        latency = max(waits, default=0)
        formulas.append(print_expr(capability.cycles) + (f" + {latency}" if latency else ""))
    sums = buffer.capacity_bytes // SUMS_SHARE // SUM_BYTES
    splits = "".join(found[MAC].splits)
    return Instructions((array.instances_x, array.instances_y), splits, sums, tuple(formulas))


def _instruction(machine: Machine, name: str) -> Capability | None:
    """The capability of the first mnemonic with a meaning."""
    text, types = MEANINGS[name]
    statement = parse_statement(text)
    known = {(node.name, each.name): each for node in machine.computes for each in node.capabilities}
    for mnemonic in machine.mnemonics:
        capability = known.get((mnemonic.node, mnemonic.capability))
        if capability is not None and capability.statement == statement and types in capability.types:
            return capability
    return None


def buffer_of(machine: Machine) -> Memory:
    """The buffer that `model_of` prices."""
    return _dram(machine)[1]


def _refuse(machine: Machine, expected: str, found: str) -> TilewrightError:
    return TilewrightError("target", machine.name, expected, found, "schedule for edge16 or a machine of its kind")


def _dram(machine: Machine) -> tuple[Link, Memory]:
    """The link out of DRAM with the largest memory behind it."""
    memories = {memory.name: memory for memory in machine.memories}
    found = [
        (link, memories[link.dst])
        for link in machine.links
        if link.src in memories and memories[link.src].offchip and link.dst in memories
    ]
    if not found:
        raise _refuse(machine, "a memory that is `offchip`, linked to a buffer", "none")
    return max(found, key=lambda pair: pair[1].capacity_bytes)


def _cores(machine: Machine) -> tuple[Compute, Capability]:
    """The compute with the most multiply-accumulators, and the capability that uses them."""
    found = [
        (compute, capability)
        for compute in machine.computes
        for capability in compute.capabilities
        if len(capability.operands) == 3 and capability.splits
    ]
    if not found:
        raise _refuse(machine, "an array of multiply-accumulators", "none")
    return max(found, key=lambda pair: prod(dim.lanes for dim in pair[1].dims) * pair[0].instances_x)


def _port(machine: Machine, source: str, target: str) -> int:
    for link in machine.links:
        if (link.src, link.dst) == (source, target) and link.bandwidth_bytes_per_cycle < float("inf"):
            return int(link.bandwidth_bytes_per_cycle)
    raise _refuse(machine, f"a link {source} -> {target} with a bandwidth", "none")
