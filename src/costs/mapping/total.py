"""What a mapped group costs: bytes over every link, cycles of every queue, latency and energy.

Nothing is iterated tile by tile: transfers are summed exactly, computes are priced once per combination of tile sizes.
Latency takes queues and channels as fully overlapped but for one tile that fills and drains them (ours).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from typing import Any

import numpy as np

from ...errors import TilewrightError
from ...machine import Memory
from .binding import Binding, Pricer, Split
from .footprint import Tiles, buffer_box, split, sweep_elements
from .matching import Match
from .place import memory_of, memory_path, offchip, place
from .problem import Group, Kernel, Use
from .tree import Hold, Leaf, Loop, Node, Spatial, buffer_use, full_tiles, kernels_below


@dataclass
class Cost:
    """Totals of a group; `queue_cycles` by unit, `channel_cycles` by the channel of links."""

    dram_read_bytes: int = 0
    dram_write_bytes: int = 0
    energy_pj: float = 0.0
    queue_cycles: dict[str, float] = field(default_factory=dict[str, float])
    channel_cycles: dict[str, float] = field(default_factory=dict[str, float])
    issues: int = 0
    transfers: int = 0
    tiles: int = 1

    @property
    def dram_bytes(self) -> int:
        """Bytes read from and written to memories off chip."""
        return self.dram_read_bytes + self.dram_write_bytes

    @property
    def latency_cycles(self) -> float:
        """The busiest queue or channel, and a tile's share of all the others."""
        times = [*self.queue_cycles.values(), *self.channel_cycles.values()]
        longest = max(times, default=0.0)
        return longest + (sum(times) - longest) / self.tiles


@dataclass(frozen=True)
class _Here:
    """What encloses a node."""

    tiles: Tiles
    tile: Mapping[str, int]
    kept: Mapping[str, str]  # buffer -> memory
    spread: tuple[tuple[str, str, int], ...] = ()  # axis, kernel dim, ways


def cost_of(group: Group, nodes: tuple[Node, ...], pricer: Pricer) -> Cost:
    """The cost of a mapping all whose computes are bound; `TilewrightError` (kind `unsupported`) if one is not."""
    total = Cost()
    kernels = {kernel.name: kernel for kernel in group.kernels}
    walker = _Walker(group, kernels, pricer, total)
    walker.walk(nodes, _Here({}, group.extents, {}))
    return total


@dataclass(frozen=True)
class _Walker:
    group: Group
    kernels: Mapping[str, Kernel]
    pricer: Pricer
    total: Cost

    def walk(self, nodes: tuple[Node, ...], here: _Here) -> None:
        """Adds the cost of all nodes."""
        for node in nodes:
            match node:
                case Loop(dim, step, body):
                    whole = np.zeros(1, np.int64), np.array([self.group.extents[dim]])
                    tiles = {**here.tiles, dim: split(here.tiles.get(dim, whole), step)}
                    self.walk(body, replace(here, tiles=tiles, tile=full_tiles(here.tile, dim, step)))
                case Hold():
                    self._hold(node, here)
                case Spatial(dim, ways, _, axis, body):
                    self.walk(body, replace(here, spread=(*here.spread, (axis, dim, ways))))
                case Leaf():
                    self._compute(node, here)

    def _hold(self, node: Hold, here: _Here) -> None:
        inside = kernels_below(node.body)
        outside = offchip(self.pricer.machine).name
        count = prod(len(starts) for starts, _ in here.tiles.values())
        moved = False
        for name in node.buffers:
            use = buffer_use(self.group, name, inside)
            source = here.kept.get(name, outside)
            if use.loaded:
                self._move(name, use.touched, source, node.memory, here, count)
            if use.stored:
                self._move(name, use.written, node.memory, source, here, count)
            moved = moved or use.loaded or use.stored
        if moved:
            self.total.tiles = max(self.total.tiles, count)
        self.walk(node.body, replace(here, kept={**here.kept, **dict.fromkeys(node.buffers, node.memory)}))

    def _move(self, name: str, forms: Any, source: str, target: str, here: _Here, count: int) -> None:
        buffer = self.group.by_name[name]
        size = sweep_elements(forms, buffer.shape, here.tiles, here.tile) * buffer.element_bytes
        machine = self.pricer.machine
        self.total.transfers += count
        for link in memory_path(machine, source, target):
            src, dst = memory_of(machine, link.src), memory_of(machine, link.dst)
            self.total.dram_read_bytes += size if src.offchip else 0
            self.total.dram_write_bytes += size if dst.offchip else 0
            self.total.energy_pj += size * (src.read_energy_pj_per_byte + dst.write_energy_pj_per_byte)
            channel = link.channel or f"{link.src}->{link.dst}"
            busy = size / link.bandwidth_bytes_per_cycle + count * link.latency_cycles
            self.total.channel_cycles[channel] = self.total.channel_cycles.get(channel, 0.0) + busy

    def _compute(self, leaf: Leaf, here: _Here) -> None:
        kernel = self.kernels[leaf.kernel]
        if leaf.match is None:
            raise TilewrightError("unsupported", f"compute @{leaf.kernel}", "a capability", "none", "run nest-map")
        chosen = place(self.pricer.machine, leaf.match)
        memories = {t: memory_of(self.pricer.machine, m) for t, m in chosen.memories}
        slots = {dim: slot for slot, dim in leaf.dims}
        splits: tuple[Split, ...] = tuple((axis, slots[dim], ways) for axis, dim, ways in here.spread if dim in slots)
        binding = Binding(leaf.dims, splits)
        cycles = energy = 0.0
        for sizes, times in _size_classes(kernel, here):
            extents = {slot: sizes[dim] for slot, dim in leaf.dims}
            own = self._own_spread(leaf.match, binding, sizes, here.tile)
            cycles += times * self.pricer.issue_cycles(leaf.match, own, extents)
            energy += times * self.pricer.issue_energy(leaf.match, binding, extents)
            energy += times * _operand_energy(kernel, sizes, here.tile, memories, self.group)
            self.total.issues += times
        queue = chosen.unit
        self.total.queue_cycles[queue] = self.total.queue_cycles.get(queue, 0.0) + cycles
        self.total.energy_pj += energy

    def _own_spread(self, match: Match, binding: Binding, sizes: Mapping[str, int], tile: Mapping[str, int]) -> Binding:
        """The binding of an issue; those of pieces that are not whole may be spread in a way of their own."""
        if not binding.splits or all(size == tile[dim] for dim, size in sizes.items()):
            return binding
        return self.pricer.spread(match, binding.dims, sizes)


def _size_classes(kernel: Kernel, here: _Here) -> list[tuple[dict[str, int], int]]:
    """Combinations of tile sizes of the kernel's dims, each with how often it runs (loops over other dims too)."""
    options: list[list[tuple[int, int]]] = []
    repeats = prod(len(starts) for dim, (starts, _) in here.tiles.items() if dim not in kernel.dims)
    for dim in kernel.dims:
        if dim not in here.tiles:
            options.append([(here.tile[dim], 1)])
            continue
        sizes, counts = np.unique(here.tiles[dim][1], return_counts=True)
        options.append(list(zip(sizes.tolist(), counts.tolist(), strict=True)))
    found: list[tuple[dict[str, int], int]] = []
    for choice in product(*options):
        times = repeats * prod(count for _, count in choice)
        found.append((dict(zip(kernel.dims, (size for size, _ in choice), strict=True)), times))
    return found


def _operand_energy(
    kernel: Kernel, sizes: Mapping[str, int], tile: Mapping[str, int], memories: Mapping[str, Memory], group: Group
) -> float:
    """Reading each operand's box once and writing the target's, which a reduction that continues also reads."""
    total = 0.0
    for i, use in enumerate(kernel.uses):
        size = _box_bytes(use, sizes, tile, group)
        memory = memories[use.tensor]
        if i > 0:
            total += size * memory.read_energy_pj_per_byte
            continue
        total += size * memory.write_energy_pj_per_byte
        if kernel.continues and kernel.statement.reduce != "=":
            total += size * memory.read_energy_pj_per_byte
    return total


def _box_bytes(use: Use, sizes: Mapping[str, int], tile: Mapping[str, int], group: Group) -> int:
    box = buffer_box([use.forms], {dim: (0, size) for dim, size in sizes.items()}, tile)
    return group.by_name[use.buffer].element_bytes * prod(interval.count for interval in box)
