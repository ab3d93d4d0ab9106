"""Scalar expressions and tensor statements: the one language in which tilewright says what is computed.

The same text form is used for einsum input, for the bodies of `nest.kernel`, for capabilities and mnemonics in `.acg`
files and for their cost formulas:

    O[n,k,p,q] += X[n, c, 2*p + r, 2*q + s] * W[k,c,r,s]        accesses with affine indices
    O{g,k,p,q} += X{g,p,q,c,r,s} * W{g,k,c,r,s}                 accesses with free strides (capabilities)
    ceildiv(k, 32 * k_ways) * r * s                             plain formulas

Values: integers are exact and wrap to the target's type when stored; floats are computed in f32; an integer met by a
float is converted to f32 first.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Num:
    """A literal: int, or float (f32; `inf` and `-inf` are written so)."""

    value: int | float


@dataclass(frozen=True)
class Name:
    """A dim, a field, an immediate or another named scalar."""

    id: str


@dataclass(frozen=True)
class Call:
    """`fn(args...)`; operators are calls too (`add`, `sub`, `mul`, `div`, `floordiv`, `mod`, `neg`, `eq`, `lt`...)."""

    fn: str
    args: "tuple[Expr, ...]"


@dataclass(frozen=True)
class Access:
    """`tensor[index, ...]`: one element, each index an expression affine in the dims (and constants)."""

    tensor: str
    indices: "tuple[Expr, ...]"


@dataclass(frozen=True)
class Strided:
    """`tensor{dim, ...}`: an element at base + sum of dim * stride, the strides being free parameters (0 allowed)."""

    tensor: str
    dims: tuple[str, ...]


Expr = Num | Name | Call | Access | Strided


@dataclass(frozen=True)
class Statement:
    """`target reduce value`, run for every point of its iteration space.

    `reduce` is `=`, `+=`, `max=` or `min=`.  Dims that the target does not index are reduced over (never with `=`).
    Dims are all names that index an access, in order of first appearance: target first, then value.
    """

    target: Access | Strided
    reduce: str
    value: Expr


_BINARY = {
    "eq": ("==", 1),
    "ne": ("!=", 1),
    "lt": ("<", 1),
    "le": ("<=", 1),
    "gt": (">", 1),
    "ge": (">=", 1),
    "add": ("+", 2),
    "sub": ("-", 2),
    "mul": ("*", 3),
    "div": ("/", 3),
    "floordiv": ("//", 3),
    "mod": ("%", 3),
}
_UNARY_LEVEL = 4


def print_statement(statement: Statement) -> str:
    """Text that `parse_statement` reads back as an equal statement."""
    return f"{print_expr(statement.target)} {statement.reduce} {print_expr(statement.value)}"


def print_expr(expr: Expr) -> str:
    """Text that `parse_expr` reads back as an equal expression."""
    return _print(expr, 0)


def _print(expr: Expr, level: int) -> str:
    """Text of `expr` in a place that binds at `level`: parenthesised when the expression binds less tightly."""
    match expr:
        case Num(value):
            return repr(value)
        case Name(id):
            return id
        case Access(tensor, indices):
            return f"{tensor}[{_list(indices)}]"
        case Strided(tensor, dims):
            return f"{tensor}{{{', '.join(dims)}}}"
        case Call(fn, (left, right)) if fn in _BINARY:
            symbol, own = _BINARY[fn]
            left_level = own + 1 if own == 1 else own
            text = f"{_print(left, left_level)} {symbol} {_print(right, own + 1)}"
            return f"({text})" if own < level else text
        case Call("neg", (operand,)) if not isinstance(operand, Num):
            return f"-{_print(operand, _UNARY_LEVEL)}"
        case Call(fn, args):
            return f"{fn}({_list(args)})"


def _list(items: tuple[Expr, ...]) -> str:
    return ", ".join(_print(item, 0) for item in items)


def walk(expr: Expr) -> Iterator[Expr]:
    """`expr` and all expressions in it, a parent before its children, left to right."""
    waiting = [expr]
    while waiting:
        expr = waiting.pop()
        yield expr
        if isinstance(expr, Call):
            waiting += expr.args[::-1]
        elif isinstance(expr, Access):
            waiting += expr.indices[::-1]


def accesses_of(expr: Expr) -> tuple[Access | Strided, ...]:
    """The accesses of `expr`, left to right, repetitions kept."""
    return tuple(e for e in walk(expr) if isinstance(e, Access | Strided))


def accesses(statement: Statement) -> tuple[Access | Strided, ...]:
    """All accesses, the target first, then the value's from left to right, repetitions kept."""
    return (statement.target, *accesses_of(statement.value))


def factors_of(value: Expr) -> tuple[Access | Strided, ...]:
    """The accesses that `value` multiplies, left to right; none where anything else is in it."""
    if not isinstance(value, Call):
        return () if isinstance(value, Num | Name) else (value,)
    found = [factors_of(arg) if value.fn == "mul" else () for arg in value.args]
    return tuple(access for each in found for access in each) if all(found) else ()


def sums_pairs(statement: Statement) -> bool:
    """Whether a statement sums products of two elements."""
    return statement.reduce == "+=" and len(factors_of(statement.value)) == 2


def tensors_of(statement: Statement) -> tuple[str, ...]:
    """Tensor names without repetition, the target first, then in order of first appearance in the value."""
    return _unique(access.tensor for access in accesses(statement))


def access_dims(access: Access | Strided) -> tuple[str, ...]:
    """Names that index the access, in order of first appearance."""
    if isinstance(access, Strided):
        return access.dims
    return _unique(e.id for index in access.indices for e in walk(index) if isinstance(e, Name))


def dims_of(statement: Statement) -> tuple[str, ...]:
    """All names that index an access, in order of first appearance, target first."""
    return _unique(dim for access in accesses(statement) for dim in access_dims(access))


def target_dims(statement: Statement) -> tuple[str, ...]:
    """The dims that the target indexes."""
    return access_dims(statement.target)


def reduction_dims(statement: Statement) -> tuple[str, ...]:
    """The dims that the target does not index."""
    kept = target_dims(statement)
    return tuple(dim for dim in dims_of(statement) if dim not in kept)


def scalars_of(statement: Statement) -> tuple[str, ...]:
    """Names in the value that are not dims: immediates and other named scalars, in order of first appearance."""
    dims = dims_of(statement)
    return _unique(name for name in free_names(statement.value) if name not in dims)


def free_names(expr: Expr) -> tuple[str, ...]:
    """All `Name`s of `expr`, indices included, in order of first appearance."""
    return _unique(e.id for e in walk(expr) if isinstance(e, Name))


def substitute(
    expr: Expr,
    names: Mapping[str, Expr] | None = None,
    tensors: Mapping[str, str] | None = None,
    functions: Mapping[str, str] | None = None,
) -> Expr:
    """`expr` with names replaced by expressions, tensors and functions renamed.

    A dim of a strided access can only become another name (`ValueError` otherwise).
    """
    names, tensors, functions = names or {}, tensors or {}, functions or {}
    match expr:
        case Num():
            return expr
        case Name(id):
            return names.get(id, expr)
        case Call(fn, args):
            return Call(functions.get(fn, fn), tuple(substitute(a, names, tensors, functions) for a in args))
        case Access(tensor, indices):
            return Access(tensors.get(tensor, tensor), tuple(substitute(i, names, tensors, functions) for i in indices))
        case Strided(tensor, dims):
            return Strided(tensors.get(tensor, tensor), tuple(_rename(dim, names) for dim in dims))


def substitute_statement(
    statement: Statement,
    names: Mapping[str, Expr] | None = None,
    tensors: Mapping[str, str] | None = None,
    functions: Mapping[str, str] | None = None,
) -> Statement:
    """`substitute` on the target and the value of a statement."""
    target = substitute(statement.target, names, tensors, functions)
    assert isinstance(target, Access | Strided)
    return Statement(target, statement.reduce, substitute(statement.value, names, tensors, functions))


def _rename(dim: str, names: Mapping[str, Expr]) -> str:
    new = names.get(dim, Name(dim))
    if not isinstance(new, Name):
        raise ValueError(f"dim {dim} of a strided access cannot become an expression")
    return new.id


def _unique(items: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))
