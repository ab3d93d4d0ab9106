"""tilewright as an ONNX backend (`onnx.backend.base`): models are compiled for a target and run on its simulator.

import tilewright.backends.onnx_backend as backend
outputs = backend.run_model(model, [x])
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper
from onnx.backend.base import Backend, BackendRep

from ..algebra.element import Array
from ..driver import CompileOptions, compile
from ..errors import TilewrightError
from ..frontends.acg import target_files
from ..frontends.onnx import constant_inputs, import_onnx
from .program import Program
from .simulator import simulate

NODE_OPSET = 21
"""The opset of nodes given to `run_node` without one."""


class SimulatedModel(BackendRep):
    """A model ready to run.

    Inputs that decide shapes (of Reshape, axes, indices, ...) are constants to the compiler, and so are those without
    elements: a model that has such inputs is compiled when it is run, again whenever their values change.
    """

    def __init__(
        self, model: ModelProto, target: str | None, doubles: str = "", options: CompileOptions | None = None
    ) -> None:
        self.model = model
        self.target = target
        self.options = options
        self.doubles = doubles
        self.outputs = [o.name for o in model.graph.output]
        self.truths = {o.name for o in model.graph.output if o.type.tensor_type.elem_type == TensorProto.BOOL}
        self.program: Program | None = None
        self.compiled_for: dict[str, Array] = {}
        if not constant_inputs(model) and not any(map(_may_be_empty, model.graph.input)):
            self.program = self._compile({})

    def _compile(self, constants: Mapping[str, Array]) -> Program:
        module = import_onnx(self.model, constants=constants, doubles=self.doubles)
        if self.target is None:
            return compile(module, options=self.options)
        return compile(module, self.target, options=self.options)

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Array, ...]:
        """The outputs for `inputs`: a list in the order of the graph's inputs, or a mapping by name."""
        named = named_inputs(self.model, inputs)
        constants = constants_among(self.model, named)
        if self.program is None or not _same(constants, self.compiled_for):
            self.program, self.compiled_for = self._compile(constants), constants
        tensors = {name: array for name, array in named.items() if name not in constants}
        result = simulate(self.program, tensors, timing=False)
        return tuple(self._typed(name, result.outputs[name]) for name in self.outputs)

    def _typed(self, name: str, output: Array) -> Array:
        """An output as ONNX has it: the machine's bytes of 0 and 1 are bool."""
        return output.astype(np.bool_) if name in self.truths else output


def _may_be_empty(value: ValueInfoProto) -> bool:
    """Whether an extent is 0, or left open."""
    return any(dim.dim_value < 1 for dim in value.type.tensor_type.shape.dim)


def constants_among(model: ModelProto, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The inputs that decide shapes, or have no elements: those that are constants to the compiler."""
    deciding = set(constant_inputs(model))
    return {name: array for name, array in inputs.items() if name in deciding or not array.size}


def named_inputs(model: ModelProto, inputs: Any) -> dict[str, Array]:
    """The inputs of `model` by name: from a mapping, or from a list in the order of the graph's inputs."""
    if isinstance(inputs, Mapping):
        return {str(name): _array(str(name), array) for name, array in inputs.items()}
    if isinstance(inputs, np.ndarray):
        inputs = [inputs]
    stored = {t.name for t in model.graph.initializer}
    names = [i.name for i in model.graph.input if i.name not in stored]
    if len(inputs) != len(names):
        raise TilewrightError("inputs", "inputs of the model", f"{len(names)} arrays", f"{len(inputs)} arrays")
    return {name: _array(name, value) for name, value in zip(names, inputs, strict=True)}


def _array(name: str, value: Any) -> Array:
    if value is None or isinstance(value, list | tuple | Mapping):
        raise TilewrightError("unsupported", f"input {name!r}", "a tensor", type(value).__name__)
    return np.asarray(value)


def _same(left: Mapping[str, Array], right: Mapping[str, Array]) -> bool:
    return left.keys() == right.keys() and all(np.array_equal(left[name], right[name]) for name in left)


class TilewrightBackend(Backend):
    """The backend interface; devices are `CPU` (the default target, simulated) and the names of shipped targets."""

    @classmethod
    def prepare(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> SimulatedModel:
        """Import and compile `model`; keyword `target` names a target or an `.acg` file and comes before `device`,
        `doubles` "f32" lets float64 be computed as f32, and `options` are those of `compile`.
        """
        if not cls.supports_device(device):
            raise TilewrightError("usage", "device", "one of " + ", ".join(["CPU", *target_files()]), device)
        target = kwargs.get("target") or (None if device == "CPU" else device)
        return SimulatedModel(model, target, str(kwargs.get("doubles", "")), kwargs.get("options"))

    @classmethod
    def run_model(cls, model: ModelProto, inputs: Any, device: str = "CPU", **kwargs: Any) -> tuple[Array, ...]:
        """Compile `model` and run it once."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: NodeProto,
        inputs: Any,
        device: str = "CPU",
        outputs_info: Sequence[tuple[Any, tuple[int, ...]]] | None = None,
        **kwargs: Any,
    ) -> tuple[Array, ...]:
        """Compile and run one node; keyword `opset_version` chooses the operator set."""
        return cls.run_model(
            node_model(node, inputs, kwargs.pop("opset_version", NODE_OPSET)), inputs, device, **kwargs
        )

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether `device` is `CPU` or a shipped target."""
        return device == "CPU" or device in target_files()


def node_model(node: NodeProto, inputs: Sequence[Array], opset_version: int) -> ModelProto:
    """A model of one node, whose inputs have the types and shapes of the arrays `inputs`."""
    names = list(dict.fromkeys(name for name in node.input if name))
    arrays = [np.asarray(array) for array in inputs]
    if len(names) != len(arrays):
        raise TilewrightError("inputs", f"{node.op_type} node", f"{len(names)} arrays", f"{len(arrays)} arrays")
    values = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in zip(names, arrays, strict=True)
    ]
    outputs = [helper.make_empty_tensor_value_info(name) for name in node.output if name]
    graph = helper.make_graph([node], "node", values, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset_version)])


prepare = TilewrightBackend.prepare
run_model = TilewrightBackend.run_model
run_node = TilewrightBackend.run_node
supports_device = TilewrightBackend.supports_device
