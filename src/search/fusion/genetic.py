"""Cocco's genetic algorithm over partitions (Tan et al. 2024, section 4.4)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from random import Random
from typing import Any, TypeVar

from ...algebra.dag import bits
from .result import restore, saved
from .space import Evaluator, Groups, Space


class Variation:
    """Makes partitions out of partitions, each into connected groups that can run one after another.

    Groups may exceed the buffers until `settle`, so that several mutations together may do what none does alone.
    """

    def __init__(self, space: Space, evaluator: Evaluator, random: Random) -> None:
        self.space = space
        self.evaluator = evaluator
        self.random = random

    def settle(self, groups: Sequence[int]) -> Groups:
        """The partition with every group that does not fit split until all parts do (Cocco's in-situ split)."""
        if inf not in map(self.evaluator.price, groups):
            return tuple(groups)
        settled: list[int] = []
        waiting = list(reversed(groups))
        while waiting:
            group = waiting.pop()
            if group & (group - 1) and self.evaluator.price(group) == inf:
                waiting.extend(reversed(self.cut(group)))
            else:
                settled.append(group)
        return tuple(settled)

    def cut(self, group: int) -> list[int]:
        """A group in two or more connected parts: cut at a random place of its topological order, or all that a random
        layer needs or that needs it apart from the rest.
        """
        members = list(bits(group))
        place = self.random.randrange(1, len(members))
        kind = self.random.randrange(3)
        lower = group & (1 << members[place]) - 1
        if kind == 1:
            lower = group & (self.space.ancestors[members[place - 1]] | 1 << members[place - 1])
        elif kind == 2:
            lower = group & ~(self.space.descendants[members[place]] | 1 << members[place])
        return [*self.space.components(lower), *self.space.components(group & ~lower)]

    def initial(self) -> Groups:
        """Each layer, in topological order, joins one of the groups that it may join, or begins one (section 4.4.1)."""
        owner: list[int] = []
        last = -1
        for producers in self.space.producers:
            first = max((owner[i] for i in producers), default=0)
            owner.append(self.random.randint(first, last + 1))
            last = max(last, owner[-1])
        return self.settle(self.groups_of(owner))

    def groups_of(self, owner: Sequence[int]) -> list[int]:
        """The connected parts of the sets of equal numbers; numbers never decrease along edges."""
        sets: dict[int, int] = {}
        for number, place in enumerate(owner):
            sets[place] = sets.get(place, 0) | 1 << number
        return [part for place in sorted(sets) for part in self.space.known_components(sets[place])]

    def owners(self, groups: Sequence[int]) -> list[int]:
        """For each layer the place of its group."""
        owner = [0] * self.space.size
        for index, group in enumerate(groups):
            for number in self.space.known_members(group):
                owner[number] = index
        return owner

    def modify_node(self, groups: Groups) -> Groups:
        """Move a random layer to a neighbouring group, or to one of its own.

        With it go the layers of its group that could not stay: what needs it where the target runs later, what it
        needs where the target runs earlier.
        """
        node = self.random.randrange(self.space.size)
        home = next(group for group in groups if group >> node & 1)
        near = [group for group in groups if group & self.space.beside[node] and group != home]
        target = self.random.choice([*near, 0])
        moved = 1 << node
        if target:
            later = groups.index(target) > groups.index(home)
            moved |= home & (self.space.descendants[node] if later else self.space.ancestors[node])
        changed = [group for group in groups if group not in (home, target)]
        changed += [*self.space.components(home & ~moved), target | moved]
        return self.accept(changed, groups)

    def split(self, groups: Groups) -> Groups:
        """Split a random group."""
        large = [group for group in groups if group & (group - 1)]
        if not large:
            return groups
        group = self.random.choice(large)
        return self.accept([g for g in groups if g != group] + self.cut(group), groups)

    def merge(self, groups: Groups) -> Groups:
        """Merge a random group with a random one of those it touches."""
        group = self.random.choice(groups)
        touched = (self.space.readers(group) | self.space.sources(group)) & ~group
        near = [other for other in groups if other & touched]
        if not near:
            return groups
        other = self.random.choice(near)
        return self.accept([g for g in groups if g not in (group, other)] + [group | other], groups)

    def accept(self, changed: Sequence[int], groups: Groups) -> Groups:
        """The changed partition, in order; the old one where the groups would wait in a circle."""
        ordered = self.space.ordered(changed)
        return groups if ordered is None else tuple(ordered)

    def mutate(self, groups: Groups) -> Groups:
        """One of the three mutations of partitions, drawn evenly."""
        return self.random.choice((self.modify_node, self.split, self.merge))(groups)

    def crossover(self, dad: Groups, mom: Groups) -> Groups:
        """Layers in topological order, each undecided one with its group of a random parent (section 4.4.2).

        Where that group holds decided layers, the rest becomes a group, or joins the group of one of them.
        """
        parents = (dad, mom)
        owners = (self.owners(dad), self.owners(mom))
        made: list[int] = []
        undecided = self.space.everything
        while undecided:
            node = (undecided & -undecided).bit_length() - 1
            parent = self.random.randrange(2)
            whole = parents[parent][owners[parent][node]]
            fresh = whole & undecided
            taken = whole ^ fresh
            undecided ^= fresh
            if taken and self.random.random() < 0.5:
                hosts = [i for i, group in enumerate(made) if group & taken]
                made[self.random.choice(hosts)] |= fresh
            else:
                made.append(fresh)
        return tuple(self.mend(made))

    def mend(self, groups: Sequence[int]) -> list[int]:
        """Connected parts in an order of execution; sets that wait for each other are cut apart."""
        parts = [part for group in groups for part in self.space.known_components(group)]
        return self.space.ordered(parts) or self._unrolled(self.owners(parts))

    def _unrolled(self, where: Sequence[int]) -> list[int]:
        """Groups executed when their first layer is met; a layer that must wait longer begins the group anew."""
        level: list[int] = []
        current: dict[int, int] = {}
        count = 0
        for node, producers in enumerate(self.space.producers):
            if current.get(where[node], -1) < max((level[i] for i in producers), default=0):
                current[where[node]] = count
                count += 1
            level.append(current[where[node]])
        return self.groups_of(level)


def annealed(share: float) -> float:
    """The temperature of an annealing after a share of its samples: from 0.02 down to 1e-6 of the first cost."""
    return 0.02 * (1e-6 / 0.02) ** share


@dataclass(frozen=True)
class GeneticOptions:
    """`samples` partitions are scored in generations of `population`.

    A child is a crossover with probability `crossover`, else a copy of a winner, and is mutated `1 + k` times with
    probability `again ** k`.  Winners are the best of `tournament` partitions drawn at random; the `elite` best stay.
    """

    samples: int = 50_000
    population: int = 100
    tournament: int = 4
    crossover: float = 0.4
    again: float = 0.4
    elite: int = 2


Scored = TypeVar("Scored", tuple[float, Groups], tuple[float, int, Groups])
"""A genome, its cost first."""


def selected(everyone: Sequence[Scored], count: int, options: GeneticOptions, random: Random) -> list[Scored]:
    """The best few of all, and winners of tournaments among the rest; nobody is taken twice (section 4.4.5)."""
    ranked = sorted(set(everyone))
    elite, rest = ranked[: options.elite], ranked[options.elite :]
    wanted = min(len(rest), count - len(elite))
    rounds = range(options.tournament)
    return elite + [rest.pop(min(random.randrange(len(rest)) for _ in rounds)) for _ in range(wanted)]


@dataclass
class Genetic:
    """One step is one generation."""

    space: Space
    evaluator: Evaluator
    options: GeneticOptions
    seed: int
    samples: int = 0
    population: list[tuple[float, Groups]] = field(default_factory=list[tuple[float, Groups]])
    random: Random = field(init=False)
    variation: Variation = field(init=False)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.variation = Variation(self.space, self.evaluator, self.random)
        self.population = self._scored([self.variation.initial() for _ in range(self.options.population)])

    @property
    def finished(self) -> bool:
        return self.samples >= self.options.samples

    @property
    def best(self) -> Groups:
        return min(self.population)[1]

    @property
    def best_cost(self) -> float:
        return min(self.population)[0]

    def step(self) -> None:
        """Breed and score one generation, and select the next (sections 4.4.2 to 4.4.5)."""
        count = min(self.options.population, self.options.samples - self.samples)
        children = self._scored([self._child() for _ in range(count)])
        self.population = selected([*self.population, *children], self.options.population, self.options, self.random)

    def _scored(self, partitions: list[Groups]) -> list[tuple[float, Groups]]:
        self.samples += len(partitions)
        return [(self.evaluator.total(groups), groups) for groups in partitions]

    def _child(self) -> Groups:
        child = self.random.choice(self.population)[1]
        if self.random.random() < self.options.crossover:
            child = self.variation.crossover(child, self.random.choice(self.population)[1])
            if self.random.random() < 0.5:
                return self.variation.settle(child)
        child = self.variation.mutate(child)
        while self.random.random() < self.options.again:
            child = self.variation.mutate(child)
        return self.variation.settle(child)

    def dump(self) -> dict[str, Any]:
        """What is needed to go on."""
        return saved(self, ("samples",)) | {"population": [list(groups) for _, groups in self.population]}

    def load(self, data: dict[str, Any]) -> None:
        """Go on from what `dump` gave."""
        self.population = self._scored([tuple(groups) for groups in data["population"]])
        restore(self, ("samples",), data)
