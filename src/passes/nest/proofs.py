"""Proofs by Z3 that a mapping's loops visit each point of a kernel once, and how large its tiles get.

Independent of the arithmetic that searches and cost models use: what is proved is said in terms of what the loops do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from ...costs.mapping.problem import Kernel
from ...costs.mapping.tree import Hold, Leaf, Loop, Node, Spatial
from ...errors import TilewrightError

TIMEOUT_MS = 20_000


@dataclass(frozen=True)
class Cut:
    """A loop, or a spread over `ways` instances, that cuts a dim into pieces of `step`."""

    dim: str
    step: int
    ways: int | None = None


Path = tuple[Cut | Hold, ...]
"""What encloses a compute, outermost first."""


def paths(nodes: Sequence[Node], outside: Path = ()) -> Iterator[tuple[Leaf, Path]]:
    """Each compute of a tree with what encloses it."""
    for node in nodes:
        match node:
            case Leaf():
                yield node, outside
            case Hold():
                yield from paths(node.body, (*outside, node))
            case Loop(dim, step, body):
                yield from paths(body, (*outside, Cut(dim, step)))
            case Spatial(dim, ways, _, _, body, step):
                yield from paths(body, outside if step is None else (*outside, Cut(dim, step, ways)))


def prove_visits(kernel: Kernel, path: Path, extents: Mapping[str, int], alone: bool) -> None:
    """Each point of the kernel is visited, and only once.

    Only for a kernel that shares its group with others (not `alone`) loops over dims that it does not have may repeat
    it, if that changes nothing.  Raises `TilewrightError`: kind `refuted` with a point that is left out or visited
    twice, `unproven` where Z3 gives up.
    """
    cuts = [item for item in path if isinstance(item, Cut)]
    for dim in kernel.dims:
        chain = [cut for cut in cuts if cut.dim == dim]
        _prove_covered(kernel.name, dim, extents[dim], chain)
        _prove_apart(kernel.name, dim, extents[dim], chain)
    for index, cut in enumerate(cuts):
        if cut.dim in kernel.dims or _pieces(cuts[: index + 1], cut.dim, extents[cut.dim]) <= 1:
            continue
        summed = any(other.dim in kernel.reductions for other in cuts[:index])
        if alone or kernel.continues or summed:
            expected = f"loops over its dims only ({', '.join(kernel.dims)}), each point once"
            found = f"a loop over {cut.dim} that repeats every point"
            raise TilewrightError("refuted", f"compute @{kernel.name}", expected, found, "leave that loop out")


def _pieces(cuts: Sequence[Cut], dim: str, extent: int) -> int:
    """Iterations of the last of `cuts` at its full length."""
    for cut in cuts[:-1]:
        extent = min(extent, cut.step) if cut.dim == dim else extent
    last = cuts[-1]
    pieces = -(-extent // last.step)
    return pieces if last.ways is None else min(pieces, last.ways)


@dataclass(frozen=True)
class _Chain:
    """Iterations of the cuts of one dim: at each, where its piece begins and how long it is, as Z3 terms."""

    indices: tuple[Any, ...]
    starts: tuple[Any, ...]
    lengths: tuple[Any, ...]
    valid: tuple[Any, ...]

    def holds(self, point: Any) -> Any:
        """That the innermost piece has a point."""
        inside = z3.And(point >= self.starts[-1], point < self.starts[-1] + self.lengths[-1])
        return z3.And(*self.valid, inside)


def _chain(cuts: Sequence[Cut], extent: int, indices: Sequence[Any]) -> _Chain:
    start, length = z3.IntVal(0), z3.IntVal(extent)
    starts: list[Any] = [start]
    lengths: list[Any] = [length]
    valid: list[Any] = []
    for cut, index in zip(cuts, indices, strict=True):
        left = length - index * cut.step
        valid += [index >= 0, left >= 1, *([] if cut.ways is None else [index < cut.ways])]
        start, length = start + index * cut.step, z3.If(left < cut.step, left, z3.IntVal(cut.step))
        starts.append(start)
        lengths.append(length)
    return _Chain(tuple(indices), tuple(starts), tuple(lengths), tuple(valid))


def _prove_covered(kernel: str, dim: str, extent: int, cuts: Sequence[Cut]) -> None:
    """Some iteration visits each point: the one that division tells."""
    point: Any = z3.Int("point")
    indices: list[Any] = []
    start: Any = z3.IntVal(0)
    for cut in cuts:
        index: Any = (point - start) / cut.step
        indices.append(index)
        start = start + index * cut.step
    chain = _chain(cuts, extent, indices)
    missed = _refute(kernel, point, [point >= 0, point < extent, z3.Not(chain.holds(point))])
    if missed is None:
        return
    narrow = next((cut for cut in cuts if cut.ways is not None and cut.ways * cut.step < extent), None)
    lever = f"spread {dim} over more than {narrow.ways} instances, or in larger steps" if narrow is not None else ""
    expected = f"loops that visit each {dim} in 0..{extent - 1}"
    raise TilewrightError("refuted", f"compute @{kernel}", expected, f"{dim} = {missed} left out", lever)


def _prove_apart(kernel: str, dim: str, extent: int, cuts: Sequence[Cut]) -> None:
    """No two different iterations visit the same point."""
    if not cuts:
        return
    point = z3.Int("point")
    one = _chain(cuts, extent, [z3.Int(f"i{n}") for n in range(len(cuts))])
    two = _chain(cuts, extent, [z3.Int(f"j{n}") for n in range(len(cuts))])
    differ = z3.Or(*(a != b for a, b in zip(one.indices, two.indices, strict=True)))
    twice = _refute(kernel, point, [one.holds(point), two.holds(point), differ])
    if twice is not None:
        expected = f"loops that visit each {dim} once"
        raise TilewrightError("refuted", f"compute @{kernel}", expected, f"{dim} = {twice} visited twice")


def prove_tiles(kernel: str, path: Path, extents: Mapping[str, int]) -> list[tuple[Hold, dict[str, int]]]:
    """For each hold, the most iterations of each dim that are inside of it at any time, proven."""
    found: list[tuple[Hold, dict[str, int]]] = []
    limit = dict(extents)
    seen: list[Cut] = []
    for item in path:
        if isinstance(item, Hold):
            found.append((item, dict(limit)))
            continue
        seen.append(item)
        dim = item.dim
        limit[dim] = min(limit[dim], item.step)
        chain = [cut for cut in seen if cut.dim == dim]
        terms = _chain(chain, extents[dim], [z3.Int(f"i{n}") for n in range(len(chain))])
        if _refute(kernel, terms.lengths[-1], [*terms.valid, terms.lengths[-1] > limit[dim]]) is not None:
            expected = f"at most {limit[dim]} iterations of {dim} at once"
            raise TilewrightError("refuted", f"compute @{kernel}", expected, "more")
    return found


def _refute(kernel: str, term: Any, facts: Sequence[Any]) -> int | None:
    """The least value of `term` with which all facts hold, or None if there is none."""
    solver = z3.Solver()
    solver.set("timeout", TIMEOUT_MS)
    solver.add(*facts)
    answer = solver.check()
    if answer == z3.unsat:
        return None
    if answer != z3.sat:
        subject = f"compute @{kernel}"
        raise TilewrightError("unproven", subject, "a proof of its loops", f"none: {solver.reason_unknown()}")
    optimizer = z3.Optimize()
    optimizer.set("timeout", TIMEOUT_MS)
    optimizer.add(*facts)
    optimizer.minimize(term)
    model: Any = optimizer.model() if optimizer.check() == z3.sat else solver.model()
    return model.eval(term, model_completion=True).as_long()
