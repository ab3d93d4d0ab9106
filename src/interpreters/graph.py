"""Reference semantics of the graph dialect: every layer on whole tensors, by NumPy."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_terminator,
    register_impls,
)
from xdsl.ir import Operation
from xdsl.irdl import OptOperandDef
from xdsl.utils.exceptions import InterpretationError

from ..algebra.element import Array
from ..dialects import graph
from ..dialects.properties import plain_properties
from ..dialects.types import dtype_of, element_of, shape_of
from ..errors import TilewrightError
from ..resources import Resources, resources_of, weight_array
from . import graph_numpy as layers


@register_impls
class EntryFunctions(InterpreterFunctions):
    """The end of a function.  xDSL has this too, in a package whose import brings the interpreters of all dialects."""

    @impl_terminator(func.ReturnOp)
    def run_return(
        self, interpreter: Interpreter, op: func.ReturnOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()


def _dtype(op: graph.LayerOp) -> np.dtype[Any]:
    return dtype_of(element_of(op.result))


def _plain(function: Callable[..., Array], *, typed: bool = False) -> Callable[..., Array]:
    """A layer that is a function of its operands and, by name, its properties; its kind, if it has one, comes first.

    Where it is `typed`, the function is also told the `dtype` of the result.
    """

    def run(op: graph.LayerOp, *operands: Array | None) -> Array:
        values = plain_properties(op)
        kind = (values.pop("kind"),) if "kind" in values else ()
        return function(*kind, *operands, **values, **({"dtype": _dtype(op)} if typed else {}))

    return run


def _softmax(op: graph.SoftmaxOp, x: Array, mask: Array | None) -> Array:
    values = plain_properties(op)
    step, zero_point = values.pop("step"), values.pop("zero_point")
    powers, totals = layers.softmax(x, mask, **values)
    if step is None:
        return powers / totals
    return layers.saturate(np.rint(powers / (totals * np.float32(step))) + np.float32(zero_point), _dtype(op))


def _lrn(op: graph.LrnOp, x: Array) -> Array:
    values = plain_properties(op)
    zero = values.pop("zero_point")
    return layers.lrn(x if zero is None else x.astype(np.int32) - zero, **values, adds_in_i32=op.adds_in_i32)


def _unary(kind: str, x: Array, **scalars: float | None) -> Array:
    return layers.UNARY[kind](x, *(scalar for scalar in scalars.values() if scalar is not None))


LAYERS: Mapping[type[graph.LayerOp], Callable[..., Array]] = {
    graph.ConvOp: _plain(layers.conv),
    graph.UnfoldOp: _plain(layers.unfold),
    graph.GemmOp: _plain(layers.gemm),
    graph.MatmulOp: _plain(layers.matmul),
    graph.PoolOp: _plain(layers.pool),
    graph.ReduceOp: _plain(layers.reduce),
    graph.SoftmaxOp: _softmax,
    graph.LayerNormOp: _plain(layers.layer_norm),
    graph.StandardizeOp: _plain(layers.standardize),
    graph.LrnOp: _lrn,
    graph.BatchNormOp: _plain(layers.batch_norm),
    graph.UnaryOp: _plain(_unary),
    graph.ClipOp: _plain(lambda x, min, max: layers.clip(x, min, max)),
    graph.BinaryOp: _plain(lambda kind, a, b: layers.BINARY[kind](a, b)),
    graph.SelectOp: _plain(lambda condition, a, b: np.where(condition != 0, a, b)),
    graph.CastOp: _plain(layers.cast, typed=True),
    graph.ConcatOp: lambda op, *pieces: np.concatenate(pieces, axis=op.axis.value.data),
    graph.SliceOp: lambda op, x: layers.slice_(x, **plain_properties(op), sizes=shape_of(op.result)),
    graph.PadOp: _plain(layers.pad),
    graph.ReshapeOp: lambda op, x: np.reshape(x, shape_of(op.result)),
    graph.TransposeOp: _plain(lambda x, perm: np.transpose(x, perm)),
    graph.ResizeOp: _plain(layers.resize),
    graph.GatherOp: lambda op, x: np.take(x, graph.dense_array(op.indices), axis=op.axis.value.data),
    graph.LookupOp: lambda op, table, index: layers.rows_at(table, index),
    graph.ExpandOp: lambda op, x: np.broadcast_to(x, shape_of(op.result)),
    graph.QuantizeOp: _plain(layers.quantize, typed=True),
    graph.DequantizeOp: _plain(layers.dequantize),
    graph.RequantizeOp: _plain(layers.requantize, typed=True),
}
"""What each layer computes of its operands, those that are left out being None."""


def _operands(op: graph.LayerOp, args: PythonValues) -> Iterator[Array | None]:
    given = iter(args)
    for name, definition in op.get_irdl_definition().operands:
        if isinstance(definition, OptOperandDef) and getattr(op, name) is None:
            yield None
        else:
            yield next(given)
    yield from given


@dataclass
class GraphFunctions(InterpreterFunctions):
    """Semantics of all graph operations; values are NumPy arrays, weights come from `resources`."""

    resources: Resources = field(default_factory=Resources)

    @impl(graph.WeightOp)
    def run_weight(self, interpreter: Interpreter, op: graph.WeightOp, args: PythonValues) -> PythonValues:
        array = weight_array(op, self.resources)
        if array is None:
            raise InterpretationError(f"no bytes for graph.weight @{op.resource}")
        return (array,)

    def run_layer(self, interpreter: Interpreter, op: graph.LayerOp, args: PythonValues) -> PythonValues:
        """A layer of `LAYERS`."""
        return (LAYERS[type(op)](op, *_operands(op, args)),)

    def run_group(self, interpreter: Interpreter, op: graph.GroupOp, args: PythonValues) -> PythonValues:
        """The values that a group's body yields."""
        return interpreter.run_ssacfg_region(op.body, args, "group")

    @impl_terminator(graph.YieldOp)
    def run_yield(
        self, interpreter: Interpreter, op: graph.YieldOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()


for _kind in LAYERS:
    setattr(GraphFunctions, f"run {_kind.name}", impl(_kind)(GraphFunctions.run_layer))
for _kind in (graph.FusedGroupOp, graph.LayerGroupOp):
    setattr(GraphFunctions, f"run {_kind.name}", impl(_kind)(GraphFunctions.run_group))
register_impls(GraphFunctions)


@dataclass
class NamedValues(Interpreter.Listener):
    """Collects the value of every operation that has a name (attribute `name`) and one result."""

    values: dict[str, Array] = field(default_factory=dict[str, Array])

    def did_interpret_op(self, op: Operation, results: PythonValues) -> None:
        name = graph.name_of(op)
        if name is not None and len(results) == 1:
            self.values[name] = np.asarray(results[0])


def run_graph(
    module: ModuleOp,
    inputs: Mapping[str, Array],
    *,
    function: str = "main",
    named: dict[str, Array] | None = None,
    functions: Sequence[InterpreterFunctions] = (),
) -> dict[str, Array]:
    """The outputs of a network by name, computed layer by layer with NumPy.

    `named`, where given, receives the value of every layer that has a name.  `functions` are the semantics of other
    dialects that occur in the module.  `TilewrightError` if an input is missing or does not fit.
    """
    entry = find_function(module, function)
    names = argument_names(entry)
    arrays = [_input(name, value, inputs) for name, value in zip(names, entry.body.block.args, strict=True)]
    listeners = () if named is None else (NamedValues(named),)
    interpreter = Interpreter(module, listeners=listeners)
    interpreter.register_implementations(GraphFunctions(resources_of(module)))
    interpreter.register_implementations(EntryFunctions())
    for more in functions:
        interpreter.register_implementations(more)
    with np.errstate(all="ignore"):
        results = interpreter.run_ssacfg_region(entry.body, tuple(arrays), function)
    return {name: np.asarray(result) for name, result in zip(result_names(entry), results, strict=True)}


def check_one_block(function: func.FuncOp) -> func.FuncOp:
    """The function; `TilewrightError` (kind `unsupported`) for one whose body has branches."""
    if len(function.body.blocks) > 1:
        found = f"{len(function.body.blocks)} blocks"
        raise TilewrightError("unsupported", f"@{function.sym_name.data}", "a function of one block", found)
    return function


def find_function(module: ModuleOp, name: str = "main") -> func.FuncOp:
    """The function `name` of a module, with its body."""
    for op in module.body.block.ops:
        if isinstance(op, func.FuncOp) and op.sym_name.data == name and op.body.blocks:
            return check_one_block(op)
    raise TilewrightError("program", f"@{name}", "a function with a body of that name in the module", "none")


def argument_names(entry: func.FuncOp) -> list[str]:
    """The names of the arguments: `graph.inputs`, or `arg0`, `arg1`, ..."""
    return _names(entry, "graph.inputs", "arg", len(entry.function_type.inputs))


def result_names(entry: func.FuncOp) -> list[str]:
    """The names of the results: `graph.outputs`, or `result0`, `result1`, ..."""
    return _names(entry, "graph.outputs", "result", len(entry.function_type.outputs))


def _names(entry: func.FuncOp, attribute: str, prefix: str, count: int) -> list[str]:
    given = entry.attributes.get(attribute)
    if not isinstance(given, ArrayAttr):
        return [f"{prefix}{i}" for i in range(count)]
    names = [item.data for item in cast(ArrayAttr[Any], given) if isinstance(item, StringAttr)]
    if len(names) != count or len(set(names)) != count:
        expected = f"{count} different strings in {attribute}"
        raise TilewrightError("program", f"@{entry.sym_name.data}", expected, str(given))
    return names


def _input(name: str, value: Any, inputs: Mapping[str, Array]) -> Array:
    if name not in inputs:
        raise TilewrightError("program", name, f"an input of type {value.type}", "none of that name")
    array = np.asarray(inputs[name])
    if array.dtype == np.bool_ and dtype_of(element_of(value)) == np.uint8:
        array = array.astype(np.uint8)
    if array.shape != shape_of(value) or array.dtype != dtype_of(element_of(value)):
        found = f"{array.dtype} of shape {list(array.shape)}"
        raise TilewrightError("program", name, f"an input of type {value.type}", found)
    return array
