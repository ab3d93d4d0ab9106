"""Element types: their names in text, their NumPy types, and values in bits."""

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ..errors import TilewrightError

Array = NDArray[Any]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

ELEMENT_TYPES: dict[str, np.dtype[Any]] = {
    "i8": np.dtype(np.int8),
    "u8": np.dtype(np.uint8),
    "i16": np.dtype(np.int16),
    "u16": np.dtype(np.uint16),
    "i32": np.dtype(np.int32),
    "u32": np.dtype(np.uint32),
    "i64": np.dtype(np.int64),
    "u64": np.dtype(np.uint64),
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f8e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8e4m3fnuz": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "f8e5m2": np.dtype(ml_dtypes.float8_e5m2),
    "f8e5m2fnuz": np.dtype(ml_dtypes.float8_e5m2fnuz),
    "f8e8m0fnu": np.dtype(ml_dtypes.float8_e8m0fnu),
    "f4e2m1fn": np.dtype(ml_dtypes.float4_e2m1fn),
    "i4": np.dtype(ml_dtypes.int4),
    "u4": np.dtype(ml_dtypes.uint4),
    "i2": np.dtype(ml_dtypes.int2),
    "u2": np.dtype(ml_dtypes.uint2),
}
"""Name -> little-endian NumPy type; an element below 8 bits is the low bits of a byte."""

WITHOUT_SUMS = frozenset([np.dtype(np.float16), *(dtype for dtype in ELEMENT_TYPES.values() if dtype.isbuiltin == 2)])
"""Types that are stored only: what is computed with them is computed in wider ones."""


@cache
def is_float(dtype: np.dtype[Any]) -> bool:
    """Whether elements are floating-point numbers, of NumPy's own types or narrower ones."""
    return dtype.name.startswith(("float", "bfloat"))


def limits(dtype: np.dtype[Any]) -> tuple[int, int]:
    """The least and the greatest integer of a type."""
    info = ml_dtypes.iinfo(dtype)
    return int(info.min), int(info.max)


def least(dtype: np.dtype[Any]) -> float:
    """The least value of a type: minus infinity of floats."""
    return -np.inf if is_float(dtype) else limits(dtype)[0]


def float_limits(dtype: np.dtype[Any]) -> tuple[float, float]:
    """The least and the greatest finite number of a type."""
    info = ml_dtypes.finfo(dtype)
    return float(info.min), float(info.max)


def is_foreign(dtype: np.dtype[Any]) -> bool:
    """Whether NumPy's files have no name for the type."""
    return dtype.isbuiltin == 2  # registered by a package


def plain(array: NDArray[Any]) -> NDArray[Any]:
    """The array as NumPy's files can hold it: elements of types that they have no name for as bytes."""
    return array.view(f"V{array.itemsize}") if is_foreign(array.dtype) else array


def of_type(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The array in `dtype` where it is what `plain` made of such a one, else as it is."""
    return array.view(dtype) if is_foreign(dtype) and array.dtype == np.dtype(f"V{dtype.itemsize}") else array


def element_dtype(name: str) -> np.dtype[Any]:
    """The NumPy type of an element type; `TilewrightError` (kind `unsupported`) if there is none."""
    dtype = ELEMENT_TYPES.get(name)
    if dtype is None:
        raise TilewrightError("unsupported", name, f"an element type among {', '.join(ELEMENT_TYPES)}", name)
    return dtype


def value_to_bits(value: float, type_name: str) -> int:
    """The bits of `value` in `type_name`, as an unsigned integer; integers wrap."""
    dtype = element_dtype(type_name)
    if is_float(dtype):
        return int.from_bytes(np.array(value, dtype).tobytes(), "little")
    return int(value) & ((1 << 8 * dtype.itemsize) - 1)


def bits_to_value(bits: int, type_name: str) -> "np.generic[Any]":
    """The value of the low bits of `bits` in `type_name`; inverse of `value_to_bits`."""
    dtype = element_dtype(type_name)
    low = bits & ((1 << 8 * dtype.itemsize) - 1)
    array: NDArray[Any] = np.frombuffer(low.to_bytes(dtype.itemsize, "little"), dtype)
    return array[0]
