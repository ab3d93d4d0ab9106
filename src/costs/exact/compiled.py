"""Numba's decorators with the types of the functions they compile, and the arrays that compiled code works on."""

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compiled import FOR_COMPILED_CODE, compile_with

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Words = NDArray[np.uint64]


compiled = compile_with(error_model="numpy")
inner = compile_with(**FOR_COMPILED_CODE, error_model="numpy")
bare = compile_with(**FOR_COMPILED_CODE, error_model="numpy", _nrt=False)
bare_entry = compile_with(error_model="numpy", _nrt=False)
"""The last two for functions that make no arrays: see `costs.compiled.bare`."""

part = compile_with(**FOR_COMPILED_CODE, error_model="numpy", _nrt=False, inline="always")
"""Like `bare`, for a function that is called in one place: it becomes part of its caller.  Numba optimises all that a
function calls together with it once more, so a chain of many takes that many times as long to compile; but joining
what is long already takes longer than that."""


class Shape(NamedTuple):
    """A problem: D bounds, what each dimension is to each tensor (T, D: `UNRELATED`, `PLAIN`, `SLIDING`), windows.

    Windows `first[t]` to `first[t + 1]` are tensor `t`'s; `windows[w]` holds the number of their dimensions, and
    (dimension, coefficient) of each.
    """

    bounds: Ints
    kinds: Ints
    first: Ints
    sizes: Ints
    windows: Ints


UNRELATED, PLAIN, SLIDING = range(3)


class Loops(NamedTuple):
    """One mapping: per dimension, its `counts` loops outwards, `places[d, i]` = (level, bound, pitch, order).

    The order of spatial loops is -1.  `tiles[l + 1]` is the nominal tile of level `l`, `limits` what is covered of each
    bound, `iterations` those that the instances at hand have; and event number `e` is loop `events[e, 1]` of dimension
    `events[e, 0]`; the last of `counts` are the events.
    """

    counts: Ints
    places: Ints
    tiles: Ints
    limits: Ints
    iterations: Ints
    events: Ints


Place = IntEnum("Place", "LEVEL BOUND PITCH ORDER WHOLE", start=0)
"""Columns of `Loops.places`; `WHOLE` is the bound again, while `BOUND` is 1 for a loop that is left out."""

Asked = IntEnum("Asked", "CHILD FAN EVENT MODE SKIPPED", start=0)
"""What is asked, an array: the level whose tiles count, the level up to which spatial loops spread children, the
event, what to count, and an event whose loop is at 0, or -2.  Literal arguments would each compile all code again."""


class Scratch(NamedTuple):
    """Working arrays of one axis: what is asked, situations per dimension (base, times), children, and sets of bits."""

    asked: Ints
    situations: Ints
    sizes: Ints
    children: Ints
    previous: Ints
    digits: Ints
    starts: Ints
    bits: Words


MAX_CHILDREN = 4096
MAX_SITUATIONS = 512
MAX_TILES = 1 << 18
MAX_DEPTH = 96
MAX_WINDOW_DIMS = 8
MAX_BITS = 1 << 16
"""Limits of compiled code, all per axis; what exceeds them is priced without it."""


def scratch() -> Scratch:
    """Fresh working arrays, about 1 MB."""
    return Scratch(
        np.zeros(len(Asked), np.int64),
        np.zeros((MAX_WINDOW_DIMS, MAX_SITUATIONS, 2), np.int64),
        np.zeros((4, MAX_WINDOW_DIMS), np.int64),
        np.zeros((MAX_WINDOW_DIMS, MAX_CHILDREN, 4), np.int64),
        np.zeros((MAX_CHILDREN, 4), np.int64),
        np.zeros((3, MAX_DEPTH), np.int64),
        np.zeros((MAX_CHILDREN, 2), np.int64),
        np.zeros((5, MAX_BITS // 64 + 4), np.uint64),
    )
