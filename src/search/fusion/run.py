"""One interface to all partition methods."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from math import exp
from pathlib import Path
from random import Random
from typing import Any, Protocol, cast

from ...algebra.dag import bits
from ...costs.clock import Limit, processor_seconds
from ...costs.fusion.graph import LayerGraph
from ...costs.fusion.values import Metric
from ...costs.json_fields import object_of, read_json
from ...errors import TilewrightError
from ...files import write_file
from ...interruption import stoppable
from .anytime import Anytime, AnytimeOptions
from .floors import Scene
from .genetic import Genetic, GeneticOptions, Variation, annealed
from .lattice import Lattice, TooLargeError
from .result import PartitionResult, Report, restore, saved
from .simple import chains, depth_order, greedy, per_layer
from .space import Evaluator, Groups, Pricer, Space


@dataclass
class Annealing:
    """`most` partitions are scored, in one step one batch of `BATCH`."""

    space: Space
    evaluator: Evaluator
    most: int
    seed: int
    samples: int = 0
    best: Groups = ()
    best_cost: float = 0.0
    current: Groups = ()
    cost: float = 0.0
    scale: float = 0.0
    random: Random = field(init=False)
    variation: Variation = field(init=False)

    BATCH = 100
    SAVED = ("samples", "best", "current", "scale")

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.variation = Variation(self.space, self.evaluator, self.random)
        self.current = self.best = self.variation.initial()
        self.cost = self.best_cost = self.scale = self.evaluator.total(self.current)
        self.samples = 1

    @property
    def finished(self) -> bool:
        return self.samples >= self.most

    def step(self) -> None:
        """Score some more partitions."""
        for _ in range(min(self.BATCH, self.most - self.samples)):
            self._move()

    def _move(self) -> None:
        temperature = self.scale * annealed(self.samples / self.most)
        changed = self.variation.settle(self.variation.mutate(self.current))
        cost = self.evaluator.total(changed)
        self.samples += 1
        if cost <= self.cost or self.random.random() < exp((self.cost - cost) / temperature):
            self.current, self.cost = changed, cost
        if cost < self.best_cost:
            self.best, self.best_cost = changed, cost

    def dump(self) -> dict[str, Any]:
        """What is needed to go on."""
        return saved(self, self.SAVED)

    def load(self, data: dict[str, Any]) -> None:
        """Go on from what `dump` gave."""
        restore(self, self.SAVED, data)
        self.best_cost, self.cost = self.evaluator.total(self.best), self.evaluator.total(self.current)


METHODS = ("ours", "genetic", "annealing", "enumeration", "depth-dp", "greedy", "per-layer", "chain-3", "chain-5")
"""Ours; Cocco's; simulated annealing; Fused-CNN's with state compression; Irregular-NN's; Halide's; fixed lengths."""

SEEDED = ("ours", "genetic", "annealing")
"""Methods whose answer may depend on the seed."""

CONSTRUCTED = ("depth-dp", "greedy", "per-layer", "chain-3", "chain-5")
"""Methods that make one partition, without a search that could end sooner."""

SAMPLES = {"genetic": 50_000, "annealing": 50_000, "enumeration": 2_000_000}
"""Partitions (of the enumeration: steps) that a method may try, where the caller says nothing."""


class Search(Protocol):
    """A search that goes on step by step."""

    samples: int

    @property
    def best(self) -> Groups: ...
    @property
    def best_cost(self) -> float: ...
    @property
    def finished(self) -> bool: ...
    def step(self) -> None: ...
    def dump(self) -> dict[str, Any]: ...
    def load(self, data: dict[str, Any]) -> None: ...


@dataclass(frozen=True)
class PartitionOptions:
    """How to search; `samples` None: as `SAMPLES` has it.

    The search ends after `time_limit_s` CPU seconds of all processes, else its result depends on `seed` only; an
    enumeration that has not seen all then answers what `greedy` makes.  Methods of `SEEDED` end where their best costs
    at most `gap` (0.01 for 1 %) more than the bound.  With `state` a search goes on from that file, where it exists,
    and leaves its state there.
    """

    method: str = "ours"
    metric: Metric = "ema"
    seed: int = 0
    time_limit_s: float | None = None
    samples: int | None = None
    state: Path | None = None
    gap: float = 0.0


def partition(
    graph: LayerGraph,
    pricer: Pricer,
    options: PartitionOptions | None = None,
    report: Report | None = None,
    scene: Scene | None = None,
) -> PartitionResult:
    """Partition `graph` into groups of least total cost; `scene` says what `pricer` prices groups for.

    Raises `TilewrightError` for a method that is none of `METHODS`, an enumeration that is too large, and a state file
    of another search.
    """
    options = options or PartitionOptions()
    if options.method not in METHODS:
        raise TilewrightError("usage", "method", f"one of {', '.join(METHODS)}", repr(options.method))
    scene = scene or Scene(graph, Space(graph.producers))
    return _Run(scene, pricer, options, report).result()


def genetic_options(samples: int) -> GeneticOptions:
    """Larger generations where there are more samples."""
    return GeneticOptions(samples, min(400, max(20, samples // 125)), tournament=3, crossover=0.5, again=0.5)


class _Run:
    def __init__(self, scene: Scene, pricer: Pricer, options: PartitionOptions, report: Report | None) -> None:
        self.graph, self.options, self.report = scene.graph, options, report
        self.space = scene.space
        self.evaluator = Evaluator(self.space, pricer, options.metric)
        self.scene = scene
        pricer.cost((0,))
        self.start, self.limit = processor_seconds(), Limit(options.time_limit_s)
        self.history: list[tuple[int, float]] = []
        self.tolls = scene.tolls_of(self.evaluator)
        self.bound = scene.bound(self.evaluator)

    def result(self) -> PartitionResult:
        """Search, and say what was found."""
        method = self.options.method
        search = self._search()
        if search is None:
            best = self._enumerate() if method == "enumeration" else ()
            groups = best or self._constructed("greedy" if method == "enumeration" else method)
            return self._answer(groups, self.evaluator.total(best) if best else self.bound, 1)
        self._load(search)
        self._note(search)
        with stoppable():
            while not (search.finished or self.limit.late or self._is_near(search)):
                search.step()
                self._note(search)
        self._save(search)
        return self._answer(search.best, self._bound(search), search.samples)

    def _bound(self, search: Search) -> float:
        """What no partition can cost less than, as far as it is known."""
        return search.lower_bound if isinstance(search, Anytime) else self.bound

    def _is_near(self, search: Search) -> bool:
        """Whether the best is as near to the bound as was asked for."""
        return self.options.gap > 0 and search.best_cost <= (1 + self.options.gap) * self._bound(search)

    def _search(self) -> Search | None:
        options, samples = self.options, self.options.samples or SAMPLES.get(self.options.method, 0)
        match options.method:
            case "ours":
                return Anytime(
                    self.space,
                    self.evaluator,
                    AnytimeOptions(),
                    options.seed,
                    self.tolls.rest,
                    self.bound,
                    self.scene.chains(self.evaluator),
                    self.scene.possible,
                    lambda: self.limit.left_s,
                )
            case "genetic":
                return Genetic(self.space, self.evaluator, genetic_options(samples), options.seed)
            case "annealing":
                return Annealing(self.space, self.evaluator, samples, options.seed)
            case _:
                return None

    def _constructed(self, method: str) -> Groups:
        if method == "per-layer":
            return per_layer(self.space)
        if method.startswith("chain-"):
            return chains(self.space, self.evaluator, int(method.removeprefix("chain-")))
        make: Callable[[Space, Evaluator], Groups] = {"greedy": greedy, "depth-dp": depth_order}[method]
        return make(self.space, self.evaluator)

    def _enumerate(self) -> Groups:
        """The best partition; none where it is late before all were seen."""
        steps, possible = self.options.samples or SAMPLES["enumeration"], self.scene.possible
        lattice = Lattice(self.space, self.evaluator, most_steps=steps, possible=possible, late=lambda: self.limit.late)
        try:
            with stoppable():
                return lattice.solve()[1]
        except TooLargeError as error:
            if not self.limit.late:
                subject, lever = f"enumeration of {self.graph.name}", "use another method, or give more samples"
                raise TilewrightError("limit", subject, f"at most {steps} steps", "more", lever) from error
        return ()

    def _note(self, search: Search) -> None:
        if not self.history or search.best_cost < self.history[-1][1]:
            self.history.append((search.samples, search.best_cost))
        if self.report is not None:
            self.report(search.samples, search.best_cost, self._bound(search))

    def _answer(self, groups: Groups, bound: float, samples: int) -> PartitionResult:
        cost = self.evaluator.total(groups)
        ordered = self.space.ordered(groups) or list(groups)
        return PartitionResult(
            tuple(tuple(bits(group)) for group in ordered),
            cost,
            min(bound, cost),
            bound >= cost * (1 - 1e-9),
            self.evaluator.evaluations,
            samples,
            processor_seconds() - self.start,
            tuple(self.history),
        )

    def _key(self) -> dict[str, Any]:
        """What a state must agree with."""
        options = self.options
        key = {"network": self.graph.name, "layers": len(self.graph), "method": options.method}
        return key | {"metric": options.metric, "seed": options.seed}

    def _load(self, search: Search) -> None:
        path = self.options.state
        if path is None or not path.is_file():
            return
        data = object_of(read_json(path), str(path))
        if data.get("search") != self._key():
            raise TilewrightError("state", str(path), str(self._key()), str(data.get("search")), "use another file")
        try:
            search.load(cast("dict[str, Any]", object_of(data.get("state"), f"{path}: state")))
        except (KeyError, ValueError, TypeError, IndexError, StopIteration) as error:
            raise TilewrightError("state", str(path), "the state of a search", str(error), "remove the file") from error
        fault = self.space.fault(search.best)
        if fault is not None:
            raise TilewrightError("state", str(path), fault, "other groups", "remove the file")

    def _save(self, search: Search) -> None:
        if self.options.state is not None:
            data = {"search": self._key(), "state": search.dump()}
            write_file(self.options.state, json.dumps(data) + "\n")
