"""How work grows with the layers: counted in calls of functions, never in seconds."""

import cProfile
import pstats
from collections.abc import Callable
from dataclasses import replace

import pytest

from tilewright.costs.fusion import Buffers, Platform, SubgraphPricer, layer_graph
from tilewright.search.fusion.anytime import Anytime, AnytimeOptions
from tilewright.search.fusion.floors import scene_of
from tilewright.search.fusion.simple import best_cuts, greedy
from tilewright.search.fusion.space import Evaluator
from tilewright.zoo.schedule_networks.layers import INPUT, Table

MACHINE = replace(Platform(), buffers=Buffers(4096, 4096))
LAYERS = (16, 32, 64)


def deep(layers: int) -> SubgraphPricer:
    """A chain of convolutions, a few of which fit together, with a shortcut around every other one."""
    table = Table("deep", (8, 8, 8))
    last = table.conv("first", INPUT, 8, 3)
    for number in range(layers // 2):
        made = table.conv(f"conv{number}", last, 8, 3)
        last = table.add(f"sum{number}", [last, made])
    return SubgraphPricer(layer_graph(table.network()), MACHINE)


def calls(work: Callable[[], object]) -> int:
    """Calls of functions, those of C included, that `work` makes."""
    profile = cProfile.Profile()
    profile.runcall(work)
    return pstats.Stats(profile).total_calls  # type: ignore[attr-defined]


def bounded(pricer: SubgraphPricer) -> None:
    """Partitions to begin with, all bounds, and a round of annealing."""
    scene = scene_of(pricer)
    evaluator = Evaluator(scene.space, pricer)
    chains, options = scene.chains(evaluator), AnytimeOptions(whole_steps=0)
    rest = scene.tolls_of(evaluator).rest
    search = Anytime(scene.space, evaluator, options, 0, rest, scene.bound(evaluator), chains, scene.possible)
    while search.rounds < 2 and not search.finished:
        search.step()


def greedily(pricer: SubgraphPricer) -> None:
    space = scene_of(pricer).space
    greedy(space, Evaluator(space, pricer))


def by_cuts(pricer: SubgraphPricer) -> None:
    space = scene_of(pricer).space
    best_cuts(space, Evaluator(space, pricer), range(space.size))


@pytest.mark.parametrize("work", [greedily, by_cuts, bounded])
def test_calls_grow_with_the_layers_alone(work: Callable[[SubgraphPricer], None]):
    work(deep(LAYERS[0]))  # compiles
    small, middle, large = (calls(lambda pricer=deep(layers): work(pricer)) for layers in LAYERS)
    assert large - middle < 3 * (middle - small)  # 2 where it is linear, 4 where it is quadratic
