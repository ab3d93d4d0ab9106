"""Copies of transfers put each element of a window in its place, on random windows, against the window itself."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright import load_target
from tilewright.algebra.affine import Range, index_forms, window
from tilewright.dialects.codelet_rules import parse_access
from tilewright.errors import InfeasibleError
from tilewright.machine.stage_isa import StageIsa
from tilewright.passes.codelet_to_queues.plan_transfer import box_of
from tilewright.passes.codelet_to_queues.tree import Codelet, Surrogate, Transfer
from tilewright.passes.codelet_to_stages.copies import plan_copies

ISA = StageIsa(load_target("vta"))


@pytest.mark.parametrize("seed", range(60))
def test_a_window_is_copied(seed: int) -> None:
    random = np.random.default_rng(seed)
    blocks, height, width = (int(random.integers(1, n)) for n in (4, 12, 12))
    step, taps, pad = (int(random.integers(1, n)) for n in (3, 4, 3))
    pad -= 1
    rows, columns = ((n + 2 * pad - taps) // step + 1 for n in (height, width))
    if rows < 1 or columns < 1:
        return
    tile = {"c": int(random.integers(1, blocks + 1)), "p": int(random.integers(1, rows + 1))}
    tile["q"] = int(random.integers(1, columns + 1))
    extents = {**tile, "r": taps, "s": taps, "e": 16}
    texts = [f"X[c, {step}*p + r - {pad}, {step}*q + s - {pad}{more}, e]" for more in ("", " + 1")][: 1 + (step > taps)]
    axes = window([index_forms(parse_access(text)) for text in texts], extents)
    sizes = tuple(axis.size for axis in axes)
    tensor = Surrogate("x", "DRAM", (blocks, height, width, 16), "i8", (0,))
    codelet = Codelet("c", (), (tensor, Surrogate("X", "INP", sizes, "i8", (0,), axes)), ())
    starts = {
        dim: int(random.integers(0, n - tile[dim] + 1)) for dim, n in (("c", blocks), ("p", rows), ("q", columns))
    }
    ranges = {dim: Range(starts.get(dim, 0), n) for dim, n in extents.items()}
    box = box_of(codelet, Transfer(0, 1, 0), ranges)
    try:
        plan = plan_copies(ISA, codelet, Transfer(0, 1, 0), box)
    except InfeasibleError:  # a window that lies outside
        assert min(count - sum(clip) for count, clip in zip(box.counts, box.clips, strict=True)) < 1
        return
    given = 1 + np.arange(blocks * height * width)
    chip, corner = np.full(int(np.prod(sizes[:-1])), -1), plan.offchip.offset(box.lows, (0,) * 4) // 16
    for one in plan.pieces:
        area = np.zeros((one.height, one.width), np.int64)
        for row in range(one.rows):
            first = corner + one.offchip + row * one.stride
            area[one.above + row, one.left : one.left + one.columns] = given[first : first + one.columns]
        chip[one.chip : one.chip + area.size] = area.ravel()
    wide = np.pad(given.reshape(blocks, height, width), ((0, 0), (40, 40), (40, 40)))
    slices = [slice(low, low + count * s, s) for low, count, s in zip(box.lows, box.counts, box.steps, strict=True)]
    moved = [slice(one.start + 40, one.stop + 40, one.step) for one in slices[1:3]]
    expected = wide[slices[0], moved[0], moved[1]]
    found = chip.reshape(sizes[:-1])[tuple(slice(0, n) for n in expected.shape)]
    assert (found == expected).all()
