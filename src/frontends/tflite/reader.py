"""Reading a TFLite file: the tensors and operators of its main graph as plain values.

A file is a FlatBuffer: tables at offsets that the file names.  An offset out of the file, and lists that are together
longer than the file, are errors; values stay where they lie, mapped into memory.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from ...algebra.element import ELEMENT_TYPES, Array, is_float, limits
from ...errors import TilewrightError
from ...extras import extra
from ...files import read_bytes
from ..onnx.load import check_size
from ..onnx.values import unpacked

PLACE_BYTES = 4

VECTORS = {1: "Int32Vector", 2: "Uint16Vector", 3: "Uint8Vector"}
"""Tables that hold places, by the number that the file gives them."""


def dense_array(schema: Any, sparsity: Any, stored: Array, shape: Sequence[int], spend: Callable[[int], None]) -> Array:
    """The array of `shape` that has the `stored` values of `sparsity`, and zeros.

    `spend` is told what that takes in bytes, and refuses too many.  Raises `ValueError` where the places do not
    fit the shape or the values.
    """
    order, blocks = _list(sparsity, "TraversalOrder", spend), _list(sparsity, "BlockMap", spend)
    if sorted(order) != list(range(len(shape) + len(blocks))) or len(order) != sparsity.DimMetadataLength():
        raise ValueError("levels that are no order of axes and blocks")
    if any(not 0 <= axis < len(shape) for axis in blocks) or len(set(blocks)) != len(blocks):
        raise ValueError("blocks of other axes")
    places: dict[int, Array] = {}
    sizes: dict[int, int] = {}
    count = 1
    for number, axis in enumerate(order):
        level = sparsity.DimMetadata(number)
        parents, along = _level(schema, level, count, spend)
        places = {known: place[parents] for known, place in places.items()} | {axis: along}
        sizes[axis] = level.DenseSize()
        count = len(along)
    if count != len(stored):
        raise ValueError(f"{len(stored)} values for {count} places")
    for number, axis in enumerate(blocks):
        places[axis] = places[axis] * sizes[len(shape) + number] + places[len(shape) + number]
    spend(prod(shape) * stored.dtype.itemsize)
    result = np.zeros(shape, stored.dtype)
    found = tuple(places[axis] for axis in range(len(shape)))
    if any(np.any((place < 0) | (place >= extent)) for place, extent in zip(found, shape, strict=True)):
        raise ValueError("places outside of the shape")
    result[found] = stored
    return result


def _list(table: Any, name: str, spend: Callable[[int], None]) -> list[int]:
    count = getattr(table, f"{name}Length")()
    spend(PLACE_BYTES * count)
    return getattr(table, f"{name}AsNumpy")().tolist() if count else []


def _level(schema: Any, level: Any, count: int, spend: Callable[[int], None]) -> tuple[Array, Array]:
    """For each place of a level which of the `count` before it is in, and its number along the axis."""
    if level.Format() == schema.DimensionType.DENSE:
        size = level.DenseSize()
        if size < 0:
            raise ValueError("a negative size")
        spend(PLACE_BYTES * count * size)
        return np.repeat(np.arange(count, dtype=np.int32), size), np.tile(np.arange(size, dtype=np.int32), count)
    starts = _vector(schema, level.ArraySegmentsType(), level.ArraySegments(), spend)
    along = _vector(schema, level.ArrayIndicesType(), level.ArrayIndices(), spend)
    counts = np.diff(starts)
    if len(starts) != count + 1 or starts[0] != 0 or starts[-1] != len(along) or np.any(counts < 0):
        raise ValueError("segments that do not cover the places")
    return np.repeat(np.arange(count, dtype=np.int32), counts), along


def _vector(schema: Any, kind: int, table: Any, spend: Callable[[int], None]) -> Array:
    if kind not in VECTORS or table is None:
        raise ValueError("no list of places")
    vector = getattr(schema, VECTORS[kind])()
    vector.Init(table.Bytes, table.Pos)
    count = vector.ValuesLength()
    spend(PLACE_BYTES * count)
    return np.array(vector.ValuesAsNumpy() if count else [], np.int32)


IDENTIFIER = b"TFL3"
"""Bytes 4 to 8 of a TFLite file."""

DAMAGED = "the file is cut or damaged: convert the model anew"
MISFITS = (struct.error, ValueError, TypeError, IndexError, OverflowError)
"""What reading raises at offsets that lead out of the file."""

LISTS_SHARE = 16
"""How many times as long as the file its lists may be: an offset may be read many times."""

MAX_OPERATORS = 100_000
MAX_TENSORS = 1_000_000

DTYPES: dict[str, np.dtype[Any]] = {
    **{n.upper(): np.dtype(n) for n in ("float16", "float32", "float64", "int8", "int16", "int32", "int64")},
    **{n.upper(): np.dtype(n) for n in ("uint8", "uint16", "uint32", "uint64", "bool")},
    **{"INT4": ELEMENT_TYPES["i4"], "BFLOAT16": ELEMENT_TYPES["bf16"]},
}
"""Element types by their names in TFLite's schema."""


@dataclass(frozen=True)
class Scaling:
    """Integers `q` stand for `(q - zero) * scale`; both are scalars, or lists along `axis`."""

    scale: Array
    zero: Array
    axis: int

    def equals(self, other: "Scaling | None") -> bool:
        """Whether equal integers stand for equal numbers, of one scale each."""
        if other is None or self.scale.ndim or other.scale.ndim:
            return False
        return bool(self.scale == other.scale and self.zero == other.zero)


@dataclass(frozen=True)
class Tensor:
    """A tensor of the graph: `data` where it is constant, `scaling` where it is quantised; open extents are None."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int | None, ...]
    data: Array | None
    scaling: Scaling | None


@dataclass(frozen=True)
class Operator:
    """An operator by its name in TFLite's schema; an input of -1 is left out."""

    kind: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: Mapping[str, Any]
    label: str

    def error(self, expected: str, found: str, kind: str = "unsupported", lever: str = "") -> TilewrightError:
        """An error about this operator."""
        return TilewrightError(kind, self.label, expected, found, lever)

    def option(self, name: str, default: Any = 0) -> Any:
        """An option by its name in TFLite's schema; `default` where the operator has no options."""
        return self.options.get(name, default)


@dataclass(frozen=True)
class Graph:
    """The main graph of a file."""

    tensors: Sequence[Tensor]
    operators: Sequence[Operator]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


def read_tflite(source: str | Path | bytes) -> Graph:
    """The main graph of a TFLite file, or of its bytes.

    Raises `TilewrightError`: `file` where it cannot be read, `parse` where it is no TFLite file or is damaged,
    `unsupported` for tensors of strings, sparse ones and variables, `usage` where the package `tflite` is missing.
    """
    subject = "TFLite bytes" if isinstance(source, bytes) else str(source)
    schema = extra("tflite", "tflite", subject)
    data = source if isinstance(source, bytes) else read_bytes(Path(source), "a TFLite file")
    if data[4:8] != IDENTIFIER:
        found = f"{len(data)} bytes without its mark {IDENTIFIER.decode()}"
        raise TilewrightError("parse", subject, "a TFLite file", found, "the file is cut or of another kind")
    try:
        return _Reader(schema, data, subject).graph()
    except MISFITS as error:
        expected = "offsets and lengths that lie in the file"
        raise TilewrightError("parse", subject, expected, f"others ({error})"[:200], DAMAGED) from error


class _Reader:
    """Reads one file; `budget` is how many more bytes of lists, names and sparse tensors it may have."""

    def __init__(self, schema: Any, data: Any, subject: str) -> None:
        self.schema, self.data, self.subject = schema, data, subject
        self.model = schema.Model.GetRootAs(data, 0)
        self.budget = LISTS_SHARE * len(data)
        self.types = _names(schema.TensorType)
        self.options = _names(schema.BuiltinOptions)

    def error(self, expected: str, found: str, kind: str = "parse", lever: str = DAMAGED) -> TilewrightError:
        return TilewrightError(kind, self.subject, expected, found, lever)

    def spend(self, count: int) -> None:
        self.budget -= count
        if self.budget < 0:
            expected = f"lists and tensors that are together at most {LISTS_SHARE} times as long as the file"
            raise self.error(expected, "longer ones", "limit")

    def graph(self) -> Graph:
        if not self.model.SubgraphsLength():
            raise self.error("a graph", "none")
        main = self.model.Subgraphs(0)
        tensors, operators = main.TensorsLength(), main.OperatorsLength()
        if tensors > MAX_TENSORS or operators > MAX_OPERATORS:
            expected = f"at most {MAX_TENSORS:,} tensors and {MAX_OPERATORS:,} operators"
            raise self.error(expected, f"{tensors:,} and {operators:,}", "limit", "split the model")
        inputs, outputs = self.numbers(main, "Inputs"), self.numbers(main, "Outputs")
        variables = [i for i in range(tensors) if main.Tensors(i).IsVariable()]
        graph = Graph(
            [self.tensor(main.Tensors(i), i) for i in range(tensors)],
            [self.operator(main.Operators(i), i) for i in range(operators)],
            inputs,
            outputs,
        )
        named = [*inputs, *outputs, *(i for op in graph.operators for i in (*op.inputs, *op.outputs) if i != -1)]
        wrong = next((i for i in named if not 0 <= i < tensors), None)
        if wrong is not None:
            raise self.error(f"numbers of tensors from 0 to {tensors - 1}", str(wrong))
        if not outputs:
            raise self.error("a graph with outputs", "none")
        if variables and (kept := set(variables).intersection(named)):
            lever = "make the state an input and an output of the model"
            name = graph.tensors[min(kept)].name
            raise TilewrightError("unsupported", f"tensor {name!r}", "a value of this run", "a variable", lever)
        return graph

    def numbers(self, table: Any, name: str) -> tuple[int, ...]:
        """A list of integers of a table."""
        count = getattr(table, f"{name}Length")()
        self.spend(count)
        return tuple(getattr(table, f"{name}AsNumpy")().tolist()) if count else ()

    def text(self, value: bytes | None) -> str:
        self.spend(len(value or b""))
        return (value or b"").decode("utf-8", "replace").replace("\0", " ")

    def tensor(self, table: Any, number: int) -> Tensor:
        name = self.text(table.Name()) or f"tensor_{number}"
        label = f"tensor {name[:100]!r}"
        word = self.types.get(table.Type(), f"type {table.Type()}")
        if word not in DTYPES:
            lever = "convert the model without it"
            raise TilewrightError("unsupported", label, "a tensor of numbers or truth values", word, lever)
        dtype, shape = DTYPES[word], self.numbers(table, "Shape")
        check_size(label, shape, dtype.itemsize)
        scaling = self.scaling(table.Quantization(), shape, dtype, label)
        data = self.values(table, shape, dtype, label)
        signature = self.numbers(table, "ShapeSignature")
        if signature and len(signature) == len(shape) and data is None:
            shape = tuple(n if s >= 0 else None for n, s in zip(shape, signature, strict=True))
        return Tensor(name, dtype, shape, data, scaling)

    def values(self, table: Any, shape: tuple[int, ...], dtype: np.dtype[Any], label: str) -> Array | None:
        """The values of a constant; None for what operators make, which has no bytes."""
        buffer, sparsity = table.Buffer(), table.Sparsity()
        if not 0 <= buffer < max(1, self.model.BuffersLength()):
            raise TilewrightError("parse", label, "the number of a buffer", str(buffer), DAMAGED)
        if buffer == 0:
            return None
        stored = self.model.Buffers(buffer)
        if stored.Offset() > 1:  # bytes behind the tables, of files beyond 2 GB
            if stored.Offset() + stored.Size() > len(self.data):
                raise TilewrightError("parse", label, "values inside the file", "an offset out of it", DAMAGED)
            raw = np.frombuffer(self.data, np.uint8, stored.Size(), stored.Offset())
        elif stored.DataLength():
            raw = stored.DataAsNumpy()
        else:
            return np.zeros(shape, dtype) if prod(shape) == 0 else None
        if sparsity is not None:
            return dense_array(self.schema, sparsity, self.copied(raw).view(dtype), shape, self.spend)
        count = prod(shape)
        packed = dtype == ELEMENT_TYPES["i4"]
        size_bytes = -(-count // 2) if packed else count * dtype.itemsize
        if raw.nbytes != size_bytes:
            raise TilewrightError("parse", label, f"{size_bytes} bytes for {list(shape)}", f"{raw.nbytes}", DAMAGED)
        if packed:
            self.spend(size_bytes)
            return unpacked(raw, 4)[:count].view(dtype).reshape(shape)
        if dtype == np.bool_:
            return (self.copied(raw) != 0).reshape(shape)
        aligned = raw if raw.ctypes.data % dtype.itemsize == 0 else self.copied(raw)
        return aligned.view(dtype).reshape(shape)

    def copied(self, raw: Array) -> Array:
        """A copy of bytes of the file, which many tensors may name."""
        self.spend(raw.nbytes)
        return raw.copy()

    def scaling(self, table: Any, shape: tuple[int, ...], dtype: np.dtype[Any], label: str) -> Scaling | None:
        """How the integers of a tensor stand for numbers; None where they stand for themselves."""
        if table is None or not (count := table.ScaleLength()) or is_float(dtype) or dtype.kind == "b":
            return None
        axis = table.QuantizedDimension()
        extent = shape[axis] if 0 <= axis < len(shape) else 1
        zeros = table.ZeroPointLength()
        if count not in (1, extent) or zeros not in (0, 1, count):
            found = f"{count} scales and {zeros} zero points for {list(shape)}"
            raise TilewrightError("parse", label, f"one scale, or {extent} along axis {axis}", found, DAMAGED)
        self.spend(count + zeros)
        scale = np.array(table.ScaleAsNumpy(), np.float32)
        zero = np.array(table.ZeroPointAsNumpy(), np.int64) if zeros else np.zeros(1, np.int64)
        low, high = limits(dtype)
        if not np.all(np.isfinite(scale) & (scale > 0)) or zero.min() < low or zero.max() > high:
            expected = f"positive scales and zero points from {low} to {high}"
            raise TilewrightError("parse", label, expected, f"{scale.min()} and {zero.min()}", DAMAGED)
        if count == 1:
            return Scaling(scale.reshape(()), zero.astype(dtype).reshape(()), 0)
        return Scaling(scale, np.broadcast_to(zero, scale.shape).astype(dtype), axis)

    def operator(self, table: Any, number: int) -> Operator:
        index = table.OpcodeIndex()
        if not 0 <= index < self.model.OperatorCodesLength():
            raise self.error("the number of an operator's code", str(index))
        code = self.model.OperatorCodes(index)
        value = max(code.DeprecatedBuiltinCode(), code.BuiltinCode())
        known = self.schema.utils.BUILTIN_OPCODE2NAME
        kind = known.get(value, f"operator {value}")
        if kind == "CUSTOM":
            kind = f"CUSTOM {self.text(code.CustomCode())[:100]}"
        inputs, outputs = self.numbers(table, "Inputs"), self.numbers(table, "Outputs")
        return Operator(kind, inputs, outputs, self.operator_options(table), f"operator {number} ({kind})")

    def operator_options(self, table: Any) -> dict[str, Any]:
        """All options of an operator: numbers, truth values, and lists of integers."""
        name = self.options.get(table.BuiltinOptionsType(), "NONE")
        stored = table.BuiltinOptions()
        if name == "NONE" or stored is None:
            return {}
        kind = getattr(self.schema, name)
        options = kind()
        options.Init(stored.Bytes, stored.Pos)
        found: dict[str, Any] = {}
        for field in (n[: -len("IsNone")] for n in vars(kind) if n.endswith("IsNone")):
            if hasattr(kind, f"{field}AsNumpy"):
                found[field] = self.numbers(options, field)
        helpers = ("AsNumpy", "Length", "IsNone", "BufferHasIdentifier")
        for field, method in vars(kind).items():
            plain = not field.startswith(("_", "GetRootAs")) and not field.endswith(helpers) and field != "Init"
            if plain and callable(method) and field not in found:
                found[field] = method(options)
        return found


def _names(enumeration: Any) -> dict[int, str]:
    return {value: name for name, value in vars(enumeration).items() if not name.startswith("_")}
