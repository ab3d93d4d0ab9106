"""The pass `nest-verify`."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from math import ceil

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...costs.exact.axes import axes_of, tile_words
from ...costs.hierarchy import Architecture, Level, Problem, architecture_of
from ...costs.mapping.check import check_tree
from ...costs.mapping.tree import Hold, Node, Spatial
from ...dialects import nest
from ...dialects.acg import machine_of
from ...errors import InfeasibleError, TilewrightError
from ...machine import Machine
from .problems import buffers_of, problem_of
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
                _verify(group, machine)
            except TilewrightError as error:
                raise in_group(error, group.sym_name.data) from error


def _verify(group: nest.GroupOp, machine: Machine) -> None:
    problem = group_of(group)
    nodes = region_tree(group.mapping, problem, machine)
    kernels = {kernel.name: kernel for kernel in problem.kernels}
    found = {leaf.kernel: (leaf, path) for leaf, path in paths(nodes)}
    for name, (_, path) in found.items():
        prove_visits(kernels[name], path, problem.extents, len(kernels) == 1)
    if any(leaf.match is not None for leaf, _ in found.values()):
        check_tree(problem, nodes, machine)
        return
    arch = architecture_of(machine)
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
            raise TilewrightError("unsupported", f"mapping for {arch.name}", f"memories {names}", hold.memory)
        sizes = tuple(tile[dim] for dim in problem.dims)
        for name in hold.buffers:
            if name in tensors:
                demands[level.name] += _bits(problem, tensors[name], sizes, level) * max(
                    hold.slots, level.multiple_buffering
                )
        _check_room(level, demands[level.name], hold)


def _bits(problem: Problem, name: str, sizes: tuple[int, ...], level: Level) -> int:
    tensor = problem.tensor(name)
    words = tile_words(axes_of(tensor, problem.bounds), sizes)
    return words * (level.word_bits if tensor.word_bits is None else tensor.word_bits)


def _check_room(level: Level, demand: float, hold: Hold) -> None:
    if level.entries is None or demand <= level.entries * level.word_bits:
        return
    lever = f"hold smaller tiles or fewer copies of {', '.join(hold.buffers)}"
    raise InfeasibleError(f"memory {level.name}", ceil(demand), level.entries * level.word_bits, "bits", lever)


def _check_instances(nodes: tuple[Node, ...], arch: Architecture) -> None:
    """Spreads over the same memory or compute node, one inside of the other, take no more instances than there are."""
    children = [arch.mac_name, *(level.name for level in arch.levels[:-1])]
    taken: dict[tuple[str, str], Spatial] = {}
    while len(nodes) == 1:
        node = nodes[0]
        if isinstance(node, Spatial):
            if node.node not in children:
                expected = f"instances of {', '.join(children)}"
                raise TilewrightError("unsupported", f"mapping for {arch.name}", expected, node.node)
            before = taken.get((node.node, node.axis))
            ways = node.ways * (before.ways if before is not None else 1)
            taken[node.node, node.axis] = replace(node, ways=ways)
        nodes = getattr(node, "body", ())
    for (name, axis), node in taken.items():
        columns, rows = arch.fan_out(children.index(name))
        bound = columns if axis == "x" else rows
        if node.ways > bound:
            lever = f"spread over {bound} at most"
            raise InfeasibleError(f"{name} along {axis}", node.ways, bound, "instances", lever)
