"""The vector operand's form in memory: tiles of lanes, groups of the reduction, vectors of lanes by group."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Packing:
    """`[batch][tile][reduction / group][vectors of the tile][lanes][group]`, bytes.

    `axes` are the tensor's axes for batch, reduction and lanes (so many of each); reduction position i holds
    `sources[i]`, zero for -1; elements are `flip` larger than the tensor's.  `tiles` are the vectors of each tile.
    """

    axes: tuple[int, ...]
    batch_axes: int
    reduced_axes: int
    sources: tuple[int, ...]
    lanes: int
    group: int
    tiles: tuple[int, ...]
    flip: int

    @property
    def text(self) -> str:
        """The form in words, as `packed [tile][axes 1 / 4][vector][32 of axes 0][4]`."""
        split = self.batch_axes + self.reduced_axes
        batch, reduced, lanes = self.axes[: self.batch_axes], self.axes[self.batch_axes : split], self.axes[split:]
        outer = f"[axes {_numbers(batch)}]" if batch else ""
        inner = (
            f"[axes {_numbers(reduced)} / {self.group}][vector][{self.lanes} of axes {_numbers(lanes)}][{self.group}]"
        )
        return f"packed {outer}[tile]{inner}{f', {self.flip} added' if self.flip else ''}"

    def size_bytes(self, shape: tuple[int, ...]) -> int:
        """Bytes of the packed form of a tensor."""
        batches = prod(shape[axis] for axis in self.axes[: self.batch_axes])
        return batches * len(self.sources) * sum(self.tiles) * self.lanes

    def pack(self, tensor: Array) -> Array:
        """The packed form as bytes."""
        ordered = tensor.transpose(self.axes)
        split = self.batch_axes + self.reduced_axes
        batches, reduced = prod(ordered.shape[: self.batch_axes]), prod(ordered.shape[self.batch_axes : split])
        values = ordered.reshape(batches, reduced, -1).astype(np.int16) + self.flip
        filled = np.zeros((batches, len(self.sources), sum(self.tiles) * self.lanes), np.uint8)
        sources = np.array(self.sources)
        known = np.flatnonzero(sources >= 0)
        filled[:, known, : values.shape[2]] = (values[:, sources[known]] & 255).astype(np.uint8)
        groups = filled.reshape(batches, -1, self.group, sum(self.tiles), self.lanes)
        parts: list[Array] = []
        first = 0
        for vectors in self.tiles:
            part = groups[:, :, :, first : first + vectors]  # batch, groups, in group, vectors, lanes
            parts.append(part.transpose(0, 1, 3, 4, 2).reshape(batches, -1))
            first += vectors
        return np.concatenate(parts, axis=1).reshape(-1)


def _numbers(axes: tuple[int, ...]) -> str:
    return ",".join(map(str, axes)) or "none"
