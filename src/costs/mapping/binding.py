"""How a kernel's tile runs on its capability: which kernel dim each capability dim carries, and what is spread.

Cycles come from the capability's own formula, so a target's array shape is known to nobody but its file.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice, product
from math import prod
from typing import Any, TypeVar

import numpy as np

from ...machine import Capability, Machine
from ...machine.spreading import AXES, instances, spreadable
from .formula import Formula, compile_formula
from .matching import Match, matches
from .problem import Kernel

ISSUE_CYCLES = 64  # what an instruction costs beside its own cycles, in the search only
MAX_ASSIGNMENTS = 512
MOST_ANSWERS = 1 << 15  # of a kind that a pricer keeps: some hundred layers have as many

Answer = TypeVar("Answer")
Bound = tuple[tuple[str, str], ...]  # (capability dim, kernel dim)
Split = tuple[str, str, int]  # axis, capability dim, ways


@dataclass(frozen=True)
class Binding:
    """Capability dim -> kernel dim, and the splits: (axis, capability dim, ways)."""

    dims: Bound
    splits: tuple[Split, ...]


@dataclass(frozen=True)
class _Costs:
    cycles: Formula
    energy_pj: Formula
    splits: tuple[tuple[Split, ...], ...]
    ways: Mapping[str, Any]  # dim_ways -> one number per entry of `splits`


@dataclass(frozen=True, eq=False)
class Pricer:
    """Prices tiles on one machine; remembers formulas and answers (`pricer_of`)."""

    machine: Machine
    _costs: dict[tuple[str, str], _Costs] = field(default_factory=dict[tuple[str, str], _Costs])
    _best: dict[Any, Binding] = field(default_factory=dict[Any, Binding])
    _matches: dict[Kernel, tuple[Match, ...]] = field(default_factory=dict[Kernel, "tuple[Match, ...]"])
    _others: dict[Any, Any] = field(default_factory=dict[Any, Any])

    def matches(self, kernel: Kernel) -> tuple[Match, ...]:
        """All ways to run a kernel (`matching.matches`)."""
        if kernel not in self._matches:
            _make_room(self._matches)
            self._matches[kernel] = matches(kernel, self.machine)
        return self._matches[kernel]

    def remembered(self, question: object, answer: Callable[[], Answer]) -> Answer:
        """What was answered before, by `answer` the first time; `question` is all that this depends on."""
        if question not in self._others:
            _make_room(self._others)
            self._others[question] = answer()
        return self._others[question]

    def _of(self, capability: Capability) -> _Costs:
        key = capability.node, capability.name
        if key not in self._costs:
            splits = split_choices(self.machine, capability)
            ways = {
                f"{dim.name}_ways": np.array([_ways(choice, dim.name) for choice in splits]) for dim in capability.dims
            }
            cycles, energy = compile_formula(capability.cycles), compile_formula(capability.energy_pj)
            self._costs[key] = _Costs(cycles, energy, splits, ways)
        return self._costs[key]

    def tile_cycles(self, match: Match, bound: Bound, tile: Mapping[str, Any]) -> tuple[Any, Any]:
        """Fewest cycles over all splits, and issues, of a tile whose extents are numbers or arrays of one shape."""
        costs = self._of(match.capability)
        env, issues = _environment(match, bound, tile)
        env = {name: np.asarray(value)[..., None] for name, value in env.items()}
        per_split = np.asarray(costs.cycles({**env, **costs.ways}))
        return per_split.min(axis=-1) * issues, issues

    def whole_cycles(self, match: Match, extents: Mapping[str, int]) -> float:
        """Fewest cycles of a whole kernel by its best binding."""
        return float(np.asarray(self.tile_cycles(match, self.best(match, extents).dims, extents)[0]))

    def issue_cycles(self, match: Match, binding: Binding, extents: Mapping[str, int]) -> int | float:
        """Cycles of one issue; `extents` by capability dim."""
        return self._formula(match.capability, self._of(match.capability).cycles, binding.splits, extents)

    def issue_energy(self, match: Match, binding: Binding, extents: Mapping[str, int]) -> int | float:
        """Energy of one issue in pJ; `extents` by capability dim."""
        return self._formula(match.capability, self._of(match.capability).energy_pj, binding.splits, extents)

    def _formula(
        self, capability: Capability, formula: Formula, splits: tuple[Split, ...], extents: Mapping[str, int]
    ) -> int | float:
        env = {dim.name: extents.get(dim.name, 1) for dim in capability.dims}
        ways = {f"{dim.name}_ways": _ways(splits, dim.name) for dim in capability.dims}
        value = formula({**env, **ways, "ops": prod(env.values())})
        return value.item() if isinstance(value, np.generic) else value

    def best(self, match: Match, tile: Mapping[str, int]) -> Binding:
        """The binding of a tile with the fewest cycles (issues cost too); the first of equals."""
        dims = tuple((dim, tile[dim]) for dim, _ in match.slots)
        key = match.capability.node, match.capability.name, match.slots, dims
        if key not in self._best:
            _make_room(self._best)
            self._best[key] = self._search(match, dict(dims))
        return self._best[key]

    def spread(self, match: Match, bound: Bound, tile: Mapping[str, int]) -> Binding:
        """The spread of fewest cycles for a tile whose dims are bound; the first of equals."""
        env, _ = _environment(match, bound, tile)
        splits = self._of(match.capability).splits
        return Binding(bound, min(splits, key=lambda one: self.issue_cycles(match, Binding(bound, one), env)))

    def _search(self, match: Match, tile: Mapping[str, int]) -> Binding:
        costs = self._of(match.capability)
        options = assignments(match, tile)
        envs = [_environment(match, bound, tile) for bound in options]
        stacked = {name: np.array([env[name] for env, _ in envs])[:, None] for name in envs[0][0]}
        issues = np.array([issues for _, issues in envs])[:, None]
        per_issue = np.asarray(costs.cycles({**stacked, **costs.ways}))
        fewest = np.array([len(choice) for choice in costs.splits])
        cost = (per_issue + ISSUE_CYCLES) * issues + 0.001 * fewest
        at = np.unravel_index(int(np.argmin(cost)), cost.shape)
        return Binding(options[int(at[0])], costs.splits[int(at[1])])


def _make_room(answers: dict[Any, Any]) -> None:
    if len(answers) >= MOST_ANSWERS:
        answers.clear()


@lru_cache(maxsize=4)
def pricer_of(machine: Machine) -> Pricer:
    """The pricer of a machine, with the answers to what was asked before; the last few are kept."""
    return Pricer(machine)


def _ways(splits: tuple[Split, ...], dim: str) -> int:
    return prod(ways for _, name, ways in splits if name == dim)


def _environment(match: Match, bound: Bound, tile: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """Formula names -> values for one full issue, and the number of issues of a tile."""
    of = dict(bound)
    env: dict[str, Any] = {}
    issues: Any = 1
    for dim in match.capability.dims:
        extent: Any = tile[of[dim.name]] if dim.name in of else 1
        issues = issues * -(-extent // dim.limit)
        env[dim.name] = np.minimum(extent, dim.limit)
    for name, _ in match.slots:
        if name not in of.values():
            issues = issues * tile[name]
    return {**env, "ops": prod(env.values())}, issues


def assignments(match: Match, extents: Mapping[str, int]) -> tuple[Bound, ...]:
    """Ways to bind kernel dims of extent > 1 to capability dims; as many as can be, in the order of their extents."""
    slots = dict(match.slots)
    dims = sorted((d for d in slots if extents[d] > 1), key=lambda d: -extents[d])
    found = list(islice(_assign(dims, slots, ()), MAX_ASSIGNMENTS))
    most = max(len(bound) for bound in found)
    return tuple(bound for bound in found if len(bound) == most)


def _assign(dims: list[str], slots: Mapping[str, tuple[str, ...]], bound: Bound) -> Iterator[Bound]:
    if not dims:
        yield bound
        return
    dim, *rest = dims
    taken = {slot for slot, _ in bound}
    free = [slot for slot in slots[dim] if slot not in taken]
    for slot in free:
        yield from _assign(rest, slots, (*bound, (slot, dim)))
    if not free:
        yield from _assign(rest, slots, bound)


def split_choices(machine: Machine, capability: Capability) -> tuple[tuple[Split, ...], ...]:
    """All ways to spread dims over the node's instances: each axis carries one dim that instructions name, or none."""
    node = machine.compute_by_name[capability.node]
    axes = [(axis, n) for axis in AXES if (n := instances(node, axis)) > 1]
    options: list[list[Split | None]] = [
        [None, *((axis, dim, ways) for dim in spreadable(machine, capability, axis))] for axis, ways in axes
    ]
    return tuple(tuple(c for c in choice if c is not None) for choice in product(*options))
