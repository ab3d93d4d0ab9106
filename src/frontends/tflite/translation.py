"""A TFLite graph on its way to ONNX: its tensors in two orders of axes, as integers and as the numbers behind them.

TFLite has channels last, ONNX first.  A tensor of four axes is kept in the order in which it is made, and transposed
where a reader needs the other.  Quantised tensors are quantised behind the operator that makes them, and dequantised
before those that read them: the form that `graph-quantize` turns into integer layers.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, helper

from ...algebra.element import Array
from ...names import take_name
from ..onnx.load import NUMPY_TYPES
from .reader import DAMAGED, Graph, Operator, Scaling, Tensor

OPSET = 21

ONNX_TYPES = {dtype: number for number, dtype in NUMPY_TYPES.items()}

TO_FIRST, TO_LAST = (0, 3, 1, 2), (0, 2, 3, 1)
"""Permutations of axes: batch, rows, columns, channels to channels first, and back."""


@dataclass
class Value:
    """ONNX names of a tensor by whether its channels are first: as the file has it, and as numbers."""

    stored: dict[bool, str] = field(default_factory=dict[bool, str])
    real: dict[bool, str] = field(default_factory=dict[bool, str])


class Translation:
    """ONNX nodes and constants for a graph, made one operator after another."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, Array] = {}
        self.values: dict[int, Value] = {}
        self.used: set[str] = set()
        self.operator = Operator("", (), (), {}, "the model")
        self.names = [self.unique(t.name) for t in graph.tensors]
        """The tensors' own names, made different from each other."""
        for index in graph.inputs:
            self.values[index] = Value({False: self.names[index]})

    def unique(self, name: str) -> str:
        """`name`, with a number behind it where it is taken."""
        return take_name(name, self.used)

    # Nodes

    def emit_all(self, op: str, inputs: Sequence[str], count: int, **attributes: Any) -> list[str]:
        """A node of `count` results, named after what the operator makes; names of its results."""
        index = next(iter(self.operator.outputs), None)
        base = "model" if index is None else self.names[index].partition(";")[0]
        names = [self.unique(f"{base}.{op.lower()}") for _ in range(count)]
        self.nodes.append(helper.make_node(op, list(inputs), names, **attributes))
        return names

    def emit(self, op: str, *inputs: str, **attributes: Any) -> str:
        """A node of one result."""
        return self.emit_all(op, inputs, 1, **attributes)[0]

    def cast(self, name: str, index: int) -> str:
        """A value in the element type of a tensor."""
        return self.emit("Cast", name, to=ONNX_TYPES[self.tensor(index).dtype])

    def constant(self, array: Any, name: str = "constant") -> str:
        """A constant; lists of integers are int64."""
        found = self.unique(name)
        array = np.asarray(array)
        self.constants[found] = array
        return found

    def integers(self, numbers: Iterable[int], name: str = "numbers") -> str:
        """A constant list of int64."""
        return self.constant(np.array(list(numbers), np.int64), name)

    # Tensors that operators read

    def input(self, position: int) -> int:
        """The tensor at an input, which must be given."""
        index = self.optional(position)
        if index is None:
            raise self.operator.error(f"an input {position}", "none", "parse", DAMAGED)
        return index

    def optional(self, position: int) -> int | None:
        """The tensor at an input, None where it is left out."""
        inputs = self.operator.inputs
        return inputs[position] if position < len(inputs) and inputs[position] != -1 else None

    def output(self, position: int = 0) -> int:
        """The tensor at an output."""
        if position >= len(self.operator.outputs) or self.operator.outputs[position] == -1:
            raise self.operator.error(f"an output {position}", "none", "parse", DAMAGED)
        return self.operator.outputs[position]

    def tensor(self, index: int) -> Tensor:
        """What the file says about a tensor."""
        return self.graph.tensors[index]

    def rank(self, index: int) -> int:
        """The number of a tensor's axes."""
        return len(self.tensor(index).shape)

    def extent(self, index: int, axis: int) -> int:
        """An extent that the file fixes."""
        shape = self.tensor(index).shape
        found = shape[axis] if -len(shape) <= axis < len(shape) else None
        if found is None:
            raise self.operator.error(f"a fixed extent {axis}", f"shape {list(shape)}", "shape")
        return found

    def array(self, position: int, what: str) -> Array:
        """The values of a constant input."""
        tensor = self.tensor(self.input(position))
        if tensor.data is None:
            lever = "convert the model with constant shapes"
            raise self.operator.error(f"constant {what}", f"{tensor.name!r}, known at run time only", lever=lever)
        return tensor.data

    def numbers(self, position: int, what: str) -> list[int]:
        """The integers of a constant input, a short list."""
        array = self.array(position, what)
        if array.dtype.kind not in "iu" or array.size > 32:
            raise self.operator.error(f"at most 32 integers as {what}", f"{array.size} of {array.dtype}", "shape")
        return [int(v) for v in array.reshape(-1)]

    def number(self, position: int, what: str) -> int:
        """The integer of a constant input that is one."""
        found = self.numbers(position, what)
        if len(found) != 1:
            raise self.operator.error(f"one integer as {what}", f"{len(found)}", "shape")
        return found[0]

    def is_first(self, index: int) -> bool:
        """Whether a tensor is there with channels first only."""
        value = self._value(index)
        return bool(value.stored or value.real) and False not in value.stored and False not in value.real

    def real(self, index: int, first: bool = False) -> str:
        """The numbers that a tensor stands for; its own elements where it is not quantised."""
        tensor, value = self.tensor(index), self._value(index)
        if tensor.scaling is None:
            return self.stored(index, first)
        self._check_order(tensor, first)
        if first not in value.real:
            if value.stored:
                value.real[first] = self.dequantized(self.stored(index, first), tensor.scaling, first)
            else:
                value.real[first] = self._reordered(value.real[not first], first)
        return value.real[first]

    def stored(self, index: int, first: bool = False) -> str:
        """The elements of a tensor as the file has them."""
        tensor, value = self.tensor(index), self._value(index)
        self._check_order(tensor, first)
        if first not in value.stored:
            if not value.stored and value.real:
                order = next(iter(value.real))
                value.stored[order] = self.quantized(value.real[order], tensor)
            if first not in value.stored:
                value.stored[first] = self._reordered(value.stored[not first], first)
        return value.stored[first]

    def _value(self, index: int) -> Value:
        value = self.values.get(index)
        if value is None:
            tensor = self.tensor(index)
            if tensor.data is None:
                found = "one that no operator before it makes"
                raise self.operator.error(f"tensor {tensor.name!r} to have a value", found, "parse", DAMAGED)
            name = self.constant(tensor.data, f"{self.names[index]}.value")
            value = self.values[index] = Value({False: name})
        return value

    def _check_order(self, tensor: Tensor, first: bool) -> None:
        if first and len(tensor.shape) != 4:
            expected = f"tensor {tensor.name!r} of batch, rows, columns and channels"
            raise self.operator.error(expected, f"shape {list(tensor.shape)}", "shape")

    def _reordered(self, name: str, first: bool) -> str:
        perm = TO_FIRST if first else TO_LAST
        if name in self.constants:
            return self.constant(self.constants[name].transpose(perm), name)
        return self.emit("Transpose", name, perm=perm)

    def dequantized(self, name: str, scaling: Scaling, first: bool = False) -> str:
        """The numbers behind integers in the file's order of axes, or with channels first."""
        axis = TO_FIRST.index(scaling.axis) if first else scaling.axis
        inputs = [name, self.constant(scaling.scale, f"{name}.scale")]
        if np.any(scaling.zero):
            inputs.append(self.constant(scaling.zero, f"{name}.zero"))
        return self.emit("DequantizeLinear", *inputs, axis=axis)

    def quantized(self, name: str, tensor: Tensor) -> str:
        """Numbers as the integers of a tensor."""
        scaling = tensor.scaling
        assert scaling is not None
        if scaling.scale.ndim or tensor.dtype.itemsize > 2:
            found = f"{tensor.dtype} with {scaling.scale.size} scales"
            raise self.operator.error("results quantised to 8 or 16 bits with one scale", found)
        scale = self.constant(scaling.scale, f"{name}.scale")
        return self.emit("QuantizeLinear", name, scale, self.constant(scaling.zero, f"{name}.zero"))

    # Tensors that operators make

    def define(self, index: int, name: str, first: bool = False, then: Callable[[str], str] | None = None) -> None:
        """Let numbers of this name be a tensor; `then` moves its elements after they are quantised."""
        tensor = self.tensor(index)
        found = name if tensor.scaling is None else self.quantized(name, tensor)
        self.values[index] = Value({first: found if then is None else then(found)})

    def move(self, index: int, name: str, sources: Sequence[int], first: bool = False) -> None:
        """Let numbers of this name, elements of `sources`, be a tensor: quantised anew only where that changes them."""
        scaling = self.tensor(index).scaling
        if scaling is not None and all(scaling.equals(self.tensor(source).scaling) for source in sources):
            self.values[index] = Value(real={first: name})
        else:
            self.define(index, name, first)

    # The whole

    def model(self) -> ModelProto:
        """The ONNX model; its constants are inputs that `constants` has the values of."""
        results = {self._result(index): self.tensor(index) for index in self.graph.outputs}
        outputs = [helper.make_tensor_value_info(n, ONNX_TYPES[t.dtype], None) for n, t in results.items()]
        inputs = [self._declared(index) for index in self.graph.inputs]
        inputs += [helper.make_empty_tensor_value_info(name) for name in self.constants]
        graph = helper.make_graph(self.nodes, "tflite", inputs, outputs)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])

    def _declared(self, index: int) -> Any:
        tensor = self.tensor(index)
        return helper.make_tensor_value_info(self.names[index], ONNX_TYPES[tensor.dtype], tensor.shape)

    def _result(self, index: int) -> str:
        """The value of an output under the tensor's own name, if no input has that."""
        made = self.stored(index)
        name = self.names[index] if index not in self.graph.inputs else self.unique(f"{self.names[index]}.result")
        self.nodes.append(helper.make_node("Identity", [made], [name]))
        return name
