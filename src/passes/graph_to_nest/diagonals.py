"""Constants of two axes whose diagonals are equal, such as causal masks: they are read from a vector."""

from math import prod

import numpy as np
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from ...algebra.affine import Affine, to_affine
from ...algebra.element import Array
from ...dialects import graph
from ...dialects.types import bytes_of, element_of, shape_of
from .builder import Indices

LEAST_BYTES = 1024
"""Smaller constants are read as they are."""


def read_as_vector(value: SSAValue) -> bool:
    """Whether readers of a constant find its elements by index, and it is large enough."""
    kinds = {type(use.operation) for use in value.uses}
    adds = {graph.BinaryOp, graph.SoftmaxOp} if element_of(value) == f32 else {graph.SoftmaxOp}
    shape = shape_of(value)
    matrix = len(shape) >= 2 and prod(shape[:-2]) == 1 and min(shape[-2:]) > 1
    return matrix and bool(kinds) and kinds <= adds and bytes_of(value) >= LEAST_BYTES


def has_diagonals(array: Array) -> bool:
    """Whether the diagonals of one of several matrices are equal, which is read from a vector where it is cut out."""
    if array.ndim < 3 or prod(array.shape[:-2]) == 1 or min(array.shape[-2:]) < 2:
        return False
    matrices = array.reshape(-1, *array.shape[-2:])
    if matrices[0].nbytes < LEAST_BYTES:
        return False
    alike = matrices[(matrices[:, 0, :-1] == matrices[:, 1, 1:]).all(axis=1)]
    return any(diagonals(matrix) is not None for matrix in alike)


def diagonals(array: Array) -> Array | None:
    """`v` with `array[..., i, j] = v[j - i + rows - 1]`, in f32, as such a constant is added; None where there is none.

    Extents before the last two are 1.
    """
    matrix = array.reshape(array.shape[-2:])
    rows, columns = len(matrix), len(matrix[0])
    vector = np.concatenate([matrix[::-1, 0], matrix[0, 1:]])
    places = np.arange(columns) - np.arange(rows)[:, None] + rows - 1
    return vector.astype(np.float32) if np.array_equal(vector[places], matrix) else None


def diagonal(value: SSAValue, indices: Indices) -> Indices:
    """Where the vector has what the constant has at `indices`."""
    last = Affine(shape_of(value)[-2] - 1)
    return ((to_affine(indices[-1]) - to_affine(indices[-2]) + last).to_expr(),)
