"""A program of codelets as frozen data: what the emission and the proofs work on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...algebra.element import element_dtype
from ...algebra.expr import Statement
from ...algebra.window import Axis


@dataclass(frozen=True)
class Surrogate:
    """A tensor or local of a codelet: row-major elements in `memory`, at one of `addresses` (bytes; one per copy).

    `axes` are the window that a local stands for; a whole tensor has none.  `constant` tensors are never written.
    """

    name: str
    memory: str
    shape: tuple[int, ...]
    element: str
    addresses: tuple[int, ...]
    axes: tuple[Axis, ...] | None = None
    constant: bool = False

    @property
    def element_bytes(self) -> int:
        """Bytes per element."""
        return element_dtype(self.element).itemsize

    @property
    def size_bytes(self) -> int:
        """Bytes of one copy."""
        size = self.element_bytes
        for n in self.shape:
            size *= n
        return size

    @property
    def strides_bytes(self) -> tuple[int, ...]:
        """Bytes from one element to the next along each axis."""
        strides: list[int] = []
        step = self.element_bytes
        for n in reversed(self.shape):
            strides.append(step)
            step *= n
        return tuple(reversed(strides))


def box_side(source: Surrogate, destination: Surrogate) -> Surrogate:
    """The local whose accesses a transfer's box is of: of two locals the one with the wider steps, or `destination`."""
    if source.axes is None or destination.axes is None:
        return source if destination.axes is None else destination
    wider = any(s.step > d.step for s, d in zip(source.axes, destination.axes, strict=True))
    return source if wider else destination


@dataclass(frozen=True)
class Define:
    """`surrogates[local]` now stands for its next copy and the window of the current ranges."""

    local: int


@dataclass(frozen=True)
class Transfer:
    """Copy between two surrogates (see `codelet.transfer`)."""

    source: int
    destination: int
    pad: int | float | None = None


@dataclass(frozen=True)
class Issue:
    """One issue of `capability` of `node` (see `codelet.compute`)."""

    node: str
    capability: str
    statement: Statement
    tensors: tuple[int, ...]
    dims: tuple[tuple[str, str], ...]
    functions: tuple[tuple[str, str], ...] = ()
    immediates: tuple[tuple[str, int | float], ...] = ()
    spread: tuple[tuple[str, str], ...] = ()
    keep: bool = False


@dataclass(frozen=True)
class Loop:
    """`body` for each piece of `step` iterations of the current range of `dim`."""

    dim: str
    step: int
    body: tuple[Node, ...]


Node = Define | Transfer | Issue | Loop


@dataclass(frozen=True)
class Codelet:
    """A unit of work; nodes refer to `surrogates` by index, tensors first."""

    name: str
    dims: tuple[tuple[str, int], ...]
    surrogates: tuple[Surrogate, ...]
    body: tuple[Node, ...]


@dataclass(frozen=True)
class Visit:
    """A node with the loops around it, outermost first, and its place in a walk of the tree."""

    node: Node
    loops: tuple[Loop, ...]
    position: int


def visits(codelet: Codelet) -> Iterator[Visit]:
    """All nodes in order, a loop before its body."""
    counter = [0]

    def walk(body: tuple[Node, ...], loops: tuple[Loop, ...]) -> Iterator[Visit]:
        for node in body:
            yield Visit(node, loops, counter[0])
            counter[0] += 1
            if isinstance(node, Loop):
                yield from walk(node.body, (*loops, node))

    yield from walk(codelet.body, ())


def tile_extents(codelet: Codelet, loops: tuple[Loop, ...]) -> dict[str, int]:
    """Dim -> iterations of a full tile inside `loops`."""
    extents = dict(codelet.dims)
    for loop in loops:
        extents[loop.dim] = min(extents[loop.dim], loop.step)
    return extents
