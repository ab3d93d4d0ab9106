"""Where computes on padded maps are cut."""

from itertools import product

import pytest

from tilewright.algebra.affine import Affine, Range, form_low, form_span
from tilewright.algebra.parser import parse_statement
from tilewright.passes.codelet_to_queues.held import Cutter, NonzeroCutter, cutters_of
from tilewright.passes.codelet_to_queues.plan_compute import ComputeOperand, ComputePlan
from tilewright.passes.codelet_to_queues.tree import Codelet, Issue, Surrogate

FORM = Affine(-1, (("p", 1), ("r", 1)))


NODE = Issue("A", "mac", parse_statement("O[p] += X[p + r] * W[r]"), (1, 0, 2), ())


def planned(operand: ComputeOperand, surrogate: Surrogate, node: Issue = NODE) -> ComputePlan:
    """A compute on one map of so many rows, read by a window of 3."""
    codelet = Codelet("c", (("p", 8), ("r", 3)), (surrogate,), ())
    return ComputePlan(codelet, node, None, (operand,), ("p", "r"), ("r",), [])  # type: ignore[arg-type]


def cutter(spread: frozenset[str], size: int = 8, held: int = 0) -> Cutter:
    """One operand, a map of `size` rows with padding 1, read by a window of 3."""
    surrogate = Surrogate("X", "M", (size,), "i8", (0,), ring=(held,))
    operand = ComputeOperand(0, 0, 0, 0, (FORM,), (1,), (1,), False, (held,), 1)
    return Cutter(planned(operand, surrogate), spread)


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


def test_a_ring_of_a_row_is_cut_into_any_number_of_rows():
    boxes = cutter(frozenset(), 4000, 1).boxes({"p": Range(1, 3000), "r": Range(0, 1)})
    assert [box.ranges["p"] for box in boxes] == [Range(row, 1) for row in range(1, 3001)]


def test_a_dim_that_is_spread_stays_long():
    whole = {"p": Range(0, 8), "r": Range(0, 3)}

    def steps(spread: frozenset[str]) -> int:
        """Four instances take rows at a time."""
        return sum(-(-b.ranges["p"].extent // 4) * b.ranges["r"].extent for b in cutter(spread).boxes(whole))

    assert steps(frozenset()) == 2 * 3 + 2 * 3
    assert steps(frozenset({"p"})) == (1 + 2) + 2 + (1 + 2)


@pytest.mark.parametrize("whole", [frozenset(), frozenset({"p"})])
@pytest.mark.parametrize("spread", [(), (("x", "p"),)])
@pytest.mark.parametrize("ranges", [(0, 8, 0, 3), (0, 1, 0, 1), (5, 3, 0, 2), (2, 4, 1, 1)])
def test_products_with_zeros_are_left_out_and_no_others(
    spread: tuple[tuple[str, str], ...], ranges: tuple[int, int, int, int], whole: frozenset[str]
):
    """Of 10 rows the first and the last are zero, and so is what a window of 3 reads there."""
    form = Affine(0, (("p", 1), ("r", 1)))
    surrogate = Surrogate("X", "M", (10,), "i8", (0,))
    operand = ComputeOperand(0, 0, 0, 0, (form,), (1,), (1,), False)
    statement, dims = parse_statement("O[p] += X[p + r] * W[r]"), (("p", "p"), ("r", "r"))
    node = Issue("A", "mac", statement, (1, 0, 2), dims, (), (), spread, True, zeros="X", inside=((1, 9),))
    boxes = NonzeroCutter(planned(operand, surrogate, node), (0,), whole)
    first, rows, tap, taps = ranges
    seen: list[tuple[int, int]] = []
    for box in boxes.boxes({"p": Range(first, rows), "r": Range(tap, taps)}):
        p, r = box.ranges["p"], box.ranges["r"]
        seen += product(range(p.start, p.start + p.extent), range(r.start, r.start + r.extent))
    every = product(range(first, first + rows), range(tap, tap + taps))
    assert sorted(seen) == [(p, r) for p, r in every if 1 <= p + r < 9]


def test_rows_that_stay_whole_are_cut_into_taps():
    """A tap each, and as many rows as it has: not a row at each end, which is fed with several taps."""
    surrogate = Surrogate("X", "M", (10,), "i8", (0,))
    operand = ComputeOperand(0, 0, 0, 0, (Affine(0, (("p", 1), ("r", 1))),), (1,), (1,), False)
    node = Issue("A", "mac", parse_statement("O[p] += X[p + r] * W[r]"), (1, 0, 2), (), zeros="X", inside=((1, 9),))
    plan, whole = planned(operand, surrogate, node), {"p": Range(0, 8), "r": Range(0, 3)}
    rows, taps = (
        [box.ranges for box in NonzeroCutter(plan, (0,), dims).boxes(whole)]
        for dims in (frozenset[str](), frozenset({"p"}))
    )
    assert [(one["p"].extent, one["r"].extent) for one in rows] == [(1, 2), (6, 3), (1, 2)]
    assert [(one["p"], one["r"].extent) for one in taps] == [(Range(1, 7), 1), (Range(0, 8), 1), (Range(0, 7), 1)]


@pytest.mark.parametrize("spread", [(), (("x", "p"),)])
@pytest.mark.parametrize("ranges", [(0, 8, 0, 3), (0, 1, 0, 1), (5, 3, 0, 2), (2, 4, 1, 1)])
def test_products_with_a_border_of_zeros_are_left_out_and_no_others(
    spread: tuple[tuple[str, str], ...], ranges: tuple[int, int, int, int]
):
    surrogate = Surrogate("X", "M", (8,), "i8", (0,), ring=(5,))
    operand = ComputeOperand(0, 0, 0, 0, (FORM,), (1,), (1,), False, (5,), 1)
    statement, dims = parse_statement("O[p] += X[p + r - 1] * W[r]"), (("p", "p"), ("r", "r"))
    node = Issue("A", "mac", statement, (1, 0, 2, 3), dims, (), (), spread, True, ("X",), zeros="X", inside=((0, 8),))
    first, rows, tap, taps = ranges
    for one in cutters_of(planned(operand, surrogate, node)):
        seen: list[tuple[int, int]] = []
        for box in one.boxes({"p": Range(first, rows), "r": Range(tap, taps)}):
            p, r = box.ranges["p"], box.ranges["r"]
            seen += product(range(p.start, p.start + p.extent), range(r.start, r.start + r.extent))
        every = product(range(first, first + rows), range(tap, tap + taps))
        assert sorted(seen) == [(p, r) for p, r in every if 0 <= p + r - 1 < 8]
