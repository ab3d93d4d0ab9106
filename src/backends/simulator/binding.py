"""What an instruction word means: its mnemonic's binding applied to field values, checked against the capability."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from ...algebra.element import bits_to_value, element_dtype
from ...algebra.formula import evaluate_formula
from ...algebra.layout import Operand
from ...machine import Capability, Compute, Field, Link, Machine, Mnemonic, OperandBinding

MAX_POINTS = 1 << 40
"""What the simulator takes on in one instruction."""

Fields = Mapping[str, int]


class IllegalFieldsError(Exception):
    """Field values that a capability, or with reason `range` a memory, does not allow."""

    def __init__(self, expected: str, found: str, reason: str = "illegal") -> None:
        self.reason = reason
        self.expected = expected
        self.found = found
        super().__init__(f"expected {expected}, found {found}")


@dataclass(frozen=True)
class Bound:
    """An instruction's capability with everything but addresses filled in.

    `operands` are in the order of the mnemonic's operand bindings.
    """

    mnemonic: Mnemonic
    node: Compute | Link
    capability: Capability
    extents: dict[str, int]
    operands: tuple[Operand, ...]
    functions: dict[str, str]
    scalars: dict[str, Any]
    accumulate: bool
    ways: dict[str, int]

    @property
    def ops(self) -> int:
        """Points of the iteration space."""
        return prod(self.extents.values())

    def formula_env(self) -> dict[str, int]:
        """The names that cost formulas may use."""
        ways = {f"{dim}_ways": self.ways.get(dim, 1) for dim in self.extents}
        return {**self.extents, **ways, "ops": self.ops}

    def cycles(self) -> int:
        """The capability's cycles, at least 0."""
        return max(0, -int(-evaluate_formula(self.capability.cycles, self.formula_env()) // 1))

    def energy_pj(self) -> float:
        """The capability's own energy."""
        return float(evaluate_formula(self.capability.energy_pj, self.formula_env()))


class Binder:
    """Binds instructions of one machine."""

    def __init__(self, machine: Machine) -> None:
        self.header = machine.header
        self.nodes: dict[str, Compute | Link] = {node.name: node for node in machine.computes}
        self.nodes |= {link.name: link for link in machine.links}

    def bind(self, mnemonic: Mnemonic, fields: Fields) -> Bound:
        """The meaning of `mnemonic` with these field values; `IllegalFieldsError` where it has none."""
        mnemonic = replace(mnemonic, fields=(*self.header, *mnemonic.fields))  # the header's may be bound, too
        node = self.nodes[mnemonic.node]
        capability = next(c for c in node.capabilities if c.name == mnemonic.capability)
        extents = _extents(capability, mnemonic, fields)
        types = {binding.operand: _type(mnemonic, binding, fields) for binding in mnemonic.operands}
        row = tuple(types[name] for name in capability.operands)
        if row not in capability.types:
            expected = " | ".join(_row_text(allowed) for allowed in capability.types)
            raise IllegalFieldsError(f"types {expected}", _row_text(row))
        if prod(extents.values()) > MAX_POINTS:
            raise IllegalFieldsError(f"at most {MAX_POINTS} points in an instruction", f"{prod(extents.values())}")
        return Bound(
            mnemonic,
            node,
            capability,
            extents,
            tuple(_operand(binding, types[binding.operand], fields) for binding in mnemonic.operands),
            _functions(capability, mnemonic, fields),
            _scalars(capability, mnemonic, fields),
            bool(mnemonic.accumulate) and field_value(mnemonic.accumulate, fields) == 1,
            _ways(capability, mnemonic, node, fields),
        )


def field_value(text: str, fields: Fields) -> int:
    """The value of a field, or of an integer literal."""
    return fields[text] if text in fields else int(text)


def enumerator(mnemonic: Mnemonic, name: str, fields: Fields) -> str:
    """The name that an efield's value stands for."""
    item = next(field for field in mnemonic.fields if field.name == name)
    for key, code in item.enum:
        if code == fields[name]:
            return key
    raise IllegalFieldsError(f"{name} among {_codes(item)}", f"{fields[name]}")


def _codes(item: Field) -> str:
    return ", ".join(f"{key} = {code}" for key, code in item.enum)


def _row_text(row: tuple[str, ...]) -> str:
    return f"{row[0]} = {', '.join(row[1:])}" if row[1:] else row[0]


def _extents(capability: Capability, mnemonic: Mnemonic, fields: Fields) -> dict[str, int]:
    bound = dict(mnemonic.extents)
    extents = {d.name: field_value(bound[d.name], fields) if d.name in bound else 1 for d in capability.dims}
    for dim in capability.dims:
        if not 0 <= extents[dim.name] <= dim.limit:
            raise IllegalFieldsError(f"{dim.name} at most {dim.limit}", f"{extents[dim.name]}")
    return extents


def _type(mnemonic: Mnemonic, binding: OperandBinding, fields: Fields) -> str:
    if any(field.name == binding.type_name for field in mnemonic.fields):
        return enumerator(mnemonic, binding.type_name, fields)
    return binding.type_name


def _operand(binding: OperandBinding, type_name: str, fields: Fields) -> Operand:
    return Operand(element_dtype(type_name), {dim: field_value(text, fields) for dim, text in binding.strides})


def _functions(capability: Capability, mnemonic: Mnemonic, fields: Fields) -> dict[str, str]:
    allowed = dict(capability.functions)
    chosen = {variable: _function(mnemonic, text, fields) for variable, text in mnemonic.functions}
    for variable, names in allowed.items():
        if chosen.setdefault(variable, names[0]) not in names:
            raise IllegalFieldsError(f"{variable} among {', '.join(names)}", chosen[variable])
    return chosen


def _function(mnemonic: Mnemonic, text: str, fields: Fields) -> str:
    return enumerator(mnemonic, text, fields) if text in fields else text


def _scalars(capability: Capability, mnemonic: Mnemonic, fields: Fields) -> dict[str, Any]:
    """Immediates by name; integers of any type as int64."""
    kinds = dict(capability.immediates)
    texts = dict(mnemonic.immediates)
    result: dict[str, Any] = {}
    for name, kind in kinds.items():
        bits = field_value(texts[name], fields) if name in texts else 0
        value = bits_to_value(bits, kind)
        result[name] = value if value.dtype.kind == "f" else np.int64(value)
    return result


def _ways(capability: Capability, mnemonic: Mnemonic, node: Compute | Link, fields: Fields) -> dict[str, int]:
    ways: dict[str, int] = {}
    if isinstance(node, Link):
        return ways
    for text, instances in ((mnemonic.spread_x, node.instances_x), (mnemonic.spread_y, node.instances_y)):
        dim = enumerator(mnemonic, text, fields) if text else "none"
        if dim == "none":
            continue
        if dim not in capability.splits:
            raise IllegalFieldsError(f"a spread over {', '.join(capability.splits) or 'nothing'}", dim)
        ways[dim] = ways.get(dim, 1) * instances
    return ways
