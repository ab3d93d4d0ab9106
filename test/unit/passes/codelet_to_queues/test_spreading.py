"""Pieces that are shorter than a compute's tile are spread in the way that takes fewest cycles."""

from __future__ import annotations

from itertools import product

import pytest

from tilewright.algebra.parser import parse_statement
from tilewright.costs.mapping.formula import compile_formula
from tilewright.frontends.acg import load_target
from tilewright.passes.codelet_to_queues.isa import Isa
from tilewright.passes.codelet_to_queues.plan_compute import Spreading
from tilewright.passes.codelet_to_queues.tree import Codelet, Issue, Loop

DIMS = {"k": 112, "p": 13, "q": 13, "c": 512}
STATEMENT = parse_statement("O[k, p, q] += X[p, q, c] * W[k, c]")


def spreading(given: tuple[tuple[str, str], ...]) -> Spreading:
    machine = load_target("cocco_npu")
    binding = next(iter(Isa(machine).of_capability("MXU", "mac")))
    node = Issue("MXU", "mac", STATEMENT, (0, 1, 2), tuple((dim, dim) for dim in DIMS), (), (), given)
    codelet = Codelet("layer", tuple(DIMS.items()), (), (Loop("p", 5, (node,)),))
    return Spreading.of(machine, binding, codelet, node)


def cycles(extents: tuple[int, ...], spread: tuple[str, ...]) -> float:
    """Of one instruction by the capability's own formula."""
    (capability,) = (c for n in load_target("cocco_npu").computes for c in n.capabilities if c.name == "mac")
    env = {dim.name: 1 for dim in capability.dims} | dict(zip(DIMS, extents, strict=True))
    ways = {f"{dim.name}_ways": 4 ** spread.count(dim.name) for dim in capability.dims}
    return float(compile_formula(capability.cycles)({**env, **ways, "ops": 1}))


@pytest.mark.parametrize("extents", [(112, 5, 13, 192), (112, 3, 13, 512), (112, 5, 13, 48), (7, 1, 13, 64)])
def test_pieces(extents: tuple[int, ...]):
    found = spreading((("x", "c"), ("y", "c"))).of_piece(extents, tuple(DIMS)) or {"x": "c", "y": "c"}
    least = min(cycles(extents, both) for both in product(("g", "k", "p", "q", "c", "none"), repeat=2))
    assert cycles(extents, (found.get("x", "none"), found.get("y", "none"))) == least


def test_tiles_are_spread_as_the_compute_says():
    given = spreading((("x", "q"), ("y", "q")))
    assert given.tile == (112, 5, 13, 512)
    assert given.of_piece(given.tile, tuple(DIMS)) is None
    assert given.of_piece((112, 5, 13, 192), tuple(DIMS)) is not None
    assert spreading(()).of_piece((112, 5, 13, 192), tuple(DIMS)) is None


def test_rows_after_columns_fill_instances():
    """14 rows of 14 pixels take 14 steps of 16 pixels, or 4 x 4 of 4 x 4; 196 pixels 13."""
    slots, given = tuple(DIMS), spreading((("x", "p"), ("y", "q")))
    saved, spread = given.saving((8, 14, 14, 8), (8, 196, 1, 8), slots)
    assert spread == {"x": "p", "y": "p"}
    assert saved == cycles((8, 14, 14, 8), ("q", "q")) - cycles((8, 196, 1, 8), ("p", "p")) == 1
    assert spreading(()).saving((8, 14, 14, 8), (8, 196, 1, 8), slots) == (0.0, {})
