"""Statements with other accesses in them."""

from collections.abc import Callable

from ..algebra.expr import Access, Call, Expr, Statement


def with_accesses(expr: Expr, change: Callable[[Access], Expr]) -> Expr:
    """An expression with what `change` makes of each access in its place."""
    match expr:
        case Access():
            return change(expr)
        case Call(fn, args):
            return Call(fn, tuple(with_accesses(arg, change) for arg in args))
        case _:
            return expr


def changed(statement: Statement, change: Callable[[Access], Access]) -> Statement:
    """A statement with what `change` makes of each access, the target's too."""
    assert isinstance(statement.target, Access)
    return Statement(change(statement.target), statement.reduce, with_accesses(statement.value, change))
