"""Mapping trees of one kernel as mappings of a memory hierarchy, level by level, and back.

Levels of a hierarchy are memories; their loops stand between their hold and the next one inward, temporal ones outside
of those that are spread over the instances of the level below.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...errors import TilewrightError
from ..hierarchy import Architecture, LevelMapping, LoopMapping, Problem
from ..hierarchy import Loop as Factor
from .tree import Hold, Leaf, Loop, Node, Spatial


def canonical(arch: Architecture, problem: Problem, mapping: LoopMapping) -> LoopMapping:
    """The same mapping without loops of one iteration, each dim's outermost loop cut to the iterations that there are.

    `bypass` of a level lists every tensor that is not kept there, also those that the machine never keeps.  A spatial
    bound stays as it is, because it says how many instances are taken.
    """
    outermost = [0] * len(problem.dims)
    tile = [1] * len(problem.dims)
    for level in mapping.levels:
        for loop in (*level.spatial, *level.temporal):
            if loop.bound > 1 and tile[loop.dim] < problem.bounds[loop.dim]:
                outermost[loop.dim] = tile[loop.dim]
            tile[loop.dim] *= loop.bound
    tile = [1] * len(problem.dims)
    levels: list[LevelMapping] = []
    for index, level in enumerate(mapping.levels):
        x, y = _grown(level.spatial_x, tile), _grown(level.spatial_y, tile)
        temporal: list[Factor] = []
        for loop in level.temporal:
            before = tile[loop.dim]
            tile[loop.dim] *= loop.bound
            bound = -(-problem.bounds[loop.dim] // before) if before >= outermost[loop.dim] else loop.bound
            if bound > 1 and loop.bound > 1:
                temporal.append(Factor(loop.dim, bound))
        levels.append(LevelMapping(tuple(temporal), x, y, _away(arch, problem, index, level)))
    return LoopMapping(tuple(levels))


def _grown(loops: tuple[Factor, ...], tile: list[int]) -> tuple[Factor, ...]:
    for loop in loops:
        tile[loop.dim] *= loop.bound
    return tuple(loop for loop in loops if loop.bound > 1)


def _away(arch: Architecture, problem: Problem, level: int, mapped: LevelMapping) -> frozenset[str]:
    may = arch.may_hold(level, problem)
    return frozenset(
        t.name for t, held in zip(problem.tensors, may, strict=True) if not held or t.name in mapped.bypass
    )


def tree_of(
    arch: Architecture, problem: Problem, mapping: LoopMapping, kernel: str, buffers: Mapping[str, str]
) -> tuple[Node, ...]:
    """The tree of a mapping; `buffers` names the buffer of each of the problem's tensors.

    The outermost level holds whole tensors and has no hold of its own; an inner level that keeps nothing has one only
    if it has loops.
    """
    mapping = canonical(arch, problem, mapping)
    tile = [1] * len(problem.dims)
    nodes: tuple[Node, ...] = (Leaf(kernel),)
    for index, (level, mapped) in enumerate(zip(arch.levels, mapping.levels, strict=True)):
        child = arch.levels[index - 1].name if index else arch.mac_name
        for axis, loops in (("x", mapped.spatial_x), ("y", mapped.spatial_y)):
            for loop in loops:
                dim, step = problem.dims[loop.dim], tile[loop.dim]
                nodes = (Spatial(dim, loop.bound, child, axis, nodes, step),)
                tile[loop.dim] *= loop.bound
        for loop in mapped.temporal:
            nodes = (Loop(problem.dims[loop.dim], tile[loop.dim], nodes),)
            tile[loop.dim] *= loop.bound
        kept = tuple(buffers[t.name] for t in problem.tensors if t.name not in mapped.bypass)
        if index + 1 < len(arch.levels) and (kept or mapped.temporal or mapped.spatial):
            nodes = (Hold(level.name, kept, max(1, round(level.multiple_buffering)), nodes),)
    return nodes


@dataclass
class _Reader:
    """Goes down a tree; `level` is the one whose loops are being read."""

    arch: Architecture
    problem: Problem
    tensors: Mapping[str, str]  # buffer -> tensor
    level: int = 0
    spread: bool = False
    kept: dict[int, set[str]] = field(default_factory=dict[int, set[str]])
    loops: list[tuple[int, str, int, int]] = field(default_factory=list[tuple[int, str, int, int]])

    def read(self, node: Node) -> Node | None:
        """Takes a node in; the node inside."""
        match node:
            case Hold():
                self._hold(node)
            case Loop(dim, step, _):
                if self.spread:
                    level, dims = self.arch.levels[self.level].name, f"the loop over {dim}"
                    raise self._unfit(f"{dims} outside of what {level} spreads over instances", "inside")
                self.loops.append((self.level, "temporal", self._dim(dim), step))
            case Spatial(dim, ways, _, axis, _, step):
                self._enter_spatial(node)
                if step is None:
                    raise self._unfit(f"spatial {dim} = {ways} with the step of an instance", "none")
                self.loops.append((self.level, f"spatial_{axis}", self._dim(dim), step))
            case Leaf():
                return None
        if len(node.body) != 1:
            raise self._unfit("one node inside of another", f"{len(node.body)}")
        return node.body[0]

    def _hold(self, node: Hold) -> None:
        names = [level.name for level in self.arch.levels]
        if node.memory not in names[: self.level + 1]:
            expected = f"holds from {names[-1]} inward ({', '.join(reversed(names[: self.level + 1]))})"
            raise self._unfit(expected, f"@{node.memory}")
        index = names.index(node.memory)
        if any(level == index for level, *_ in self.loops):
            raise self._unfit(f"all holds in @{node.memory} outside of its loops", "one inside")
        self.spread = self.spread and index == self.level
        self.level = index
        tensors = [self.tensors[name] for name in node.buffers if name in self.tensors]
        roles = dict(zip((t.name for t in self.problem.tensors), self.arch.may_hold(index, self.problem), strict=True))
        for name in tensors:
            if not roles[name]:
                holds = ", ".join(self.arch.levels[index].holds or ())
                lever = f"leave {name} out of `nest.hold @{node.memory}`, or hold it in another memory"
                raise self._unfit(f"@{node.memory} to hold what it may ({holds})", f"tensor {name}", lever)
        self.kept.setdefault(index, set()).update(tensors)

    def _enter_spatial(self, node: Spatial) -> None:
        children = [self.arch.mac_name, *(level.name for level in self.arch.levels[:-1])]
        if node.node not in children[: self.level + 1]:
            expected = f"instances of {' or '.join(reversed(children[: self.level + 1]))} inside {self._here()}"
            raise self._unfit(expected, f"@{node.node}")
        self.level = children.index(node.node)
        self.spread = True

    def _here(self) -> str:
        return f"@{self.arch.levels[self.level].name}"

    def _dim(self, name: str) -> int:
        if name not in self.problem.dims:
            raise self._unfit(f"loops over dims of the kernel ({', '.join(self.problem.dims)})", name)
        return self.problem.dims.index(name)

    def _unfit(self, expected: str, found: str, lever: str = "") -> TilewrightError:
        return TilewrightError("unsupported", f"mapping for {self.arch.name}", expected, found, lever)


def mapping_of(
    arch: Architecture, problem: Problem, nodes: tuple[Node, ...], buffers: Mapping[str, str]
) -> LoopMapping:
    """The mapping that a tree spells: inverse of `tree_of`, in canonical form.

    `TilewrightError` (kind `unsupported`) for a tree that a hierarchy of memories cannot be: more than one kernel,
    tensors of one memory held at different depths, steps that are no multiples of the steps inside.
    """
    reader = _Reader(arch, problem, {buffer: tensor for tensor, buffer in buffers.items()}, len(arch.levels) - 1)
    if len(nodes) != 1:
        raise TilewrightError("unsupported", f"mapping for {arch.name}", "one kernel", f"{len(nodes)} nodes")
    node: Node | None = nodes[0]
    ways: dict[int, int] = {}
    while node is not None:
        inside = reader.read(node)
        if isinstance(node, Spatial):
            ways[len(reader.loops) - 1] = node.ways
        node = inside
    return canonical(arch, problem, _levels(arch, problem, reader, ways))


def _levels(arch: Architecture, problem: Problem, reader: _Reader, ways: Mapping[int, int]) -> LoopMapping:
    names = {tensor.name for tensor in problem.tensors}
    found: list[dict[str, list[Factor]]] = [{"temporal": [], "spatial_x": [], "spatial_y": []} for _ in arch.levels]
    tile = [1] * len(problem.dims)
    outer = _outer_steps(problem, reader)
    for number in reversed(range(len(reader.loops))):
        level, kind, dim, step = reader.loops[number]
        if step != tile[dim]:
            expected = f"a step of {problem.dims[dim]} that the loops inside fill ({tile[dim]})"
            raise TilewrightError("unsupported", f"mapping for {arch.name}", expected, str(step))
        bound = ways.get(number, -(-outer[number] // step))
        found[level][kind].append(Factor(dim, bound))
        tile[dim] *= bound
    for dim, name in enumerate(problem.dims):
        if tile[dim] < problem.bounds[dim]:
            raise _uncovered(arch, problem, dim, tile[dim], name)
    last = len(arch.levels) - 1
    return LoopMapping(
        tuple(
            LevelMapping(
                tuple(loops["temporal"]),
                tuple(loops["spatial_x"]),
                tuple(loops["spatial_y"]),
                frozenset(names - (names if index == last else reader.kept.get(index, set()))),
            )
            for index, loops in enumerate(found)
        )
    )


def _outer_steps(problem: Problem, reader: _Reader) -> list[int]:
    """For each loop, the step of the next loop outside of it over the same dim; the dim's extent for the outermost."""
    above = list(problem.bounds)
    steps: list[int] = []
    for _, _, dim, step in reader.loops:
        steps.append(above[dim])
        above[dim] = step
    return steps


def _uncovered(arch: Architecture, problem: Problem, dim: int, covered: int, name: str) -> TilewrightError:
    return TilewrightError(
        "unsupported",
        f"mapping for {arch.name}",
        f"loops that cover {name}={problem.bounds[dim]} one by one",
        f"{covered} of them",
        f"add `nest.for {name} step ...`",
    )
