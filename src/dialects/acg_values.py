"""Between declarations of the `acg` dialect and the machine's values: a property holds the field of its name."""

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeVar

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Attribute, Region
from xdsl.irdl import IRDLOperation, OptPropertyDef

from .acg_attributes import executed
from .properties import properties_of, value_of

_Op = TypeVar("_Op", bound=IRDLOperation)

FIELDS: Mapping[str, str] = {
    "sym_name": "name",
    "number": "count",
    "read_energy_pj": "read_energy_pj_per_byte",
    "write_energy_pj": "write_energy_pj_per_byte",
    "most_regions": "regions",
    "bindings": "operands",
    "bandwidth": "bandwidth_bytes_per_cycle",
    "align_bits": "instruction_align_bits",
    "width_bits": "instruction_bits",
}
"""Properties that are not called as the field that they hold."""


def declaration(kind: type[_Op], value: Any, body: Region | None = None, **given: Attribute | None) -> _Op:
    """The op of a value, without optional properties that only say the default; `given` replaces properties."""
    absent = {item.name: None if item.default is MISSING else item.default for item in fields(value)}
    properties: dict[str, Any] = {}
    for name, definition in kind.get_irdl_definition().properties.items():
        field = FIELDS.get(name, name)
        if name == "execute":
            properties[name] = SymbolRefAttr(value.node, [value.capability]) if value.capability else None
        elif field in absent:
            plain = getattr(value, field)
            properties[name] = None if isinstance(definition, OptPropertyDef) and plain == absent[field] else plain
    return kind.create(properties=properties_of(kind, properties | given), regions=[body] if body is not None else [])


def declared(op: IRDLOperation) -> dict[str, Any]:
    """The fields that an op gives; the others are as they are without it."""
    found = {FIELDS.get(name, name): value_of(attribute) for name, attribute in op.properties.items()}
    if isinstance(reference := op.properties.get("execute"), SymbolRefAttr):
        found["node"], found["capability"] = executed(reference)
    found.pop("execute", None)
    return found
