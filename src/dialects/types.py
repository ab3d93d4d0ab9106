"""Element types of tensors, shared by all dialects: xDSL types, their names in text, their NumPy types; and roles."""

from collections.abc import Mapping, Sequence
from enum import auto
from math import prod
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BFloat16Type,
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    Signedness,
    TensorType,
    bf16,
    f16,
    f32,
    f64,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.traits import CallableOpInterface
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from ..algebra.element import ELEMENT_TYPES, is_float, is_foreign

si8 = IntegerType(8, Signedness.SIGNED)
ui8 = IntegerType(8, Signedness.UNSIGNED)
si16 = IntegerType(16, Signedness.SIGNED)
ui16 = IntegerType(16, Signedness.UNSIGNED)
ui32 = IntegerType(32, Signedness.UNSIGNED)
ui64 = IntegerType(64, Signedness.UNSIGNED)

Foreign = (
    BFloat16Type
    | Float8E4M3FNType
    | Float8E4M3FNUZType
    | Float8E5M2Type
    | Float8E5M2FNUZType
    | Float8E8M0FNUType
    | Float4E2M1FNType
)
ElementType = IntegerType | Float16Type | Float32Type | Float64Type | Foreign
Tensor = TensorType[Attribute]

_TYPES: dict[str, ElementType] = {
    "i8": si8,
    "u8": ui8,
    "i16": si16,
    "u16": ui16,
    "i32": i32,
    "u32": ui32,
    "i64": i64,
    "u64": ui64,
    "f16": f16,
    "f32": f32,
    "f64": f64,
    "bf16": bf16,
    "f8e4m3fn": Float8E4M3FNType(),
    "f8e4m3fnuz": Float8E4M3FNUZType(),
    "f8e5m2": Float8E5M2Type(),
    "f8e5m2fnuz": Float8E5M2FNUZType(),
    "f8e8m0fnu": Float8E8M0FNUType(),
    "f4e2m1fn": Float4E2M1FNType(),
    "i4": IntegerType(4, Signedness.SIGNED),
    "u4": IntegerType(4, Signedness.UNSIGNED),
    "i2": IntegerType(2, Signedness.SIGNED),
    "u2": IntegerType(2, Signedness.UNSIGNED),
}
_NAMES = {element: name for name, element in _TYPES.items()}
_FROM_DTYPE = {ELEMENT_TYPES[name]: element for name, element in _TYPES.items()}


def is_element_type(element: Attribute) -> bool:
    """Whether tensors may have this element type."""
    return element in _NAMES


def element_type_name(element: Attribute) -> str:
    """The name that algebra and `.acg` text use: `si8` is `i8`, `ui8` is `u8`, `i32` is `i32`, `f32` is `f32`, ..."""
    name = _NAMES.get(cast(ElementType, element))
    if name is None:
        raise VerifyException(f"expected an element type among {', '.join(map(str, _NAMES))}, found {element}")
    return name


def element_type(name: str) -> ElementType:
    """The element type of a name; inverse of `element_type_name`."""
    if name not in _TYPES:
        raise VerifyException(f"expected an element type name among {', '.join(_TYPES)}, found {name}")
    return _TYPES[name]


def dtype_of(element: Attribute) -> np.dtype[Any]:
    """The NumPy type of an element type."""
    return ELEMENT_TYPES[element_type_name(element)]


WIDER: Mapping[np.dtype[Any], np.dtype[Any]] = {
    np.dtype(np.float16): np.dtype(np.float32),
    np.dtype(np.int16): np.dtype(np.int32),
    np.dtype(np.uint16): np.dtype(np.int32),
    np.dtype(np.uint32): np.dtype(np.int64),
    **{t: np.dtype(np.float32 if is_float(t) else np.int32) for t in ELEMENT_TYPES.values() if is_foreign(t)},
}
"""Types without arithmetic of their own -> the type that holds all their values; integers wrap on the way back."""


def element_type_of(dtype: np.dtype[Any]) -> ElementType:
    """The element type of a NumPy type (any byte order)."""
    element = _FROM_DTYPE.get(dtype if is_foreign(np.dtype(dtype)) else np.dtype(dtype).newbyteorder("="))
    if element is None:
        raise VerifyException(f"expected a NumPy type among {', '.join(map(str, _FROM_DTYPE))}, found {dtype}")
    return element


def tensor(shape: Sequence[int], element: Attribute) -> Tensor:
    """`tensor<shape x element>`."""
    return TensorType(element, [int(extent) for extent in shape])


def tensor_of(array: np.ndarray[Any, Any]) -> Tensor:
    """The tensor type of a NumPy array."""
    return tensor(array.shape, element_type_of(array.dtype))


def tensor_type(value: SSAValue) -> Tensor:
    """The tensor type of a value; `VerifyException` if it has another type."""
    if not isinstance(value.type, TensorType):
        raise VerifyException(f"expected a tensor, found {value.type}")
    return cast(Tensor, value.type)


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The extents of a tensor value; `VerifyException` where some are open."""
    shape = tuple(tensor_type(value).get_shape())
    if DYNAMIC_INDEX in shape:
        raise VerifyException(f"expected static extents, found {value.type}: fix them first (graph-fix-extents)")
    return shape


def element_of(value: SSAValue) -> Attribute:
    """The element type of a tensor value."""
    return tensor_type(value).element_type


def element_bytes(value: SSAValue) -> int:
    """Bytes of one element of a tensor value."""
    return dtype_of(element_of(value)).itemsize


def bytes_of(value: SSAValue) -> int:
    """Bytes of a dense tensor value."""
    return prod(tensor_type(value).get_shape()) * element_bytes(value)


class Role(StrEnum):
    """What a tensor is to the program: given, asked for, constant, or in between."""

    INPUT = auto()
    OUTPUT = auto()
    WEIGHT = auto()
    TEMP = auto()


class ProgramCallable(CallableOpInterface):
    """A program is called with its inputs and gives its outputs, each in the order of their tensors (`types_of`)."""

    @classmethod
    def get_callable_region(cls, op: Operation) -> Region:
        return op.regions[0]

    @classmethod
    def get_argument_types(cls, op: Any) -> tuple[Attribute, ...]:
        return op.types_of(Role.INPUT)

    @classmethod
    def get_result_types(cls, op: Any) -> tuple[Attribute, ...]:
        return op.types_of(Role.OUTPUT)
