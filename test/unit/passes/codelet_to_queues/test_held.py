"""Where computes on padded maps are cut."""

from itertools import product

import pytest

from tilewright.algebra.affine import Affine
from tilewright.algebra.window import Range, form_low, form_span
from tilewright.passes.codelet_to_queues.held import Cutter
from tilewright.passes.codelet_to_queues.plan_compute import ComputeOperand, ComputePlan
from tilewright.passes.codelet_to_queues.tree import Codelet, Surrogate

FORM = Affine(-1, (("p", 1), ("r", 1)))


def cutter(spread: frozenset[str], size: int = 8, held: int = 0) -> Cutter:
    """One operand, a map of `size` rows with padding 1, read by a window of 3."""
    surrogate = Surrogate("X", "M", (size,), "i8", (0,), ring=(held,))
    operand = ComputeOperand(0, 0, 0, 0, (FORM,), (1,), (1,), False, (held,), 1)
    plan = ComputePlan(None, (operand,), ("p", "r"), ("r",), [])  # type: ignore[arg-type]
    return Cutter(Codelet("c", (("p", size), ("r", 3)), (surrogate,), ()), plan, spread)


@pytest.mark.parametrize(("spread", "held"), [((), 0), (("p",), 0), (("p",), 5), ((), 5)])
def test_boxes_are_all_of_it_once_and_lie_on_one_side(spread: tuple[str, ...], held: int):
    seen: list[tuple[int, int]] = []
    first = 0 if not held else 3
    rows = 8 if not held else 3
    for box in cutter(frozenset(spread), held=held).boxes({"p": Range(first, rows), "r": Range(0, 3)}):
        p, r = box.ranges["p"], box.ranges["r"]
        seen += product(range(p.start, p.start + p.extent), range(r.start, r.start + r.extent))
        low = form_low(FORM, box.ranges)
        high = low + form_span(FORM, box.ranges)
        assert (high < 0 or low >= 8) if box.outside else 0 <= low <= high < 8
        assert not held or low // held == high // held
    assert sorted(seen) == sorted(product(range(first, first + rows), range(3)))


def test_a_dim_that_is_spread_stays_long():
    whole = {"p": Range(0, 8), "r": Range(0, 3)}

    def steps(spread: frozenset[str]) -> int:
        """Four instances take rows at a time."""
        return sum(-(-b.ranges["p"].extent // 4) * b.ranges["r"].extent for b in cutter(spread).boxes(whole))

    assert steps(frozenset()) == 2 * 3 + 2 * 3
    assert steps(frozenset({"p"})) == (1 + 2) + 2 + (1 + 2)
