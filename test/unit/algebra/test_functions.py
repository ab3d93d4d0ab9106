import numpy as np
import pytest

from tilewright.algebra.element import ELEMENT_TYPES, bits_to_value, value_to_bits
from tilewright.algebra.formula import FORMULA_FUNCTIONS, evaluate_formula
from tilewright.algebra.functions import FUNCTIONS, call_function
from tilewright.algebra.parser import parse_expr
from tilewright.errors import TilewrightError


def ints(*values: int):
    return np.array(values, np.int32)


def floats(*values: float):
    return np.array(values, np.float32)


def test_integer_division_truncates():
    assert call_function("div", [ints(7, -7, 7, -7, 5), ints(2, 2, -2, -2, 0)]).tolist() == [3, -3, -3, 3, 0]
    assert call_function("floordiv", [ints(7, -7), ints(2, 2)]).tolist() == [3, -4]
    assert call_function("mod", [ints(7, -7), ints(3, 3)]).tolist() == [1, 2]
    assert call_function("ceildiv", [ints(7, -7), ints(2, 2)]).tolist() == [4, -3]


def test_rshift_round_halves_up():
    assert call_function("rshift_round", [ints(5, -5, 6, 7, 9), ints(1, 1, 2, 2, 0)]).tolist() == [3, -2, 2, 2, 9]


def test_rint_halves_to_even():
    assert call_function("rint", [floats(0.5, 1.5, 2.5, -0.5)]).tolist() == [0.0, 2.0, 2.0, -0.0]


def test_floats_stay_single():
    for name, function in FUNCTIONS.items():
        if function.rule in ("num", "float"):
            result = call_function(name, [floats(0.25, 1.5)] * function.arity)
            assert result.dtype in (np.float32, np.int64), name


def test_integers_meet_floats_as_floats():
    assert call_function("add", [ints(2**24 + 1), floats(0)]).dtype == np.float32
    assert call_function("exp", [ints(0)]).dtype == np.float32


def test_casts():
    assert call_function("i8", [ints(200, -129)]).tolist() == [-56, 127]
    assert call_function("sat_i8", [ints(200, -129)]).tolist() == [127, -128]
    assert call_function("i32", [floats(-1.9, 1.9, np.nan)]).tolist() == [-1, 1, 0]
    assert call_function("f32", [ints(3)]).dtype == np.float32


def test_activations():
    x = floats(-8, -1, 0, 0.5, 8)
    np.testing.assert_allclose(call_function("sigmoid", [x]), 1 / (1 + np.exp(-x.astype(np.float64))), rtol=1e-6)
    np.testing.assert_allclose(call_function("hard_swish", [x]), x * np.clip(x / 6 + 0.5, 0, 1), rtol=1e-6)
    gelu = call_function("gelu", [x])
    np.testing.assert_allclose(gelu, [-0.0, -0.15865526, 0, 0.34573123, 8], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("type_name", ["i8", "u8", "i32", "f32", "i64", "f16"])
def test_bits(type_name: str):
    for value in (0, 1, 3.5, -2) if type_name.startswith("f") else (0, 1, 100):
        assert bits_to_value(value_to_bits(value, type_name), type_name) == value
    assert bits_to_value(0, type_name).dtype == ELEMENT_TYPES[type_name]


@pytest.mark.parametrize("name", sorted(set(FORMULA_FUNCTIONS) & set(FUNCTIONS)))
def test_formulas_agree_with_arrays(name: str):
    arity = FUNCTIONS[name].arity
    for values in ([7, 2, 5], [-7, 2, 5], [9, 3, 1], [2.5, 1.0, 4.0]):
        if name in ("sqrt", "log", "log2", "pow", "rshift_round") and (values[0] < 0 or isinstance(values[0], float)):
            continue
        env = dict(zip("abc", values, strict=True))
        expr = parse_expr(f"{name}({', '.join('abc'[:arity])})")
        arrays = [np.asarray(v, np.float32 if isinstance(v, float) else np.int64) for v in values[:arity]]
        assert evaluate_formula(expr, env) == pytest.approx(float(call_function(name, arrays)), rel=1e-6)


@pytest.mark.parametrize("text", ["1 // 0", "k", "F(1)", "A[1]", "pow(10.0, 999)", "sqrt(-1)"])
def test_formula_errors(text: str):
    with pytest.raises(TilewrightError):
        evaluate_formula(parse_expr(text), {"n": 1})
