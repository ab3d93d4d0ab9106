"""Packets of a mapped program: which tile goes to which processing element, and when it may."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np

from ...algebra.element import Ints
from ...errors import TilewrightError
from ..exact.nest import Nest, nest_of
from ..exact.validity import bits_of_word
from ..hierarchy import Architecture, LoopMapping, Problem, Tensor
from .mesh import Mesh, Routes
from .schedule import Steps, steps_of


@dataclass
class Needs:
    """The iterations of a tile, relative to its first one, in each dim.

    What is not `held` is not there any more at the next step.
    """

    tensor: Tensor
    bounds: tuple[int, ...]
    sets: tuple[Ints, ...]
    held: bool
    _known: dict[tuple[int, ...], int] = field(default_factory=dict[tuple[int, ...], int])

    @property
    def relevant(self) -> list[int]:
        """Dims that index the tensor."""
        rows = self.tensor.coefficients
        return [dim for dim in range(len(self.bounds)) if any(row[dim] for row in rows)]

    def words(self, starts: Ints, before: Ints) -> Ints:
        """Elements of tiles at rows of `starts` that those at rows of `before` lack (a row of -1: nothing before).

        Tiles that are moved alike lack alike unless they are cut off.
        """
        here = self.relevant
        new, old = starts[:, here], before[:, here]
        last = np.array([self.sets[dim][-1] for dim in here])
        limits = np.array([self.bounds[dim] for dim in here])
        whole = (np.maximum(new, old) + last < limits).all(axis=1, keepdims=True)
        low = np.where(whole, np.where(old < 0, new, np.minimum(new, old)), 0)
        rows = np.concatenate([new - low, np.where(old < 0, old, old - low)], axis=1)
        _, first, where = np.unique(packed(rows, limits), return_index=True, return_inverse=True)
        found = np.array([self._lacking(rows[place]) for place in first], np.int64)
        return found[where.ravel()]

    def _lacking(self, row: Ints) -> int:
        key = tuple(int(n) for n in row)
        if key not in self._known:
            half = len(key) // 2
            self._known[key] = self._count(key[:half], key[half:])
        return self._known[key]

    def _count(self, start: tuple[int, ...], before: tuple[int, ...]) -> int:
        new = self._axes(start)
        total = prod(len(axis) for axis in new)
        if before and before[0] < 0:
            return total
        old = self._axes(before)
        shared = prod(len(np.intersect1d(a, b, assume_unique=True)) for a, b in zip(new, old, strict=True))
        return total - shared

    def _axes(self, start: tuple[int, ...]) -> list[Ints]:
        """The indices along each axis of the tensor."""
        first = dict(zip(self.relevant, start, strict=True))
        found: list[Ints] = []
        for row in self.tensor.coefficients:
            places = np.zeros(1, np.int64)
            for dim in (dim for dim, c in enumerate(row) if c):
                steps = first[dim] + self.sets[dim]
                steps = row[dim] * steps[steps < self.bounds[dim]]
                places = np.unique(places[:, None] + steps)
            found.append(places)
        return found


def packed(rows: Ints, limits: Ints) -> Ints:
    """A number for each row, equal for equal rows; entries are from -1 on and below `limits`, which repeat."""
    radix = np.tile(limits + 1, rows.shape[1] // max(len(limits), 1))
    if np.prod(radix.astype(float)) >= 2**62:
        return np.unique(rows, axis=0, return_inverse=True)[1].ravel()
    found = np.zeros(len(rows), np.int64)
    for column, size in enumerate(radix):
        found = found * size + rows[:, column] + 1
    return found


def needs_of(tensor: Tensor, nest: Nest, kept: int, below: int) -> Needs:
    """What instances of level `below` need of a tensor that is kept inside it, at level `kept` (-1: nowhere)."""
    sets: list[Ints] = []
    for dim in range(len(nest.bounds)):
        steps = np.arange(nest.tile(kept, dim))
        for place in nest.places[dim]:
            if place.order is None and kept < place.level < below:
                steps = np.unique(steps[:, None] + place.pitch * np.arange(place.bound))
        sets.append(steps)
    return Needs(tensor, nest.bounds, tuple(sets), kept >= 0)


MAX_PACKETS = 1 << 22
NEVER = -1


@dataclass
class _Move:
    """Packets of one tensor and group of elements: for each the step, words, and what it waits for."""

    tensor: int
    members: tuple[int, ...]
    steps: Ints
    gates: Ints
    words: Ints
    needs: Ints
    up: bool


@dataclass(frozen=True)
class MeshProgram:
    """Packets by number, in the order of their steps: what a step needs, then the results that leave after it.

    `route`, `bits`, `step` and `gate` of each: what a step needs may go once all elements have begun step `gate`, and
    packet `needs` has come (-1: none); `up` are results, which leave after their step.  `cycles[s, i]` is what element
    i takes for step s, at node `nodes[i]`.  `brought[s]` and `taken[s]` are bits that step s needs from off chip, and
    that leave for there after it; `words` are those on the mesh by tensor, inwards and outwards.
    """

    mesh: Mesh
    routes: Ints
    route: Ints
    bits: Ints
    step: Ints
    gate: Ints
    needs: Ints
    up: Ints
    cycles: Ints
    nodes: Ints
    brought: Ints
    taken: Ints
    words: dict[str, tuple[int, int]]


def mesh_level(arch: Architecture) -> int:
    """The level above the mesh; `TilewrightError` (kind `target`) for a machine without one."""
    found = [index for index, level in enumerate(arch.levels) if level.mesh_flit_bits]
    if len(found) != 1 or not 0 < found[0] < len(arch.levels) - 1 or arch.levels[found[0]].instances != 1:
        lever = "give the buffer above the processing elements a `flit`"
        shown = ", ".join(f"{arch.levels[i].name} ({arch.levels[i].instances} instances)" for i in found) or "none"
        raise TilewrightError("target", arch.name, "a `flit` at one memory on chip, of one instance", shown, lever)
    return found[0]


def with_link_bandwidth(arch: Architecture) -> Architecture:
    """The machine whose network below the mesh's buffer carries what one link of the mesh does."""
    index = mesh_level(arch)
    level = arch.levels[index]
    link = level.mesh_flit_bits / level.word_bits
    rate = link if level.network_bandwidth is None else min(link, level.network_bandwidth)
    levels = (*arch.levels[:index], replace(level, network_bandwidth=rate), *arch.levels[index + 1 :])
    return replace(arch, levels=levels)


def mesh_of(arch: Architecture, index: int) -> Mesh:
    """The mesh below a level: its elements, and west of the first one the buffer's own router."""
    level, (columns, rows) = arch.levels[index], arch.fan_out(index)
    return Mesh(columns + 1, rows, level.mesh_flit_bits, level.mesh_queue_flits, level.mesh_router_cycles)


def make_program(arch: Architecture, problem: Problem, mapping: LoopMapping) -> MeshProgram:
    """What a mapping sends over the mesh of a machine, step by step.

    Each tile has a copy that fills while the other is used, in the elements and in the buffer.  Elements that need the
    same tile get it once, as copies of one packet; those that add to one tile send one sum.  Tiles that overlap only
    in part are sent to each.  `TilewrightError` (kinds `target`, `limit`) where that cannot be.
    """
    index, nest = mesh_level(arch), nest_of(problem, mapping)
    mesh = mesh_of(arch, index)
    kept = [_kept(mapping, tensor, index) for tensor in problem.tensors]
    steps = steps_of(arch, problem, mapping, nest, index, min(kept))
    nodes = steps.xs + 1 + steps.ys * mesh.columns
    brought, taken = np.zeros(len(steps.cycles), np.int64), np.zeros(len(steps.cycles), np.int64)
    moves: list[_Move] = []
    for number, tensor in enumerate(problem.tensors):
        needs = needs_of(tensor, nest, kept[number], index)
        own = _moves(number, needs, steps, steps.starts(kept[number], len(nest.bounds)))
        moves += own
        passes = tensor.name in mapping.levels[index].bypass
        bits = bits_of_word(tensor, arch.levels[index])
        for words, total in zip(_offchip(own, tensor, nest, steps, index, passes), (brought, taken), strict=True):
            total += words * bits
    bits = [bits_of_word(tensor, arch.levels[index]) for tensor in problem.tensors]
    return _numbered(problem, mesh, moves, bits, steps.cycles, nodes, brought, taken)


def _kept(mapping: LoopMapping, tensor: Tensor, index: int) -> int:
    """The outermost level inside `index` that keeps a tensor; -1 if none does."""
    return max((k for k in range(index) if tensor.name not in mapping.levels[k].bypass), default=-1)


def _tiles(starts: Ints, relevant: Sequence[int]) -> Ints:
    """The steps at which a tile begins: where a relevant loop has moved."""
    moved = (np.diff(starts[:, relevant], axis=0) != 0).any(axis=1)
    return np.concatenate([[0], 1 + np.flatnonzero(moved)])


def _moves(number: int, needs: Needs, steps: Steps, starts: Ints) -> list[_Move]:
    """Packets of a tensor: one for each tile of each group of elements that have the same."""
    begins = _tiles(starts, needs.relevant) if needs.held else np.arange(len(starts))
    keys, group = np.unique(steps.offsets[:, needs.relevant], axis=0, return_inverse=True)
    found: list[_Move] = []
    for chosen in range(len(keys)):
        members = np.flatnonzero(group.ravel() == chosen)
        works = steps.cycles[:, members] > 0
        patterns, which = np.unique(works[begins], axis=0, return_inverse=True)
        for pattern in range(len(patterns)):
            who = tuple(int(i) for i in members[patterns[pattern]])
            if who:
                mine = np.flatnonzero(which.ravel() == pattern)
                found += _tiles_of(number, needs, starts, steps.offsets[who[0]], begins, mine, who)
    return found


def _tiles_of(
    number: int, needs: Needs, starts: Ints, offset: Ints, begins: Ints, mine: Ints, who: tuple[int, ...]
) -> list[_Move]:
    """Packets of tiles `mine`, which all have the same elements."""
    at = starts[begins[mine]] + offset
    nothing = np.full_like(at[:1], NEVER)
    gates = np.where(mine >= 2, begins[np.maximum(mine - 1, 0)], NEVER)
    if not needs.tensor.is_output:
        before = np.where((needs.held & (mine > 0))[:, None], starts[begins[np.maximum(mine - 1, 0)]] + offset, NEVER)
        words = needs.words(at, before)
        moving = words > 0
        none = np.full(int(moving.sum()), NEVER)
        return [_Move(number, who, begins[mine][moving], gates[moving], words[moving], none, False)]
    words = needs.words(at, np.repeat(nothing, len(at), axis=0))
    ends = np.concatenate([begins[1:], [len(starts)]])[mine] - 1
    previous = _previous(_places(at, needs))
    again = np.flatnonzero(previous >= 0)
    leaving = _Move(number, who, ends, np.full(len(at), NEVER), words, np.full(len(at), NEVER), True)
    back = _Move(number, who, begins[mine][again], gates[again], words[again], previous[again], False)
    return [leaving, back] if len(again) else [leaving]


def _places(at: Ints, needs: Needs) -> Ints:
    """A number for each tile, the same for the same place."""
    return packed(at[:, needs.relevant], np.array([needs.bounds[dim] for dim in needs.relevant]))


def _previous(which: Ints) -> Ints:
    """For each place the one before with the same number, -1 if there is none."""
    order = np.argsort(which, kind="stable")
    found = np.full(len(which), NEVER)
    same = which[order[1:]] == which[order[:-1]]
    found[order[1:][same]] = order[:-1][same]
    return found


def _offchip(
    moves: Sequence[_Move], tensor: Tensor, nest: Nest, steps: Steps, index: int, passes: bool
) -> tuple[Ints, Ints]:
    """Words of a tensor that each step needs from off chip, and that leave for there after it."""
    count = len(steps.cycles)
    brought, taken = np.zeros(count, np.int64), np.zeros(count, np.int64)
    if passes:
        for move in moves:
            np.add.at(taken if move.up else brought, move.steps, move.words)
        return brought, taken
    needs = needs_of(tensor, nest, index, index)
    starts = steps.starts(index, len(nest.bounds))
    begins = _tiles(starts, needs.relevant)
    at = starts[begins]
    if not tensor.is_output:
        before = np.concatenate([np.full_like(at[:1], NEVER), at[:-1]])
        brought[begins] = needs.words(at, before)
        return brought, taken
    words = needs.words(at, np.full_like(at, NEVER))
    taken[np.concatenate([begins[1:], [count]]) - 1] = words
    brought[begins] = np.where(_previous(_places(at, needs)) >= 0, words, 0)
    return brought, taken


def _numbered(
    problem: Problem,
    mesh: Mesh,
    moves: Sequence[_Move],
    bits: Sequence[int],
    cycles: Ints,
    nodes: Ints,
    brought: Ints,
    taken: Ints,
) -> MeshProgram:
    """All packets in the order of their steps, what a step needs before what leaves after it."""
    total = sum(len(move.steps) for move in moves)
    if total > MAX_PACKETS:
        raise TilewrightError(
            "limit", problem.name, f"at most {MAX_PACKETS} packets", f"{total}", "shrink a bound of the kernel"
        )
    routes = Routes(mesh)
    parts: list[list[Ints]] = [[], [], [], [], [], []]
    starts = np.cumsum([0, *(len(move.steps) for move in moves)])
    words: dict[str, tuple[int, int]] = {}
    for place, move in enumerate(moves):
        ends = [int(nodes[i]) for i in move.members]
        route = routes.gather(ends, 0) if move.up else routes.spread(0, ends)
        size = len(move.steps)
        needs = np.where(move.needs >= 0, move.needs + starts[place - 1], NEVER)  # of the move before, which leaves
        columns = (np.full(size, route), move.words * bits[move.tensor], move.steps, move.gates, needs)
        for part, column in zip(parts, (*columns, np.full(size, int(move.up))), strict=True):
            part.append(column)
        name = problem.tensors[move.tensor].name
        inwards, outwards = words.get(name, (0, 0))
        moved = int(move.words.sum())
        words[name] = (inwards + moved * (not move.up), outwards + moved * move.up)
    route, size, step, gate, needs, up = (np.concatenate(part) for part in parts)
    order = np.lexsort((up, step))
    number = np.zeros(total + 1, np.int64)
    number[order], number[-1] = np.arange(total), NEVER
    renamed = np.where(needs >= 0, number[needs], NEVER)[order]
    return MeshProgram(
        mesh,
        routes.table(),
        route=route[order],
        bits=size[order],
        step=step[order],
        gate=gate[order],
        needs=renamed,
        up=up[order],
        cycles=cycles,
        nodes=nodes,
        brought=brought,
        taken=taken,
        words=words,
    )
