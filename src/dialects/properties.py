"""Plain values as properties of operations, and back: a property says what kind of attribute it is."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    f64,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.utils.exceptions import VerifyException

from ..errors import TilewrightError

_Op = TypeVar("_Op", bound=IRDLOperation)

RULE_MODULES = {"codelet": ("codelet_rules", "codelet_fused_rules"), "nest": ("nest_verify",)}
"""Modules with rules for operations of a dialect; they know all of them, and are imported when one is verified."""

RULES: dict[type, list[Callable[[Any], None]]] = {}


def verifies(kind: type[_Op], called: str = "") -> Callable[[Callable[[_Op], None]], Callable[[_Op], None]]:
    """The function below raises `VerifyException` where an operation of `kind`, a `RuledOp`, breaks a rule.

    Errors begin with what the operation is `called`, and its `sym_name`.
    """

    def note(rule: Callable[[_Op], None]) -> Callable[[_Op], None]:
        def named(op: _Op) -> None:
            try:
                rule(op)
            except VerifyException as error:
                raise VerifyException(f"{called} @{value_of(op.properties['sym_name'])}: {error}") from error

        RULES.setdefault(kind, []).append(named if called else rule)
        return rule

    return note


@contextmanager
def verifying() -> Generator[None, None, None]:
    """A `TilewrightError` of what an attribute says is a `VerifyException`."""
    try:
        yield
    except TilewrightError as error:
        raise VerifyException(error.paragraph()) from error


def figures_attr(figures: Mapping[str, float]) -> DictionaryAttr:
    """Figures by name as an attribute."""
    return DictionaryAttr({name: FloatAttr(float(figure), f64) for name, figure in figures.items()})


def figures_of(attribute: Attribute | None) -> dict[str, float]:
    """The figures in an attribute as `figures_attr` makes it; none in others."""
    items = attribute.data.items() if isinstance(attribute, DictionaryAttr) else ()
    return {name: value.value.data for name, value in items if isinstance(value, FloatAttr)}


@cache
def rules_of(kind: type[IRDLOperation]) -> Sequence[Callable[[Any], None]]:
    """The rules of a kind of operation, in the order in which they are written."""
    for module in RULE_MODULES.get(kind.name.partition(".")[0], ()):
        import_module(f".{module}", __package__)
    return RULES.get(kind, ())


class RuledOp(IRDLOperation):
    """An operation that keeps the rules that functions marked by `verifies` check."""

    def verify_(self) -> None:
        for rule in rules_of(type(self)):
            rule(self)


class PlainOp(RuledOp):
    """An operation that is made with its properties as plain values."""

    def __init__(
        self,
        *operands: SSAValue | Sequence[SSAValue] | None,
        results: Sequence[Attribute | Sequence[Attribute]] = (),
        regions: Sequence[Region] = (),
        **properties: Any,
    ):
        given = properties_of(type(self), properties)
        super().__init__(operands=operands, result_types=results, properties=given, regions=regions)


def properties_of(kind: type[IRDLOperation], values: Mapping[str, Any]) -> dict[str, Attribute]:
    """The properties of an operation by name, each from a plain value or an attribute; without those of None."""
    found = {name: _property(kind, name, value) for name, value in values.items()}
    return {name: attribute for name, attribute in found.items() if attribute is not None}


@cache
def _held(op: type[IRDLOperation], name: str) -> type[Any]:
    """The kind of attribute that a property of an operation holds."""
    (kind,) = list[type[Any]](op.get_irdl_definition().properties[name].constr.get_bases() or ())
    return kind


def _property(op: type[IRDLOperation], name: str, value: Any) -> Attribute | None:
    """A value as the attribute that a property holds: numbers in 64 bits, a flag that is off as None."""
    if value is None or isinstance(value, Attribute):
        return value
    kind = _held(op, name)
    if kind is IntegerAttr:
        return IntegerAttr(int(value), i64)
    if kind is FloatAttr:
        return FloatAttr(float(value), f64)
    if kind is UnitAttr:
        return UnitAttr() if value else None
    if kind is ArrayAttr:
        return ArrayAttr(StringAttr(text) for text in value)
    if kind is DenseArrayBase:
        return DenseArrayBase.from_list(i64, [int(number) for number in value])
    return kind(kind.enum_type(value) if issubclass(kind, EnumAttribute) else value)


def value_of(attribute: Attribute) -> Any:
    """The plain value in an attribute."""
    if isinstance(attribute, IntegerAttr | FloatAttr):
        return attribute.value.data
    if isinstance(attribute, DenseArrayBase):
        return attribute.get_values()
    return True if isinstance(attribute, UnitAttr) else getattr(attribute, "data", None)


def plain_properties(op: IRDLOperation) -> dict[str, Any]:
    """The plain values of all properties by name, None for those that are left out, False for such flags."""
    kind, given = type(op), op.properties
    absent = {name: False if _held(kind, name) is UnitAttr else None for name in op.get_irdl_definition().properties}
    return absent | {name: value_of(attribute) for name, attribute in given.items()}
