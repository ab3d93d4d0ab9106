"""Weights in holes between maps: a hole is found where there is one, and no byte has two owners."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import IntegerType, Signedness

from tilewright.dialects.codelet import TensorOp
from tilewright.dialects.codelet_attributes import SurrogateType
from tilewright.dialects.types import Role
from tilewright.frontends.acg import load_target
from tilewright.passes.codelet.codelet_prefetch import Space

SPAD = next(memory for memory in load_target("tiny:SPAD.depth=64").memories if not memory.offchip)
MOMENTS = 6


@pytest.mark.parametrize("seed", range(40))
def test_a_hole_is_found_where_there_is_one(seed: int):
    rng = np.random.default_rng(seed)
    align, slots = SPAD.align_bytes, SPAD.capacity_bytes // SPAD.align_bytes
    taken = np.zeros((MOMENTS, slots), bool)
    rows: list[tuple[int, int, int, int]] = []
    for _ in range(6):
        start, place, size = int(rng.integers(MOMENTS)), int(rng.integers(slots)), int(rng.integers(1, slots // 3))
        end = int(rng.integers(start + 1, MOMENTS + 1))
        if place + size <= slots and not taken[start:end, place : place + size].any():
            taken[start:end, place : place + size] = True
            rows.append((start, end, place * align, size * align))
    size, start = int(rng.integers(1, slots // 2)), int(rng.integers(MOMENTS))
    tensor = TensorOp("w", Role.WEIGHT, SurrogateType.get([size * align], IntegerType(8, Signedness.SIGNED), SPAD.name))
    columns = np.array([*rows, (0, 0, 0, 0)], np.int64).T.copy()
    space = Space(SPAD, {tensor: len(rows)}, *columns)

    free = [p for p in range(slots - size + 1) if not taken[start:, p : p + size].any()]
    assert space.put(tensor, start, MOMENTS) == bool(free)
    if free:
        assert space.placement().tensors[tensor] // align in free
        space.take_out(tensor)
        assert space.put(tensor, start, MOMENTS)
