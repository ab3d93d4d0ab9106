"""Nodes one after another: computed where their inputs are constant, made by their operator, or expanded."""

from collections import ChainMap
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from onnx import FunctionProto, ModelProto, NodeProto, defs, shape_inference
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...algebra.element import Array
from ...dialects import graph
from ...dialects.graph.base import set_name
from ...dialects.types import shape_of
from ...errors import TilewrightError
from . import control, expansion, reference
from .expansion import Body, Functions, Limits, function_body
from .folder import COMPUTED, VIEWS, Folder, shape_slice
from .least_size import LeastSize
from .operators import OPERATORS
from .order import ordered
from .scope import Node, Scope, Value, decode, node_label
from .types import BOOL, ORDERING, DType, output_types, schema_of, wider
from .values import Values

KNOWN = "one of the operators that docs/onnx.md lists"
MISFITS = (
    *(VerifyException, ValueError, TypeError, ArithmeticError, LookupError, RuntimeError, AssertionError),
    *(defs.SchemaError, shape_inference.InferenceError),
)
"""What is raised where inputs and attributes of a node do not fit together: by makers, or by ONNX."""

OUT_LEVER = "there it stands what stays out and why"


class Nodes:
    """Imports the nodes of a model into a scope; `noted` is told each name that has got its value."""

    def __init__(self, model: ModelProto, scope: Scope, values: Values, noted: Callable[[str], None]) -> None:
        self.scope = scope
        self.values = values
        self.noted = noted
        self.folder = Folder()
        self.functions = Functions(model)
        self.limits = Limits()
        self.sizes = LeastSize(self.functions, values)
        self._expanded = 0

    def constant(self, name: str) -> Array | None:
        """The constant that a name stands for, or None where it has none so far."""
        value = self.scope.values.get(name)
        return None if isinstance(value, SSAValue) else value

    def check_size(self, nodes: Sequence[NodeProto]) -> None:
        """Refuse nodes that make too many of them, before any is imported; the error names what makes most."""
        sizes = [self.sizes.of_nodes([proto], self.constant) for proto in nodes]
        most = max(range(len(nodes)), key=sizes.__getitem__, default=0)
        self.limits.promise(sum(sizes), node_label(nodes[most], most) if max(sizes, default=1) > 1 else "the model")

    def run(self, nodes: Sequence[NodeProto], version: int, results: Collection[str], label: str = "model") -> None:
        """Import nodes in an order in which they can run; `results` are names that are read behind them."""
        self.limits.count(len(nodes), label)
        read = {name for node in nodes for name in node.input} | set(results)
        read |= {name for node in nodes for name in expansion.captured(node)}
        known = ChainMap[str, Any](self.scope.values, self.scope.sequences)
        for position, proto in ordered(nodes, known):
            self._import(self._decode(proto, position, version), read)

    def _decode(self, proto: NodeProto, position: int, version: int) -> Node:
        default = proto.domain in ("", "ai.onnx")
        op = proto.op_type if default else f"{proto.domain}::{proto.op_type}"
        if self.functions.of_model(proto) is None and schema_of(proto.op_type, version, proto.domain) is None:
            made = proto.domain == expansion.DOMAIN and proto.op_type in expansion.MAKERS
            if not made and (not default or (op not in OPERATORS and op not in COMPUTED)):
                raise TilewrightError("unsupported", node_label(proto, position), KNOWN, op, OUT_LEVER)
        return decode(proto, position, version, self.values)

    def _import(self, node: Node, read: set[str]) -> None:
        outermost = not self.scope.part_of
        if outermost:
            self.scope.part_of = node.proto.name or next(filter(None, node.outputs), "")
        try:
            results = self._results(node)
        except MISFITS as error:
            found = f"{error}" or type(error).__name__
            raise node.error("inputs and attributes that fit the operator", found[:300], kind="shape") from error
        finally:
            if outermost:
                self.scope.part_of = ""
        for name, value in zip(node.outputs, results, strict=False):
            if name and value is not None:
                self.scope.define(node, name, value)
                self.noted(name)
        for name in node.outputs[len(results) :]:
            if name in read:
                raise node.error(f"only the first {len(results)} outputs to be read", f"output {name!r} read")

    def _results(self, node: Node) -> Sequence[Value | None]:
        function = self.functions.of_model(node.proto)
        if function is not None:
            return self._call(node, function)
        _check_form(node)
        if node.proto.domain == expansion.DOMAIN and node.op in expansion.MAKERS:
            return expansion.MAKERS[node.op](self.scope, node)
        if node.proto.domain not in ("", "ai.onnx"):
            return self._call(node, self._schema_function(node))
        if node.op in control.CONTROL:
            return control.CONTROL[node.op](self, node)
        if node.op in control.SEQUENCES:
            return control.SEQUENCES[node.op](self.scope, node)
        folded = self._fold(node)
        if folded is not None:
            return folded
        operator = OPERATORS.get(node.op)
        if operator is not None and operator.make is not None:
            return self._made(node)
        return self._call(node, self._schema_function(node))

    def _fold(self, node: Node) -> Sequence[Array] | None:
        inputs = [self.scope.value(node, i) if node.has_input(i) else None for i in range(len(node.inputs))]
        if node.op in ("Shape", "Size") and inputs and isinstance(inputs[0], SSAValue):
            shape = shape_of(inputs[0])
            return (shape_slice(node, shape) if node.op == "Shape" else np.asarray(int(np.prod(shape)), np.int64),)
        arrays = [i for i in inputs if not isinstance(i, SSAValue)]
        if len(arrays) != len(inputs):
            return None
        folded = self.folder.fold(node, arrays)
        if folded is None and node.op not in VIEWS and node.op not in COMPUTED and arrays:
            folded = reference.evaluate(node, arrays)
        return folded

    def _schema_function(self, node: Node) -> FunctionProto:
        function = self.functions.of_schema(node, [self._type(node, i) for i in range(len(node.inputs))])
        if function is not None:
            return function
        if (node.op in OPERATORS or node.op in COMPUTED) and node.proto.domain in ("", "ai.onnx"):
            raise node.error("constant inputs", "inputs known at run time only")
        domain = node.proto.domain
        raise node.error(KNOWN, f"{domain}::{node.op}" if domain else node.op, OUT_LEVER)

    def _type(self, node: Node, index: int) -> tuple[DType, tuple[int, ...]] | None:
        return (self.scope.dtype(node, index), self.scope.shape(node, index)) if node.has_input(index) else None

    def _call(self, node: Node, function: FunctionProto) -> Sequence[Value | None]:
        """The results of a function's nodes in the place of `node`."""
        key = f"{function.domain or node.proto.domain}::{function.name or node.op}"
        return self.expand(node, lambda prefix: function_body(node, function, prefix), key)

    def expand(self, node: Node, body_of: Callable[[str], Body], key: str = "") -> Sequence[Value | None]:
        """The results of a body in the place of `node`; `body_of` makes it with a prefix for names of its own."""
        self._expanded += 1
        prefix = f"{next((name for name in node.outputs if name), node.op)}::{self._expanded}."
        body = body_of(prefix)
        self.limits.enter(key, node.label)
        self.run(body.nodes, body.version, body.results, node.label)
        self.limits.leave()
        for name, output in zip(body.results, node.outputs, strict=False):
            value = self.scope.values.get(name)
            if isinstance(value, SSAValue) and isinstance(value.owner, Operation) and output:
                if graph.name_of(value.owner) == name and name.startswith(prefix):
                    set_name(value.owner, output)
        return [self._result(node, name, output) for name, output in zip(body.results, node.outputs, strict=False)]

    def _result(self, node: Node, name: str, output: str) -> Value | None:
        if name in self.scope.sequences:
            self.scope.sequences[output] = self.scope.sequences[name]
            return None
        value = self.scope.values.get(name)
        if value is None and output:
            raise node.error(f"output {output!r} to be made", f"{name!r}, which nothing makes", kind="parse")
        return value

    def _made(self, node: Node) -> Sequence[Value]:
        """What the operator makes, in the types that its schema says; narrow types are computed in wider ones."""
        operator = OPERATORS[node.op]
        assert operator.make is not None
        inputs = [self.scope.dtype(node, i) if node.has_input(i) else None for i in range(len(node.inputs))]
        types = output_types(node, inputs)
        taken = node if operator.moves else self._widened(node)
        if operator.types:
            self.scope.require_type(taken, 0, operator.types)
        results = list(operator.make(self.scope, taken))
        if node.op in ORDERING and np.dtype(np.uint64) in inputs:
            results = [self._shifted(r, node) if t == np.uint64 else r for r, t in zip(results, types, strict=False)]
        return [self._typed(r, types[i] if i < len(types) else None) for i, r in enumerate(results)]

    def _shifted(self, value: Value, node: Node) -> SSAValue:
        """64 bits as int64, less 2^63: in the order of uint64; and back."""
        x = value if isinstance(value, SSAValue) else self.scope.literal(node, value)
        return self.scope.emit(graph.BinaryOp("add", x, self.scope.weight("least", np.array(-(2**63), np.int64))))

    def _widened(self, node: Node) -> Node:
        names = list(node.inputs)
        for index, name in enumerate(node.inputs):
            wide = wider(self.scope.dtype(node, index), node.op, self.scope.doubles) if name else None
            if wide is None:
                continue
            ordered = node.op in ORDERING and self.scope.dtype(node, index) == np.uint64
            names[index] = f"{name}::{wide.name}{' ordered' * ordered}"
            if names[index] not in self.scope.values:
                value = self.scope.value(node, index)
                wide_value = self.scope.cast(value, wide) if isinstance(value, SSAValue) else value.astype(wide)
                self.scope.values[names[index]] = self._shifted(wide_value, node) if ordered else wide_value
        return replace(node, inputs=tuple(names))

    def _typed(self, value: Value, dtype: DType | None) -> Value:
        if dtype is None or self.scope.dtype_of(value) == dtype:
            return value
        if not isinstance(value, SSAValue):
            return value.astype(dtype)
        if dtype == BOOL:
            self.scope.truths.add(value)
            return value
        owner = value.owner
        name = graph.name_of(owner) if isinstance(owner, Operation) else None
        if isinstance(owner, Operation):
            set_name(owner, None)
        return self.scope.cast(value, dtype, name or "")


def _check_form(node: Node) -> None:
    """A node has as many inputs as its operator takes, and no attributes but its own, where ONNX defines it."""
    schema = schema_of(node.op, node.version, node.proto.domain)
    if schema is None:
        return
    low, high = schema.min_input, schema.max_input
    if not low <= len(node.inputs) <= high:
        wanted = f"{low}" if low == high else f"at least {low}" if high > 1000 else f"{low} to {high}"
        raise node.error(f"{wanted} inputs", f"{len(node.inputs)}", kind="parse")
    for name in node.attributes:
        if name not in schema.attributes:
            known = ", ".join(sorted(schema.attributes)) or "none"
            raise node.error(f"attributes of the operator in opset {node.version}: {known}", name, kind="parse")
