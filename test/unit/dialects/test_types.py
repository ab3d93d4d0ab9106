"""Element types and their three names."""

import numpy as np
import pytest
from xdsl.dialects.builtin import IntegerType, f32, i1, i32
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects import graph
from tilewright.dialects.types import (
    bytes_of,
    dtype_of,
    element_of,
    element_type,
    element_type_name,
    element_type_of,
    is_element_type,
    shape_of,
    si8,
    tensor,
    tensor_of,
    tensor_type,
    ui8,
)

NAMES = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "f32", "f64")


@pytest.mark.parametrize("name", NAMES)
def test_names_types_and_dtypes_agree(name: str):
    element = element_type(name)
    assert is_element_type(element)
    assert element_type_name(element) == name
    assert element_type_of(dtype_of(element)) == element
    assert dtype_of(element).kind == name[0]
    assert dtype_of(element).itemsize * 8 == int(name[1:])


def test_eight_bits_have_a_sign():
    assert element_type("i8") == si8
    assert element_type("u8") == ui8
    assert not is_element_type(IntegerType(8))
    assert not is_element_type(i1)


def test_unknown_types_are_refused():
    with pytest.raises(VerifyException, match="expected an element type name among i8, u8"):
        element_type("i7")
    with pytest.raises(VerifyException, match="found i1"):
        element_type_name(i1)
    with pytest.raises(VerifyException, match="found bool"):
        element_type_of(np.dtype(np.bool_))


def test_tensors():
    type_ = tensor_of(np.zeros((2, 3), ">i4"))
    assert type_ == tensor((2, 3), i32)
    value = graph.WeightOp("w", type_).result
    assert shape_of(value) == (2, 3)
    assert element_of(value) == i32
    assert tensor_type(value) == type_
    assert bytes_of(value) == 24
    assert bytes_of(graph.WeightOp("w", tensor((), f32)).result) == 4
