"""Formulas on arrays against the same formulas on numbers."""

import numpy as np
import pytest

from tilewright.algebra.expr import Call, Name
from tilewright.algebra.formula import FORMULA_FUNCTIONS, evaluate_formula
from tilewright.algebra.parser import parse_expr
from tilewright.costs.mapping.formula import compile_formula
from tilewright.errors import TilewrightError

POINTS: list[tuple[int | float, ...]] = [
    (7, 2, 5),
    (9, 3, 1),
    (1, 1, 4),
    (2.5, 1.0, 4.0),
    (0.5, 2.0, 0.25),
    (7.0, 0.7, 1.0),
]


@pytest.mark.parametrize("name", FORMULA_FUNCTIONS)
@pytest.mark.parametrize("kind", [int, float])
def test_every_formula_that_a_target_may_have_is_priced(name: str, kind: type):
    if name == "rshift_round" and kind is float:
        return
    formula = Call(name, tuple(Name(n) for n in "abc"[: FORMULA_FUNCTIONS[name][0]]))
    points = [point for point in POINTS if all(isinstance(value, kind) for value in point)]
    env = {n: np.array([point[i] for point in points]) for i, n in enumerate("abc")}
    expected = [evaluate_formula(formula, dict(zip("abc", point, strict=True))) for point in points]
    assert np.asarray(compile_formula(formula)(env)).tolist() == pytest.approx(expected)


def test_division_of_integers_truncates():
    env = {"a": np.array([7, -7]), "b": np.array([2, 2])}
    assert compile_formula(parse_expr("a / b"))(env).tolist() == [3, -3]


def test_unknown_function():
    with pytest.raises(TilewrightError, match="a formula of add, sub"):
        compile_formula(parse_expr("tanh(a)"))
