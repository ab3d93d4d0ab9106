"""The turns of fused groups: whether what each reads of rings is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...algebra.affine import Affine, index_forms
from ...algebra.expr import Access
from ...algebra.statement import accesses, tensors_of
from ...algebra.window import Range, form_low, form_span
from ...dialects.codelet_fused import FusedOp
from ...errors import TilewrightError
from .tree import Codelet, Fill, Issue, Part, Transfer, Visit, visits


@dataclass(frozen=True)
class Touch:
    """Along ring axis `axis` a codelet reads or writes what `form` says; if `bordered`, reads may pass the ends."""

    tensor: int
    axis: int
    form: Affine
    parts: tuple[Part, ...]
    writes: bool
    bordered: bool


@dataclass
class _Ring:
    """Which index each place of a ring has."""

    held: int
    places: dict[int, int] = field(default_factory=dict[int, int])

    def write(self, indices: range) -> None:
        for index in indices:
            self.places[index % self.held] = index

    def missing(self, indices: range) -> int | None:
        return next((i for i in indices if self.places.get(i % self.held) != i), None)


def check_rows(op: FusedOp, codelets: Sequence[Codelet]) -> None:
    """Raises `TilewrightError` (kind `refuted`) where a turn reads rows that are not made, or not there any more."""
    touches = [[*_touches(codelet)] for codelet in codelets]
    rings: dict[tuple[str, int], _Ring] = {}
    for turn, (number, ranges) in enumerate(op.ranges()):
        codelet = codelets[number]
        whole = {dim: Range(0, extent) for dim, extent in codelet.dims} | ranges
        for touch in touches[number]:
            surrogate = codelet.surrogates[touch.tensor]
            held, size = surrogate.ring[touch.axis], surrogate.shape[touch.axis]
            ring = rings.setdefault((surrogate.name, touch.axis), _Ring(held))
            indices = _indices(touch, whole)
            if touch.bordered:
                indices = range(max(0, indices.start), min(size, indices.stop))
            missing = None
            if indices and (indices.start < 0 or indices.stop > size):
                missing = indices.start if indices.start < 0 else indices.stop - 1
            elif touch.writes:
                ring.write(indices)
            else:
                missing = ring.missing(indices)
            if missing is not None:
                subject = f"codelet @{codelet.name}, turn {turn} of @{op.sym_name.data}"
                raise TilewrightError("refuted", subject, f"index {missing} of {surrogate.name} to be there", "another")


def _indices(touch: Touch, ranges: Mapping[str, Range]) -> range:
    inside = {**ranges, **{part.dim: Range(part.start, part.step) for part in touch.parts}}
    low = form_low(touch.form, inside)
    return range(low, low + form_span(touch.form, inside) + 1)


def _touches(codelet: Codelet) -> Iterator[Touch]:
    """Reads before writes of each node, nodes in order."""
    for visit in visits(codelet):
        match visit.node:
            case Issue():
                yield from _of_issue(codelet, visit, visit.node)
            case Transfer(source, destination, _, axes) if axes is not None:
                for tensor, writes in ((source, False), (destination, True)):
                    for number, axis in enumerate(axes):
                        yield from _touch(codelet, visit, (tensor, number, axis.forms[0]), writes=writes)
            case Fill() | _:
                pass


def _of_issue(codelet: Codelet, visit: Visit, node: Issue) -> Iterator[Touch]:
    names = tensors_of(node.statement)
    found = [access for access in accesses(node.statement) if isinstance(access, Access)]
    for access in (*found[1:], found[0]):
        tensor = node.tensors[names.index(access.tensor)]
        for number, form in enumerate(index_forms(access)):
            writes, bordered = access is found[0], access.tensor in node.borders
            yield from _touch(codelet, visit, (tensor, number, form), writes=writes, bordered=bordered)


def _touch(
    codelet: Codelet, visit: Visit, what: tuple[int, int, Affine], *, writes: bool, bordered: bool = False
) -> Iterator[Touch]:
    tensor, axis, form = what
    ring = codelet.surrogates[tensor].ring
    if ring and ring[axis]:
        parts = tuple(loop for loop in visit.loops if isinstance(loop, Part))
        yield Touch(tensor, axis, form, parts, writes, bordered)
