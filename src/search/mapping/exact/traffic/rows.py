"""Rows of arrays that compiled code copies and adds where it may make no arrays."""

from __future__ import annotations

from .....costs.compiled import bare
from ..space.model import Floats, Ints


@bare
def copy_row(target: Ints, source: Ints) -> None:
    """Copy `source` (N,) to `target`."""
    for i in range(target.shape[0]):
        target[i] = source[i]


@bare
def copy_words(target: Floats, source: Floats) -> None:
    """Copy words `source` (L, 2) to `target`."""
    for level in range(target.shape[0]):
        target[level, 0], target[level, 1] = source[level, 0], source[level, 1]


@bare
def add_words(target: Floats, source: Floats, times: float) -> None:
    """Add so many times the words `source` (L, 2) to `target`."""
    for level in range(target.shape[0]):
        target[level, 0] += times * source[level, 0]
        target[level, 1] += times * source[level, 1]
