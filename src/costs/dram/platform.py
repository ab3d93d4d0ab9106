"""The model's numbers from an accelerator description."""

from math import prod

from ...errors import TilewrightError
from ...machine import Capability, Compute, Link, Machine, Memory
from ..soma.hardware import MIB, UNITS, hardware
from .tables import Model


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
    bandwidth = link.bandwidth_bytes_per_cycle
    if bandwidth < 1 or not float(bandwidth).is_integer():
        raise _refuse(machine, "a DRAM link of a whole number of bytes a cycle", f"{bandwidth:g}")
    array = hardware(max(1, size // MIB), 1.0, side, read, macs).array
    return Model(array, size, int(bandwidth), link.latency_cycles if exact else 0, write, int(exact))


def buffer_of(machine: Machine) -> Memory:
    """The buffer that `model_of` prices."""
    return _dram(machine)[1]


def _refuse(machine: Machine, expected: str, found: str) -> TilewrightError:
    return TilewrightError("target", machine.name, expected, found, "schedule for edge16 or a machine of its kind")


def _dram(machine: Machine) -> tuple[Link, Memory]:
    """The link out of DRAM with the largest memory behind it, of those that compute nodes write results to."""
    written = {link.dst for link in machine.links if link.src in {compute.name for compute in machine.computes}}
    memories = machine.memory_by_name
    found = [
        (link, memories[link.dst])
        for link in machine.links
        if link.src in machine.offchip and link.dst in memories and link.dst in written
    ]
    if not found:
        raise _refuse(machine, "a memory that is `offchip`, linked to a buffer of results", "none")
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
