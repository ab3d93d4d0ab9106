"""The least time of compute nodes and units, and the least energy, of points of kernels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from math import ceil, prod
from typing import NamedTuple

import numpy as np

from ....algebra.affine import Affine, index_forms
from ....algebra.expr import Access, Strided, accesses, accesses_of, reduction_dims
from ....machine import Capability, Machine
from ....machine.stages import PRODUCTS, kind_of
from ...mapping.matching import Match, alternatives
from .demand import Need, is_inside, points_inside
from .network import Step
from .rates import Shared, rates_of

SUMS = ""
"""The lines of the products of each result."""

MANY = 32
"""Blocks at most that a dim is looked at in: of more, lanes that the last leaves idle are few."""


class Blocks(NamedTuple):
    """So many points of a line are made together at most, in so many cycles at least."""

    points: int
    cycles: float


class Lines(NamedTuple):
    """Points of a kernel that differ along one dim, or in what is summed: so many in a line, and whole lines."""

    length: int
    number: float


@dataclass(frozen=True)
class Option:
    """An instruction for a kernel: what it occupies alone, cycles and energy per point, cycles of the shortest one.

    `blocks` are those of lines, by the dim of these, or of all that is summed (`SUMS`), where lanes bound them; `reads`
    and `writes` energies per byte of the memories of its operands, by tensor of the kernel.
    """

    node: str
    unit: str
    cycles: float
    blocks: tuple[tuple[str, Blocks], ...]
    energy_pj: float
    shortest: int
    reads: tuple[tuple[str, float], ...]
    writes: float


class Work:
    """Prices steps of which something is needed.  `labels` name weightings of nodes and units, and `cycles` (labels,
    steps) are the least cycles per point that each finds: all work lies on them, so that what they do together,
    weighted, takes no less.  `total` are those of what is needed, points of which may cost more each.
    """

    def __init__(
        self, machine: Machine, steps: Sequence[Step], needs: Sequence[Need], shapes: Sequence[Sequence[int]]
    ) -> None:
        self.machine, self.rates, self.shapes = machine, rates_of(machine), shapes
        known: dict[object, tuple[Option, ...]] = {}
        self.options: list[tuple[Option, ...]] = []
        lines: list[Mapping[str, Lines]] = []
        for step, found in zip(steps, needs, strict=True):
            sizes = tuple(tuple(shapes[value]) for value in (step.target, *(read.value for read in step.reads)))
            key = step.kernel, tuple(step.extents.items()), sizes, found.points, found.written
            if key not in known:
                known[key] = () if step.is_free else self._options(step, found)
            self.options.append(known[key])
            lines.append(self._lines(step, found, known[key]))
        weightings = self._weightings()
        self.labels = [" and ".join(name for name, _ in weighting) for weighting in weightings]
        self.cycles = np.array([[_least(weighting, own) for own in self.options] for weighting in weightings])
        asked = list(zip(self.options, lines, [found.points for found in needs], strict=True))
        total = np.array([[_needed(one, *step) for step in asked] for one in weightings])
        self.total = total.reshape(len(self.labels), len(asked))
        self.sizes = np.array([prod(step.extents.values()) for step in steps], np.float64)

    def busy(self) -> tuple[float, str]:
        """Cycles that what is needed takes, and where."""
        if not self.labels:
            return 0.0, ""
        found = self.total.sum(axis=1)
        at = int(found.argmax())
        return float(found[at]), self.labels[at]

    def shortest(self, step: int) -> int:
        """Cycles of the shortest instruction that does some of a step."""
        return min((option.shortest for option in self.options[step]), default=0)

    def energy_pj(self, step: int, points: int, reads: Mapping[str, int], written: int) -> float:
        """Of points that read so many bytes of each tensor and write so many."""
        return min(
            (
                points * option.energy_pj
                + sum(energy * reads.get(tensor, 0) for tensor, energy in option.reads)
                + written * option.writes
                for option in self.options[step]
            ),
            default=0.0,
        )

    def _options(self, step: Step, needed: Need) -> tuple[Option, ...]:
        """Nothing is known of a kernel that no instruction does, or that a macro does by others.

        On machines of stages only products are counted: numbers that change other numbers may be in other steps.
        """
        found: list[Option] = []
        is_whole = needed.points >= points_inside(step, self.shapes)
        for node in self.machine.computes:
            for capability in node.capabilities:
                if self.machine.stages is not None and kind_of(capability) != PRODUCTS:
                    continue
                for match in alternatives(step.kernel, capability):
                    if any((m.node, m.capability) == (node.name, capability.name) for m in self.machine.macros):
                        return ()
                    found += self._by(step, needed, is_whole, match, capability)
        return tuple(found)

    def _by(self, step: Step, needed: Need, is_whole: bool, match: Match, capability: Capability) -> list[Option]:
        """Of an instruction, one option for each mnemonic; `is_whole` where all points that read within bounds are
        needed.
        """
        extents = dict.fromkeys((dim.name for dim in capability.dims), 1)
        taps = _taps(step) if isinstance(capability.statement.target, Strided) else frozenset[str]()
        longer = {slot for dim, names in match.slots if dim in taps for slot in names}
        match = _with_neighbours(step, match, capability) if taps else match
        allowed = dict(match.slots)
        for run in _runs(step):
            for slot in extents:
                carried = prod(step.extents[dim] for dim in run if slot in allowed.get(dim, ()))
                extents[slot] = max(extents[slot], carried)
        for dim in capability.dims:
            if dim.name in longer and not self.rates.costs_grow(capability, dim.name):
                extents[dim.name] = dim.limit
        if self.machine.stages is not None:  # blocks of weights may do more points than there are: a diagonal, say
            extents = {dim.name: dim.limit for dim in capability.dims}
        shared = () if taps or self.machine.stages is not None else _shared(step, match, capability)
        rate = self.rates.rate(capability, tuple(extents.values()), shared)
        blocks = tuple(self._sums_in_blocks(step, match, capability, extents))
        if is_whole:
            blocks += tuple(self._in_blocks(step, match, capability, extents))
        memories = self.machine.memory_by_name
        tensors = dict(match.tensors)
        target = step.kernel.target.tensor
        found: list[Option] = []
        for mnemonic in self.machine.mnemonics:
            if (mnemonic.node, mnemonic.capability) != (capability.node, capability.name):
                continue
            places = {tensors[o.operand]: memories[o.memory] for o in mnemonic.operands if o.operand in tensors}
            reads = tuple((t, memory.read_energy_pj_per_byte) for t, memory in places.items() if t != target)
            writes = places[target].write_energy_pj_per_byte if target in places else 0.0
            unit = f"unit {mnemonic.unit}"
            found.append(
                Option(capability.node, unit, rate.cycles, blocks, rate.energy_pj, ceil(rate.shortest), reads, writes)
            )
        return found

    def _lines(self, step: Step, needed: Need, options: Sequence[Option]) -> dict[str, Lines]:
        """The lines that options make in blocks."""
        found: dict[str, Lines] = {}
        for name in dict.fromkeys(name for option in options for name, _ in option.blocks):
            if name != SUMS:
                found[name] = Lines(step.extents[name], needed.points / step.extents[name])
                continue
            (summed,) = _unfolded(step)
            results = prod(extent for dim, extent in step.extents.items() if dim not in summed)
            inside = max(0, _results_inside(step, summed, self.shapes) + needed.written - results)
            found[name] = Lines(prod(step.extents[dim] for dim in summed), inside)
        return found

    def _in_blocks(
        self, step: Step, match: Match, capability: Capability, extents: Mapping[str, int]
    ) -> Iterator[tuple[str, Blocks]]:
        """Where all points of a dim are made, which do not fill lanes of a capability: five blocks of 8 of 34 channels.

        The dim is the only one that some dim of the capability can carry, and that dim its only one but for those that
        others can lie in, too: there, all of its elements count as blocks.  Dims that may be several are left out.
        """
        carried = {dim: names for dim, names in match.slots if step.extents[dim] > 1}
        spread = _unfolded_dims(step) | _in_windows(step, _taps(step)) | _bordered(step, self.shapes)
        for dim, names in carried.items():
            own = [name for name in names if not any(name in other for d, other in carried.items() if d != dim)]
            extent = step.extents[dim]
            places = [i for i, slot in enumerate(capability.dims) if slot.name in own]
            lanes = {capability.dims[i].lanes for i in places if capability.dims[i].lanes > 1}
            block = max(lanes, default=1)
            if self.machine.stages is not None or len(lanes) != 1 or dim in spread:
                continue
            if extent % block == 0 or extent > MANY * block:
                continue
            found: list[float] = []
            for i in places:
                alone = {slot: 1 if slot in own else most for slot, most in extents.items()}
                alone[capability.dims[i].name] = extent
                found.append(self.rates.cycles_per_block(capability, tuple(alone.values()), i, block))
            yield dim, Blocks(block, min(found))

    def _sums_in_blocks(
        self, step: Step, match: Match, capability: Capability, extents: Mapping[str, int]
    ) -> Iterator[tuple[str, Blocks]]:
        """Where the sums of a product do not fill lanes: 27 taps are four blocks of 8.

        An instruction with `n` in lanes that sum up gives each of its results `n` times its other sums at most, and
        costs at least `ceildiv(n, lanes)` times these: a result of `t` products is in `ceildiv(t, lanes)` blocks,
        wherever its taps lie.  Of results at the border, which have fewer, each product counts as part of a block.
        """
        if self.machine.stages is not None or not _unfolded(step):
            return
        (summed,) = _unfolded(step)
        carried = dict(match.slots)
        slots = {slot for dim in summed if step.extents[dim] > 1 for slot in carried[dim]}
        lanes = [i for i, slot in enumerate(capability.dims) if slot.name in slots and slot.lanes > 1]
        taps = prod(step.extents[dim] for dim in summed)
        block = capability.dims[lanes[0]].lanes if len(lanes) == 1 else 1
        if taps % block and taps <= MANY * block:
            cycles = self.rates.cycles_per_block(capability, tuple(extents.values()), lanes[0], block)
            yield SUMS, Blocks(block, cycles)

    def _weightings(self) -> list[tuple[tuple[str, float], ...]]:
        """Each node and unit alone; of two between which kernels choose, those at which some kernel is indifferent."""
        found: dict[tuple[tuple[str, float], ...], None] = {}
        for own in dict.fromkeys(self.options):
            for kind in ("node", "unit"):
                fastest: dict[str, float] = {}
                for option in own:
                    name = getattr(option, kind)
                    fastest[name] = min(fastest.get(name, option.cycles), option.cycles)
                found |= {((name, 1.0),): None for name in fastest}
                for (a, first), (b, second) in pairwise(sorted(fastest.items())):
                    if first and second:
                        share = second / (first + second)
                        found[((a, share), (b, 1 - share))] = None
        return list(found)


def _shared(step: Step, match: Match, capability: Capability) -> tuple[Shared, ...]:
    """Dims of an instruction that carry the same dims of a kernel: its points differ, so that those that differ along
    these dims alone are at most as many as these have coordinates.
    """
    found: dict[tuple[str, ...], list[int]] = {}
    for i, slot in enumerate(capability.dims):
        found.setdefault(tuple(dim for dim, names in match.slots if slot.name in names), []).append(i)
    sizes = {dims: prod(step.extents[dim] for dim in dims) for dims in found}
    return tuple(Shared(tuple(own), sizes[dims]) for dims, own in found.items() if len(own) > 1 and sizes[dims] > 1)


def _runs(step: Step) -> list[tuple[str, ...]]:
    """The dims of a step, in runs of those that stand side by side wherever one of them does: each may be one dim."""
    forms = [index_forms(access) for access in accesses(step.kernel.statement) if isinstance(access, Access)]
    found: list[tuple[str, ...]] = []
    for dim in step.extents:
        if found and all(_side_by_side(indices, found[-1][-1], dim) for indices in forms):
            found[-1] = (*found[-1], dim)
        else:
            found.append((dim,))
    return [*found, *_unfolded(step)]


def _unfolded(step: Step) -> list[tuple[str, ...]]:
    """What a kernel sums over, channel by channel of both factors: taps may lie among the channels (`graph-unfold`)."""
    statement = step.kernel.statement
    factors = [index_forms(access) for access in accesses_of(statement.value) if isinstance(access, Access)]
    summed = reduction_dims(statement)
    by_channel = (all(((dim, 1),) in [form.terms for form in indices] for indices in factors) for dim in summed)
    return [summed] if len(factors) > 1 and any(by_channel) else []


def _side_by_side(indices: Sequence[Affine], first: str, second: str) -> bool:
    """Whether an access has neither of two dims, or one right after the other and nowhere else."""
    having = [i for i, form in enumerate(indices) if {first, second} & {*form.names}]
    plain = [form.terms if form.const == 0 else () for form in indices]
    places = [plain.index(((dim, 1),)) if ((dim, 1),) in plain else -1 for dim in (first, second)]
    return not having or (having == places and places[0] + 1 == places[1])


def _taps(step: Step) -> frozenset[str]:
    """What a product of integers sums over, if that is the rows and columns of a factor, and windows of another have
    some of them: several results of a row may be made together, from rows of taps with zeros between (`nest-band`).
    """
    summed = frozenset(reduction_dims(step.kernel.statement))
    is_real = any(name.startswith(("f", "bf")) for _, name in step.kernel.types)  # zero times infinity is no zero
    rows = [frozenset(name for form in read.forms[-2:] for name in form.names) for read in step.reads]
    return summed if not is_real and summed in rows and summed & _in_windows(step, summed) else frozenset()


def _in_windows(step: Step, taps: frozenset[str]) -> set[str]:
    """The dims of windows over taps."""
    windows = (form.names for read in step.reads for form in read.forms if len(form.names) > 1)
    return {name for names in windows if taps & {*names} for name in names}


def _with_neighbours(step: Step, match: Match, capability: Capability) -> Match:
    """The places of windows over taps in all dims of results, too.

    A product that makes several neighbours of what they see together has at most the taps of a window for each: where
    longer boxes of taps cost no less, it takes no less than one of so many results and taps.  Where they may, zeros
    count as taps: extents of these are as long as an instruction can have.
    """
    summed, target = set(reduction_dims(step.kernel.statement)), capability.statement.target
    assert isinstance(target, Strided)
    places = _in_windows(step, frozenset(summed)) - summed
    slots = ((d, tuple(dict.fromkeys((*names, *target.dims))) if d in places else names) for d, names in match.slots)
    return replace(match, slots=tuple(slots))


def _bordered(step: Step, shapes: Sequence[Sequence[int]]) -> set[str]:
    """The dims by which a step reads out of bounds."""
    return {name for form, _ in _borders(step, shapes) for name in form.names}


def _borders(step: Step, shapes: Sequence[Sequence[int]]) -> list[tuple[Affine, int]]:
    """Indices that are out of bounds somewhere, with the extents of their axes."""
    forms = [(form, size) for r in step.reads if r.padded for form, size in zip(r.forms, shapes[r.value], strict=True)]
    return [(form, size) for form, size in forms if not is_inside(form, step.extents, size)]


def _results_inside(step: Step, summed: Sequence[str], shapes: Sequence[Sequence[int]]) -> int:
    """Results whose products are all within bounds; where that is hard to say, 0."""
    places = {name: range(extent) for name, extent in step.extents.items() if name not in summed}
    for form, size in _borders(step, shapes):
        own = [(name, factor) for name, factor in form.terms if name in places]
        if len(own) != 1 or own[0][1] <= 0:
            return 0
        ((name, stride),) = own
        low, high = Affine(form.const, tuple(term for term in form.terms if term[0] != name)).range(step.extents)
        first, last = ceil(-low / stride), (size - 1 - high) // stride
        places[name] = range(max(places[name].start, first), min(places[name].stop, last + 1))
    return prod(len(own) for own in places.values())


def _unfolded_dims(step: Step) -> set[str]:
    """Dims among whose elements others may lie."""
    return {dim for run in _unfolded(step) if len(run) > 1 for dim in run}


def _least(weighting: Sequence[tuple[str, float]], options: Sequence[Option]) -> float:
    """Weighted cycles per point of the best option."""
    return min((weight * option.cycles for weight, option in _weighted(weighting, options)), default=0.0)


def _needed(
    weighting: Sequence[tuple[str, float]], options: Sequence[Option], lines: Mapping[str, Lines], points: int
) -> float:
    """Weighted cycles of so many points, each made by some option: those of a line perhaps by several."""
    weighted = _weighted(weighting, options)
    best = points * _least(weighting, options)
    for name, (length, number) in lines.items():
        ways = [(weight, dict(option.blocks).get(name, Blocks(1, option.cycles))) for weight, option in weighted]
        blocks = {Blocks(way.points, weight * way.cycles) for weight, way in ways}
        others = (points - number * length) * min(block.cycles / block.points for block in blocks)
        best = max(best, number * _least_of_line(length, tuple(sorted(blocks))) + others)
    return best


def _weighted(weighting: Sequence[tuple[str, float]], options: Sequence[Option]) -> list[tuple[float, Option]]:
    weights = dict(weighting)
    return [(max(weights.get(o.node, 0.0), weights.get(o.unit, 0.0)), o) for o in options]


@lru_cache(maxsize=1 << 12)
def _least_of_line(length: int, blocks: Sequence[Blocks]) -> float:
    """The least cycles of blocks that make a line together."""
    least = [0.0]
    for made in range(1, length + 1):
        least.append(min(block.cycles + least[max(0, made - block.points)] for block in blocks))
    return least[-1]
