"""Which dims of a capability carry those of a kernel, against all ways."""

import pytest

from tilewright.algebra.parser import parse_statement
from tilewright.costs.mapping.binding import Binding, Pricer, assignments, split_choices
from tilewright.costs.mapping.problem import Kernel
from tilewright.frontends.acg import load_target

EDGE = load_target("edge16")
TYPES = (("Y", "f32"), ("X", "f32"), ("W", "f32"))
CONV = parse_statement("Y[n,k,p,q] += X[n,c,2*p+r,2*q+s] * W[k,c,r,s]")


@pytest.mark.parametrize(("rows", "columns", "makes"), [(15, 112, 32), (1, 112, 32), (14, 14, 64), (2, 27, 96)])
def test_of_the_fastest_that_which_is_fast_for_single_rows_too(rows: int, columns: int, makes: int):
    kernel = Kernel("k", CONV, tuple((name, name) for name, _ in TYPES), TYPES, False)
    tile = {"n": 1, "k": makes, "p": rows, "q": columns, "c": 3, "r": 3, "s": 3}
    pricer = Pricer(EDGE)
    match = next(one for one in pricer.matches(kernel) if one.capability.name == "fmac")

    def cycles(binding: Binding, single: str = "") -> float:
        extents = {slot: 1 if slot == single else tile[dim] for slot, dim in binding.dims}
        return pricer.issue_cycles(match, binding, extents)

    def singles(binding: Binding) -> float:
        return sum(cycles(binding, dim.name) for dim in match.capability.dims)

    splits = split_choices(EDGE, match.capability)
    fastest: list[Binding] = []
    for bound in assignments(match, tile):  # a spread over fewer axes is taken where it is as fast
        ways = [Binding(bound, split) for split in splits]
        fastest.append(min(ways, key=lambda one: (cycles(one), len(one.splits))))
    least = min((cycles(one), len(one.splits)) for one in fastest)
    equal = [one for one in fastest if (cycles(one), len(one.splits)) == least]
    found = pricer.best(match, tile)
    assert (cycles(found), len(found.splits)) == least
    assert singles(found) == min(map(singles, equal))


def test_columns_are_no_groups_where_weights_would_be_fed_for_each():
    """A row of 112 results of 32 channels takes 126 cycles, and with its columns as groups 1,518."""
    kernel = Kernel("k", CONV, tuple((name, name) for name, _ in TYPES), TYPES, False)
    tile = {"n": 1, "k": 32, "p": 15, "q": 112, "c": 3, "r": 3, "s": 3}
    pricer = Pricer(EDGE)
    match = next(one for one in pricer.matches(kernel) if one.capability.name == "fmac")
    found = pricer.best(match, tile)
    for rows in (15, 1):
        extents = {slot: rows if dim == "p" else tile[dim] for slot, dim in found.dims}
        assert pricer.issue_cycles(match, found, extents) == rows * 126
