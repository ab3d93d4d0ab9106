"""The pass `nest-verify`."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...costs.exact.axes import axes_of, tile_words
from ...costs.exact.validity import bits_of_word
from ...costs.hierarchy import Architecture, Level, Problem, Tensor, architecture_of
from ...costs.mapping.check import check_tree
from ...costs.mapping.tree import Hold, Node, Spatial
from ...dialects import nest
from ...dialects.acg import machine_of
from ...errors import InfeasibleError, TilewrightError
from ...machine import Machine
from .problems import buffers_of, capability_of, problem_of
from .proofs import Cut, Path, paths, prove_tiles, prove_visits
from .trees import group_of, in_group, region_tree


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
                raise in_group(error, group.sym_name.data) from error


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
    group = kernel.parent_op()
    assert isinstance(group, nest.GroupOp)
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
