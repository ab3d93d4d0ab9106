"""A program of codelets as frozen data: what the emission and the proofs work on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from ...algebra.affine import Affine, Axis, Share
from ...algebra.element import element_dtype
from ...algebra.expr import Statement


@dataclass(frozen=True)
class TableRows:
    """Rows that an index names: the first `axes` of a surrogate go over the index, the surrogate `index`.

    The table has `count` rows of `row_bytes` each.
    """

    index: int
    axes: int
    count: int
    row_bytes: int


@dataclass(frozen=True)
class Surrogate:
    """A tensor or local of a codelet: row-major elements in `memory`, at one of `addresses` (bytes; one per copy).

    `axes` are the window that a local stands for; a whole tensor has none.  `constant` tensors are never written.
    Where `ring` is not 0 only so much of an axis is kept, index i in the place of i modulo that.  A local that `stays`
    is not loaded again while a copy has its window.  Of `rows` only their table has a place.
    """

    name: str
    memory: str
    shape: tuple[int, ...]
    element: str
    addresses: tuple[int, ...]
    axes: tuple[Axis, ...] | None = None
    constant: bool = False
    ring: tuple[int, ...] = ()
    stays: bool = False
    rows: TableRows | None = None

    @property
    def kept(self) -> tuple[int, ...]:
        """The shape of what is there at a time."""
        return tuple(held or n for held, n in zip(self.ring, self.shape, strict=True)) if self.ring else self.shape

    @property
    def element_bytes(self) -> int:
        """Bytes per element."""
        return element_dtype(self.element).itemsize

    @property
    def size_bytes(self) -> int:
        """Bytes of one copy; of rows those of their table."""
        if self.rows is not None:
            return self.rows.count * self.rows.row_bytes
        return self.element_bytes * prod(self.kept)

    @property
    def steps(self) -> tuple[int, ...]:
        """Coordinates of the tensor from one element to the next along each axis."""
        return (1,) * len(self.shape) if self.axes is None else tuple(axis.step for axis in self.axes)

    @property
    def strides_bytes(self) -> tuple[int, ...]:
        """Bytes from one element to the next along each axis; rows lie where their index says."""
        strides: list[int] = []
        step = self.element_bytes
        for n in reversed(self.kept):
            strides.append(step)
            step *= n
        if self.rows is not None:
            strides[len(strides) - self.rows.axes :] = [0] * self.rows.axes
        return tuple(reversed(strides))


@dataclass(frozen=True)
class Define:
    """`surrogates[local]` now stands for its next copy and the window of the current ranges."""

    local: int


@dataclass(frozen=True)
class Transfer:
    """Copy between two surrogates (see `codelet.transfer`); `axes` are of the access between two tensors.

    The indices of the destination are by `shift` larger, if there is one.
    """

    source: int
    destination: int
    pad: int | float | None = None
    axes: tuple[Axis, ...] | None = None
    shift: tuple[int, ...] = ()

    def axes_of(self, surrogate: int) -> tuple[Axis, ...] | None:
        """The axes of the access of one of the two tensors."""
        if self.axes is None or not self.shift or surrogate == self.source:
            return self.axes
        pairs = zip(self.axes, self.shift, strict=True)
        return tuple(Axis(tuple(form + Affine(by) for form in one.forms), one.step, one.size) for one, by in pairs)


@dataclass(frozen=True)
class Fill:
    """Sets all elements of a surrogate to `value`."""

    target: int
    value: int | float


@dataclass(frozen=True)
class Issue:
    """One issue of `capability` of `node` (see `codelet.compute`).

    `tensors` are the statement's; after them those that stand in for `borders`.  Elements of operand `zeros` are zero
    outside of the indices `inside`, first and last (exclusive) of each axis.
    """

    node: str
    capability: str
    statement: Statement
    tensors: tuple[int, ...]
    dims: tuple[tuple[str, str], ...]
    functions: tuple[tuple[str, str], ...] = ()
    immediates: tuple[tuple[str, int | float], ...] = ()
    spread: tuple[tuple[str, str], ...] = ()
    keep: bool = False
    borders: tuple[str, ...] = ()
    share: Share = ()
    over: tuple[str, ...] = ()
    zeros: str = ""
    inside: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Part:
    """`body` once, with iterations `start` to `stop` (exclusive) of `dim`."""

    dim: str
    start: int
    stop: int
    body: tuple[Node, ...]

    @property
    def step(self) -> int:
        """Iterations of the part."""
        return self.stop - self.start


@dataclass(frozen=True)
class Span:
    """`body` once, while `dim` ranges over all values of `form` (see `codelet.span`)."""

    dim: str
    form: Affine
    body: tuple[Node, ...]


@dataclass(frozen=True)
class Loop:
    """`body` for each piece of `step` iterations of the current range of `dim`.

    The first `ahead` nodes of a piece are done before the rest of the piece before it.  Of `alternating` loops every
    other run goes from the last piece to the first.
    """

    dim: str
    step: int
    body: tuple[Node, ...]
    ahead: int = 0
    alternating: bool = False


Around = Loop | Part | Span
Node = Define | Transfer | Fill | Issue | Around


@dataclass(frozen=True)
class Codelet:
    """A unit of work of some nodes of a model; nodes of `body` refer to `surrogates` by index, tensors first."""

    name: str
    dims: tuple[tuple[str, int], ...]
    surrogates: tuple[Surrogate, ...]
    body: tuple[Node, ...]
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Visit:
    """A node with the loops and parts around it, outermost first, and its place in a walk of the tree."""

    node: Node
    loops: tuple[Around, ...]
    position: int


def visits(codelet: Codelet) -> Iterator[Visit]:
    """All nodes in order, a loop before its body."""
    counter = [0]

    def walk(body: tuple[Node, ...], loops: tuple[Around, ...]) -> Iterator[Visit]:
        for node in body:
            yield Visit(node, loops, counter[0])
            counter[0] += 1
            if isinstance(node, Around):
                yield from walk(node.body, (*loops, node))

    yield from walk(codelet.body, ())


def tile_extents(codelet: Codelet, loops: tuple[Around, ...]) -> dict[str, int]:
    """Dim -> iterations of a full tile inside `loops`."""
    extents = dict(codelet.dims)
    for loop in loops:
        if isinstance(loop, Span):
            low, high = loop.form.range(extents)
            extents[loop.dim] = high - low + 1
        else:
            extents[loop.dim] = min(extents[loop.dim], loop.step)
    return extents


def box_axes(codelet: Codelet, node: Transfer) -> tuple[Axis, ...]:
    """The axes that a transfer's box is of: its own, or a local's, of two locals the one with the wider steps."""
    source, destination = codelet.surrogates[node.source], codelet.surrogates[node.destination]
    if node.axes is not None:
        return node.axes
    if source.axes is None or destination.axes is None:
        axes = source.axes if destination.axes is None else destination.axes
        assert axes is not None
        return axes
    wider = any(s.step > d.step for s, d in zip(source.axes, destination.axes, strict=True))
    return source.axes if wider else destination.axes
