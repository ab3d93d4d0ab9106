"""Loads that move ahead of where they are used: in order, as far as there is room, and no byte has two owners."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from xdsl.parser import Parser

from tilewright.dialects.codelet import ProgramOp
from tilewright.driver import make_context
from tilewright.frontends.acg import load_target
from tilewright.passes.codelet.codelet_prefetch import Ahead, move_ahead
from tilewright.passes.codelet.lives import Lives
from tilewright.passes.codelet.placement import onchip_memories

GROUPS = 5
KIND = "!codelet.surrogate<{}xf32, @{}>"


def chain(sizes: list[int], maps: list[int]) -> str:
    """Groups that load weights of so many numbers each, and read and write a map with them."""
    tensors, groups = "", ""
    for number, (size, length) in enumerate(zip(sizes, maps, strict=True)):
        given, held, map_kind = KIND.format(size, "DRAM"), KIND.format(size, "SPAD"), KIND.format(length, "SPAD")
        tensors += f'%w{number} = codelet.tensor "w{number}" weight : {given}\n'
        tensors += f'%c{number} = codelet.tensor "c{number}" temp : {held}\n'
        tensors += f'%a{number} = codelet.tensor "a{number}" temp : {map_kind}\n'
        types = f"({map_kind}, {held})"
        groups += f"""
codelet.fused @g{number} updates dense<[[0, 0, 0, 1], [1, 0, 0, 1]]> : tensor<2x4xi64> samples ["", ""] rows ["", ""] {{
  codelet.codelet @load{number} dims {{i = {size}}} (%W = %w{number} : {given}, %C = %c{number} : {held}) {{
    codelet.transfer %W -> %C over "W[i]" : {given} -> {held}
  }}
  codelet.codelet @use{number} dims {{i = 1}} (%A = %a{number} : {map_kind}, %C = %c{number} : {held}) {{
    codelet.compute @VPU::@unary "O[i] = relu(A[i])" (%A, %C) dims {{a = i}} functions {{F = relu}} : {types}
  }}
}}"""
    return f"codelet.program @main {{\n{tensors}{groups}\n}}"


def moved(
    sizes: list[int], maps: list[int], depth: int, *, maps_first: bool, late: bool, align: int = 4
) -> tuple[Lives, Ahead | None]:
    """What `move_ahead` does in a memory of so many numbers, with addresses that are multiples of `align`."""
    module = Parser(make_context(), chain(sizes, maps)).parse_module()
    program = next(op for op in module.body.block.ops if isinstance(op, ProgramOp))
    machine = load_target(f"tiny:SPAD.depth={depth}")
    memories = tuple(one if one.offchip else replace(one, align_bytes=align) for one in machine.memories)
    lives = Lives(replace(machine, memories=memories), program)
    return lives, move_ahead(lives, onchip_memories(lives.machine), maps_first=maps_first, late=late)


@pytest.mark.parametrize(("depth", "align"), [(64, 4), (94, 24)])  # 376 bytes are no multiple of 24
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("maps_first", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_no_byte_has_two_owners_and_loads_keep_their_order(
    seed: int, maps_first: bool, late: bool, depth: int, align: int
):
    rng = np.random.default_rng(seed)
    sizes, maps = (rng.integers(1, 20, GROUPS).tolist() for _ in range(2))
    lives, found = moved(sizes, maps, depth, maps_first=maps_first, late=late, align=align)
    assert found is not None
    addresses = {op: address for one in found.placements for op, address in one.tensors.items()}
    assert set(addresses) == set(lives.open_tensors(onchip_memories(lives.machine)[0]))
    assert all(at % align == 0 and at + lives.size_bytes(op) <= 4 * depth for op, at in addresses.items())
    spans = {op: (found.early.get(op, first), last) for op, (first, last) in lives.lives.items() if op in addresses}
    for one, other in combinations(addresses, 2):
        if spans[one][0] <= spans[other][1] and spans[other][0] <= spans[one][1]:
            low, high = sorted((one, other), key=lambda op: addresses[op])
            assert addresses[low] + lives.size_bytes(low) <= addresses[high]
    moments = [found.early[load.targets[0]] for load in lives.loads()]
    assert moments == sorted(moments)
    assert all(moment <= load.moment for moment, load in zip(moments, lives.loads(), strict=True))


@pytest.mark.parametrize("maps_first", [False, True])
def test_all_come_at_once_where_there_is_room_and_in_time_where_there_is_none(maps_first: bool):
    lives, roomy = moved([16] * GROUPS, [16] * GROUPS, 240, maps_first=maps_first, late=False)
    _, tight = moved([16] * GROUPS, [16] * GROUPS, 32, maps_first=maps_first, late=False)
    assert roomy is not None
    assert tight is not None
    assert set(roomy.early.values()) == {0}
    assert list(tight.early.values()) == [load.moment for load in lives.loads()]
    assert moved([40] * GROUPS, [16] * GROUPS, 32, maps_first=maps_first, late=False)[1] is None
