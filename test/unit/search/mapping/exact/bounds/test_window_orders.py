"""Loops of plain dimensions outside of one that slides, on machines where it matters which of two tensors they suit."""

from __future__ import annotations

import pytest

from tilewright.costs.exact import price_batch
from tilewright.costs.hierarchy import Architecture, Level, Problem, Tensor
from tilewright.search.mapping.exact import solve
from tilewright.search.mapping.values import Request, Space

from ..enumerate import every_mapping

REQUEST = Request(objective="energy", space=Space(bypass=False, split_axes=False, factors="perfect"))


def convolution(k: int, c: int, p: int, r: int) -> Problem:
    tensors = (
        Tensor("I", ((0, 1, 0, 0), (0, 0, 1, 1))),
        Tensor("W", ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 0, 1))),
        Tensor("Z", ((1, 0, 0, 0), (0, 0, 1, 0)), is_output=True),
    )
    return Problem("convolution", ("k", "c", "p", "r"), (k, c, p, r), tensors)


def machine(inputs: int, outputs: int, dear: float) -> Architecture:
    """Inputs in one memory, results in another one further out."""
    levels = (
        Level("inputs", inputs, 1, 1, 1, 0.1, holds=("I",)),
        Level("results", outputs, 1, 1, 1, 0.3, holds=("O",)),
        Level("far", None, 1, 1, 1, dear),
    )
    return Architecture("two small memories", levels, "MAC", 1, 1, 0.1)


@pytest.mark.parametrize(
    ("bounds", "inputs", "outputs"),
    [((2, 3, 2, 3), 2, 4), ((4, 2, 2, 3), 2, 2), ((2, 2, 4, 3), 4, 2), ((3, 2, 4, 2), 2, 8)],
)
def test_equals_enumeration(bounds: tuple[int, int, int, int], inputs: int, outputs: int):
    problem, arch = convolution(*bounds), machine(inputs, outputs, 20.0)
    mappings = every_mapping(arch, problem, REQUEST.space, 60_000)
    assert mappings is not None
    prices = price_batch(arch, problem, mappings)
    found = solve(arch, problem, REQUEST)
    assert found.proven
    assert found.energy == pytest.approx(float(prices.energy_pj[prices.valid].min()), rel=1e-12)
