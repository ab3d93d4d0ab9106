"""Bounds on machines of packets and of configured loops: bytes off chip, and sums of products."""

from __future__ import annotations

from math import ceil, prod

from ....algebra.expr import Num, factors_of
from ....machine import Machine
from ....machine.memory_chain import multiply_accumulates
from ....machine.packets import PackedMnemonic
from .bound import ProgramBound
from .network import Network
from .traffic import Traffic


def products_bound(network: Network, machine: Machine) -> ProgramBound:
    """What every program takes at least, each sum of products made by multiply-accumulators.

    Bytes are those of `program_bound`; cycles those of the bytes over the links off chip, and those of the products if
    all nodes always work on the largest issues; energy that of the bytes off chip.
    """
    traffic = Traffic(network)
    loads, stores = traffic.loads, traffic.stores
    points = sum(
        need.points
        for step, need in zip(traffic.steps, traffic.needs, strict=True)
        if step.kernel.statement.reduce == "+=" and len(factors_of(step.kernel.statement.value)) > 1
    )
    terms = {"DRAM traffic": ceil((loads + stores) / _bytes_per_cycle(machine))}
    terms["sums of products"] = ceil(points / max(_products_per_cycle(machine), 1))
    best = max(terms, key=lambda name: terms[name])
    far = [memory for memory in machine.memories if memory.offchip]
    energy = loads * min(memory.read_energy_pj_per_byte for memory in far)
    energy += stores * min(memory.write_energy_pj_per_byte for memory in far)
    return ProgramBound(terms[best], energy, loads + stores, best, terms)


def _bytes_per_cycle(machine: Machine) -> float:
    """Of all links off chip together; those of a channel take turns, but for loads and stores of a packet."""
    rates: dict[str, float] = {}
    for link in machine.links:
        if link.src in machine.offchip or link.dst in machine.offchip:
            is_alone = machine.packets is not None or not link.channel
            key = f"{link.src}->{link.dst}" if is_alone else link.channel
            rates[key] = max(rates.get(key, 0.0), link.bandwidth_bytes_per_cycle)
    return sum(rates.values())


def _products_per_cycle(machine: Machine) -> float:
    """Of all nodes together, each at most as many as its capability of most lanes makes."""
    found: dict[str, float] = {}
    nodes = machine.compute_by_name
    for capability in multiply_accumulates(machine):
        node, lanes = nodes[capability.node], prod(dim.lanes for dim in capability.dims)
        cycles = capability.cycles.value if isinstance(capability.cycles, Num) else 1
        rate = lanes * node.instances_x * node.instances_y / max(cycles, 1)
        found[node.name] = max(found.get(node.name, 0.0), rate)
    return sum(rate * _issues(machine, node) for node, rate in found.items())


def _issues(machine: Machine, node: str) -> int:
    """Instructions of a node that issue together: as a packet has slots for them."""
    if machine.packets is None:
        return 1
    own = [mnemonic for mnemonic in machine.packets.mnemonics if mnemonic.node == node and mnemonic.needs]
    slots = {slot for mnemonic in own if _sums(machine, mnemonic) for slot in mnemonic.needs[0]}
    return min(machine.packets.words, len(slots))


def _sums(machine: Machine, mnemonic: PackedMnemonic) -> bool:
    """Whether an instruction sums products."""
    return any((c.node, c.name) == (mnemonic.node, mnemonic.capability) for c in multiply_accumulates(machine))
