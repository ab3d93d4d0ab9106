"""Writes expressions and statements as text, with as few parentheses as reading them back allows."""

from __future__ import annotations

from .expr import Access, Call, Expr, Name, Num, Statement, Strided

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
