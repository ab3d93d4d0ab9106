"""The state of one import: nodes with their attributes as Python values, and the values known so far."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import AttributeProto, GraphProto, NodeProto, helper
from xdsl.builder import Builder
from xdsl.ir import Operation, SSAValue

from ...algebra.element import ELEMENT_TYPES, WITHOUT_SUMS, Array, is_float, is_foreign
from ...dialects import graph
from ...dialects.graph.base import set_name, ssa_name
from ...dialects.types import WIDER, ElementType, dtype_of, element_of, element_type_of, shape_of, tensor
from ...errors import TilewrightError
from ...resources import CHUNK, Resources
from .load import TYPE_LEVER
from .values import Values

if TYPE_CHECKING:
    from .quantization import BlockedWeights

__all__ = ["RUNTIME_TYPES", "Scope", "Value", "check_numbers", "element_type", "shape_of"]


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
        """Attribute `name` as a tuple of strings; `default` also where it is empty."""
        return tuple(map(str, self._list(name, str, "strings") or default))

    def reals(self, name: str) -> list[float]:
        """Attribute `name` as a list of floats; none where it is not given."""
        return list(map(float, self._list(name, int | float, "floats") or ()))

    def graph(self, name: str) -> GraphProto:
        """The subgraph in attribute `name`."""
        value = self.attributes.get(name)
        if not isinstance(value, GraphProto):
            raise self.error(f"a graph as attribute {name}", "none", kind="parse")
        return value

    def without(self, name: str) -> "Node":
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
        values = self._list(name, int, "integers")
        return None if values is None else tuple(map(int, values))

    def _list(self, name: str, kind: Any, told: str) -> tuple[Any, ...] | None:
        value = self.attributes.get(name)
        if value is not None and not (isinstance(value, tuple) and all(isinstance(v, kind) for v in value)):
            raise self.error(f"attribute {name} of {told}", f"{value!r:.80}", kind="parse")
        return value if isinstance(value, tuple) else None


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


Value = Array | SSAValue
"""What an ONNX value name stands for: a constant, or the result of an operation."""

ValueList = tuple[Value, ...]
"""What the name of a sequence stands for: its length is known, its elements are values."""

MAX_ELEMENTS = 1 << 40
"""The largest activation that the importer lets through, in elements."""

MAX_WEIGHT_BYTES = 1 << 32
"""The most that all weights of a model may take."""

MAX_OPERATIONS = 100_000
"""How many operations the nodes of a model may become."""

RUNTIME_TYPES = (
    *("float32", "float16", "float64"),
    *("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool"),
    *(dtype.name for dtype in ELEMENT_TYPES.values() if is_foreign(dtype)),
)
"""Element types that tensors may have when the network runs, as NumPy calls them; bool is uint8 of 0 and 1."""


class Scope:
    """Values by name, and the building of operations.

    Constants become `graph.weight` operations when an operation first needs them as a tensor.
    """

    def __init__(self, builder: Builder, resources: Resources) -> None:
        self.builder = builder
        self.resources = resources
        self.values: dict[str, Value] = {}
        self.part_of = ""
        """The node of the model that operations without a name are part of."""
        self.doubles = False
        """Whether f64 may be computed as f32."""
        self.batch = 0
        """The leading extent of inputs that the file leaves open; 0 where it leaves none."""
        self.single: list[str] = []
        """Reshape nodes that make one sample of such a batch."""
        self.widened: list[str] = []
        """Reshape nodes for one sample, whose results have as many as the inputs."""
        self.truths: set[SSAValue] = set()
        """Values of ui8 that are bool to ONNX."""
        self.blocked: dict[SSAValue, BlockedWeights] = {}
        """Dequantised matrices whose blocks of rows have scales of their own."""
        self.sequences: dict[str, ValueList] = {}
        self._weights: dict[str, SSAValue] = {}
        self._made = 0
        self._weight_bytes = 0
        self._operations = 0

    def define(self, node: Node, name: str, value: Value) -> None:
        """Give `name` its value; a name has one value only."""
        if name in self.values:
            raise node.error("each value to be made once", f"{name!r} again", kind="parse")
        self.values[name] = value

    def value(self, node: Node, index: int) -> Value:
        """The value at input `index`, which must be given and known."""
        if not node.has_input(index):
            raise node.error(f"an input {index}", f"{len(node.inputs)} inputs", kind="parse")
        value = self.values.get(node.inputs[index])
        if value is None:
            found = f"{node.inputs[index]!r}, which nothing before it makes"
            lever = "a name is missing or the nodes form a cycle"
            raise node.error(f"input {index} to be a value made before", found, lever, kind="parse")
        return value

    def constant(self, node: Node, index: int) -> Array:
        """The constant at input `index`; an error if it is known only when the network runs."""
        value = self.value(node, index)
        if isinstance(value, SSAValue):
            lever = "make it an initializer or pass it to the importer as a constant"
            raise node.error(f"input {index} ({node.inputs[index]!r}) to be constant", "a run-time tensor", lever)
        return value

    def optional_constant(self, node: Node, index: int) -> Array | None:
        """The constant at input `index`, or None if the input is not given."""
        return self.constant(node, index) if node.has_input(index) else None

    def scalar(self, node: Node, index: int) -> float | None:
        """The one number at constant input `index`, or None if the input is not given."""
        array = self.optional_constant(node, index)
        if array is None:
            return None
        if array.size != 1:
            raise node.error(f"input {index} to be one number", f"shape {list(array.shape)}", kind="shape")
        return array.reshape(()).item()

    def is_constant(self, node: Node, index: int) -> bool:
        """Whether input `index` is given and constant."""
        return node.has_input(index) and not isinstance(self.value(node, index), SSAValue)

    def tensor(self, node: Node, index: int) -> SSAValue:
        """The value at input `index` as an SSA value; constants become weights."""
        value = self.value(node, index)
        return value if isinstance(value, SSAValue) else self.weight(node.inputs[index], value)

    def optional_tensor(self, node: Node, index: int) -> SSAValue | None:
        """The value at input `index`, or None if the input is not given."""
        return self.tensor(node, index) if node.has_input(index) else None

    def weight(self, name: str, array: Array) -> SSAValue:
        """The `graph.weight` of the constant called `name`, made on first use."""
        if name not in self._weights:
            if array.size == 0:
                found = f"shape {list(array.shape)}"
                raise TilewrightError("shape", f"tensor {name!r}", "at least one element", found, EMPTY_LEVER)
            check_numbers(name, array)
            element = element_type(f"constant {name!r}", array.dtype.name)
            truth = array.dtype == np.bool_
            array = array.astype(np.uint8) if truth else array
            self._count(name, array)
            op = graph.WeightOp(self.resources.add(name, array), tensor(array.shape, element))
            self._weights[name] = self.emit(op, name)
            if truth:
                self.truths.add(self._weights[name])
        return self._weights[name]

    def _count(self, name: str, array: Array) -> None:
        self._weight_bytes += prod(array.shape) * array.dtype.itemsize
        if self._weight_bytes > MAX_WEIGHT_BYTES:
            found = f"{self._weight_bytes} bytes up to this one"
            raise TilewrightError("shape", f"weight {name!r}", f"at most {MAX_WEIGHT_BYTES} bytes of weights", found)

    def literal(self, node: Node, array: Array) -> SSAValue:
        """A weight that the importer itself adds for `node`."""
        self._made += 1
        return self.weight(f"{node.outputs[0]}.constant{self._made}", array)

    def shape(self, node: Node, index: int) -> tuple[int, ...]:
        """The shape of the value at input `index`."""
        value = self.value(node, index)
        return shape_of(value) if isinstance(value, SSAValue) else value.shape

    def dtype(self, node: Node, index: int) -> np.dtype[np.generic]:
        """The element type of the value at input `index`, as NumPy has it."""
        value = self.value(node, index)
        return self.dtype_of(value)

    def dtype_of(self, value: Value) -> np.dtype[np.generic]:
        """The element type of a value, as NumPy has it."""
        if not isinstance(value, SSAValue):
            return value.dtype
        return np.dtype(np.bool_) if value in self.truths else dtype_of(element_of(value))

    def emit(self, op: Operation, name: str = "") -> SSAValue:
        """Append `op`, called `name`, and give its one result."""
        self.reserve(f"tensor {name!r}" if name else op.name, 1)
        self._operations += 1
        set_name(op, name or None)
        self.builder.insert(op)
        op.verify_()
        (result,) = op.results
        if not name and self.part_of:
            result.name_hint = ssa_name(f"{self.part_of}.{op.name.removeprefix('graph.')}")
        if prod(shape_of(result)) > MAX_ELEMENTS:
            found = f"shape {list(shape_of(result))}"
            subject = f"tensor {name!r}" if name else op.name
            raise TilewrightError("shape", subject, f"at most {MAX_ELEMENTS} elements", found)
        return result

    def part(self, x: SSAValue, axis: int, start: int, size: int, name: str = "") -> SSAValue:
        """`size` elements of an axis from `start` on."""
        shape = shape_of(x)
        starts = [start if i == axis else 0 for i in range(len(shape))]
        return self.emit(graph.SliceOp(x, starts=starts, sizes=(*shape[:axis], size, *shape[axis + 1 :])), name)

    def reserve(self, subject: str, operations: int) -> None:
        """Refuse what is about to become so many operations or more, where that is too many."""
        total = self._operations + operations
        if total > MAX_OPERATIONS:
            lever = "shorter sequences, or fewer nodes that are unrolled"
            raise TilewrightError("limit", subject, f"at most {MAX_OPERATIONS} operations", f"{total} or more", lever)

    def cast(self, x: SSAValue, dtype: np.dtype[np.generic], name: str = "") -> SSAValue:
        """x in another element type, the last step called `name`; narrow types by way of what all machines convert."""
        source = dtype_of(element_of(x))
        foreign = is_foreign(source) or is_foreign(dtype)
        between = [WIDER[t] for t in (source, dtype) if t in WITHOUT_SUMS] if foreign else []
        for step in dict.fromkeys(between):
            if step not in (dtype_of(element_of(x)), dtype):
                x = self.emit(graph.CastOp(x, element_type_of(step)))
        return self.emit(graph.CastOp(x, element_type_of(dtype)), name)

    def require_type(self, node: Node, index: int, accepted: Sequence[str]) -> None:
        """Refuse input `index` unless its element type is one of `accepted` (NumPy's names)."""
        found = self.dtype(node, index).name
        if found not in accepted:
            raise node.error(f"input {index} of type {' or '.join(accepted)}", found)


EMPTY_LEVER = "simplify the model first: what computes with no elements can be left out"


def check_numbers(name: str, array: Array) -> None:
    """Refuse a weight that has a NaN; infinities are masks."""
    if not is_float(array.dtype) or array.size == 0:
        return
    flat = array[(0,) * array.ndim].reshape(1) if not any(array.strides) else array.reshape(-1)
    for start in range(0, flat.size, CHUNK):
        good = ~np.isnan(flat[start : start + CHUNK])
        if not np.all(good):
            where = [int(i) for i in np.unravel_index(start + int(np.argmin(good)), array.shape)]
            found = f"{array[tuple(where)]} at {where}"
            raise TilewrightError("unsupported", f"weight {name!r}", "numbers", found)


def element_type(subject: str, numpy_name: str) -> ElementType:
    """The IR's element type for a NumPy type; an error that names `subject` if tensors may not have it."""
    if numpy_name not in RUNTIME_TYPES:
        accepted = ", ".join(RUNTIME_TYPES)
        raise TilewrightError("unsupported", subject, f"an element type of {accepted}", numpy_name, TYPE_LEVER)
    return element_type_of(np.dtype("uint8" if numpy_name == "bool" else numpy_name))
