"""How a memory is accessed, in `.acg` text: the words of `machine.Ports`, both ways."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from lark import Token

from ...machine import Ports
from ...machine.attributes import PORT_FIELDS
from .reader import Node, Reader


def read_ports(reader: Reader, node: Node, properties: dict[str, Token | None]) -> Ports:
    """What the properties of a memory say."""
    whole = {item.name for item in fields(Ports) if item.type == "int"}
    found: dict[str, Any] = {}
    for word, field in PORT_FIELDS.items():
        read = reader.integer if field in whole else reader.number
        found[field] = reader.optional(node, properties, word, read)
    given = {field: value for field, value in found.items() if value is not None}
    return Ports(**given)


def port_words(ports: Ports) -> Iterator[tuple[str, float]]:
    """The words, and the numbers, of what is not as it is where nothing is said."""
    for word, field in PORT_FIELDS.items():
        value = getattr(ports, field)
        if value != getattr(Ports(), field):
            yield word, float(value)
