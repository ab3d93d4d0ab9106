"""TFLite files for tests: a builder of graphs, and small networks with seeded weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flatbuffers
import numpy as np
import tflite

CODES = {name: value for name, value in vars(tflite.BuiltinOperator).items() if name.isupper() or "_" in name}
VERSIONS = {"BROADCAST_TO": 2}
"""Versions of operators that LiteRT wants to be said."""

TYPES = {
    "float32": tflite.TensorType.FLOAT32,
    "float16": tflite.TensorType.FLOAT16,
    "int4": tflite.TensorType.INT4,
    "int8": tflite.TensorType.INT8,
    "uint8": tflite.TensorType.UINT8,
    "int16": tflite.TensorType.INT16,
    "int32": tflite.TensorType.INT32,
    "int64": tflite.TensorType.INT64,
    "bool": tflite.TensorType.BOOL,
}


class Model:
    """A graph that is built tensor by tensor; `bytes` is the file."""

    def __init__(self) -> None:
        self.builder = flatbuffers.Builder(1 << 16)
        self.tensors: list[int] = []
        self.shapes: list[tuple[int, ...]] = []
        self.operators: list[int] = []
        self.codes: list[str] = []
        self.buffers: list[int] = [self._table("Buffer"), self._table("Buffer")]
        self.inputs: list[int] = []

    def _table(self, name: str, **fields: Any) -> int:
        """A table; its lists are vectors that are there already."""
        getattr(tflite, f"{name}Start")(self.builder)
        for field, value in fields.items():
            getattr(tflite, f"{name}Add{field}")(self.builder, value)
        return getattr(tflite, f"{name}End")(self.builder)

    def _numbers(self, values: Any, dtype: str) -> int:
        return self.builder.CreateNumpyVector(np.array(values, dtype))

    def _tables(self, offsets: Sequence[int]) -> int:
        self.builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self.builder.PrependUOffsetTRelative(offset)
        return self.builder.EndVector()

    def tensor(
        self,
        shape: Sequence[int],
        dtype: str = "float32",
        data: Any = None,
        scale: Any = None,
        zero: Any = 0,
        axis: int = 0,
        open_axes: Sequence[int] = (),
        **fields: Any,
    ) -> int:
        """A tensor; its number."""
        buffer = 1
        if data is not None:
            raw = np.ascontiguousarray(data)
            vector = self.builder.CreateNumpyVector(raw.reshape(-1).view(np.uint8))
            self.buffers.append(self._table("Buffer", Data=vector))
            buffer = len(self.buffers) - 1
        name = self.builder.CreateString(f"t{len(self.tensors)}")
        extents = self._numbers(shape, "int32")
        if open_axes:
            fields["ShapeSignature"] = self._numbers(
                [-1 if i in open_axes else n for i, n in enumerate(shape)], "int32"
            )
        if scale is not None:
            scales = np.atleast_1d(np.array(scale, np.float32))
            zeros = np.broadcast_to(np.array(zero, np.int64), scales.shape)
            made = {"Scale": self._numbers(scales, "float32"), "ZeroPoint": self._numbers(zeros, "int64")}
            fields["Quantization"] = self._table("QuantizationParameters", **made, QuantizedDimension=axis)
        self.tensors.append(self._table("Tensor", Shape=extents, Type=TYPES[dtype], Buffer=buffer, Name=name, **fields))
        self.shapes.append(tuple(shape))
        return len(self.tensors) - 1

    def sparsity(self, order: Sequence[int], blocks: Sequence[int], levels: Sequence[Any]) -> int:
        """Where values of a sparse tensor are: by level its size, or segments and numbers of what is there."""
        made: list[int] = []
        for level in levels:
            if isinstance(level, int):
                made.append(self._table("DimensionMetadata", Format=0, DenseSize=level))
                continue
            segments, numbers = (self._table("Int32Vector", Values=self._numbers(part, "int32")) for part in level)
            fields = {"ArraySegmentsType": 1, "ArraySegments": segments, "ArrayIndicesType": 1, "ArrayIndices": numbers}
            made.append(self._table("DimensionMetadata", Format=1, **fields))
        lists = {"TraversalOrder": self._numbers(order, "int32"), "BlockMap": self._numbers(blocks, "int32")}
        return self._table("SparsityParameters", **lists, DimMetadata=self._tables(made))

    def constant(self, array: Any, **quantization: Any) -> int:
        """A constant tensor."""
        array = np.asarray(array)
        return self.tensor(array.shape, array.dtype.name, array, **quantization)

    def input(self, shape: Sequence[int], dtype: str = "float32", **quantization: Any) -> int:
        """A tensor that is an input of the graph."""
        self.inputs.append(self.tensor(shape, dtype, **quantization))
        return self.inputs[-1]

    def node(
        self, kind: str, inputs: Sequence[int], outputs: Sequence[int], kind_of_options: str = "", **options: Any
    ) -> None:
        """An operator by its name, with options of the table `kind_of_options`."""
        if kind not in self.codes:
            self.codes.append(kind)
        fields: dict[str, Any] = {}
        if kind_of_options:
            lists = {k: self._numbers(v, "int32") if isinstance(v, list) else v for k, v in options.items()}
            fields["BuiltinOptions"] = self._table(kind_of_options, **lists)
            fields["BuiltinOptionsType"] = getattr(tflite.BuiltinOptions, kind_of_options)
        read, made = self._numbers(inputs, "int32"), self._numbers(outputs, "int32")
        operator = self._table("Operator", OpcodeIndex=self.codes.index(kind), Inputs=read, Outputs=made, **fields)
        self.operators.append(operator)

    def bytes(self, outputs: Sequence[int]) -> bytes:
        """The file of the graph with these outputs."""
        codes = []
        for kind in self.codes:
            fields = {"CustomCode": self.builder.CreateString(kind)} if kind not in CODES else {}
            code = CODES.get(kind, CODES["CUSTOM"])
            low = {"DeprecatedBuiltinCode": min(code, 127), "BuiltinCode": code, "Version": VERSIONS.get(kind, 1)}
            codes.append(self._table("OperatorCode", **fields, **low))
        tensors, operators = self._tables(self.tensors), self._tables(self.operators)
        ends = self._numbers(self.inputs, "int32"), self._numbers(outputs, "int32")
        graph = self._table("SubGraph", Tensors=tensors, Inputs=ends[0], Outputs=ends[1], Operators=operators)
        vectors = {"OperatorCodes": self._tables(codes), "Subgraphs": self._tables([graph])}
        model = self._table("Model", Version=3, **vectors, Buffers=self._tables(self.buffers))
        self.builder.Finish(model, file_identifier=b"TFL3")
        return bytes(self.builder.Output())
