"""Which capability can run a kernel, and how: the kernel's statement is unified with the capability's.

Covenant (Kinzer et al., 2023) matches codelet operations to ACG capabilities by name and type; here the meaning itself
is matched, so a new capability needs no name known to the compiler.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations

from ...algebra.expr import Access, Call, Expr, Name, Num, Strided, accesses, print_statement
from ...algebra.functions import COMMUTATIVE, REVERSED
from ...errors import TilewrightError
from ...machine import Capability, Machine
from .problem import Kernel


@dataclass(frozen=True)
class Match:
    """A kernel as one capability: operands -> tensors of the statement, function variables and immediates filled in.

    `slots` lists for each kernel dim the capability dims that can carry it.
    """

    capability: Capability
    tensors: tuple[tuple[str, str], ...]
    functions: tuple[tuple[str, str], ...]
    immediates: tuple[tuple[str, int | float], ...]
    slots: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class _Found:
    accesses: Mapping[str, Access]
    functions: Mapping[str, str]
    immediates: Mapping[str, int | float]

    def access(self, operand: str, access: Access) -> "Iterator[_Found]":
        if self.accesses.get(operand, access) == access:
            yield _Found({**self.accesses, operand: access}, self.functions, self.immediates)

    def function(self, variable: str, name: str) -> "Iterator[_Found]":
        if self.functions.get(variable, name) == name:
            yield _Found(self.accesses, {**self.functions, variable: name}, self.immediates)

    def immediate(self, name: str, value: float) -> "Iterator[_Found]":
        if self.immediates.get(name, value) == value:
            yield _Found(self.accesses, self.functions, {**self.immediates, name: value})


def match(kernel: Kernel, capability: Capability) -> Match | None:
    """How the capability runs the kernel; `None` if it cannot."""
    return next(alternatives(kernel, capability), None)


def match_as(
    kernel: Kernel,
    capability: Capability,
    tensors: tuple[tuple[str, str], ...],
    functions: tuple[tuple[str, str], ...],
    immediates: tuple[tuple[str, int | float], ...],
) -> Match | None:
    """The match with these tensors, functions and immediates, in any order; `None` if there is none."""
    wanted = dict(tensors), dict(functions), dict(immediates)
    for found in alternatives(kernel, capability):
        if (dict(found.tensors), dict(found.functions), dict(found.immediates)) == wanted:
            return found
    return None


def alternatives(kernel: Kernel, capability: Capability) -> Iterator[Match]:
    """All ways in which the capability runs the kernel, for one order of factors and for another."""
    pattern, statement = capability.statement, kernel.statement
    if pattern.reduce != statement.reduce or not isinstance(pattern.target, Strided):
        return
    assert isinstance(statement.target, Access)
    start = _Found({pattern.target.tensor: statement.target}, {}, {})
    for found in _unify(capability, pattern.value, statement.value, start):
        if _types_fit(kernel, capability, found):
            slots = _slots(kernel, capability, found)
            yield Match(
                capability,
                tuple((operand, access.tensor) for operand, access in found.accesses.items()),
                tuple(found.functions.items()),
                tuple(found.immediates.items()),
                slots,
            )


def matches(kernel: Kernel, machine: Machine) -> tuple[Match, ...]:
    """All ways to run a kernel on a machine, in the order of its nodes and capabilities.

    Raises `TilewrightError` (kind `unsupported`) if there is none.
    """
    found = [match(kernel, capability) for node in machine.computes for capability in node.capabilities]
    kept = tuple(m for m in found if m is not None)
    if not kept:
        types = ", ".join(name for _, name in kernel.types)
        raise TilewrightError(
            "unsupported",
            f"kernel @{kernel.name}",
            f"a capability of {machine.name} for `{print_statement(kernel.statement)}` on {types}",
            "none",
            "give the target such a capability or use another element type",
        )
    return kept


def _unify(capability: Capability, pattern: Expr, value: Expr, found: _Found) -> Iterator[_Found]:
    match pattern, value:
        case Strided(operand, _), Access():
            yield from found.access(operand, value)
        case Name(id), Num(number) if any(id == name for name, _ in capability.immediates):
            yield from found.immediate(id, number)
        case Num(a), Num(b):
            if a == b:
                yield found
        case Call(variable, _), _ if (allowed := dict(capability.functions).get(variable)) is not None:
            for fn, args in _as_calls(value):
                if fn in allowed:
                    for with_function in found.function(variable, fn):
                        yield from _unify_all(capability, pattern, args, with_function)
        case Call(fn, _), Call(other, args) if fn == other:
            orders = permutations(args) if fn in COMMUTATIVE else (args,)
            for order in orders:
                yield from _unify_all(capability, pattern, tuple(order), found)
        case _:
            return


def _as_calls(value: Expr) -> Iterator[tuple[str, tuple[Expr, ...]]]:
    """The ways to see a value as one function of arguments; an access alone is its `identity`."""
    match value:
        case Access():
            yield "identity", (value,)
        case Call(fn, (a, b)):
            yield fn, (a, b)
            if fn in COMMUTATIVE:
                yield fn, (b, a)
            elif fn in REVERSED:
                yield REVERSED[fn], (b, a)
        case Call(fn, args):
            yield fn, args
        case _:
            return


def _unify_all(capability: Capability, pattern: Call, args: tuple[Expr, ...], found: _Found) -> Iterator[_Found]:
    if len(pattern.args) != len(args):
        return
    if not args:
        yield found
        return
    first, *rest = pattern.args
    for step in _unify(capability, first, args[0], found):
        yield from _unify_all(capability, Call(pattern.fn, tuple(rest)), args[1:], step)


def _types_fit(kernel: Kernel, capability: Capability, found: _Found) -> bool:
    types = dict(kernel.types)
    tensors = [access.tensor for access in set(found.accesses.values())]
    if len(set(tensors)) < len(tensors):  # one operand name per way to index a tensor
        return False
    wanted = tuple(types[found.accesses[operand].tensor] for operand in capability.operands)
    return wanted in capability.types


def _slots(kernel: Kernel, capability: Capability, found: _Found) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """A dim fits a capability dim that the target indexes alike and that indexes at least the same operands."""
    used: dict[str, set[str]] = {}
    for operand, access in found.accesses.items():
        for dim in _dims(kernel, access):
            used.setdefault(dim, set()).add(operand)
    offered: dict[str, set[str]] = {dim.name: set() for dim in capability.dims}
    for access in accesses(capability.statement):
        assert isinstance(access, Strided)
        for dim in access.dims:
            offered[dim].add(access.tensor)
    target = capability.statement.target.tensor
    return tuple(
        (
            dim,
            tuple(slot for slot, by in offered.items() if (target in by) == (target in used[dim]) and used[dim] <= by),
        )
        for dim in kernel.dims
    )


def _dims(kernel: Kernel, access: Access) -> set[str]:
    tensors = {use.tensor: use for use in kernel.uses}
    return {name for form in tensors[access.tensor].forms for name in form.names}
