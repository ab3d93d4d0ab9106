"""The storage levels of a machine, for mapping loop nests on it."""

import math
from collections.abc import Iterable

from ...algebra.formula import evaluate_formula
from ...errors import TilewrightError
from ...machine import Capability, Link, Machine, Memory
from ...machine.memory_chain import MemoryChain, memory_chain, multiply_accumulate
from .values import Architecture, Level


def architecture_of(machine: Machine, capability: Capability | None = None) -> Architecture:
    """The chain of storage levels between off-chip memory and the multiply-accumulators of `machine`.

    `capability` is the one to map on, else the first that sums products of operands.  A memory becomes a level, a lane
    of an instance a multiply-accumulator of its own (lanes of the first dim along X, of the next along Y, and so on).
    Links limit the network below their outer end, the off-chip memory's its ports.  Raises `TilewrightError` (kind
    `target`) for a machine without such a capability or without a path for one of its operands.
    """
    capability = capability or multiply_accumulate(machine)
    if capability is None:
        lever = "give a compute node a capability like `O{} += I{} * W{}`"
        raise TilewrightError("target", machine.name, "a capability that sums products of operands", "none", lever)
    chain = memory_chain(machine, capability)
    for operand in capability.operands:
        if not any(operand in served for served in chain.served):
            expected = f"a path of links for {operand} between an off-chip memory and {capability.node}"
            subject, lever = f"{machine.name}: {capability.node}.{capability.name}", "link memories as outer <-> inner"
            raise TilewrightError("target", subject, expected, "none", lever)
    offchip = [memory.name for memory in chain.memories if memory.offchip]
    if len(offchip) > 1:
        raise TilewrightError("target", machine.name, "one off-chip memory for all operands", ", ".join(offchip))
    lanes = [dim.lanes for dim in capability.dims if dim.lanes > 1]
    columns, rows = math.prod(lanes[::2]), math.prod(lanes[1::2])
    return Architecture(
        machine.name,
        tuple(_level(machine, chain, i) for i in range(len(chain.memories))),
        capability.node,
        chain.compute.instances_x * chain.compute.instances_y * columns * rows,
        chain.compute.instances_x * columns,
        _energy_per_operation(capability),
        capability.operands,
        sums_apart=machine.control == "threads",
    )


def _energy_per_operation(capability: Capability) -> float:
    """pJ per multiply-accumulate of an issue that fills the lanes."""
    extents = {dim.name: dim.lanes for dim in capability.dims}
    ops = math.prod(extents.values())
    ways = {f"{dim}_ways": 1 for dim in capability.splits}
    return float(evaluate_formula(capability.energy_pj, {**extents, **ways, "ops": ops})) / ops


def _level(machine: Machine, chain: MemoryChain, index: int) -> Level:
    memory, ports = chain.memories[index], chain.memories[index].ports
    inner = {other.name for other in chain.memories[:index]} | {chain.compute.name}
    forth = [link for link in machine.links if link.src == memory.name and link.dst in inner]
    back = [link for link in machine.links if link.dst == memory.name and link.src in inner]
    words = 8 / memory.data_width_bits  # per byte
    read, write, shared, network = _rates(memory, forth, back, words)
    energy, write_energy = _energies(memory)
    served = chain.served[index]
    return Level(
        name=memory.name,
        entries=None if memory.depth is None else memory.banks * memory.depth,
        instances=memory.instances_x * memory.instances_y,
        mesh_x=memory.instances_x,
        block_size=ports.block_words,
        energy_pj=energy,
        read_bandwidth=_least(ports.read_bandwidth, read),
        write_bandwidth=_least(ports.write_bandwidth, write),
        shared_bandwidth=_least(ports.shared_bandwidth, shared),
        hop_energy_pj=ports.hop_energy_pj,
        multiple_buffering=memory.buffering,
        word_bits=memory.data_width_bits,
        write_energy_pj=write_energy,
        network_bandwidth=_least(ports.network_bandwidth, network),
        latency_cycles=ports.latency_cycles + max((link.latency_cycles for link in forth), default=0),
        holds=None if set(served) == set(chain.capability.operands) else served,
        mesh_flit_bits=ports.flit_bits,
        mesh_queue_flits=ports.queue_flits,
        mesh_router_cycles=ports.router_cycles,
        tag_energy_pj=ports.tag_energy_pj,
    )


def _rates(
    memory: Memory, forth: Iterable[Link], back: Iterable[Link], words_per_byte: float
) -> tuple[float | None, float | None, float | None, float | None]:
    """Words per cycle that links allow: to be read, written, both together, and over the network below."""
    inward = _by_channel(forth)
    outward = _by_channel(back)
    down, up = (sum(channels.values()) * words_per_byte for channels in (inward, outward))
    if not memory.offchip:
        return None, None, None, _finite(down)
    if outward.keys() <= inward.keys():  # both ways over the same wires
        return None, None, _finite(down), None
    return _finite(down), _finite(up), None, None


def _by_channel(links: Iterable[Link]) -> dict[str, float]:
    found: dict[str, float] = {}
    for link in links:
        wires = link.channel or link.name
        found[wires] = max(found.get(wires, 0.0), link.bandwidth_bytes_per_cycle)
    return found


def _finite(rate: float) -> float | None:
    return rate if math.isfinite(rate) and rate > 0 else None


def _least(*rates: float | None) -> float | None:
    return min((rate for rate in rates if rate is not None), default=None)


def _energies(memory: Memory) -> tuple[float, float | None]:
    """pJ of a read and a write of a block; None for a write that costs what a read does."""
    ports = memory.ports
    if ports.read_energy_pj is not None:
        return ports.read_energy_pj, ports.write_energy_pj
    block_bytes = memory.data_width_bits * ports.block_words / 8
    read, write = memory.read_energy_pj_per_byte, memory.write_energy_pj_per_byte
    return read * block_bytes, None if write == read else write * block_bytes
