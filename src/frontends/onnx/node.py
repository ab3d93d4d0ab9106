"""One ONNX node with its attributes as plain Python values, and errors that name it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from onnx import AttributeProto, GraphProto, NodeProto, helper

from ...errors import TilewrightError
from .load import Array
from .values import Values

AttributeValue = int | float | str | tuple[int, ...] | tuple[float, ...] | tuple[str, ...] | Array | GraphProto

_DECODED = {
    AttributeProto.INT,
    AttributeProto.FLOAT,
    AttributeProto.STRING,
    AttributeProto.INTS,
    AttributeProto.FLOATS,
    AttributeProto.STRINGS,
    AttributeProto.TENSOR,
}


@dataclass(frozen=True)
class Node:
    """A node of the graph: operator, unique label for messages, value names, attributes, opset version."""

    op: str
    label: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    version: int
    attributes: dict[str, AttributeValue] = field(default_factory=dict[str, AttributeValue])
    proto: NodeProto = field(default_factory=NodeProto)

    def has_input(self, index: int) -> bool:
        """Whether the optional input `index` is given."""
        return index < len(self.inputs) and self.inputs[index] != ""

    def has_output(self, index: int) -> bool:
        """Whether the optional output `index` is named."""
        return index < len(self.outputs) and self.outputs[index] != ""

    def texts(self, name: str, default: Sequence[str]) -> tuple[str, ...]:
        """Attribute `name` as a tuple of strings."""
        value = self.attributes.get(name)
        given = value if isinstance(value, tuple) and value else default
        if not all(isinstance(v, str) for v in given):
            raise self.error(f"attribute {name} of strings", f"{value!r:.80}", kind="parse")
        return tuple(str(v) for v in given)

    def reals(self, name: str, default: Sequence[float]) -> tuple[float, ...]:
        """Attribute `name` as a tuple of floats."""
        value = self.attributes.get(name)
        given = value if isinstance(value, tuple) else default
        if any(isinstance(v, str) for v in given):
            raise self.error(f"attribute {name} of floats", f"{value!r:.80}", kind="parse")
        return tuple(float(v) for v in given)

    def graph(self, name: str) -> GraphProto:
        """The subgraph in attribute `name`."""
        value = self.attributes.get(name)
        if not isinstance(value, GraphProto):
            raise self.error(f"a graph as attribute {name}", "none", kind="parse")
        return value

    def without(self, name: str) -> Node:
        """This node without the attribute `name`."""
        return replace(self, attributes={n: v for n, v in self.attributes.items() if n != name})

    def error(self, expected: str, found: str, lever: str = "", kind: str = "unsupported") -> TilewrightError:
        """An error about this node, to be raised by the caller."""
        return TilewrightError(kind, self.label, expected, found, lever)

    def _get(self, name: str, kind: type[int | float | str]) -> AttributeValue | None:
        value = self.attributes.get(name)
        if value is not None and not isinstance(value, kind):
            raise self.error(f"attribute {name} of type {kind.__name__}", f"{value!r:.80}", kind="parse")
        return value

    def integer(self, name: str, default: int) -> int:
        """Attribute `name` as an int."""
        value = self._get(name, int)
        return value if isinstance(value, int) else default

    def real(self, name: str, default: float) -> float:
        """Attribute `name` as a float."""
        value = self._get(name, float)
        return value if isinstance(value, float) else default

    def text(self, name: str, default: str) -> str:
        """Attribute `name` as a string."""
        value = self._get(name, str)
        return value if isinstance(value, str) else default

    def integers(self, name: str, default: Sequence[int]) -> tuple[int, ...]:
        """Attribute `name` as a tuple of ints."""
        values = self.optional_integers(name)
        return tuple(default) if values is None else values

    def optional_integers(self, name: str) -> tuple[int, ...] | None:
        """Attribute `name` as a tuple of ints, or None."""
        value = self.attributes.get(name)
        if value is None:
            return None
        if not isinstance(value, tuple) or not all(isinstance(v, int) for v in value):
            raise self.error(f"attribute {name} of integers", f"{value!r:.80}", kind="parse")
        return tuple(int(v) for v in value)


def decode(proto: NodeProto, position: int, version: int, values: Values | None = None) -> Node:
    """The node at `position` of the graph, its attributes decoded; `values` reads tensors that lie elsewhere."""
    label = node_label(proto, position)
    attributes = {a.name: _attribute(a, label, values or Values()) for a in proto.attribute}
    return Node(proto.op_type, label, tuple(proto.input), tuple(proto.output), version, attributes, proto)


def node_label(proto: NodeProto, position: int) -> str:
    """What messages call the node at `position`: operator and name, or first output where it has no name."""
    name = proto.name or (proto.output[0] if proto.output else f"#{position}")
    return f"{proto.op_type} node {name!r}"


def _attribute(proto: AttributeProto, label: str, values: Values) -> AttributeValue:
    if proto.type == AttributeProto.GRAPH:
        return proto.g
    if proto.ref_attr_name or proto.type not in _DECODED:
        kinds = "a number, a string, a tensor, a graph or a list of numbers"
        raise TilewrightError("unsupported", label, f"attribute {proto.name} to be {kinds}", "another kind")
    if proto.type == AttributeProto.TENSOR:
        return values.array(proto.t, f"{label} attribute {proto.name}")
    value = helper.get_attribute_value(proto)
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, int | float):
        return value
    return tuple(v.decode(errors="replace") if isinstance(v, bytes) else v for v in value)
