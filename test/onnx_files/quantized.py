"""Statically quantised (QDQ, int8) versions of float networks, made by onnxruntime's quantiser on made data."""

import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
from numpy.typing import NDArray
from onnx import ModelProto, version_converter

from tilewright.errors import TilewrightError

from .weights import random_inputs

MIN_OPSET = 13
"""The first opset in which QuantizeLinear and DequantizeLinear take an axis."""


def quantized(model: ModelProto, seed: int = 0, samples: int = 2, signed: bool = False) -> ModelProto:
    """A QDQ version of the float network `model`, calibrated on `samples` random inputs from `seed`.

    Weights become int8 per output channel, activations uint8 (int8 if `signed`) per tensor.  Batch normalisation is
    folded into convolutions first, a Sum of two tensors becomes an Add, as the quantiser knows that one only, and a
    Softmax at the end is dropped: the outputs are logits.  Needs onnxruntime.
    """
    try:
        from onnxruntime import quantization as ort
        from onnxruntime.quantization.shape_inference import quant_pre_process
    except ImportError as error:
        lever = "pip install onnxruntime"
        raise TilewrightError("usage", "quantiser", "onnxruntime to be installed", "no onnxruntime", lever) from error

    class Reader(ort.CalibrationDataReader):
        def __init__(self) -> None:
            self.samples: Iterator[dict[str, NDArray[Any]]] = (random_inputs(model, seed + i) for i in range(samples))

        def get_next(self) -> Any:
            return next(self.samples, None)

    kind = ort.QuantType.QInt8 if signed else ort.QuantType.QUInt8
    with tempfile.TemporaryDirectory() as folder, _quiet():
        paths = [str(Path(folder) / name) for name in ("float.onnx", "folded.onnx", "quantised.onnx")]
        onnx.save(_prepared(model), paths[0])
        quant_pre_process(paths[0], paths[1], skip_symbolic_shape=True)
        ort.quantize_static(
            paths[1],
            paths[2],
            Reader(),
            quant_format=ort.QuantFormat.QDQ,
            per_channel=True,
            activation_type=kind,
            weight_type=ort.QuantType.QInt8,
        )
        return onnx.load(paths[2])


def _prepared(model: ModelProto) -> ModelProto:
    result = ModelProto()
    result.CopyFrom(model)
    _drop_last_softmax(result)
    if max(o.version for o in model.opset_import if o.domain in ("", "ai.onnx")) < MIN_OPSET:
        result = version_converter.convert_version(result, MIN_OPSET)
    for node in result.graph.node:
        if node.op_type == "Sum" and len(node.input) == 2:
            node.op_type = "Add"
    return result


def _drop_last_softmax(model: ModelProto) -> None:
    outputs = {output.name: output for output in model.graph.output}
    for node in list(model.graph.node):
        if node.op_type == "Softmax" and node.output[0] in outputs:
            outputs[node.output[0]].name = node.input[0]
            model.graph.node.remove(node)


class _quiet:
    """Keeps the quantiser's remarks off the log for as long as it runs."""

    def __enter__(self) -> None:
        self.level = logging.root.manager.disable
        logging.disable(logging.WARNING)

    def __exit__(self, *_: object) -> None:
        logging.disable(self.level)
