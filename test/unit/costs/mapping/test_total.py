"""Costs of mapping trees: by hand, and against enumeration of all iterations."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import pytest

from tilewright.algebra.expr import tensors_of
from tilewright.algebra.parser import parse_statement
from tilewright.costs.mapping.binding import Pricer
from tilewright.costs.mapping.footprint import buffer_box
from tilewright.costs.mapping.problem import Buffer, Group, Kernel
from tilewright.costs.mapping.total import cost_of
from tilewright.costs.mapping.tree import Hold, Leaf, Loop, Node, buffer_use, full_tiles, kernels_below
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import load_target
from tilewright.search.group_tiles.leaves import bind_kernel
from tilewright.search.group_tiles.tiling import build, tile_group

PRICER = Pricer(load_target("tiny"))


def conv(size: int = 9, stride: int = 1) -> Group:
    """A padded 3x3 convolution of `size` rows, and a relu in place."""
    out = -(-size // stride)
    mac = parse_statement(f"Y[k,p,q] += X[c,{stride}*p+r-1,{stride}*q+s-1] * W[k,c,r,s]")
    relu = parse_statement("Z[k,p,q] = relu(Y[k,p,q])")
    buffers = (
        Buffer("X", (4, size, size), "f32", 4, True, False),
        Buffer("W", (6, 4, 3, 3), "f32", 4, True, False),
        Buffer("mac", (6, out, out), "f32", 4, False, True),
    )
    bound = {"Y": "mac", "Z": "mac", "X": "X", "W": "W"}
    kernels = tuple(
        Kernel(
            name,
            statement,
            tuple((t, bound[t]) for t in tensors_of(statement)),
            tuple((t, "f32") for t in tensors_of(statement)),
            name == "relu",
            ("X",) if name == "mac" else (),
        )
        for name, statement in (("mac", mac), ("relu", relu))
    )
    dims = (("k", 6), ("p", out), ("q", out), ("c", 4), ("r", 3), ("s", 3))
    return Group(dims, kernels, buffers)


def bind(group: Group, nodes: tuple[Node, ...], tile: Mapping[str, int] | None = None) -> tuple[Node, ...]:
    tile = tile or group.extents
    kernels = {k.name: k for k in group.kernels}
    found: list[Node] = []
    for node in nodes:
        match node:
            case Leaf(name):
                found.append(bind_kernel(kernels[name], tile, PRICER))
            case Loop(dim, step, body):
                found.append(Loop(dim, step, bind(group, body, full_tiles(tile, dim, step))))
            case Hold(memory, names, slots, body):
                found.append(Hold(memory, names, slots, bind(group, body, tile)))
            case _:
                raise AssertionError
    return tuple(found)


def moved(group: Group, nodes: tuple[Node, ...], ranges: Mapping[str, tuple[int, int]], tile: Mapping[str, int]) -> int:
    """Bytes between DRAM and the chip, iteration by iteration."""
    total = 0
    for node in nodes:
        if isinstance(node, Loop):
            first, last = ranges[node.dim]
            inner = full_tiles(tile, node.dim, node.step)
            for start in range(first, last, node.step):
                here = {**ranges, node.dim: (start, min(start + node.step, last))}
                total += moved(group, node.body, here, inner)
        elif isinstance(node, Hold):
            for name in node.buffers:
                use = buffer_use(group, name, kernels_below(node.body))
                buffer = group.by_name[name]
                for forms in ([use.touched] if use.loaded else []) + ([use.written] if use.stored else []):
                    box = zip(buffer_box(forms, ranges, tile), buffer.shape, strict=True)
                    total += prod(interval.clip(extent).count for interval, extent in box) * buffer.element_bytes
            total += moved(group, node.body, ranges, tile)
    return total


@pytest.mark.parametrize(("size", "stride"), [(3, 1), (9, 1), (9, 2), (12, 3), (17, 1)])
def test_traffic_is_what_the_iterations_move(size: int, stride: int):
    group = conv(size, stride)
    tiling = tile_group(group, PRICER)
    nodes = bind(group, build(group, tiling))
    cost = cost_of(group, nodes, PRICER)
    ranges = {dim: (0, extent) for dim, extent in group.dims}
    assert cost.dram_bytes == moved(group, nodes, ranges, group.extents)
    assert cost.dram_bytes == tiling.dram_bytes


def test_a_mapping_by_hand():
    """Two tiles of rows of a 9x9 convolution: W once, rows 0..5 and 4..8 of X, all of Y."""
    group = conv(9)
    kernels: tuple[Node, ...] = (Leaf("mac"), Leaf("relu"))
    tree: tuple[Node, ...] = (Hold("SPAD", ("W",), 1, (Loop("p", 5, (Hold("SPAD", ("X", "mac"), 1, kernels),)),)),)
    cost = cost_of(group, bind(group, tree), PRICER)
    assert cost.dram_read_bytes == 4 * (6 * 4 * 9 + 4 * 9 * (6 + 5))
    assert cost.dram_write_bytes == 4 * 6 * 81
    assert cost.transfers == 1 + 2 + 2
    assert cost.channel_cycles["DRAM<->SPAD"] == cost.dram_bytes / 4 + 5 * 8


def test_cycles_by_hand():
    """A relu of 9 by 9 by 6, bound to a = 6 and b = 9 in 9 loops: 6 * ceildiv(9, 4) cycles each, at best."""
    group = conv(9)
    nodes = bind(group, (Leaf("mac"), Leaf("relu")))
    cost = cost_of(group, nodes, PRICER)
    assert cost.queue_cycles["VP"] == min(9 * 6 * 3, 9 * 9 * 2, 6 * 9 * 3)


def test_unbound_computes_have_no_price():
    group = conv(3)
    with pytest.raises(TilewrightError, match="run nest-map"):
        cost_of(group, (Leaf("mac"),), PRICER)
