"""Questions about statements and expressions: which tensors, dims and names they mention, and rewriting those."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .expr import Access, Call, Expr, Name, Num, Statement, Strided


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
