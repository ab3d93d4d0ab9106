"""A small language for mixed-integer programs, solved by HiGHS."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array

INFINITY = float("inf")


@dataclass
class Expression:
    """A linear expression: coefficients by variable number, and a constant."""

    terms: dict[int, float] = field(default_factory=lambda: dict[int, float]())
    constant: float = 0.0

    def __add__(self, other: Expression | float) -> Expression:
        return Expression(dict(self.terms), self.constant).add(other)

    def __sub__(self, other: Expression | float) -> Expression:
        return self + other * -1.0

    def __mul__(self, factor: float) -> Expression:
        return Expression({v: c * factor for v, c in self.terms.items()}, self.constant * factor)

    def add(self, other: Expression | float, factor: float = 1.0) -> Expression:
        """Add `factor * other` to this expression."""
        if not isinstance(other, Expression):
            self.constant += other * factor
            return self
        self.constant += other.constant * factor
        for variable, coefficient in other.terms.items():
            self.terms[variable] = self.terms.get(variable, 0.0) + coefficient * factor
        return self

    def value(self, point: np.ndarray) -> float:
        """The expression's value at a point."""
        return self.constant + sum(coefficient * point[variable] for variable, coefficient in self.terms.items())


def total(expressions: Iterable[Expression]) -> Expression:
    """The sum of `expressions`."""
    found = Expression()
    for expression in expressions:
        found.add(expression)
    return found


@dataclass(frozen=True)
class Solution:
    """The best point found, and whether nothing better exists."""

    point: np.ndarray
    objective: float
    optimal: bool


class Program:
    """Variables with bounds and rows with bounds; `minimise` solves."""

    def __init__(self) -> None:
        self._upper: list[float] = []
        self._integer: list[int] = []
        self._rows: list[Mapping[int, float]] = []
        self._row_lower: list[float] = []
        self._row_upper: list[float] = []

    @property
    def size(self) -> tuple[int, int]:
        """Variables and rows."""
        return len(self._upper), len(self._rows)

    def variable(self, upper: float, *, integer: bool = True) -> Expression:
        """A new variable between 0 and `upper`."""
        self._upper.append(upper)
        self._integer.append(int(integer))
        return Expression({len(self._upper) - 1: 1.0})

    def at_most(self, left: Expression, right: Expression | float) -> None:
        """`left <= right`."""
        self._row(left - right, -INFINITY, 0.0)

    def equal(self, left: Expression, right: Expression | float) -> None:
        """`left == right`."""
        self._row(left - right, 0.0, 0.0)

    def _row(self, expression: Expression, lower: float, upper: float) -> None:
        self._rows.append(expression.terms)
        self._row_lower.append(lower - expression.constant)
        self._row_upper.append(upper - expression.constant)

    def minimise(self, objective: Expression, time_limit_s: float | None, gap: float) -> Solution | None:
        """The best point within relative `gap`, or None if there is none (or none was found in time)."""
        from scipy.optimize import Bounds, LinearConstraint, milp  # slow to load

        costs = np.zeros(len(self._upper))
        for variable, coefficient in objective.terms.items():
            costs[variable] = coefficient
        options: dict[str, float] = {"mip_rel_gap": gap}
        if time_limit_s is not None:
            options["time_limit"] = max(0.01, time_limit_s)
        upper, *limits = (np.array(found) for found in (self._upper, self._row_lower, self._row_upper))
        bounds, rows = cast(Any, Bounds)(0.0, upper), cast(Any, LinearConstraint)(self._matrix(), *limits)
        result = milp(costs, integrality=np.array(self._integer), bounds=bounds, constraints=rows, options=options)
        if result.x is None:
            return None
        point = np.asarray(result.x, np.float64)
        return Solution(point, objective.value(point), result.status == 0)

    def _matrix(self) -> csr_array:
        from scipy.sparse import csr_array

        starts = np.cumsum([0, *(len(row) for row in self._rows)])
        columns = np.array([variable for row in self._rows for variable in row], np.int64)
        values = np.array([coefficient for row in self._rows for coefficient in row.values()])
        return csr_array((values, columns, starts), shape=(len(self._rows), len(self._upper)))
