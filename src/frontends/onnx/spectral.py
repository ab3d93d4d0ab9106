"""DFT and STFT as products with constant cosines and sines."""

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from ...dialects.types import shape_of
from .arguments import axis_of
from .formulas import Formulas, check_constant_size
from .load import check_size
from .scope import Node, Scope, Value


def _turns(make: Formulas, length: int, frequencies: int, sign: float) -> tuple[SSAValue, SSAValue]:
    """cos and sin of `sign * 2 pi n k / length`, by n and k."""
    check_constant_size(make.node, length, frequencies)
    angles = sign * 2 * np.pi * (np.outer(np.arange(length), np.arange(frequencies)) % length) / length
    return make.constant(np.cos(angles).astype(np.float32)), make.constant(np.sin(angles).astype(np.float32))


def _fitted(make: Formulas, x: SSAValue, axis: int, length: int) -> SSAValue:
    extent = shape_of(x)[axis]
    return make.part(x, axis, 0, length) if length <= extent else make.pad(x, axis, 0, length - extent)


def transform(make: Formulas, x: SSAValue, length: int, inverse: bool, onesided: bool) -> SSAValue:
    """The transform along the last axis but one of `[..., n, 1 or 2]`, real and imaginary parts last."""
    shape = shape_of(x)
    count = length // 2 + 1 if onesided else length
    cosines, sines = _turns(make, length, count, 1.0 if inverse else -1.0)
    outer = shape[:-2]
    parts = [make.reshape(make.part(x, len(shape) - 1, i, 1), (*outer, shape[-2])) for i in range(shape[-1])]
    if len(outer) == 0:
        parts = [make.reshape(part, (1, length)) for part in parts]
    real, imaginary = make.matmul(parts[0], cosines), make.matmul(parts[0], sines)
    if len(parts) == 2:
        real = make.sub(real, make.matmul(parts[1], sines))
        imaginary = make.add(imaginary, make.matmul(parts[1], cosines))
    if inverse:
        real, imaginary = make.div(real, float(length)), make.div(imaginary, float(length))
    return make.concat([make.reshape(part, (*outer, count, 1)) for part in (real, imaginary)], len(outer) + 1)


def dft(scope: Scope, node: Node) -> Sequence[Value]:
    """DFT, its inverse, and the half of a real one."""
    make, x = Formulas(scope, node), scope.tensor(node, 0)
    shape = shape_of(x)
    if node.version < 20:
        axis = node.integer("axis", 1)
    else:
        axis = int(scope.scalar(node, 2) if node.has_input(2) else -2)  # pyright: ignore[reportArgumentType]
    axis = axis_of(node, axis, len(shape))
    length = int(scope.scalar(node, 1) or 0) if node.has_input(1) else shape[axis]
    inverse, onesided = bool(node.integer("inverse", 0)), bool(node.integer("onesided", 0))
    if inverse and onesided:
        length = length if node.has_input(1) else 2 * (shape[axis] - 1)
    if length < 1 or axis == len(shape) - 1 or shape[-1] not in (1, 2):
        found = f"axis {axis} of {list(shape)}, length {length}"
        raise node.error("an axis of at least 1 before real and imaginary parts", found, kind="shape")
    check_size(node.label, (length,), 8)
    x = _fitted(make, x, axis, length // 2 + 1 if inverse and onesided else length)
    last = len(shape) - 2
    swap = [last if i == axis else axis if i == last else i for i in range(len(shape))]
    turned = make.transpose(x, swap)
    if inverse and onesided:
        return (make.transpose(_from_half(make, turned, length), swap),)
    return (make.transpose(transform(make, turned, length, inverse, onesided), swap),)


def _from_half(make: Formulas, x: SSAValue, length: int) -> SSAValue:
    """The real inverse of half a transform: frequencies that have a mirror image count twice."""
    shape, count = shape_of(x), length // 2 + 1
    check_constant_size(make.node, count, length)
    angles = 2 * np.pi * (np.outer(np.arange(count), np.arange(length)) % length) / length
    twice = np.where((np.arange(count) == 0) | (2 * np.arange(count) == length), 1.0, 2.0)[:, None] / length
    matrices = [make.constant((twice * m).astype(np.float32)) for m in (np.cos(angles), -np.sin(angles))]
    parts = [make.reshape(make.part(x, len(shape) - 1, i, 1), shape[:-1]) for i in range(shape[-1])]
    parts = [make.matmul(part, matrix) for part, matrix in zip(parts, matrices, strict=False)]
    real = parts[0] if len(parts) == 1 else make.add(*parts)
    return make.reshape(real, (*shape_of(real), 1))


def stft(scope: Scope, node: Node) -> Sequence[Value]:
    """STFT: the transform of each frame, weighted by the window."""
    make, x = Formulas(scope, node), scope.tensor(node, 0)
    shape = shape_of(x) if len(shape_of(x)) == 3 else (*shape_of(x), 1)
    step = int(scope.scalar(node, 1) or 0)
    window = scope.optional_tensor(node, 2)
    length = int(scope.scalar(node, 3) or 0) if node.has_input(3) else shape_of(window)[0] if window else shape[1]
    if step < 1 or not 1 <= length <= shape[1]:
        raise node.error(f"frames of 1 to {shape[1]}, a step of at least 1", f"{length}, {step}", kind="shape")
    frames = (shape[1] - length) // step + 1
    check_constant_size(node, frames, length)
    places = np.arange(frames)[:, None] * step + np.arange(length)
    cut = make.gather(make.reshape(x, shape), places, 1)
    if window is not None:
        width = shape_of(window)[0]
        window = make.pad(window, 0, (length - width) // 2, length - width - (length - width) // 2)
        cut = make.mul(cut, make.reshape(window, (1, 1, length, 1)))
    onesided = bool(node.integer("onesided", 1)) and shape[2] == 1
    return (transform(make, cut, length, False, onesided),)
