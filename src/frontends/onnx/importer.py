"""From an ONNX model to a module in the graph dialect."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, ValueInfoProto, defs
from xdsl.builder import Builder
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import VerifyException

from ...dialects.graph.nodes import set_node_names
from ...dialects.types import ElementType
from ...errors import TilewrightError
from ...resources import Resources, attach
from ..input_shapes import InputShapes
from .folder import COMPUTED, Folder, shape_slice
from .input_shapes import Extent, declared_shape, input_shapes, is_batch_open, shape_text
from .load import NUMPY_TYPES, Array, check_size, opset_of, read_model, type_name
from .node import Node, decode, node_label
from .operators import OPERATORS, operator_names
from .order import ordered
from .scope import Scope, element_type, shape_of
from .values import Values

logger = logging.getLogger(__name__)

Model = str | Path | bytes | ModelProto


def import_onnx(
    model: Model,
    *,
    constants: Mapping[str, Array] | None = None,
    shapes: InputShapes | None = None,
) -> ModuleOp:
    """The function `@main` in the graph dialect that computes what `model` computes; weights are its resources.

    `constants` fixes graph inputs to values (shapes, axes, indices that the model leaves to its caller), and
    `shapes` gives the extents that the model leaves open (an open batch that nobody gives is 1).  Everything that
    depends on constants only is computed here.  Raises `TilewrightError` for what cannot be imported, naming node,
    operator or tensor.
    """
    proto = read_model(model)
    return _Import(proto, _values_of(model), dict(constants or {}), shapes or InputShapes()).run()


def _values_of(model: Model) -> Values:
    if isinstance(model, str | Path):
        return Values(file=Path(model))
    return Values(data=model) if isinstance(model, bytes) else Values()


def constant_inputs(model: Model) -> tuple[str, ...]:
    """The graph inputs of `model` that operators need to be constant: shapes, axes, indices and what they come from."""
    proto = read_model(model)
    needed: set[str] = set()
    stored = {t.name for t in proto.graph.initializer}
    for _, node in reversed(ordered(proto.graph.node, stored | {i.name for i in proto.graph.input})):
        operator = OPERATORS.get(node.op_type)
        if operator is None or node.op_type in ("Shape", "Size"):
            continue
        if needed.intersection(node.output):
            needed.update(node.input)
        needed.update(node.input[i] for i in operator.constant_inputs if i < len(node.input))
    return tuple(i.name for i in proto.graph.input if i.name in needed and i.name not in stored)


class _Import:
    def __init__(self, model: ModelProto, values: Values, constants: dict[str, Array], shapes: InputShapes) -> None:
        self.graph: GraphProto = model.graph
        self.version = opset_of(model)
        self.values = values
        self.constants = constants
        self.shapes = shapes
        self.folder = Folder()
        self.block = Block()
        self.scope = Scope(Builder(InsertPoint.at_end(self.block)), Resources())
        self.differing: list[str] = []
        self.declared = {v.name: v for v in (*self.graph.value_info, *self.graph.output)}

    def run(self) -> ModuleOp:
        self._read_initializers()
        inputs = self._declare_inputs()
        read = self._names_read()
        for position, proto in ordered(self.graph.node, self.scope.values):
            try:
                self._import_node(self._decode(proto, position), read)
            except TilewrightError as error:
                raise self._about_batch(error) from error
        results = [self._output(value) for value in self.graph.output]
        self.block.add_op(ReturnOp(*results))
        if self.differing:
            shown = "; ".join(self.differing[:3])
            logger.warning("%d shapes in the file differ from what operators give: %s", len(self.differing), shown)
        return self._module(inputs, results)

    def _read_initializers(self) -> None:
        if self.graph.sparse_initializer:
            raise TilewrightError("unsupported", "sparse_initializer", "dense initializers", "sparse ones")
        for tensor in self.graph.initializer:
            self.scope.values[tensor.name] = self.values.array(tensor, f"initializer {tensor.name!r}")

    def _declare_inputs(self) -> list[str]:
        """Block arguments for the graph inputs that are neither stored nor given as constants."""
        for value in self.graph.input:
            if value.name in self.constants:
                self.scope.values[value.name] = np.asarray(self.constants[value.name])
        values = [value for value in self.graph.input if value.name not in self.scope.values]
        elements = {value.name: _element_type(value) for value in values}
        shapes = input_shapes(values, self.shapes)
        for name, shape in shapes.items():
            check_size(f"input {name!r}", shape, 8)
            argument = self.block.insert_arg(TensorType(elements[name], shape), len(self.block.args))
            self.scope.values[name] = argument
        leading = [shapes[value.name][0] for value in values if is_batch_open(value)]
        self.scope.batch = leading[0] if leading else 0
        return list(shapes)

    def _about_batch(self, error: TilewrightError) -> TilewrightError:
        """The error of a node; where the file bakes in a batch before it, that is what to change."""
        if error.kind != "shape" or not self.scope.single or error.lever:
            return error
        lever = f"{self.scope.single[0]} makes one sample of the batch: take --batch 1, or export the model anew"
        return TilewrightError(error.kind, error.subject, error.expected, error.found, lever)

    def _names_read(self) -> set[str]:
        return {name for node in self.graph.node for name in node.input} | {o.name for o in self.graph.output}

    def _decode(self, proto: NodeProto, position: int) -> Node:
        op = proto.op_type if proto.domain in ("", "ai.onnx") else f"{proto.domain}::{proto.op_type}"
        if op not in OPERATORS and op not in COMPUTED:
            accepted = "one of the operators " + ", ".join(operator_names())
            raise TilewrightError("unsupported", node_label(proto, position), accepted, op)
        return decode(proto, position, self.version, self.values)

    def _import_node(self, node: Node, read: set[str]) -> None:
        _check_count(node)
        folded = self._fold(node)
        results = folded if folded is not None else self._make(node)
        for name, value in zip(node.outputs, results, strict=False):
            if name:
                self.scope.define(node, name, value)
                self._note_declared(name)
        for name in node.outputs[len(results) :]:
            if name in read:
                raise node.error(f"only the first {len(results)} outputs to be read", f"output {name!r} read")

    def _fold(self, node: Node) -> Sequence[Array] | None:
        inputs = [self.scope.value(node, i) if node.has_input(i) else None for i in range(len(node.inputs))]
        if node.op in ("Shape", "Size") and inputs and isinstance(inputs[0], SSAValue):
            shape = shape_of(inputs[0])
            return (shape_slice(node, shape) if node.op == "Shape" else np.asarray(int(np.prod(shape)), np.int64),)
        arrays = [i for i in inputs if not isinstance(i, SSAValue)]
        return self.folder.fold(node, arrays) if len(arrays) == len(inputs) else None

    def _make(self, node: Node) -> Sequence[Array | SSAValue]:
        make = OPERATORS[node.op].make if node.op in OPERATORS else None
        if make is None:
            raise node.error("constant inputs", "inputs known at run time only")
        try:
            return make(self.scope, node)
        except (VerifyException, ValueError, IndexError, OverflowError) as error:
            raise node.error("inputs and attributes that fit the operator", str(error), kind="shape") from error

    def _note_declared(self, name: str) -> None:
        """Where the model declares another shape than ours, which the operators give, say so at the end."""
        value = self.declared.get(name)
        declared = declared_shape(value) if value is not None else None
        made = self.scope.values[name]
        found = shape_of(made) if isinstance(made, SSAValue) else made.shape
        if declared is not None and not _agree(declared, found):
            self.differing.append(f"{name!r} declared {shape_text(declared)}, is {shape_text(found)}")

    def _output(self, value: ValueInfoProto) -> SSAValue:
        made = self.scope.values.get(value.name)
        if made is None:
            raise TilewrightError("parse", f"output {value.name!r}", "a node that makes it", "none")
        return made if isinstance(made, SSAValue) else self.scope.weight(f"{value.name}.value", made)

    def _node_names(self) -> dict[str, str]:
        """Value -> its node, where that is called otherwise."""
        return {name: n.name for n in self.graph.node if n.name for name in n.output if name and name != n.name}

    def _module(self, inputs: list[str], results: list[SSAValue]) -> ModuleOp:
        arguments = [argument.type for argument in self.block.args]
        function = FuncOp("main", (arguments, [result.type for result in results]), Region(self.block))
        function.attributes["graph.inputs"] = ArrayAttr(StringAttr(name) for name in inputs)
        function.attributes["graph.outputs"] = ArrayAttr(StringAttr(o.name) for o in self.graph.output)
        set_node_names(function, self._node_names())
        module = ModuleOp([function])
        attach(module, self.scope.resources)
        return module


def _element_type(value: ValueInfoProto) -> ElementType:
    subject = f"input {value.name!r}"
    if value.type.WhichOneof("value") != "tensor_type":
        raise TilewrightError("unsupported", subject, "a tensor", value.type.WhichOneof("value") or "no type")
    number = value.type.tensor_type.elem_type
    dtype = NUMPY_TYPES.get(number)
    return element_type(subject, dtype.name if dtype is not None else type_name(number))


def _agree(declared: Sequence[Extent], found: Sequence[int]) -> bool:
    pairs = zip(declared, found, strict=False)
    return len(declared) == len(found) and all(not isinstance(old, int) or old == new for old, new in pairs)


def _check_count(node: Node) -> None:
    """A node has as many inputs as its operator takes, where ONNX defines it."""
    if not defs.has(node.op):
        return
    try:
        schema = defs.get_schema(node.op, node.version)
    except defs.SchemaError:  # younger than the model's opset
        return
    low, high = schema.min_input, schema.max_input
    if not low <= len(node.inputs) <= high:
        wanted = f"{low}" if low == high else f"at least {low}" if high > 1000 else f"{low} to {high}"
        raise node.error(f"{wanted} inputs", f"{len(node.inputs)}", kind="parse")
