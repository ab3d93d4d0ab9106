"""Where the tensors of a program lie off chip."""

from dataclasses import dataclass
from math import prod

import numpy as np

from ..algebra.blocked import BlockedLayout


@dataclass(frozen=True)
class TensorPlacement:
    """A tensor off chip: `role` is input, output, weight or temp; `dtype` a NumPy type's name; `address` in bytes."""

    name: str
    role: str
    dtype: str
    shape: tuple[int, ...]
    memory: str
    address: int
    layout: BlockedLayout | None = None  # row-major where there is none

    @property
    def elements(self) -> int:
        """How many there are."""
        return prod(self.shape)

    @property
    def size_bytes(self) -> int:
        """Bytes from the first of the tensor to its last."""
        if self.layout is not None:
            return self.layout.size_bytes(self.shape, np.dtype(self.dtype).itemsize)
        return self.elements * np.dtype(self.dtype).itemsize
