"""Functions and subgraphs as nodes of the graph around them: names made apart, attributes filled in."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, helper, parser

from ...algebra.element import Array
from ...dialects.types import dtype_of, element_of, shape_of
from ...errors import TilewrightError
from .formulas import Formulas
from .load import check_size
from .quantization import BlockedWeights, blocked_product
from .scope import Node, Scope, Value
from .types import DType, schema_of
from .values import unpacked

DOMAIN = "com.microsoft"

_NORMAL = "s = Add(x, skip) y, mean, deviation = LayerNormalization<axis = -1, epsilon : float = @epsilon>"
_SLOPE = "<alpha : float = 1.702>"
_SMALL = "<epsilon : float = 0.00001>"

BODIES: Mapping[str, str] = {
    "Gelu": "(x) => (y) { y = Gelu(x) }",
    "BiasGelu": "(x, b) => (y) { s = Add(x, b) y = Gelu(s) }",
    "FastGelu": "(x) => (y) { y = Gelu<approximate = 'tanh'>(x) }",
    "FastGelu of 2": "(x, b) => (y) { s = Add(x, b) y = Gelu<approximate = 'tanh'>(s) }",
    "QuickGelu": f"{_SLOPE}(x) => (y) {{ a = Constant<value_float : float = @alpha>() "
    "t = CastLike(a, x) s = Mul(x, t) g = Sigmoid(s) y = Mul(x, g) }",
    "SkipLayerNormalization": f"{_SMALL}(x, skip, w) => (y, mean, deviation, s) {{ {_NORMAL}(s, w) }}",
    "SkipLayerNormalization of 4": f"{_SMALL}(x, skip, w, b) => (y, mean, deviation, s) {{ {_NORMAL}(s, w, b) }}",
    "SkipSimplifiedLayerNormalization": f"{_SMALL}(x, skip, w) => (y, mean, deviation, s) {{ s = Add(x, skip) "
    "y = RMSNormalization<axis = -1, epsilon : float = @epsilon>(s, w) }",
}
"""By operator its body; `of N` is for nodes of N inputs."""


def body_of(proto: NodeProto) -> FunctionProto | None:
    """The body of an operator of this domain."""
    if proto.domain != DOMAIN:
        return None
    special = f"{proto.op_type} of {len(proto.input)}"
    return _contributed(proto.op_type, special if special in BODIES else proto.op_type)


@cache
def _contributed(name: str, key: str) -> FunctionProto | None:
    header = f'<domain: "{DOMAIN}", opset_import: ["" : 23]> {name}'
    return parser.parse_function(header + BODIES[key].replace("'", '"')) if key in BODIES else None


def matmul_in_bits(scope: Scope, node: Node) -> Sequence[Value]:
    """MatMulNBits: weights of 2, 4 or 8 bits, a scale for each block of a column; a product for each row of blocks."""
    rows, columns, block = (node.integer(name, 0) for name in ("K", "N", "block_size"))
    steps, scales = _unpacked(scope, node, rows, columns, block)
    make, x = Formulas(scope, node), scope.tensor(node, 0)
    shape, dtype = shape_of(x), dtype_of(element_of(x))
    if not shape or shape[-1] != rows or dtype.name not in ("float32", "float16"):
        raise node.error(f"floats of {rows} columns", f"{element_of(x)} of {list(shape)}", kind="shape")
    by_rows = np.ascontiguousarray(steps.transpose(1, 2, 0).reshape(-1, columns)[:rows])
    result = blocked_product(make, make.cast(x, np.float32), BlockedWeights(by_rows, scales.T, block))
    if node.has_input(5):
        result = make.add(result, make.cast(scope.tensor(node, 5), np.float32))
    return (make.cast(result, dtype),)


def _unpacked(scope: Scope, node: Node, rows: int, columns: int, block: int) -> tuple[Array, Array]:
    """Weights less their zero points `[N, blocks, block]`, and scales `[N, blocks]`."""
    bits = node.integer("bits", 4)
    if min(rows, columns, block) < 1 or bits not in (2, 4, 8) or (node.has_input(4)):
        found = f"K {rows}, N {columns}, blocks of {block}, {bits} bits" + " with g_idx" * node.has_input(4)
        raise node.error("weights of 2, 4 or 8 bits in blocks, in order", found)
    check_size(node.label, (rows, columns), 4)
    count = -(-rows // block)
    packed, scales = scope.constant(node, 1), scope.constant(node, 2)
    zeros = scope.optional_constant(node, 3)
    zero: Array = np.full((columns, count), 1 << (bits - 1), np.float32)
    if zeros is not None and zeros.dtype == np.uint8:
        zero = unpacked(zeros.reshape(columns, -1), bits)[:, :count]
    elif zeros is not None:
        zero = zeros.reshape(columns, count)
    steps = unpacked(packed.reshape(columns, count, -1), bits)[:, :, :block].astype(np.float32)
    if steps.shape[2] != block:
        raise node.error(f"blocks of {block}", str(steps.shape[2]), kind="shape")
    steps = steps - zero.astype(np.float32)[:, :, None]
    if rows % block:
        steps[:, -1, rows % block :] = 0
    return steps, scales.reshape(columns, count)


MAKERS: Mapping[str, Callable[[Scope, Node], Sequence[Value]]] = {"MatMulNBits": matmul_in_bits}
"""By operator what emits its operations."""


MAX_NODES = 100_000
"""How many nodes a model may have once its functions are expanded and its loops unrolled."""

MAX_STEPS = 4096
"""How many steps a loop may take whose condition alone tells its end, and the longest sequence that is unrolled."""

MANY_LEVER = "loops of fewer steps, or functions that call fewer others"

MAX_DEPTH = 60
"""How deep functions and subgraphs may lie in each other."""

Rename = Callable[[str], str]


@dataclass(frozen=True)
class Body:
    """Nodes to be imported in the place of another one; `results` are the names of its outputs."""

    nodes: Sequence[NodeProto]
    version: int
    results: Sequence[str]


class Functions:
    """The functions of a model, and those that ONNX's schemas have."""

    def __init__(self, model: ModelProto) -> None:
        self.local = {(f.domain, f.name, f.overload): f for f in model.functions}

    def of_model(self, proto: NodeProto) -> FunctionProto | None:
        """The function of the model that a node calls, or the body of an operator of onnxruntime's."""
        return self.local.get((proto.domain, proto.op_type, proto.overload)) or body_of(proto)

    def of_schema(self, node: Node, types: Sequence[tuple[DType, tuple[int, ...]] | None]) -> FunctionProto | None:
        """The body that ONNX gives an operator, for inputs of these types and shapes."""
        static = static_function(node.op, node.version, node.proto.domain)
        schema = schema_of(node.op, node.version, node.proto.domain)
        if static is not None or schema is None:
            return static
        versions = schema.context_dependent_function_opset_versions
        if not versions:
            return None
        told = [_type_bytes(type_) for type_ in types]
        version = _fitting(versions, node.version)
        made = schema.get_context_dependent_function_with_opset_version(version, node.proto.SerializeToString(), told)
        return _parsed(made) if made else None


def static_function(op: str, version: int, domain: str = "") -> FunctionProto | None:
    """The body that ONNX gives an operator whatever its inputs are."""
    schema = schema_of(op, version, domain)
    if schema is None or not schema.has_function:
        return None
    return _parsed(schema.get_function_with_opset_version(_fitting(schema.function_opset_versions, version)))


def _fitting(versions: Sequence[int], version: int) -> int:
    """The latest of the versions that is not younger, else the oldest."""
    return max((v for v in versions if v <= version), default=min(versions))


def _parsed(data: bytes) -> FunctionProto | None:
    function = FunctionProto()
    function.ParseFromString(data)
    return function if function.node else None


def _type_bytes(type_: tuple[DType, tuple[int, ...]] | None) -> bytes:
    if type_ is None:
        return b""
    dtype, shape = type_
    return helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(dtype), shape).SerializeToString()


def function_body(node: Node, function: FunctionProto, prefix: str) -> Body:
    """The nodes of a function that `node` calls, names of its own behind `prefix`."""
    if len(node.inputs) > len(function.input) or len(node.outputs) > len(function.output):
        found = f"{len(node.inputs)} and {len(node.outputs)}"
        expected = f"at most {len(function.input)} inputs and {len(function.output)} outputs"
        raise node.error(expected, found, kind="parse")
    names = dict(zip(function.input, [*node.inputs, *[""] * len(function.input)], strict=False))

    def rename(name: str) -> str:
        return names[name] if name in names else f"{prefix}{name}" if name else ""

    given = {a.name: a for a in node.proto.attribute}
    defaults = {a.name: a for a in function.attribute_proto}
    schema = schema_of(node.op, node.version, node.proto.domain)
    if schema is not None:
        defaults |= {n: a.default_value for n, a in schema.attributes.items() if a.default_value.type}
    nodes = [renamed(proto, rename, defaults | given) for proto in function.node]
    versions = [o.version for o in function.opset_import if o.domain in ("", "ai.onnx")]
    made = {name for proto in function.node for name in proto.output} | set(function.input)
    results = [rename(name) if name in made else "" for name in function.output[: len(node.outputs)]]
    return Body(nodes, max(versions, default=node.version), results)


def graph_body(node: Node, graph: GraphProto, prefix: str, inputs: Sequence[str]) -> Body:
    """The nodes of a subgraph of `node`, whose inputs are values of these names; its own names behind `prefix`."""
    if len(inputs) != len(graph.input):
        raise node.error(f"a graph of {len(inputs)} inputs", f"{len(graph.input)}", kind="parse")
    names = dict(zip((v.name for v in graph.input), inputs, strict=True))
    own = own_names(graph)

    def rename(name: str) -> str:
        return names[name] if name in names else f"{prefix}{name}" if name in own else name

    nodes = [renamed(proto, rename) for proto in graph.node]
    return Body(nodes, node.version, [rename(value.name) for value in graph.output])


def subgraphs(node: NodeProto) -> Iterator[GraphProto]:
    """The graphs in a node's attributes."""
    return (attribute.g for attribute in node.attribute if attribute.type == AttributeProto.GRAPH)


def own_names(graph: GraphProto) -> set[str]:
    """The names of values that a graph is given, stores or makes."""
    made = {name for proto in graph.node for name in proto.output}
    return made | {v.name for v in graph.input} | {t.name for t in graph.initializer}


def captured(node: NodeProto) -> Iterator[str]:
    """The names that the graphs of a node take from outside of them."""
    for inner in subgraphs(node):
        own = own_names(inner)
        read = [name for proto in inner.node for name in (*proto.input, *captured(proto))]
        read += [value.name for value in inner.output]
        yield from (name for name in read if name and name not in own)


def renamed(proto: NodeProto, rename: Rename, attributes: Mapping[str, AttributeProto] | None = None) -> NodeProto:
    """A copy with names of values as `rename` gives them; attributes that refer to others are those of `attributes`.

    What graphs in the node make themselves keeps its name.
    """
    copy, attributes = NodeProto(), attributes or {}
    copy.CopyFrom(proto)
    copy.input[:] = [rename(name) for name in proto.input]
    copy.output[:] = [rename(name) for name in proto.output]
    del copy.attribute[:]
    for attribute in proto.attribute:
        filled = attributes.get(attribute.ref_attr_name) if attribute.ref_attr_name else attribute
        if filled is None:
            continue
        added = copy.attribute.add()
        added.CopyFrom(filled)
        added.name = attribute.name
        if added.type == AttributeProto.GRAPH:
            _rename_captured(added.g, rename, attributes)
    return copy


def _rename_captured(graph: GraphProto, rename: Rename, attributes: Mapping[str, AttributeProto]) -> None:
    """Renames in a subgraph what it takes from outside."""
    own = own_names(graph)

    def captured(name: str) -> str:
        return name if name in own else rename(name)

    nodes = [renamed(proto, captured, attributes) for proto in graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
    for value in graph.output:
        value.name = captured(value.name)


class Limits:
    """What keeps expansion bounded: nodes so far, and the functions being expanded."""

    def __init__(self) -> None:
        self.nodes = 0
        self.active: list[str] = []

    def count(self, nodes: int, label: str) -> None:
        """Count nodes that are about to be imported."""
        self.nodes += nodes
        if self.nodes > MAX_NODES:
            raise self._many(label, f"{self.nodes} up to here")

    def promise(self, nodes: int, label: str) -> None:
        """Refuse what is about to import so many nodes or more, before it has begun."""
        if self.nodes + nodes > MAX_NODES:
            raise self._many(label, f"{self.nodes + nodes} or more")

    def _many(self, label: str, found: str) -> TilewrightError:
        return TilewrightError("limit", label, f"at most {MAX_NODES} nodes after expansion", found, MANY_LEVER)

    def enter(self, key: str, label: str, known: Collection[str] = ()) -> None:
        """Begin an expansion called `key`; no function may be inside of itself."""
        if key and key in self.active:
            path = " in ".join([key, *reversed(self.active)])
            raise TilewrightError("parse", label, "functions that do not call themselves", f"{path:.200}")
        if len(self.active) >= MAX_DEPTH:
            raise TilewrightError("limit", label, f"at most {MAX_DEPTH} functions and graphs in each other", "more")
        self.active.append(key)

    def leave(self) -> None:
        """End the expansion begun last."""
        self.active.pop()
