"""Tensors in memory other than row-major: padded, cut into blocks, with their dims in another order."""

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ..errors import TilewrightError
from .element import Array


@dataclass(frozen=True)
class BlockedLayout:
    """Where the elements of a tensor lie.

    Axis i is padded by `pads[i]` (before, after) with `fill`; then it is cut into blocks of `blocks[i]` (0: not cut),
    which gives an axis of blocks and one inside a block; then all axes are put into `order` and lie row-major.
    `pitches` (bytes per step, one per axis in that order; none: dense) leave gaps, as for a part of a larger tensor.
    With `planes` the bytes of numbers lie apart: the lowest of all numbers, the next of all, and so on.
    """

    pads: tuple[tuple[int, int], ...]
    blocks: tuple[int, ...]
    order: tuple[int, ...]
    fill: int = 0
    pitches: tuple[int, ...] = ()
    planes: bool = False

    @property
    def text(self) -> str:
        """The layout in words, as `pads 0+0,1+1; blocks 0,64; axes 0,1,2`."""
        pads = ",".join(f"{before}+{after}" for before, after in self.pads)
        lists = (("blocks", self.blocks), ("axes", self.order), ("pitches", self.pitches))
        words = [f"pads {pads}", *(f"{name} {','.join(map(str, values))}" for name, values in lists if values)]
        return "; ".join([*words, *(["bytes apart"] if self.planes else [])])

    def cut(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The extents of the padded and cut tensor, before it is put into order."""
        extents: list[int] = []
        for n, (before, after), block in zip(shape, self.pads, self.blocks, strict=True):
            padded = n + before + after
            if block and padded % block:
                raise TilewrightError("program", "layout", f"an extent that {block} divides", str(padded))
            extents += [padded // block, block] if block else [padded]
        return tuple(extents)

    def extents(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The extents as they lie in memory."""
        cut = self.cut(shape)
        if sorted(self.order) != list(range(len(cut))):
            raise TilewrightError("program", "layout", f"an order of {len(cut)} axes", f"{self.order}")
        return tuple(cut[axis] for axis in self.order)

    def strides(self, shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
        """Bytes per step of each axis in memory."""
        extents = self.extents(shape)
        if self.pitches:
            if len(self.pitches) != len(extents) or min(self.pitches) < 0:
                raise TilewrightError("program", "layout", f"{len(extents)} pitches of at least 0", f"{self.pitches}")
            return self.pitches
        return tuple(itemsize * prod(extents[i + 1 :]) for i in range(len(extents)))

    def size_bytes(self, shape: tuple[int, ...], itemsize: int) -> int:
        """One past the last byte."""
        extents = self.extents(shape)
        strides = self.strides(shape, itemsize)
        return (
            sum((n - 1) * stride for n, stride in zip(extents, strides, strict=True)) + itemsize if prod(extents) else 0
        )

    def pack(self, array: Array) -> Array:
        """The array as it lies in memory, dense."""
        padded = np.pad(array, self.pads, constant_values=self.fill)
        data = np.ascontiguousarray(padded.reshape(self.cut(array.shape)).transpose(self.order))
        if self.planes:
            return np.ascontiguousarray(np.moveaxis(data[..., None].view(np.uint8), -1, 0))
        return data

    def unpack(self, data: Array, shape: tuple[int, ...], dtype: np.dtype[Any] | None = None) -> Array:
        """The array of that shape from what lies in memory; of bytes that lie apart, with the type of the numbers."""
        if self.planes and dtype is not None:
            data = np.ascontiguousarray(np.moveaxis(data, 0, -1)).view(dtype)[..., 0]
        inverse = np.argsort(self.order)
        padded_shape = tuple(n + before + after for n, (before, after) in zip(shape, self.pads, strict=True))
        padded = data.transpose(inverse).reshape(padded_shape)
        inside = tuple(slice(before, before + n) for n, (before, _) in zip(shape, self.pads, strict=True))
        return np.ascontiguousarray(padded[inside])

    def view(self, memory: Any, address: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """The bytes of a memory as the axes in order; of bytes that lie apart, with an axis of them before these."""
        if self.planes:
            return np.ndarray((dtype.itemsize, *self.extents(shape)), np.uint8, memory, address)
        return np.ndarray(self.extents(shape), dtype, memory, address, self.strides(shape, dtype.itemsize))
