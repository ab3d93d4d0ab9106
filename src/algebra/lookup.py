"""The one value that reads at places which data tell: `D{r, a} = lookup(S{r, a}, I{r}, N)`.

Row `r` of the target is row `I[r]` of the table `S`, which has `N` of them; a negative index counts from the back.  The
stride of `S` over `r` is the distance of its rows.  Only capabilities of links say this; it is no function of elements.
"""

from dataclasses import dataclass

from .expr import Call, Name, Statement, Strided


@dataclass(frozen=True)
class Lookup:
    """The parts of such a statement; `row` is the dim that the index has, `count` the immediate with the rows of S."""

    target: Strided
    table: Strided
    index: Strided
    row: str
    count: str


def lookup_of(statement: Statement) -> Lookup | None:
    """The parts of a statement of exactly this form; None for all others."""
    match statement.target, statement.value:
        case Strided() as target, Call("lookup", (Strided() as table, Strided() as index, Name(count))):
            row = index.dims[0] if len(index.dims) == 1 else ""
            if statement.reduce == "=" and row in table.dims and set(table.dims) == set(target.dims):
                return Lookup(target, table, index, row, count)
        case _:
            pass
    return None
