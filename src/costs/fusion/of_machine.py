"""A machine as the platform of fused groups."""

from math import inf, isfinite, prod

from ...algebra.expr import target_dims
from ...errors import TilewrightError
from ...machine import Capability, Machine, Memory
from ...machine.memory_chain import MemoryChain, memory_chain, multiply_accumulate
from ..mapping.formula import compile_formula
from .values import Buffers, Platform

UNLIMITED = 1 << 62


def platform_of(machine: Machine) -> Platform:
    """The first multiply-accumulate of `machine` with the memories that feed it from off chip.

    Its last operand is the weights; where the outermost memory on chip that holds them is the one that holds the first
    factor, the buffer is shared.  `TilewrightError` (kind `target`) where something is missing or has no limit.
    """
    capability = multiply_accumulate(machine)
    if capability is None:
        lever = "give a compute node a capability like `O{} += I{} * W{}`"
        raise TilewrightError("target", machine.name, "a capability that sums products of operands", "none", lever)
    chain = memory_chain(machine, capability)
    outer = _outermost(machine, chain, None)
    maps, weights = (_outermost(machine, chain, capability.operands[place]) for place in (1, -1))
    return Platform(
        name=machine.name,
        buffers=Buffers(_capacity(maps), None if weights is maps else _capacity(weights)),
        array=(chain.compute.instances_x, chain.compute.instances_y),
        lanes=lanes_of(capability),
        mac_pj=_energy(capability),
        dram_read_pj=_price(outer)[0],
        dram_write_pj=_price(outer)[1],
        global_read_pj=_price(maps)[0],
        global_write_pj=_price(maps)[1],
        weight_read_pj=_price(weights)[0],
        weight_write_pj=_price(weights)[1],
        dram_bytes_per_cycle=_bandwidth(machine, chain, outer),
        regions=maps.regions or UNLIMITED,
        align_bytes=maps.align_bytes,
    )


def _outermost(machine: Machine, chain: MemoryChain, operand: str | None) -> Memory:
    """The outermost memory on chip that an operand passes through; off chip without an operand."""
    for memory, served in reversed(list(zip(chain.memories, chain.served, strict=True))):
        if memory.offchip == (operand is None) and (operand is None or operand in served):
            return memory
    place = "off chip" if operand is None else f"on chip for {operand}"
    raise TilewrightError("target", machine.name, f"a memory {place}", "none")


def _capacity(memory: Memory) -> int:
    return min(UNLIMITED, memory.capacity_bytes * memory.instances_x * memory.instances_y)


def lanes_of(capability: Capability) -> tuple[int, int]:
    """Lanes that reduce, and lanes of results."""
    targets = target_dims(capability.statement)
    reduced = prod(dim.lanes for dim in capability.dims if dim.name not in targets)
    return reduced, prod(dim.lanes for dim in capability.dims if dim.name in targets)


def _energy(capability: Capability) -> float:
    """pJ per product of an issue that fills the lanes."""
    names = {dim.name: dim.lanes for dim in capability.dims} | {f"{dim}_ways": 1 for dim in capability.splits}
    ops = prod(dim.lanes for dim in capability.dims)
    return float(compile_formula(capability.energy_pj)(names | {"ops": ops})) / ops


def _price(memory: Memory) -> tuple[float, float]:
    """pJ per byte read and written."""
    ports = memory.ports
    if ports.read_energy_pj is None:
        return memory.read_energy_pj_per_byte, memory.write_energy_pj_per_byte
    size = ports.block_words * memory.data_width_bits / 8
    written = ports.read_energy_pj if ports.write_energy_pj is None else ports.write_energy_pj
    return ports.read_energy_pj / size, written / size


def _bandwidth(machine: Machine, chain: MemoryChain, outer: Memory) -> float:
    """Bytes per cycle between chip and DRAM: the links' channels together, or what the ports do."""
    inner = {memory.name for memory in chain.memories}
    channels = {
        link.channel or link.name: link.bandwidth_bytes_per_cycle
        for link in machine.links
        if link.src == outer.name and link.dst in inner
    }
    rates = [outer.ports.read_bandwidth, outer.ports.shared_bandwidth]
    ports = min((rate * outer.data_width_bits / 8 for rate in rates if rate is not None), default=inf)
    found = min(sum(channels.values()) or inf, ports)
    if not isfinite(found):
        lever = "give the link from it a bandwidth"
        raise TilewrightError("target", f"{machine.name}: {outer.name}", "a bandwidth", "no limit", lever)
    return found
