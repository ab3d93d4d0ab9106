"""Whether a mapping fits a machine: its memories, their capacity, the instances of its nodes."""

from collections.abc import Mapping
from math import prod

from ...algebra.allocation import align_up, require_bytes
from ...errors import InfeasibleError, TilewrightError
from ...machine import Machine
from ...machine.spreading import instances
from .footprint import buffer_box
from .place import memory_of
from .problem import Group, Kernel, touches
from .tree import Hold, Leaf, Loop, Node, Spatial, full_tiles, kernels_below


def check_tree(group: Group, nodes: tuple[Node, ...], machine: Machine) -> None:
    """Raises `TilewrightError` (kind `unsupported`) for a memory or node that the machine does not have or for more
    instances than a node's, and `InfeasibleError` where what is held at once exceeds a memory."""
    _check(group, nodes, machine, group.extents, {})


def _check(
    group: Group, nodes: tuple[Node, ...], machine: Machine, tile: Mapping[str, int], used: Mapping[str, int]
) -> None:
    for node in nodes:
        match node:
            case Loop(dim, step, body):
                _check(group, body, machine, full_tiles(tile, dim, step), used)
            case Hold():
                _check(group, node.body, machine, tile, _held(group, node, machine, tile, used))
            case Spatial():
                if node.step is not None:
                    raise _unspread(node, machine)
                _check_instances(node, machine)
                _check(group, node.body, machine, tile, used)
            case Leaf():
                continue


def _held(
    group: Group, node: Hold, machine: Machine, tile: Mapping[str, int], used: Mapping[str, int]
) -> dict[str, int]:
    """Bytes held in each memory inside of a hold."""
    known = [memory.name for memory in machine.memories]
    if node.memory not in known:
        raise _unknown("a memory", known, node.memory, machine)
    memory = memory_of(machine, node.memory)
    demand = used.get(node.memory, 0)
    kernels = tuple(k for k in group.kernels if k.name in kernels_below(node.body))
    _check_sums(group, node, kernels, tile, machine)
    for name in node.buffers:
        size = tile_bytes(group, name, tile, kernels)
        demand += node.slots * align_up(size, memory.align_bytes)
    lever = f"hold smaller tiles or fewer copies of {', '.join(node.buffers)}"
    require_bytes(f"memory {memory.name}", demand, memory.capacity_bytes, "", lever)
    return {**used, node.memory: demand}


def tile_bytes(group: Group, name: str, tile: Mapping[str, int], kernels: tuple[Kernel, ...] = ()) -> int:
    """Bytes of one copy of a buffer while dims run over a full tile."""
    uses = touches(group, name, kernels or None)
    if not uses:
        return 0
    ranges = {dim: (0, extent) for dim, extent in tile.items()}
    box = buffer_box([use.forms for use in uses], ranges, tile)
    return group.by_name[name].element_bytes * prod(interval.count for interval in box)


def _check_sums(
    group: Group, node: Hold, kernels: tuple[Kernel, ...], tile: Mapping[str, int], machine: Machine
) -> None:
    """What a kernel accumulates is held outside of the loops that cut the sum."""
    for kernel in kernels:
        cut = [dim for dim in kernel.reductions if tile[dim] < group.extents[dim]]
        if cut and kernel.target.buffer in node.buffers:
            expected = f"{kernel.target.buffer} to be held outside of the loop over {cut[0]}, its sum"
            raise TilewrightError("unsupported", f"mapping for {machine.name}", expected, "a hold inside of it")


def _unspread(node: Spatial, machine: Machine) -> TilewrightError:
    expected = f"{node.dim} to be spread by the computes that run it (no `step`)"
    return TilewrightError(
        "unsupported", f"mapping for {machine.name}", expected, f"step {node.step}", "nest-map{mapper=...} prices it"
    )


def _check_instances(node: Spatial, machine: Machine) -> None:
    computes = machine.compute_by_name
    if node.node not in computes:
        raise _unknown("a compute node", list(computes), node.node, machine)
    there = instances(computes[node.node], node.axis)
    if node.ways > there:
        resource = f"instances of {node.node} along {node.axis}"
        raise InfeasibleError(resource, node.ways, there, "instances", f"spread {node.dim} over {there}")


def _unknown(what: str, known: list[str], found: str, machine: Machine) -> TilewrightError:
    lever = "change the one or the other, or say with --target which machine the mapping is for"
    expected = f"{what} among {', '.join(known)}"
    return TilewrightError("unsupported", f"mapping for {machine.name}", expected, found, lever)
