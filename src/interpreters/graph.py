"""Reference semantics of the graph dialect: every layer on whole tensors, by NumPy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, FloatAttr, ModuleOp, StringAttr
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
from xdsl.ir import Operation, Region
from xdsl.utils.exceptions import InterpretationError

from ..dialects import graph
from ..dialects.types import dtype_of, element_of, shape_of
from ..errors import TilewrightError
from ..resources import Resources, resources_of, weight_array
from . import graph_numpy as numpy_layers

Array = NDArray[Any]


@register_impls
class EntryFunctions(InterpreterFunctions):
    """The end of a function.  xDSL has this too, in a package whose import brings the interpreters of all dialects."""

    @impl_terminator(func.ReturnOp)
    def run_return(
        self, interpreter: Interpreter, op: func.ReturnOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()


def _number(attribute: FloatAttr | None) -> float | None:
    return None if attribute is None else attribute.value.data


def _next(args: Sequence[Any], given: bool) -> Array | None:
    return args[-1] if given else None


@register_impls
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

    @impl(graph.ConvOp)
    def run_conv(self, interpreter: Interpreter, op: graph.ConvOp, args: PythonValues) -> PythonValues:
        bias, window = _next(args, op.bias is not None), graph.window_of(op)
        return (numpy_layers.conv(args[0], args[1], bias, *window, op.groups.value.data, op.pad_value.value.data),)

    @impl(graph.UnfoldOp)
    def run_unfold(self, interpreter: Interpreter, op: graph.UnfoldOp, args: PythonValues) -> PythonValues:
        kernel, pad_value = op.kernel.get_values(), op.pad_value.value.data
        return (numpy_layers.unfold(args[0], kernel, *graph.window_of(op), pad_value),)

    @impl(graph.GemmOp)
    def run_gemm(self, interpreter: Interpreter, op: graph.GemmOp, args: PythonValues) -> PythonValues:
        a = args[0].T if op.trans_a is not None else args[0]
        b = args[1].T if op.trans_b is not None else args[1]
        c = _next(args, op.c is not None)
        return (numpy_layers.gemm(a, b, c, op.alpha.value.data, op.beta.value.data),)

    @impl(graph.MatmulOp)
    def run_matmul(self, interpreter: Interpreter, op: graph.MatmulOp, args: PythonValues) -> PythonValues:
        return (numpy_layers.matmul(args[0], args[1]),)

    @impl(graph.PoolOp)
    def run_pool(self, interpreter: Interpreter, op: graph.PoolOp, args: PythonValues) -> PythonValues:
        kernel, include_pad = op.kernel.get_values(), op.count_include_pad is not None
        return (numpy_layers.pool(op.kind.data.value, args[0], kernel, *graph.window_of(op), include_pad),)

    @impl(graph.ReduceOp)
    def run_reduce(self, interpreter: Interpreter, op: graph.ReduceOp, args: PythonValues) -> PythonValues:
        return (numpy_layers.reduce(op.kind.data.value, args[0], op.axes.get_values(), op.keepdims is not None),)

    @impl(graph.SoftmaxOp)
    def run_softmax(self, interpreter: Interpreter, op: graph.SoftmaxOp, args: PythonValues) -> PythonValues:
        mask, bounded = _next(args, op.mask is not None), op.bounded is not None
        powers, totals = numpy_layers.softmax(args[0], mask, op.axis.value.data, _number(op.scale), bounded)
        if op.step is None or op.zero_point is None:
            return (powers / totals,)
        steps = np.rint(powers / (totals * np.float32(op.step.value.data))) + np.float32(op.zero_point.value.data)
        return (numpy_layers.saturate(steps, dtype_of(element_of(op.result))),)

    @impl(graph.LayerNormOp)
    def run_layer_norm(self, interpreter: Interpreter, op: graph.LayerNormOp, args: PythonValues) -> PythonValues:
        bias = _next(args, op.bias is not None)
        return (numpy_layers.layer_norm(args[0], args[1], bias, op.axis.value.data, op.epsilon.value.data),)

    @impl(graph.StandardizeOp)
    def run_standardize(self, interpreter: Interpreter, op: graph.StandardizeOp, args: PythonValues) -> PythonValues:
        axis, epsilon, bits = op.axis.value.data, op.epsilon.value.data, op.bits.value.data
        return (numpy_layers.standardize(args[0], axis, epsilon, bits),)

    @impl(graph.LrnOp)
    def run_lrn(self, interpreter: Interpreter, op: graph.LrnOp, args: PythonValues) -> PythonValues:
        size, (alpha, beta, bias) = op.size.value.data, (each.value.data for each in (op.alpha, op.beta, op.bias))
        x = args[0] if op.zero_point is None else args[0].astype(np.int32) - op.zero_point.value.data
        return (numpy_layers.lrn(x, size, alpha, beta, bias, adds_in_i32=op.adds_in_i32),)

    @impl(graph.BatchNormOp)
    def run_batch_norm(self, interpreter: Interpreter, op: graph.BatchNormOp, args: PythonValues) -> PythonValues:
        x, scale, bias, mean, variance = args
        return (numpy_layers.batch_norm(x, scale, bias, mean, variance, op.epsilon.value.data),)

    @impl(graph.UnaryOp)
    def run_unary(self, interpreter: Interpreter, op: graph.UnaryOp, args: PythonValues) -> PythonValues:
        scalars = (s for s in (_number(op.alpha), _number(op.beta)) if s is not None)
        return (numpy_layers.UNARY[op.kind.data.value](args[0], *scalars),)

    @impl(graph.ClipOp)
    def run_clip(self, interpreter: Interpreter, op: graph.ClipOp, args: PythonValues) -> PythonValues:
        return (numpy_layers.clip(args[0], _number(op.min), _number(op.max)),)

    @impl(graph.BinaryOp)
    def run_binary(self, interpreter: Interpreter, op: graph.BinaryOp, args: PythonValues) -> PythonValues:
        return (numpy_layers.BINARY[op.kind.data.value](args[0], args[1]),)

    @impl(graph.SelectOp)
    def run_select(self, interpreter: Interpreter, op: graph.SelectOp, args: PythonValues) -> PythonValues:
        condition, a, b = args
        return (np.where(condition != 0, a, b),)

    @impl(graph.CastOp)
    def run_cast(self, interpreter: Interpreter, op: graph.CastOp, args: PythonValues) -> PythonValues:
        return (numpy_layers.cast(args[0], dtype_of(element_of(op.result))),)

    @impl(graph.ConcatOp)
    def run_concat(self, interpreter: Interpreter, op: graph.ConcatOp, args: PythonValues) -> PythonValues:
        return (np.concatenate(args, axis=op.axis.value.data),)

    @impl(graph.SliceOp)
    def run_slice(self, interpreter: Interpreter, op: graph.SliceOp, args: PythonValues) -> PythonValues:
        starts, steps = op.starts.get_values(), op.steps.get_values()
        return (numpy_layers.slice_(args[0], starts, steps, shape_of(op.result)),)

    @impl(graph.PadOp)
    def run_pad(self, interpreter: Interpreter, op: graph.PadOp, args: PythonValues) -> PythonValues:
        return (numpy_layers.pad(args[0], op.pads.get_values(), op.mode.data.value, op.value.value.data),)

    @impl(graph.ReshapeOp)
    def run_reshape(self, interpreter: Interpreter, op: graph.ReshapeOp, args: PythonValues) -> PythonValues:
        return (np.reshape(args[0], shape_of(op.result)),)

    @impl(graph.TransposeOp)
    def run_transpose(self, interpreter: Interpreter, op: graph.TransposeOp, args: PythonValues) -> PythonValues:
        return (np.transpose(args[0], op.perm.get_values()),)

    @impl(graph.ResizeOp)
    def run_resize(self, interpreter: Interpreter, op: graph.ResizeOp, args: PythonValues) -> PythonValues:
        return (numpy_layers.resize(args[0], op.scales.get_values()),)

    @impl(graph.GatherOp)
    def run_gather(self, interpreter: Interpreter, op: graph.GatherOp, args: PythonValues) -> PythonValues:
        return (np.take(args[0], graph.dense_array(op.indices), axis=op.axis.value.data),)

    @impl(graph.LookupOp)
    def run_lookup(self, interpreter: Interpreter, op: graph.LookupOp, args: PythonValues) -> PythonValues:
        return (numpy_layers.rows_at(args[0], args[1]),)

    @impl(graph.ExpandOp)
    def run_expand(self, interpreter: Interpreter, op: graph.ExpandOp, args: PythonValues) -> PythonValues:
        return (np.broadcast_to(args[0], shape_of(op.result)),)

    @impl(graph.QuantizeOp)
    def run_quantize(self, interpreter: Interpreter, op: graph.QuantizeOp, args: PythonValues) -> PythonValues:
        zero_point = _next(args, op.zero_point is not None)
        dtype = dtype_of(element_of(op.result))
        return (numpy_layers.quantize(args[0], args[1], zero_point, op.axis.value.data, dtype),)

    @impl(graph.DequantizeOp)
    def run_dequantize(self, interpreter: Interpreter, op: graph.DequantizeOp, args: PythonValues) -> PythonValues:
        zero_point = _next(args, op.zero_point is not None)
        return (numpy_layers.dequantize(args[0], args[1], zero_point, op.axis.value.data),)

    @impl(graph.RequantizeOp)
    def run_requantize(self, interpreter: Interpreter, op: graph.RequantizeOp, args: PythonValues) -> PythonValues:
        zero_point, low, high = op.zero_point.value.data, op.low.value.data, op.high.value.data
        bounds, dtype = (zero_point, low, high), dtype_of(element_of(op.result))
        return (numpy_layers.requantize(args[0], args[1], args[2], op.axis.value.data, *bounds, dtype),)

    @impl(graph.FusedGroupOp)
    def run_fused_group(self, interpreter: Interpreter, op: graph.FusedGroupOp, args: PythonValues) -> PythonValues:
        return run_region(interpreter, op.body, args)

    @impl(graph.LayerGroupOp)
    def run_layer_group(self, interpreter: Interpreter, op: graph.LayerGroupOp, args: PythonValues) -> PythonValues:
        return run_region(interpreter, op.body, args)

    @impl_terminator(graph.YieldOp)
    def run_yield(
        self, interpreter: Interpreter, op: graph.YieldOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()


def run_region(interpreter: Interpreter, body: Region, args: PythonValues) -> PythonValues:
    """The values that a group's body yields."""
    return interpreter.run_ssacfg_region(body, args, "group")


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


def find_function(module: ModuleOp, name: str = "main") -> func.FuncOp:
    """The function `name` of a module, with its body."""
    for op in module.body.block.ops:
        if isinstance(op, func.FuncOp) and op.sym_name.data == name and op.body.blocks:
            return op
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
