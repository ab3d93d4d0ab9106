"""Element types: their names in text, their NumPy types, and values in bits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import TilewrightError

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
}
"""Name -> little-endian NumPy type."""


def element_dtype(name: str) -> np.dtype[Any]:
    """The NumPy type of an element type; `TilewrightError` (kind `unsupported`) if there is none."""
    dtype = ELEMENT_TYPES.get(name)
    if dtype is None:
        raise TilewrightError("unsupported", name, f"an element type among {', '.join(ELEMENT_TYPES)}", name)
    return dtype


def value_to_bits(value: float, type_name: str) -> int:
    """The bits of `value` in `type_name`, as an unsigned integer; integers wrap."""
    dtype = element_dtype(type_name)
    if dtype.kind == "f":
        return int.from_bytes(np.array(value, dtype).tobytes(), "little")
    return int(value) & ((1 << 8 * dtype.itemsize) - 1)


def bits_to_value(bits: int, type_name: str) -> np.generic[Any]:
    """The value of the low bits of `bits` in `type_name`; inverse of `value_to_bits`."""
    dtype = element_dtype(type_name)
    low = bits & ((1 << 8 * dtype.itemsize) - 1)
    array: NDArray[Any] = np.frombuffer(low.to_bytes(dtype.itemsize, "little"), dtype)
    return array[0]
