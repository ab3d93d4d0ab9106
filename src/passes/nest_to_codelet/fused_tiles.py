"""Mappings of layers in fused groups: everything but what is between a layer's kernels is in place on chip already."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from ...algebra.allocation import align_up
from ...algebra.window import window
from ...costs.mapping.place import memory_of
from ...costs.mapping.problem import tileable_dims, touches
from ...costs.mapping.tree import Hold, Leaf, Loop, Node
from ...dialects.types import size_bytes, tensor_type
from .fused_layers import FusedGroup, FusedLayer, channel_axis

SCRATCH_SHARE = 16
"""What lies between the kernels of a layer takes at most this part of its memory, if cutting helps."""


def tile_layer(group: FusedGroup, layer: FusedLayer) -> tuple[Node, ...]:
    """Loops over samples, rows of an update, and pieces of other dims, around a hold of what is between kernels.

    nest.for n step 1 { nest.for p step 2 { nest.for k step 32 { nest.hold @GBUF [mac] { computes } } } }

    There are two copies of what is between kernels where both fit, so that one kernel goes on while the next one reads.
    """
    held = group.scheme.by_number[group.number[layer.result]]
    tile = dict(layer.problem.extents)
    if layer.sample:
        tile[layer.sample] = 1
    if layer.row:
        tile[layer.row] = min(tile[layer.row], held.rows.delta)
    if layer.column and group.tile[1]:
        tile[layer.column] = min(tile[layer.column], held.columns.delta)
    memory = layer.memories[layer.problem.kernels[-1].target.buffer]
    budget = memory_of(group.machine, memory).capacity_bytes // SCRATCH_SHARE
    cut = _cut(layer, tile, budget)
    slots = 2 if 2 * scratch_bytes(layer, cut) <= _room(group, memory) else 1
    body: tuple[Node, ...] = tuple(Leaf(kernel.name) for kernel in layer.problem.kernels)
    kinds = dict.fromkeys(layer.memories[name] for name in layer.intermediates)
    for kind in reversed(kinds):
        names = tuple(name for name in layer.intermediates if layer.memories[name] == kind)
        body = (Hold(kind, names, slots, body),)
    order = [dim for dim in (layer.sample, layer.row, layer.column if group.tile[1] else "") if dim]
    order += [dim for dim, extent in layer.problem.dims if dim not in order and cut[dim] < extent]
    for dim in reversed(order):
        body = (Loop(dim, cut[dim], body),)
    return body


def _room(group: FusedGroup, memory: str) -> int:
    """Bytes of a memory that neither regions nor weights of the group take."""
    kept = memory_of(group.machine, memory)
    used = group.scheme.demand_bytes if memory == group.map_memory else 0
    for layer in group.layers:
        for name, value in layer.weights.items():
            if layer.memories[name] == memory:
                used += align_up(size_bytes(tensor_type(value)), kept.align_bytes)
        used += kept.align_bytes  # at most one border each
    return kept.capacity_bytes - used


def _cut(layer: FusedLayer, tile: Mapping[str, int], budget: int) -> dict[str, int]:
    """Halves rows, then the longest of the other dims, until what is between kernels fits."""
    found = dict(tile)
    fixed = {layer.sample, *_joined(layer)}
    others = [dim for dim in tileable_dims(layer.problem) if dim not in fixed and dim != layer.row]
    while scratch_bytes(layer, found) > budget:
        dims = [dim for dim in ([layer.row] if layer.row else []) if found[dim] > 1]
        dims = dims or [dim for dim in others if found[dim] > 1]
        if not dims:
            break
        longest = max(dims, key=lambda dim: found[dim])
        found[longest] = -(-found[longest] // 2)
    return found


def scratch_bytes(layer: FusedLayer, tile: Mapping[str, int]) -> int:
    """What lies between the kernels of a layer for one tile."""
    total = 0
    for name in layer.intermediates:
        axes = window([use.forms for use in touches(layer.problem, name)], tile)
        total += prod(axis.size for axis in axes) * layer.problem.by_name[name].element_bytes
    return total


def _joined(layer: FusedLayer) -> set[str]:
    """Dims along which maps are joined: a compute takes one map after another."""
    found: set[str] = set()
    for name, pieces in layer.maps.items():
        if len(pieces) > 1:
            for use in touches(layer.problem, name):
                found |= set(use.forms[channel_axis(len(use.forms))].names)
    return found
