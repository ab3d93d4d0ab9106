"""Whether the statement of a compute is what its capability does with the chosen functions and immediates."""

from collections.abc import Mapping

from ...algebra.expr import Access, Call, Expr, Name, Num, Statement, Strided, access_dims, accesses, print_statement
from ...algebra.functions import COMMUTATIVE, REVERSED
from ...errors import TilewrightError
from ...machine import Capability, Machine
from .isa import find_capability
from .tree import Codelet, Issue, tile_extents, visits

_PLAIN = {reversed_: plain for plain, reversed_ in REVERSED.items()}


def check_meanings(machine: Machine, codelet: Codelet) -> None:
    """Raises `TilewrightError` (kind `refuted`) for a compute that its capability does not do.

    Compared are the values (up to the order of commutative arguments, `identity` and reversed functions), the
    reduction, and for each bound dim that it moves the target exactly if the capability's dim does.
    """
    for visit in visits(codelet):
        if isinstance(visit.node, Issue):
            capability = find_capability(machine, visit.node.node, visit.node.capability)
            complaint = _complaint(visit.node, capability, tile_extents(codelet, visit.loops))
            if complaint:
                raise TilewrightError(
                    "refuted",
                    f"codelet @{codelet.name}, compute {visit.node.node}.{visit.node.capability}",
                    complaint,
                    print_statement(visit.node.statement),
                )


def _complaint(issue: Issue, capability: Capability, extents: Mapping[str, int]) -> str:
    """What is expected instead of the issue's statement; empty if it is right."""
    pattern = capability.statement
    filled = _canonical(_fill(pattern.value, dict(issue.functions), dict(issue.immediates)))
    same = pattern.reduce == issue.statement.reduce and pattern.target.tensor == issue.statement.target.tensor
    if not same or filled != _canonical(issue.statement.value):
        chosen = [f"{name} = {value}" for name, value in (*issue.functions, *issue.immediates)]
        return print_statement(pattern) + (f" with {', '.join(chosen)}" if chosen else "")
    offered = set(access_dims(pattern.target))
    moving = set(access_dims(issue.statement.target))
    for slot, dim in issue.dims:
        if extents[dim] > 1 and (slot in offered) != (dim in moving):
            return f"dim {slot} bound to a dim that moves the target {'too' if slot in offered else 'neither'}"
        if extents[dim] > 1 and not _moved(issue.statement, dim) <= (most := _moved(capability.statement, slot)):
            return f"dim {slot} bound to a dim that moves at most {', '.join(sorted(most))}"
    return ""


def _moved(statement: Statement, dim: str) -> set[str]:
    """The tensors that a dim of a statement moves."""
    return {access.tensor for access in accesses(statement) if dim in access_dims(access)}


def _fill(value: Expr, functions: Mapping[str, str], immediates: Mapping[str, int | float]) -> Expr:
    match value:
        case Name(id) if id in immediates:
            return Num(immediates[id])
        case Call(fn, args):
            return Call(functions.get(fn, fn), tuple(_fill(arg, functions, immediates) for arg in args))
        case _:
            return value


def _canonical(value: Expr) -> Expr:
    """Tensors without indices, no `identity`, commutative arguments in one order, no reversed functions."""
    match value:
        case Access(tensor, _) | Strided(tensor, _):
            return Name(tensor)
        case Call("identity", (arg,)):
            return _canonical(arg)
        case Call(fn, (first, second)) if fn in _PLAIN:
            return _canonical(Call(_PLAIN[fn], (second, first)))
        case Call(fn, args):
            inner = [_canonical(arg) for arg in args]
            return Call(fn, tuple(sorted(inner, key=repr) if fn in COMMUTATIVE else inner))
        case _:
            return value
