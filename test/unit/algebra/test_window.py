"""Windows against the coordinates that their accesses touch, one by one."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from tilewright.algebra.affine import Affine, Range, make_affine, window

DIMS = ("a", "b", "c")


Case = tuple[list[Affine], dict[str, int], dict[str, Range]]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    numbers = st.lists(st.integers(-3, 3), min_size=4, max_size=4)
    drawn = draw(st.lists(numbers, min_size=1, max_size=2))
    forms = [make_affine(const, dict(zip(DIMS, terms, strict=True))) for const, *terms in drawn]
    extents = {dim: draw(st.integers(1, 4)) for dim in DIMS}
    ranges = {dim: Range(draw(st.integers(0, 3)), draw(st.integers(1, extent))) for dim, extent in extents.items()}
    return forms, extents, ranges


def touched(form: Affine, ranges: dict[str, Range]) -> set[int]:
    spans = [range(ranges[d].start, ranges[d].start + ranges[d].extent) for d in DIMS]
    return {form.evaluate(dict(zip(DIMS, point, strict=True))) for point in product(*spans)}


@given(cases())
def test_windows_hold_what_is_touched_and_no_more_than_the_hull(case: Case):
    forms, extents, ranges = case
    (axis,) = window([(form,) for form in forms], extents)
    coordinates = set().union(*(touched(form, ranges) for form in forms))
    kept = [axis.low(ranges) + i * axis.step for i in range(axis.count(ranges))]
    assert coordinates <= set(kept)
    assert (kept[0], kept[-1]) == (min(coordinates), max(coordinates))
    assert len(forms) > 1 or len(kept) <= axis.size


def test_strided_accesses_skip_the_holes():
    (axis,) = window([(make_affine(1, {"p": 2, "r": 4}),)], {"p": 5, "r": 3})
    assert (axis.step, axis.size) == (2, 9)


def test_dims_of_one_iteration_do_not_widen_the_step():
    (axis,) = window([(make_affine(-1, {"p": 2, "r": 1}),)], {"p": 5, "r": 1})
    assert (axis.step, axis.size) == (2, 5)
