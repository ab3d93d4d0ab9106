import pytest

from tilewright.algebra.affine import Affine, to_affine
from tilewright.algebra.expr import print_expr
from tilewright.algebra.parser import parse_expr
from tilewright.errors import TilewrightError


def test_form():
    form = to_affine(parse_expr("2*p + r - 1 + S*(q - p)"), {"S": 3})
    assert form == Affine(-1, (("p", -1), ("q", 3), ("r", 1)))
    assert form.range({"p": 4, "q": 2, "r": 3}) == (-1 - 3, -1 + 3 + 2)
    assert form.evaluate({"p": 1, "q": 1, "r": 2}) == 3
    assert to_affine(form.to_expr()) == form


def test_constants_fold():
    assert to_affine(parse_expr("ceildiv(7, 2) * p + 7 // 2")) == Affine(3, (("p", 4),))
    assert to_affine(parse_expr("p - p")) == Affine(0)


@pytest.mark.parametrize("text", ["p * q", "p // 2", "max(p, 1)", "A[p]", "1.5", "p * 0.5"])
def test_not_affine(text: str):
    with pytest.raises(TilewrightError):
        to_affine(parse_expr(text))


def test_prints_readably():
    assert print_expr(to_affine(parse_expr("-1 + r + 2*p")).to_expr()) == "2 * p + r - 1"
