"""How the operands of a statement lie over its iteration space: shapes and byte strides, and cutting the space up."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np

from .element import Array

Index = tuple[slice, ...]


@dataclass(frozen=True)
class Operand:
    """One access of a statement: its element type and, per dim that moves it, the step in bytes."""

    dtype: np.dtype[Any]
    strides: Mapping[str, int]


@dataclass(frozen=True)
class Layout:
    """An operand over the frame of a kernel: one axis per frame dim, of size 1 where the dim does not move it."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def view(self, buffer: Any, offset_bytes: int) -> Array:
        """The operand in a buffer, its first element at `offset_bytes`."""
        return np.ndarray(self.shape, self.dtype, buffer, offset_bytes, self.strides)

    def moves(self, axis: int) -> bool:
        """Whether the frame dim `axis` moves this operand."""
        return self.strides[axis] != 0

    @property
    def size(self) -> int:
        """Elements in the view."""
        return prod(self.shape)


def make_layout(operand: Operand, dims: Sequence[str], extents: Mapping[str, int]) -> Layout:
    """The layout of `operand` over the frame `dims`."""
    strides = tuple(operand.strides.get(dim, 0) for dim in dims)
    shape = tuple(extents[dim] if stride else 1 for dim, stride in zip(dims, strides, strict=True))
    return Layout(operand.dtype, shape, strides)


def fix_axes(layout: Layout, axes: Sequence[int]) -> Layout:
    """The layout at one point of `axes`."""
    shape = tuple(1 if a in axes else n for a, n in enumerate(layout.shape))
    strides = tuple(0 if a in axes else n for a, n in enumerate(layout.strides))
    return Layout(layout.dtype, shape, strides)


def injective_axes(layout: Layout, shape: Sequence[int]) -> tuple[int, ...]:
    """Axes, chosen by increasing stride, over which different points certainly touch different bytes."""
    kept: list[int] = []
    span = layout.dtype.itemsize
    for axis in sorted(range(len(shape)), key=lambda a: (abs(layout.strides[a]), a)):
        stride = abs(layout.strides[axis])
        if stride >= span and shape[axis] > 1:
            kept.append(axis)
            span += stride * (shape[axis] - 1)
    return tuple(kept)


@dataclass(frozen=True)
class Boxes:
    """Boxes of at most `sizes` into which a box of `shape` is cut from `firsts` on, in row-major order."""

    shape: tuple[int, ...]
    sizes: tuple[int, ...]
    firsts: tuple[int, ...]

    def __len__(self) -> int:
        return prod(map(len, self._ranges()))

    def __iter__(self) -> Iterator[Index]:
        pairs = list(zip(self.shape, self.sizes, strict=True))
        for starts in product(*self._ranges()):
            yield tuple(slice(start, min(start + size, n)) for start, (n, size) in zip(starts, pairs, strict=True))

    def _ranges(self) -> list[range]:
        return list(map(range, self.firsts, self.shape, self.sizes))


def split(shape: Sequence[int], axes: Sequence[int], cost: Callable[[Sequence[int]], int], limit: int) -> Boxes:
    """Cuts a box along `axes` (the longest first) into boxes that cost at most `limit` where that is possible."""
    sizes = list(shape)
    while cost(sizes) > limit:
        longest = max(axes, key=lambda a: sizes[a], default=None)
        if longest is None or sizes[longest] == 1:
            break
        sizes[longest] = -(-sizes[longest] // 2)
    return Boxes(tuple(shape), tuple(sizes), (0,) * len(sizes))


def restrict(index: Index, layout_shape: Sequence[int]) -> Index:
    """A box of the frame as an index into an operand, whole where the operand has size 1."""
    return tuple(slice(None) if n == 1 else s for s, n in zip(index, layout_shape, strict=True))
