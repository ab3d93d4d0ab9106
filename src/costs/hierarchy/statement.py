"""Problems from tensor statements: a loop per dim, a tensor per operand, an axis per digit of an index."""

from collections.abc import Mapping
from math import gcd, prod
from typing import cast

from ...algebra.affine import Affine, index_forms, make_affine
from ...algebra.expr import Access, Statement, accesses, dims_of, print_expr, tensors_of
from ...errors import TilewrightError
from .parse import MAX_BOUND, MAX_COEFFICIENT, MAX_DIMS, MAX_MACS, MAX_RANK
from .values import Problem, Tensor


def problem_of_statement(
    statement: Statement, extents: Mapping[str, int], name: str = "kernel", word_bits: Mapping[str, int] | None = None
) -> Problem:
    """The loop nest of a statement: inputs in order of appearance, the target last.

    Dims are those of the statement, in the order of `extents`.  Constants in indices move a tensor as a whole and are
    dropped.  An index that spells a number in digits (`4 * g + k` with k < 4) becomes one axis per digit, so that tiles
    of it have no holes.  `word_bits` gives the bits of an element by tensor.  `TilewrightError` (kind `unsupported`)
    where a tensor is read by two different indices, or for sizes beyond the limits of a problem.
    """
    used = dims_of(statement)
    dims = tuple(dim for dim in extents if dim in used)
    bounds = tuple(extents[dim] for dim in dims)
    if not dims or len(dims) > MAX_DIMS or max(bounds) > MAX_BOUND or prod(bounds) > MAX_MACS:
        expected = f"1 to {MAX_DIMS} dims, extents to {MAX_BOUND}, at most {MAX_MACS} points"
        found = ", ".join(f"{d}={b}" for d, b in zip(dims, bounds, strict=True)) or "no dims"
        raise TilewrightError("unsupported", name, expected, found)
    target, *operands = tensors_of(statement)
    found = {tensor: _coefficients(statement, tensor, dims, extents) for tensor in (*operands, target)}
    bits = word_bits or {}
    return Problem(name, dims, bounds, tuple(Tensor(t, rows, t == target, bits.get(t)) for t, rows in found.items()))


def text_of_problem(problem: Problem) -> str:
    """Einsum text of the loop nest, `statement; bounds`: the output gathers the product of all inputs.

    `problem_of_statement` of it is the problem again, but for digits of an index that were one.
    """
    inputs = [_access(problem, tensor) for tensor in problem.tensors if not tensor.is_output]
    (output,) = (_access(problem, tensor) for tensor in problem.tensors if tensor.is_output)
    bounds = " ".join(f"{dim}={bound}" for dim, bound in zip(problem.dims, problem.bounds, strict=True))
    return f"{output} += {' * '.join(inputs)}; {bounds}"


def _access(problem: Problem, tensor: Tensor) -> str:
    indices: list[str] = []
    for row in tensor.coefficients:
        low = sum(c * (bound - 1) for c, bound in zip(row, problem.bounds, strict=True) if c < 0)
        terms = {dim: c for dim, c in zip(problem.dims, row, strict=True) if c}
        indices.append(print_expr(make_affine(-low, terms).to_expr()))
    return f"{tensor.name}[{', '.join(indices)}]"


def _coefficients(
    statement: Statement, tensor: str, dims: tuple[str, ...], extents: Mapping[str, int]
) -> tuple[tuple[int, ...], ...]:
    first, *others = [a for a in accesses(statement) if a.tensor == tensor]
    forms = index_forms(cast(Access, first))
    for other in others:
        if index_forms(cast(Access, other)) != forms:
            expected = f"one index of {tensor} ({print_expr(first)})"
            lever = "give the second access a tensor of its own"
            raise TilewrightError("unsupported", f"tensor {tensor}", expected, f"{print_expr(other)} too", lever)
    rows = [row for form in forms for row in _digits(form, dims, extents)]
    if len(rows) > MAX_RANK or any(abs(c) > MAX_COEFFICIENT for row in rows for c in row):
        expected = f"at most {MAX_RANK} axes, coefficients to {MAX_COEFFICIENT}"
        raise TilewrightError("unsupported", f"tensor {tensor}", expected, print_expr(first))
    return tuple(rows)


def _digits(form: Affine, dims: tuple[str, ...], extents: Mapping[str, int]) -> list[tuple[int, ...]]:
    """The rows of one index: of each digit, if it is a number in mixed radix, else the one of the whole sum."""
    live = sorted((t for t in form.terms if extents[t[0]] > 1), key=lambda term: abs(term[1]))
    if not form.terms:
        return []
    if len(live) < 2:
        return [_row(dict(form.terms), dims)]
    groups: list[dict[str, int]] = [{}]
    span = 0
    for name, coefficient in live:
        if groups[-1] and abs(coefficient) > span:
            groups.append({})
        groups[-1][name] = coefficient
        span += abs(coefficient) * (extents[name] - 1)
    if len(groups) == 1:
        return [_row(dict(form.terms), dims)]
    return [_row({n: c // gcd(*group.values()) for n, c in group.items()}, dims) for group in reversed(groups)]


def _row(terms: Mapping[str, int], dims: tuple[str, ...]) -> tuple[int, ...]:
    sign = -1 if all(c < 0 for c in terms.values()) else 1
    return tuple(sign * terms.get(dim, 0) for dim in dims)
