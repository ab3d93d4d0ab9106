"""How many nodes a model has at least once it is expanded: told before functions, branches and loops are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from onnx import AttributeProto, GraphProto, NodeProto, TensorProto

from ...algebra.element import Array
from ...errors import TilewrightError
from .expansion import MAX_DEPTH, Functions
from .values import Values

Known = Callable[[str], Array | None]
"""The constant that a name stands for, where it is known."""

Key = tuple[str, str, str]

LARGEST = 1 << 60
"""Sizes are cut here, so that they stay short."""


@dataclass
class LeastSize:
    """Sizes of nodes after expansion, never above what they will be.

    A loop counts its steps where their number is constant and its condition stays true, otherwise none.  An `If` counts
    its smaller branch, a `Scan` one step: how long its axes are is known when it is imported.
    """

    functions: Functions
    values: Values
    _sizes: dict[Key, int] = field(default_factory=dict[Key, int])

    def of_nodes(self, nodes: Sequence[NodeProto], known: Known, depth: int = 0) -> int:
        """The size of nodes, whose constants `known` tells as far as these nodes do not make them."""
        if depth > MAX_DEPTH:  # which is told where it is met
            return 0
        own = {name: proto for proto in nodes for name in proto.output}

        def constant(name: str) -> Array | None:
            proto = own.get(name)
            return known(name) if proto is None else self._made(proto)

        return min(sum(self._of_node(proto, constant, depth) for proto in nodes), LARGEST)

    def of_graph(self, graph: GraphProto, known: Known, depth: int = 0) -> int:
        """The size of a graph inside of a node; `known` tells what is outside of it."""
        return self.of_nodes(graph.node, self._inside(graph, known), depth)

    def steps(self, node: NodeProto, known: Known) -> int | None:
        """How many steps a Loop takes for certain; None where they depend on what its body computes."""
        body = next((a.g for a in node.attribute if a.name == "body" and a.type == AttributeProto.GRAPH), None)
        if body is None or not body.output or len(body.input) < 2:
            return None
        given = [known(name) if name else None for name in (*node.input[:2], "", "")][:2]
        first = [None if array is None or array.size != 1 else int(array.reshape(())) for array in given]
        if node.input[1:2] != [""] and len(node.input) > 1 and first[1] is None:
            return None
        if first[1] == 0:
            return 0
        if not self._stays_true(body, self._inside(body, known)):
            return None
        if not node.input or not node.input[0]:
            return LARGEST
        return None if first[0] is None else min(max(first[0], 0), LARGEST)

    def _of_node(self, proto: NodeProto, known: Known, depth: int) -> int:
        key = proto.domain, proto.op_type, proto.overload
        if key in self.functions.local:
            if key not in self._sizes:
                self._sizes[key] = 0  # of a function in itself, which is told where it is met
                self._sizes[key] = self.of_nodes(self.functions.local[key].node, lambda _: None, depth + 1)
            return 1 + self._sizes[key]
        graphs = {a.name: a.g for a in proto.attribute if a.type == AttributeProto.GRAPH}
        sizes = {name: self.of_graph(graph, known, depth + 1) for name, graph in graphs.items()}
        if proto.op_type == "If" and sizes:
            return 1 + min(sizes.values())
        if proto.op_type == "Loop" and "body" in sizes:
            return 1 + (self.steps(proto, known) or 0) * (1 + sizes["body"])
        return 1 + sum(sizes.values()) if proto.op_type == "Scan" else 1

    def _inside(self, graph: GraphProto, known: Known) -> Known:
        inputs = {value.name for value in graph.input}
        stored = {tensor.name: tensor for tensor in graph.initializer}

        def inner(name: str) -> Array | None:
            if name in stored:
                return self._read(stored[name])
            return None if name in inputs else known(name)

        return inner

    def _stays_true(self, body: GraphProto, known: Known) -> bool:
        """Whether the condition that a body gives is true, or the one that it is given."""
        own = {name: proto for proto in body.node for name in proto.output}
        name = body.output[0].name
        for _ in range(MAX_DEPTH):
            if name == body.input[1].name:
                return True
            proto = own.get(name)
            if proto is None or proto.op_type != "Identity" or not proto.input:
                break
            name = proto.input[0]
        value = known(name) if name not in own else self._made(own[name])
        return value is not None and value.size == 1 and bool(value.reshape(()))

    def _made(self, proto: NodeProto) -> Array | None:
        """The number that a `Constant` makes."""
        if proto.op_type != "Constant" or proto.domain not in ("", "ai.onnx"):
            return None
        for attribute in proto.attribute:
            if attribute.name == "value" and attribute.type == AttributeProto.TENSOR:
                return self._read(attribute.t)
            if attribute.name == "value_int":
                return np.asarray(attribute.i)
        return None

    def _read(self, tensor: TensorProto) -> Array | None:
        if any(extent != 1 for extent in tensor.dims) or tensor.data_location == TensorProto.EXTERNAL:
            return None
        try:
            return self.values.array(tensor, f"constant {tensor.name!r}")
        except TilewrightError:  # told where it is read
            return None
