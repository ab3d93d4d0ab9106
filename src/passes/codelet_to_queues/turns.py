"""The turns of fused groups: whether what each reads of rings is there."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...algebra.affine import Affine, index_forms
from ...algebra.expr import Access, accesses, tensors_of
from ...algebra.window import Range, form_low, form_span
from ...dialects.codelet_fused import FusedOp
from ...errors import TilewrightError
from .tree import Codelet, Fill, Issue, Part, Transfer, Visit, visits


@dataclass(frozen=True)
class Touch:
    """Along ring axes `axes` a codelet reads or writes what `forms` say; if `bordered`, reads may pass the ends."""

    tensor: int
    axes: tuple[int, ...]
    forms: tuple[Affine, ...]
    parts: tuple[Part, ...]
    writes: bool
    bordered: bool


class _Ring:
    """Which element of a tensor, counted along its ring axes of `sizes`, each place has."""

    def __init__(self, held: Sequence[int], sizes: Sequence[int]) -> None:
        self.held, self.sizes = held, sizes
        self.places = np.full(held, -1, np.int64)

    def write(self, indices: Sequence[range]) -> None:
        places, elements = self._places(indices)
        self.places[places] = elements

    def missing(self, indices: Sequence[range]) -> tuple[int, ...] | None:
        """The first of the elements that is not there."""
        places, elements = self._places(indices)
        absent = np.argwhere(self.places[places] != elements)
        return tuple(i[at] for i, at in zip(indices, absent[0].tolist(), strict=True)) if len(absent) else None

    def _places(self, indices: Sequence[range]) -> tuple[Any, NDArray[np.int64]]:
        arrays = [np.arange(i.start, i.stop, dtype=np.int64) for i in indices]
        places = np.ix_(*(array % held for array, held in zip(arrays, self.held, strict=True)))
        grids = np.ix_(*arrays)
        elements = np.zeros([len(array) for array in arrays], np.int64)
        for grid, size in zip(grids, self.sizes, strict=True):
            elements = elements * size + grid
        return places, elements


Rings = dict[tuple[str, tuple[int, ...]], _Ring]
"""The rings of a program so far, by the names of their tensors and the axes that are looked at."""


def check_rows(op: FusedOp, codelets: Sequence[Codelet], rings: Rings) -> None:
    """Raises `TilewrightError` (kind `refuted`) where a turn reads what is not made, or not there any more.

    Samples, rows and columns of rings are looked at; all else of a tensor is taken as made with them.
    """
    touches = [[*_touches(codelet)] for codelet in codelets]
    for turn, (number, ranges) in enumerate(op.ranges()):
        codelet = codelets[number]
        whole = {dim: Range(0, extent) for dim, extent in codelet.dims} | ranges
        for touch in touches[number]:
            surrogate = codelet.surrogates[touch.tensor]
            sizes = [surrogate.shape[axis] for axis in touch.axes]
            key = surrogate.name, touch.axes
            if key not in rings:
                rings[key] = _Ring([surrogate.ring[axis] for axis in touch.axes], sizes)
            missing = _missing(rings[key], touch, _indices(touch, whole), sizes)
            if missing is not None:
                subject = f"codelet @{codelet.name}, turn {turn} of @{op.sym_name.data}"
                text = ", ".join(map(str, missing))
                raise TilewrightError("refuted", subject, f"index {text} of {surrogate.name} to be there", "another")


def _missing(ring: _Ring, touch: Touch, indices: list[range], sizes: Sequence[int]) -> tuple[int, ...] | None:
    """What a touch does not find; writes are noted."""
    if touch.bordered:
        indices = [range(max(0, i.start), min(size, i.stop)) for i, size in zip(indices, sizes, strict=True)]
    if not all(indices):
        return None
    outside = [i.start < 0 or i.stop > size for i, size in zip(indices, sizes, strict=True)]
    if any(outside):
        return tuple(i.start if i.start < 0 else i.stop - 1 for i in indices)
    if touch.writes:
        ring.write(indices)
        return None
    return ring.missing(indices)


def _indices(touch: Touch, ranges: Mapping[str, Range]) -> list[range]:
    inside = {**ranges, **{part.dim: Range(part.start, part.step) for part in touch.parts}}
    lows = [form_low(form, inside) for form in touch.forms]
    return [range(low, low + form_span(form, inside) + 1) for low, form in zip(lows, touch.forms, strict=True)]


def _touches(codelet: Codelet) -> Iterator[Touch]:
    """Reads before writes of each node, nodes in order."""
    for visit in visits(codelet):
        match visit.node:
            case Issue():
                yield from _of_issue(codelet, visit, visit.node)
            case Transfer(source, destination) as node if node.axes is not None:
                for tensor, writes in ((source, False), (destination, True)):
                    forms = [axis.forms[0] for axis in node.axes_of(tensor) or ()]
                    yield from _touch(codelet, visit, tensor, forms, writes=writes)
            case Fill() | _:
                pass


def _of_issue(codelet: Codelet, visit: Visit, node: Issue) -> Iterator[Touch]:
    names = tensors_of(node.statement)
    found = [access for access in accesses(node.statement) if isinstance(access, Access)]
    for access in (*found[1:], found[0]):
        tensor = node.tensors[names.index(access.tensor)]
        writes, bordered = access is found[0], access.tensor in node.borders
        yield from _touch(codelet, visit, tensor, index_forms(access), writes=writes, bordered=bordered)


def _touch(
    codelet: Codelet, visit: Visit, tensor: int, forms: Sequence[Affine], *, writes: bool, bordered: bool = False
) -> Iterator[Touch]:
    ring = codelet.surrogates[tensor].ring
    axes = tuple(axis for axis, held in enumerate(ring) if held)
    # a view of a tensor of which whole samples are there has a ring of samples only
    for seen in (axes, axes[:1]) if writes and len(axes) > 1 else (axes,):
        if seen:
            parts = tuple(loop for loop in visit.loops if isinstance(loop, Part))
            yield Touch(tensor, seen, tuple(forms[axis] for axis in seen), parts, writes, bordered)
