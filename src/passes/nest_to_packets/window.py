"""Reductions of one tensor on packets, as pooling is: lanes along a dim that both tensors have innermost.

O[p,q,c] max= A[2*p + r, 2*q + s, c]      for each p, q and each vector of channels: the largest over r and s
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from ...algebra.affine import Affine, index_forms
from ...algebra.expr import Access, Name, Statement
from ...algebra.printer import print_statement
from ...errors import TilewrightError
from ...machine.packet_program import Instruction
from ...machine.packet_storage import Storage
from .emit import Emitter
from .regions import Pipelined, Region, Repeat, Straight
from .roles import Walk

FUNCTIONS = {"max=": "max", "min=": "min", "+=": "add"}
MOST_TAPS = 16


@dataclass(frozen=True)
class Window:
    """Bytes of A: from one row of the target to the next in each of its loops, and of each tap from a row's start.

    `vectors` vectors of lanes are at each place; `shape` and `strides` of A and O have the lanes' dim last.
    """

    rows: tuple[Walk, ...]
    taps: tuple[int, ...]
    vectors: int
    shapes: tuple[tuple[int, ...], tuple[int, ...]]
    strides: tuple[tuple[int, ...], tuple[int, ...]]
    sizes_bytes: tuple[int, int]


def is_window(statement: Statement) -> bool:
    """Whether the statement reduces one tensor, with a last dim in common."""
    target, value = statement.target, statement.value
    if statement.reduce not in FUNCTIONS or not isinstance(target, Access) or not isinstance(value, Access):
        return False
    plain = all(isinstance(index, Name) for index in target.indices) and bool(target.indices) and bool(value.indices)
    last = target.indices[-1] if plain else None
    return plain and value.indices[-1] == last and not any(
        isinstance(last, Name) and last.id in form.names for form in index_forms(value)[:-1]
    )  # fmt: skip


def window_of(
    statement: Statement, extents: Mapping[str, int], itemsize: int, width: int, shape: Sequence[int] = ()
) -> Window:
    """The places of a reduction's operands, lanes filled up to vectors of `width` bytes."""
    target, value = statement.target, statement.value
    assert isinstance(target, Access)
    assert isinstance(value, Access)
    out = [index.id for index in target.indices if isinstance(index, Name)]
    forms = index_forms(value)
    ranges = [form.range(extents) for form in forms]
    sizes = tuple(max(n, high + 1) for n, (_, high) in zip(shape or (0,) * len(forms), ranges, strict=True))
    if any(low < 0 for low, _ in ranges) or any(high >= n for n, (_, high) in zip(shape, ranges, strict=False)):
        raise TilewrightError("unsupported", print_statement(statement), "reads within the tensor", "padding")
    vectors = -(-sizes[-1] * itemsize // width)
    strides = _strides(sizes, itemsize, vectors * width)
    result = tuple(extents[dim] for dim in out)
    reduced = [dim for dim in dict.fromkeys(n for form in forms for n in form.names) if dim not in out]
    base = sum(form.const * step for form, step in zip(forms, strides, strict=True))
    taps = [
        base + sum(_step(forms, strides, dim) * at for dim, at in zip(reduced, point, strict=True))
        for point in product(*(range(extents[dim]) for dim in reduced))
    ]
    if len(taps) > MOST_TAPS:
        raise TilewrightError("unsupported", print_statement(statement), f"at most {MOST_TAPS} taps", f"{len(taps)}")
    rows = tuple(Walk(extents[dim], _step(forms, strides, dim)) for dim in out[:-1]) or (Walk(1, 0),)
    return Window(
        rows,
        tuple(taps),
        vectors,
        (sizes, result),
        (strides, _strides(result, itemsize, vectors * width)),
        (prod(sizes[:-1]) * vectors * width, prod(result[:-1]) * vectors * width),
    )


def _strides(sizes: Sequence[int], itemsize: int, pitch: int) -> tuple[int, ...]:
    strides = [itemsize]
    for size in reversed(sizes[1:]):
        strides.insert(0, pitch if len(strides) == 1 else strides[0] * size)
    return tuple(strides)


def _step(forms: Sequence[Affine], strides: Sequence[int], dim: str) -> int:
    return sum(form.coefficient(dim) * step for form, step in zip(forms, strides, strict=True))


def window_regions(
    emitter: Emitter, storage: Storage, statement: Statement, window: Window, type_name: str
) -> list[Region]:
    """The regions: vectors of lanes, rows, and for each row all taps."""
    assert isinstance(statement.target, Access)
    assert isinstance(statement.value, Access)
    item = emitter.function(FUNCTIONS[statement.reduce], type_name, 2)
    item = emitter.isa.choose(f"{FUNCTIONS[statement.reduce]} of {type_name}", [item] if item is not None else [])
    (shape, result), (strides, steps), (size, result_size) = window.shapes, window.strides, window.sizes_bytes
    x = storage.tensor(statement.value.tensor, "input", type_name, shape, strides, size)
    out = storage.tensor(statement.target.tensor, "output", type_name, result, steps, result_size)
    take, scalars, vectors = emitter.pool.take, emitter.scalars, emitter.vectors
    first, target = take(scalars), take(scalars)
    rows = [take(scalars) for _ in window.rows]
    at = [take(scalars) for _ in window.taps]
    loaded = [take(vectors) for _ in window.taps]
    sums = [take(vectors) for _ in window.taps[1:]]
    body: list[Instruction] = []
    for register, address in zip(loaded, at, strict=True):
        body.append(emitter.load(vectors, register, address, 0, "x"))
        body.append(emitter.add(address, address, window.rows[-1].step_bytes))
    total = loaded[0]
    for register, result_register in zip(loaded[1:], sums, strict=True):
        body.append(emitter.place(item, (result_register, total, register)))
        total = result_register
    pitch = window.vectors * emitter.vector_bytes
    body += [emitter.store(vectors, total, target, 0, "out"), emitter.add(target, target, pitch)]
    starts = [emitter.add(register, rows[-1], tap) for register, tap in zip(at, window.taps, strict=True)]
    regions: list[Region] = [Straight(tuple(starts)), Pipelined(window.rows[-1].extent, tuple(body))]
    for level in reversed(range(len(rows))):
        if level < len(rows) - 1:
            step = emitter.add(rows[level], rows[level], window.rows[level].step_bytes)
            regions = [Repeat(window.rows[level].extent, (*regions, Straight((step,))))]
        start = emitter.add(rows[level], rows[level - 1] if level else first, 0)
        regions = [Straight((start,)), *regions]
    on = (
        emitter.add(first, first, emitter.vector_bytes),
        emitter.add(target, target, emitter.vector_bytes - pitch * prod(walk.extent for walk in window.rows)),
    )
    start = Straight((emitter.address(first, x.address), emitter.address(target, out.address)))
    return [start, Repeat(window.vectors, (*regions, Straight(on)))]
