"""Copies between memories (`D = S` of one element type): rows as long and words as wide as possible."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import gcd
from typing import Any

import numpy as np

from ...algebra.expr import Access, Call, Statement, Strided
from ...algebra.layout import Layout, Operand, injective_axes, make_layout

Copy = Callable[[Any, int, Any, int], None]
Step = tuple[int, int, int]  # count, target stride, source stride


def make_copy(
    statement: Statement, functions: Mapping[str, str], extents: Mapping[str, int], operands: Sequence[Operand]
) -> Copy | None:
    """`copy(target buffer, offset, source buffer, offset)`; None for statements that are no plain copy."""
    if not _is_copy(statement, functions) or operands[0].dtype != operands[1].dtype:
        return None
    dims = [dim for dim, count in extents.items() if count > 1]
    target, source = (make_layout(operand, dims, extents) for operand in operands)
    shape = [extents[dim] for dim in dims]
    if len(injective_axes(target, shape)) < len(dims):
        return None
    itemsize = operands[0].dtype.itemsize
    run, steps = _collapse(itemsize, _steps(shape, target, source))
    if not steps:
        return _copy_run(run)
    word = gcd(8, run, *(stride for _, *strides in steps for stride in strides))
    steps.append((run // word, word, word))
    counts = tuple(count for count, _, _ in steps)
    return _copy_words(
        Layout(np.dtype(f"u{word}"), counts, tuple(to for _, to, _ in steps)),
        Layout(np.dtype(f"u{word}"), counts, tuple(from_ for _, _, from_ in steps)),
    )


def _is_copy(statement: Statement, functions: Mapping[str, str]) -> bool:
    value = statement.value
    if isinstance(value, Call) and len(value.args) == 1 and functions.get(value.fn, value.fn) == "identity":
        value = value.args[0]
    return statement.reduce == "=" and isinstance(value, Access | Strided)


def _steps(shape: Sequence[int], target: Layout, source: Layout) -> list[Step]:
    """The loops of the copy, innermost (smallest target stride) first."""
    steps = zip(shape, target.strides, source.strides, strict=True)
    return sorted(steps, key=lambda step: abs(step[1]))


def _collapse(itemsize: int, steps: Sequence[Step]) -> tuple[int, list[Step]]:
    """The bytes that lie together on both sides, and the loops around them, outermost first; adjacent loops joined."""
    run = itemsize
    outer: list[Step] = []
    for count, to, from_ in steps:
        if not outer and to == from_ == run:
            run *= count
        elif outer and (to, from_) == (outer[-1][0] * outer[-1][1], outer[-1][0] * outer[-1][2]):
            outer[-1] = (outer[-1][0] * count, *outer[-1][1:])
        else:
            outer.append((count, to, from_))
    return run, outer[::-1]


def _copy_run(run: int) -> Copy:
    def copy(target: Any, to: int, source: Any, from_: int) -> None:
        target[to : to + run] = source[from_ : from_ + run]

    return copy


def _copy_words(target_layout: Layout, source_layout: Layout) -> Copy:
    def copy(target: Any, to: int, source: Any, from_: int) -> None:
        target_layout.view(target, to)[...] = source_layout.view(source, from_)

    return copy
