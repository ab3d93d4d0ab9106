"""The pass `nest-verify`."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import z3
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...costs.exact.axes import axes_of, tile_words
from ...costs.exact.validity import bits_of_word
from ...costs.hierarchy import Architecture, Level, Problem, Tensor, architecture_of
from ...costs.mapping.check import check_tree
from ...costs.mapping.problem import Kernel
from ...costs.mapping.tree import Hold, Leaf, Loop, Node, Spatial
from ...dialects import nest
from ...dialects.acg import machine_of
from ...errors import InfeasibleError, TilewrightError
from ...machine import Machine
from .trees import buffers_of, capability_of, group_of, in_group, problem_of, region_tree

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


@dataclass(frozen=True)
class NestVerifyPass(ModulePass):
    """Prove that every mapping visits each point of its kernels once, and fits the machine; nothing is changed.

    Before: mapped groups, and the target's `acg.graph`.  Z3 shows for each compute that the loops and instances around
    it, as they stand in the IR, reach each iteration and none twice, and how large pieces get; the elements of a piece,
    in bits, are held against the capacity of the memory, instances against those of the array.  What does not hold is
    an error with a point that is left out or visited twice, or with the resource, demand and bound:

        nest.spatial m = 3 step 4 on @PE x {       with m = 16
          nest.compute @mac
        }

        compute @mac: expected loops that visit each m in 0..15, found m = 12 left out

    Where computes are bound to capabilities, these take whole tiles; elsewhere a multiply-accumulator takes one point
    at a time.
    """

    name = "nest-verify"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_of(op)
        for group in op.walk():
            if not isinstance(group, nest.GroupOp) or not group.is_mapped:
                continue
            try:
                verify_group(group, machine)
            except TilewrightError as error:
                raise in_group(error, group) from error


def verify_group(group: nest.GroupOp, machine: Machine) -> None:
    """The proofs of `nest-verify` for one mapped group."""
    problem = group_of(group)
    nodes = region_tree(group.mapping, problem, machine)
    kernels = {kernel.name: kernel for kernel in problem.kernels}
    found = {leaf.kernel: (leaf, path) for leaf, path in paths(nodes)}
    for name, (_, path) in found.items():
        prove_visits(kernels[name], path, problem.extents, len(kernels) == 1)
    if any(leaf.match is not None for leaf, _ in found.values()):
        check_tree(problem, nodes, machine)
        return
    arch = architecture_of(machine, capability_of(group, machine))
    _check_instances(nodes, arch)
    for kernel in group.kernels:
        path = found[kernel.sym_name.data][1]
        _check_points(kernel, path)
        _prove_room(kernel, path, arch)


def _check_points(kernel: nest.KernelOp, path: Path) -> None:
    """A multiply-accumulator takes one point at a time."""
    problem = problem_of(kernel)
    for dim, bound in zip(problem.dims, problem.bounds, strict=True):
        left = min([bound, *(cut.step for cut in path if isinstance(cut, Cut) and cut.dim == dim)])
        if left > 1:
            subject, lever = f"compute @{kernel.sym_name.data}", f"add `nest.for {dim} step 1`"
            raise TilewrightError("unsupported", subject, f"loops down to one {dim} at a time", f"{left}", lever)


def _prove_room(kernel: nest.KernelOp, path: Path, arch: Architecture) -> None:
    """What is held in each memory at once fits in one instance of it."""
    group = kernel.group
    problem = problem_of(kernel)
    tensors = {buffer: tensor for tensor, buffer in buffers_of(kernel).items()}
    demands: defaultdict[str, float] = defaultdict(float)
    for hold, tile in prove_tiles(kernel.sym_name.data, path, group.extents):
        level = next((level for level in arch.levels if level.name == hold.memory), None)
        if level is None:
            names = ", ".join(level.name for level in arch.levels)
            raise TilewrightError(
                "unsupported", f"nest.hold @{hold.memory}", f"a memory of {arch.name} ({names})", "none"
            )
        kept = [problem.tensor(tensors[name]) for name in hold.buffers if name in tensors]
        room = _Room(problem, level, hold, kept, demands[level.name])
        demands[level.name] += room.demand(tile)
        room.check(tile)


@dataclass(frozen=True)
class _Room:
    """What a hold takes of its memory, of which other holds have taken `before` bits."""

    problem: Problem
    level: Level
    hold: Hold
    kept: Sequence[Tensor]
    before: float

    def demand(self, tile: Mapping[str, int]) -> float:
        """Bits of all copies of the hold's tensors."""
        sizes = tuple(tile[dim] for dim in self.problem.dims)
        words = ((tile_words(axes_of(tensor, self.problem.bounds), sizes), tensor) for tensor in self.kept)
        bits = sum(count * bits_of_word(tensor, self.level) for count, tensor in words)
        return bits * max(self.hold.slots, self.level.multiple_buffering)

    def fits(self, tile: Mapping[str, int]) -> bool:
        """Whether a tile has room beside what other holds have taken."""
        bound = self.level.entries
        return bound is None or self.before + self.demand(tile) <= bound * self.level.word_bits

    def check(self, tile: Mapping[str, int]) -> None:
        """Raise `InfeasibleError` for a tile without room; it tells the largest pieces of a dim that have."""
        if self.level.entries is None or self.fits(tile):
            return
        names = ", ".join(self.hold.buffers)
        lever = f"hold smaller tiles or fewer copies of {names}"
        for dim in self.problem.dims:
            step = bisect_left(range(1, tile[dim]), 1, key=lambda n: not self.fits({**tile, dim: n}))
            if step:
                lever = f"`nest.for {dim} step {step}` around it fits; or {lever}"
                break
        subject, bound = f"nest.hold @{self.level.name} [{names}]", self.level.entries * self.level.word_bits
        demand = ceil(self.before + self.demand(tile))
        raise InfeasibleError(f"memory {self.level.name}", demand, bound, "bits", lever, subject)


def _check_instances(nodes: tuple[Node, ...], arch: Architecture) -> None:
    """Spreads over the same memory or compute node, one inside of the other, take no more instances than there are."""
    children = [arch.mac_name, *(level.name for level in arch.levels[:-1])]
    taken: dict[tuple[str, str], Spatial] = {}
    while len(nodes) == 1:
        node = nodes[0]
        if isinstance(node, Spatial):
            if node.node not in children:
                expected = f"instances of {', '.join(children)}"
                raise TilewrightError("unsupported", f"nest.spatial {node.dim}", expected, node.node)
            before = taken.get((node.node, node.axis))
            ways = node.ways * (before.ways if before is not None else 1)
            taken[node.node, node.axis] = replace(node, ways=ways)
        nodes = getattr(node, "body", ())
    for (name, axis), node in taken.items():
        columns, rows = arch.fan_out(children.index(name))
        bound = columns if axis == "x" else rows
        if node.ways > bound:
            lever = f"spread over {bound} at most"
            subject = f"nest.spatial {node.dim} on @{name} {axis}"
            raise InfeasibleError(f"{name} along {axis}", node.ways, bound, "instances", lever, subject)
