"""ONNX's own backend test suite, imported and interpreted, and compiled and simulated.

A case is in scope when

* all its operators are in `OPERATORS`, a Resize is by nearest neighbour, quantisation is per tensor or per channel,
* its inputs and outputs are tensors of `TYPES`, int64 among inputs only as shapes, axes and indices or where data is
  moved and not computed with,
* the shapes of its inputs are static.

`not_passing.json` lists the cases in scope that do not pass, each with the reason; the tests fail when it is not exact.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper
from onnx.backend.test.case.test_case import TestCase as Case
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner

from tilewright.backends import onnx_backend
from tilewright.errors import TilewrightError
from tilewright.frontends.onnx import constant_inputs, import_onnx
from tilewright.interpreters.graph import run_graph

Array = NDArray[Any]

SUITES = ("node", "simple", "pytorch-converted", "pytorch-operator")

OPERATORS = frozenset(
    "Add AveragePool BatchNormalization Clip Concat Constant ConstantOfShape Conv DequantizeLinear Div Dropout Erf "
    "Flatten Gather Gelu Gemm GlobalAveragePool HardSigmoid HardSwish Identity LRN LayerNormalization LeakyRelu MatMul "
    "MaxPool Mul Pad QuantizeLinear ReduceMean Relu Reshape Resize Sigmoid Slice Softmax Split Squeeze Sub Sum Tanh "
    "Transpose Unsqueeze".split()
)
"""The operators that tilewright promises."""

MOVEMENT = frozenset(
    "Concat Constant Flatten Gather Identity Pad Reshape Slice Split Squeeze Transpose Unsqueeze".split()
)
"""Those that move data and may do so with int64."""

TYPES = frozenset((TensorProto.FLOAT, TensorProto.INT8, TensorProto.UINT8, TensorProto.INT32, TensorProto.INT64))

NOT_PASSING: dict[str, dict[str, str]] = json.loads((Path(__file__).parent / "not_passing.json").read_text())
"""Reasons by case, for `import` (it is refused or differs already in the graph) and `simulate` (only further down)."""

REQUIRED_RATE = 0.95


@dataclass(frozen=True)
class Sample:
    """A case with its model read and its first data set: arrays in, arrays out."""

    name: str
    model: ModelProto
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    rtol: float
    atol: float

    def names(self) -> list[str]:
        """The names of the inputs that a caller gives."""
        stored = {t.name for t in self.model.graph.initializer}
        return [i.name for i in self.model.graph.input if i.name not in stored]

    def check(self, outputs: Sequence[Array]) -> None:
        """Compare with what the suite expects, as onnx's own runner does."""
        Runner.assert_similar_outputs(self.outputs, list(outputs), rtol=self.rtol, atol=self.atol)


def in_scope(model: ModelProto) -> bool:
    """The rule at the head of this file."""
    operators = {node.op_type for node in model.graph.node}
    if not operators <= OPERATORS or any(node.domain not in ("", "ai.onnx") for node in model.graph.node):
        return False
    if any(_attribute(node, "mode", b"nearest") != b"nearest" for node in model.graph.node if node.op_type == "Resize"):
        return False
    if any(_attribute(node, "block_size", 0) for node in model.graph.node):
        return False
    stored = {t.name for t in model.graph.initializer}
    inputs = [i for i in model.graph.input if i.name not in stored]
    values = [*inputs, *model.graph.output]
    if any(v.type.WhichOneof("value") != "tensor_type" or v.type.tensor_type.elem_type not in TYPES for v in values):
        return False
    wide = {i.name for i in inputs if i.type.tensor_type.elem_type == TensorProto.INT64}
    if not operators <= MOVEMENT and not wide <= set(constant_inputs(model)):
        return False
    return all(d.HasField("dim_value") for i in inputs for d in i.type.tensor_type.shape.dim)


def _attribute(node: onnx.NodeProto, name: str, default: Any) -> Any:
    return next((helper.get_attribute_value(a) for a in node.attribute if a.name == name), default)


@cache
def samples() -> dict[str, Sample]:
    """The cases in scope by name, in the order of the suites."""
    found: dict[str, Sample] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for suite in SUITES:
            for case in sorted(load_model_tests(kind=suite), key=lambda c: c.name):
                model = case.model or onnx.load(Path(str(case.model_dir)) / "model.onnx")
                if in_scope(model):
                    found[case.name] = Sample(case.name, model, *_data(case), case.rtol, case.atol)
    return found


def _data(case: Case) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    if case.data_sets is not None:
        inputs, outputs = case.data_sets[0]
        return tuple(map(_array, inputs)), tuple(map(_array, outputs))
    folder = Path(str(case.model_dir)) / "test_data_set_0"
    return _files(folder, "input"), _files(folder, "output")


def _array(value: Any) -> Array:
    return numpy_helper.to_array(value) if isinstance(value, TensorProto) else np.asarray(value)


def _files(folder: Path, kind: str) -> tuple[Array, ...]:
    paths = [folder / f"{kind}_{i}.pb" for i in range(len(list(folder.glob(f"{kind}_*.pb"))))]
    return tuple(numpy_helper.to_array(onnx.load_tensor(path)) for path in paths)


@pytest.mark.parametrize("name", samples())
def test_interpreted(name: str) -> None:
    sample = samples()[name]
    if name in NOT_PASSING["import"]:
        with pytest.raises((TilewrightError, AssertionError)):
            sample.check(_interpret(sample))
    else:
        sample.check(_interpret(sample))


def _interpret(sample: Sample) -> list[Array]:
    named = dict(zip(sample.names(), sample.inputs, strict=True))
    constants = {n: named[n] for n in constant_inputs(sample.model)}
    module = import_onnx(sample.model, constants=constants)
    outputs = run_graph(module, {n: a for n, a in named.items() if n not in constants})
    return [outputs[o.name] for o in sample.model.graph.output]


@pytest.mark.parametrize("name", samples())
def test_simulated(name: str) -> None:
    sample = samples()[name]
    if name in NOT_PASSING["import"] | NOT_PASSING["simulate"]:
        with pytest.raises((TilewrightError, AssertionError)):
            sample.check(onnx_backend.run_model(sample.model, list(sample.inputs)))
    else:
        sample.check(onnx_backend.run_model(sample.model, list(sample.inputs)))


def test_the_list_is_of_cases_in_scope_with_reasons() -> None:
    for reasons in NOT_PASSING.values():
        assert set(reasons) <= set(samples())
        assert all(len(reason) > 10 for reason in reasons.values())


def test_enough_pass() -> None:
    failing = len(NOT_PASSING["import"] | NOT_PASSING["simulate"])
    assert len(samples()) > 300
    assert 1 - failing / len(samples()) >= REQUIRED_RATE
