"""What tiles take by a machine's instructions: cycle formulas of capabilities, as compiled functions take them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...algebra.expr import Call, Expr, Name, Num
from ...algebra.parser import parse_expr
from ...algebra.printer import print_expr
from ...errors import TilewrightError

MAC, REQUANT, ADD, MOVE, MAXIMUM = range(5)
"""Numbers of the formulas."""

DIMS = ("gkpqcrs", "abcd", "abcd", "abcd", "abcrst")
"""Dims of each formula's statement, in the order in which values are given."""

MOST_DIMS = 7
OPS, FIRST_STEP = 2 * MOST_DIMS, 2 * MOST_DIMS + 1
"""Places of values: extents of dims, the instances that each is spread over, their product, and then one a step."""

SUMS_SHARE = 128
"""Of the buffer one part in so many takes 32-bit sums while those made before are brought to bytes."""

(
    CONSTANT,
    IDENTITY,
    PLUS,
    MINUS,
    TIMES,
    OVER,
    TRUNCATED,
    FLOOR_OVER,
    CEIL_OVER,
    MODULO,
    NEGATED,
    LARGER,
    SMALLER,
    FLOOR,
    CEIL,
    EQUAL,
    LESS,
    LESS_EQUAL,
    SELECT,
) = range(19)
"""Functions of steps: the constant of a number, the value of one place, and so on."""

FUNCTIONS = {
    "add": PLUS,
    "sub": MINUS,
    "mul": TIMES,
    "div": OVER,
    "floordiv": FLOOR_OVER,
    "ceildiv": CEIL_OVER,
    "mod": MODULO,
    "neg": NEGATED,
    "max": LARGER,
    "min": SMALLER,
    "floor": FLOOR,
    "ceil": CEIL,
    "eq": EQUAL,
    "lt": LESS,
    "le": LESS_EQUAL,
    "select": SELECT,
}
"""Those that formulas name; `gt` and `ge` turn round."""

MOST_STEPS = 200
Array = NDArray[np.int64]


class Issue(NamedTuple):
    """Formulas as steps (function and the places of up to three values), those of formula i from `ends[i]` on.

    `spreads` (M, 7) has for each way to spread a product over the cores the instances along each dim; `sums` elements
    of 32 bits are made at a time.  A machine that is priced by its cores has no steps.
    """

    steps: Array
    ends: Array
    constants: NDArray[np.float64]
    spreads: Array
    sums: int


NO_ISSUE = Issue(np.zeros((0, 4), np.int64), np.zeros(1, np.int64), np.zeros(1), np.ones((0, 7), np.int64), 0)
"""Of a machine that is priced by its cores."""


@dataclass(frozen=True)
class Instructions:
    """Instances of the array along x and y, dims that may be spread over them, elements of 32-bit sums that are made at
    a time, and cycles of products, scaling to bytes, sums, moves and maxima of windows.
    """

    instances: tuple[int, int]
    splits: str
    sums: int
    formulas: tuple[str, ...]

    @property
    def text(self) -> str:
        """All of it in a line; `parse_instructions` reads it."""
        x, y = self.instances
        return "; ".join([f"{x} {y} {self.splits or '-'} {self.sums}", *self.formulas])

    @cached_property
    def issue(self) -> Issue:
        """For compiled functions; TilewrightError (kind `formula`) where a formula is none that they know."""
        steps: list[tuple[int, int, int, int]] = []
        constants: list[float] = []
        ends = [0]
        for dims, formula in zip(DIMS, self.formulas, strict=True):
            own = _Steps(dims, constants, [])
            own.finish(parse_expr(formula))
            steps += own.rows
            ends.append(len(steps))
        table = np.array(steps, np.int64)
        return Issue(table, np.array(ends, np.int64), np.array([*constants, 0.0]), self._spreads(), self.sums)

    def _spreads(self) -> Array:
        found: list[list[int]] = []
        for chosen in combinations_with_replacement(("", *self.splits), 2):
            ways = [1] * MOST_DIMS
            for dim, instances in zip(chosen, self.instances, strict=True):
                if dim:
                    ways[DIMS[MAC].index(dim)] *= instances
            if ways not in found:
                found.append(ways)
        return np.array(found, np.int64)


def parse_instructions(text: str) -> Instructions:
    """`Instructions.text` read back; TilewrightError (kind `schedule`) where it is not of that form."""
    head, *formulas = [part.strip() for part in text.split(";")]
    x, y, splits, sums = (head.split() + [""] * 4)[:4]
    numbers = all(part.isdecimal() and 0 < int(part) < 1 << 40 for part in (x, y, sums))
    splits = "" if splits == "-" else splits
    if not numbers or not set(splits) <= set(DIMS[MAC]) or len(formulas) != len(DIMS):
        expected = f"'X Y SPLITS SUMS; ' and {len(DIMS)} formulas of cycles"
        raise TilewrightError("schedule", "cycles of instructions", expected, repr(text))
    found = Instructions((int(x), int(y)), splits, int(sums), tuple(formulas))
    _ = found.issue
    return found


@dataclass
class _Steps:
    """The steps of one formula so far."""

    dims: str
    constants: list[float]
    rows: list[tuple[int, int, int, int]]

    def finish(self, formula: Expr) -> None:
        """All steps; the last is the value."""
        place, _ = self.place(formula)
        self.step(IDENTITY, place)
        if len(self.rows) > MOST_STEPS:
            raise TilewrightError("formula", "cycles", f"at most {MOST_STEPS} operations", str(len(self.rows)))

    def step(self, function: int, *places: int) -> int:
        """The place of the value of one more step."""
        a, b, c = (*places, 0, 0, 0)[:3]
        self.rows.append((function, a, b, c))
        return FIRST_STEP + len(self.rows) - 1

    def place(self, formula: Expr) -> tuple[int, bool]:
        """The place of a value, and whether it is an integer."""
        match formula:
            case Num(value):
                self.constants.append(float(value))
                return self.step(CONSTANT, len(self.constants) - 1), isinstance(value, int)
            case Name(id):
                return self._named(id), True
            case Call("gt" | "ge" as fn, (a, b)):
                return self.place(Call({"gt": "lt", "ge": "le"}[fn], (b, a)))
            case Call(fn, args) if fn in FUNCTIONS:
                found = [self.place(argument) for argument in args]
                whole = all(integer for _, integer in found)
                function = TRUNCATED if fn == "div" and whole else FUNCTIONS[fn]
                return self.step(function, *(place for place, _ in found)), whole or fn in ("floor", "ceil", "ceildiv")
            case _:
                known = f"functions {', '.join(FUNCTIONS)}"
                raise TilewrightError("formula", "cycles of an instruction", known, print_expr(formula))

    def _named(self, name: str) -> int:
        if name == "ops":
            return OPS
        dim, ways = name.removesuffix("_ways"), name.endswith("_ways")
        if len(dim) != 1 or dim not in self.dims:
            raise TilewrightError("formula", "cycles of an instruction", f"names among {' '.join(self.dims)}", name)
        return self.dims.index(dim) + MOST_DIMS * ways
