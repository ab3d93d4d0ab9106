"""From an ONNX model to a module in the graph dialect."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from onnx import GraphProto, ModelProto, TensorProto, TensorShapeProto, ValueInfoProto
from xdsl.builder import Builder
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, SSAValue
from xdsl.rewriter import InsertPoint

from ...algebra.element import Array
from ...dialects import graph
from ...dialects.graph.nodes import set_node_names
from ...dialects.types import ElementType
from ...errors import TilewrightError
from ...resources import Resources
from ..input_shapes import InputShapes
from ..main_function import main_module
from ..open_graph import open_graph
from ..open_shapes import Extent, closed_shapes, shape_text
from .constant_inputs import constant_names
from .load import NUMPY_TYPES, check_size, opset_of, read_model, type_name
from .nodes import Nodes
from .scope import Scope, element_type, shape_of
from .steps import Steps, repeated
from .values import Values


def declared_shape(value: ValueInfoProto) -> tuple[Extent, ...] | None:
    """The shape that the file gives to a value; None where it gives none.

    An extent below 1 is open: exporters write -1 and 0 for what they do not know.
    """
    tensor = value.type.tensor_type
    return tuple(map(_extent, tensor.shape.dim)) if tensor.HasField("shape") else None


def is_batch_open(value: ValueInfoProto) -> bool:
    """Whether the file leaves the leading extent of an input open."""
    shape = declared_shape(value)
    return bool(shape) and not isinstance(shape[0], int)


def _extent(dim: TensorShapeProto.Dimension) -> Extent:
    if dim.HasField("dim_value"):
        return dim.dim_value if dim.dim_value > 0 else None
    return dim.dim_param or None


def input_shapes(values: Sequence[ValueInfoProto], given: InputShapes) -> dict[str, tuple[int, ...]]:
    """The shape of each of `values`."""
    return closed_shapes({value.name: declared_shape(value) for value in values}, given)


logger = logging.getLogger(__name__)

Model = str | Path | bytes | ModelProto


def import_onnx(
    model: Model,
    *,
    constants: Mapping[str, Array] | None = None,
    shapes: InputShapes | None = None,
    doubles: str = "",
    steps: Steps | None = None,
) -> ModuleOp:
    """The function `@main` in the graph dialect that computes what `model` computes; weights are its resources.

    `constants` fixes graph inputs to values (shapes, axes, indices that the model leaves to its caller), and
    `shapes` gives the extents that the model leaves open (an open batch that nobody gives is 1).  With `doubles` "f32"
    float64 is computed as f32, else it is only moved and cast.  With `steps` it is repeated (`steps`).  Everything that
    depends on constants only is computed here.  Raises `TilewrightError` for what cannot be imported, naming node,
    operator or tensor.
    """
    proto = read_model(model)
    if doubles not in ("", "f32"):
        raise TilewrightError("usage", "doubles", "'f32', or nothing", repr(doubles))
    if steps is not None:
        proto = repeated(proto, steps)
    imported = _Import(proto, _values_of(model), dict(constants or {}), shapes or InputShapes())
    imported.scope.doubles = doubles == "f32"
    return imported.run()


def import_open(model: Model, dims: Mapping[str, range]) -> ModuleOp:
    """As `import_onnx`, but an extent of `dims` with several numbers stays open (`dialects.graph.extents`).

    The graph holds for the numbers in these ranges; `driver.load_model` and the pass `graph-fix-extents` fix them.
    Raises `TilewrightError` (kind `shape`) where the graph's operations depend on the extents, or its integers are no
    sums of products of them (`open_graph`).
    """
    opened = {name: numbers for name, numbers in dims.items() if len(numbers) > 1}
    fixed = {name: numbers[0] for name, numbers in dims.items() if len(numbers) == 1}

    def import_at(point: Mapping[str, int]) -> ModuleOp:
        return import_onnx(model, shapes=InputShapes(dims={**fixed, **point}))

    return open_graph(import_at, opened) if opened else import_at({})


def _values_of(model: Model) -> Values:
    if isinstance(model, str | Path):
        return Values(file=Path(model))
    return Values(data=model) if isinstance(model, bytes) else Values()


def constant_inputs(model: Model) -> tuple[str, ...]:
    """The graph inputs of `model` that operators need to be constant: shapes, axes, indices and what they come from."""
    return constant_names(read_model(model))


class _Import:
    def __init__(self, model: ModelProto, values: Values, constants: dict[str, Array], shapes: InputShapes) -> None:
        self.graph: GraphProto = model.graph
        self.version = opset_of(model)
        self.values = values
        self.constants = constants
        self.shapes = shapes
        self.block = Block()
        self.scope = Scope(Builder(InsertPoint.at_end(self.block)), Resources())
        self.nodes = Nodes(model, self.scope, values, self._note_declared)
        self.differing: list[str] = []
        self.declared = {v.name: v for v in (*self.graph.value_info, *self.graph.output)}

    def run(self) -> ModuleOp:
        self._read_initializers()
        inputs = self._declare_inputs()
        try:
            self.nodes.check_size(self.graph.node)
            self.nodes.run(self.graph.node, self.version, [value.name for value in self.graph.output])
        except TilewrightError as error:
            raise self._about_batch(error) from error
        results = [self._output(value) for value in self.graph.output]
        if self.scope.widened:
            first, *others = self.scope.widened
            more = f" and {len(others)} others are" if others else " is"
            logger.warning("%s%s for one sample; results have %d, as the inputs have", first, more, self.scope.batch)
        if self.differing:
            shown = "; ".join(self.differing[:3])
            logger.warning("%d shapes in the file differ from what operators give: %s", len(self.differing), shown)
        names = [value.name for value in self.graph.output]
        module = main_module(self.block, inputs, names, results, self.scope.resources)
        function = self.block.parent_op()
        assert isinstance(function, FuncOp)
        set_node_names(function, self._node_names())
        return module

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
        truths = {v.name for v in values if v.type.tensor_type.elem_type == TensorProto.BOOL}
        shapes = input_shapes(values, self.shapes)
        for name, shape in shapes.items():
            check_size(f"input {name!r}", shape, 8)
            argument = self.block.insert_arg(TensorType(elements[name], shape), len(self.block.args))
            self.scope.values[name] = self._truth(argument) if name in truths else argument
        leading = [shapes[value.name][0] for value in values if is_batch_open(value)]
        self.scope.batch = leading[0] if leading else 0
        return list(shapes)

    def _truth(self, argument: SSAValue) -> SSAValue:
        """A bool input, which is 1 wherever it is not 0."""
        zero = self.scope.weight("false", np.zeros((), np.uint8))
        truth = self.scope.emit(graph.BinaryOp("ne", argument, zero))
        self.scope.truths.add(truth)
        return truth

    def _about_batch(self, error: TilewrightError) -> TilewrightError:
        """The error of a node; where the file bakes in a batch before it, that is what to change."""
        if error.kind != "shape" or not self.scope.single or error.lever:
            return error
        lever = f"{self.scope.single[0]} makes one sample of the batch: take --batch 1, or export the model anew"
        return TilewrightError(error.kind, error.subject, error.expected, error.found, lever)

    def _note_declared(self, name: str) -> None:
        """Where the model declares another shape than ours, which the operators give, say so at the end."""
        value = self.declared.get(name)
        declared = declared_shape(value) if value is not None else None
        made = self.scope.values[name]
        found = shape_of(made) if isinstance(made, SSAValue) else made.shape
        if declared is not None and not _agree(declared, found):
            self.differing.append(f"{name!r} declared {shape_text(declared)}, is {shape_text(found)}")

    def _output(self, value: ValueInfoProto) -> SSAValue:
        if value.name in self.scope.sequences:
            raise TilewrightError("unsupported", f"output {value.name!r}", "a tensor", "a sequence")
        made = self.scope.values.get(value.name)
        if made is None:
            raise TilewrightError("parse", f"output {value.name!r}", "a node that makes it", "none")
        return made if isinstance(made, SSAValue) else self.scope.weight(f"{value.name}.value", made)

    def _node_names(self) -> dict[str, str]:
        """Value -> its node, where that is called otherwise."""
        return {name: n.name for n in self.graph.node if n.name for name in n.output if name and name != n.name}


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
