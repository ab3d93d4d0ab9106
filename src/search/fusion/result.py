"""What searches for partitions tell while they run, and answer with."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from math import inf
from random import Random
from typing import Any, Protocol, TypeVar

from ...costs.fusion.values import Buffers, SubgraphCost

Report = Callable[[int, float, float], None]
"""Called with work done (samples or steps), best cost, and lower bound."""


class Randomised(Protocol):
    """A search that draws random numbers."""

    random: Random


def saved(search: Randomised, fields: Sequence[str]) -> dict[str, Any]:
    """Fields of a search, and the state of its generator, as JSON can hold them."""
    version, words, following = search.random.getstate()
    return {name: getattr(search, name) for name in fields} | {"random": [version, list(words), following]}


def restore(search: Randomised, fields: Sequence[str], data: dict[str, Any]) -> None:
    """Give a search the fields, of the types that they have in it, and the generator of `saved`."""
    for name in fields:
        setattr(search, name, type(getattr(search, name))(data[name]))
    version, words, following = data["random"]
    search.random.setstate((version, tuple(words), following))


Result = TypeVar("Result", bound="PartitionResult")


@dataclass(frozen=True)
class PartitionResult:
    """A partition in an order of execution, what it costs, and what no partition can cost less than.

    `samples` counts partitions that were scored, `evaluations` groups that were priced.  `history` has (samples, best
    cost) whenever the best became better.
    """

    groups: tuple[tuple[int, ...], ...]
    cost: float
    lower_bound: float
    proven: bool
    evaluations: int
    samples: int
    cpu_s: float
    history: tuple[tuple[int, float], ...] = ()

    @property
    def gap(self) -> float:
        """How far the cost may be above the least one, as a share of the bound."""
        return self.cost / self.lower_bound - 1 if self.lower_bound > 0 else inf

    def as_dict(self) -> dict[str, Any]:
        """The cost, its certificate, and what the search took, for JSON."""
        own = {item.name: getattr(self, item.name) for item in fields(PartitionResult) if item.name != "groups"}
        return own | {"gap": self.gap, "history": [list(entry) for entry in self.history]}


@dataclass(frozen=True)
class FrontPoint:
    """The least metric found for buffers of some size."""

    buffers: Buffers
    metric: float


@dataclass(frozen=True, kw_only=True)
class ExploreResult(PartitionResult):
    """The best buffers, the partition for them, and the cost of each of its groups.

    `cost` is formula 2, which is at least `lower_bound` for any buffers and partition.  `samples` counts scored points
    (ours: priced groups), `distinct` groups of these points, `evaluations` those that were priced: groups that are
    alike once.  `front` holds what no smaller buffers do as well
    (ours only); `points` are (samples, bytes, metric) as they were scored (genetic only).
    """

    buffers: Buffers
    costs: tuple[SubgraphCost, ...]
    distinct: int
    front: tuple[FrontPoint, ...] = ()
    points: tuple[tuple[int, float, float], ...] = ()


def best_of(results: Sequence[Result]) -> Result:
    """The cheapest result, with what all searches took."""
    return replace(
        min(results, key=lambda result: result.cost),
        evaluations=sum(result.evaluations for result in results),
        samples=sum(result.samples for result in results),
        cpu_s=sum(result.cpu_s for result in results),
    )
