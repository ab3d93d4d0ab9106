"""Copies of the rows of a table that an index in memory names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ...algebra.layout import Layout
from ...algebra.lookup import Lookup
from .binding import Bound, IllegalFieldsError

MAX_ROWS = 1 << 40
"""Rows that a table has at most."""


def table_rows(bound: Bound, lookup: Lookup) -> int:
    """How many rows an instruction says that its table has; `IllegalFieldsError` below 1."""
    rows = int(bound.scalars[lookup.count])
    if not 1 <= rows <= MAX_ROWS:
        raise IllegalFieldsError(f"1 to {MAX_ROWS} rows of {lookup.table.tensor}", f"{rows}")
    return rows


def make_lookup(
    bound: Bound, lookup: Lookup, memories: Mapping[str, int]
) -> Callable[[Sequence[Any], Sequence[int]], None]:
    """Moves the rows; `IllegalFieldsError` (reason `range`) where an index is of no row."""
    bindings = bound.mnemonic.operands
    places = {binding.operand: (memories[binding.memory], number) for number, binding in enumerate(bindings)}
    operands = {binding.operand: operand for binding, operand in zip(bindings, bound.operands, strict=True)}
    rows, inner = table_rows(bound, lookup), [dim for dim in lookup.table.dims if dim != lookup.row]

    def layout(name: str, dims: Sequence[str]) -> Layout:
        operand = operands[name]
        return Layout(
            operand.dtype, tuple(bound.extents[d] for d in dims), tuple(operand.strides.get(d, 0) for d in dims)
        )

    target = layout(lookup.target.tensor, [lookup.row, *inner])
    index, row = layout(lookup.index.tensor, [lookup.row]), layout(lookup.table.tensor, inner)
    pitch = operands[lookup.table.tensor].strides[lookup.row]

    def run(buffers: Sequence[Any], addresses: Sequence[int]) -> None:
        def view(name: str) -> tuple[Any, int]:
            memory, place = places[name]
            return buffers[memory], addresses[place]

        found = np.array(index.view(*view(lookup.index.tensor)), np.int64)
        strange = found[(found < -rows) | (found >= rows)]
        if strange.size:
            expected = f"indices of {lookup.table.tensor} from -{rows} to {rows - 1}"
            raise IllegalFieldsError(expected, f"{strange[0]}", "range")
        first = row.view(*view(lookup.table.tensor))
        table = as_strided(first, (rows, *first.shape), (pitch, *first.strides))
        target.view(*view(lookup.target.tensor))[...] = table[np.where(found < 0, found + rows, found)]

    return run
