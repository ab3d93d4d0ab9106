"""Elements of tensors of which only a part is kept, or that are read out of their bounds, point by point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..algebra.affine import index_forms
from ..algebra.expr import Access
from ..algebra.statement import access_dims
from ..algebra.window import Range

Array = NDArray[Any]


@dataclass(frozen=True)
class Points:
    """Where the elements of an access lie in the array that is kept, and which of them are within the tensor."""

    index: tuple[Array, ...]
    inside: Array

    def read(self, array: Array, border: Array | None) -> Array:
        """A copy of the elements, one axis per dim of the access; `border` in the place of those outside."""
        values = array[self.index] if self.index else array[()]
        assert border is not None or self.inside.all(), "an access leaves its tensor"
        return np.array(values if border is None else np.where(self.inside, values, border), array.dtype)

    def write(self, array: Array, values: Array) -> None:
        """Put the elements back."""
        array[self.index] = values


def points(access: Access, sizes: Sequence[int], ring: Sequence[int], ranges: Mapping[str, Range]) -> Points:
    """The elements that `access` takes of a tensor of `sizes` over `ranges`; of each axis `ring` are kept (0: all)."""
    dims = access_dims(access)
    shape = tuple(ranges[dim].extent for dim in dims)
    grids = {
        dim: (ranges[dim].start + np.arange(ranges[dim].extent)).reshape(
            [-1 if i == j else 1 for j in range(len(dims))]
        )
        for i, dim in enumerate(dims)
    }
    inside = np.ones(shape, bool)
    index: list[Array] = []
    for form, size, held in zip(index_forms(access), sizes, ring or (0,) * len(sizes), strict=True):
        place = np.full(shape, form.const)
        for dim, coefficient in form.terms:
            place = place + coefficient * grids[dim]
        inside &= (place >= 0) & (place < size)
        index.append(np.clip(place, 0, size - 1) % (held or size))
    return Points(tuple(index), inside)
