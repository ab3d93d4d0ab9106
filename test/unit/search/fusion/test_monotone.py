"""What searches rely on: a part of a group that fits, fits too."""

from __future__ import annotations

from random import Random

import pytest

from tilewright.costs.fusion import SubgraphPricer, layer_graph
from tilewright.search.fusion.space import Space, bits
from tilewright.zoo.paper_networks import network


def hull(space: Space, mask: int) -> int:
    """A set and all layers between its layers."""
    above = below = 0
    for number in bits(mask):
        above |= space.ancestors[number]
        below |= space.descendants[number]
    return mask | above & below


def grown(space: Space, random: Random, size: int) -> int:
    mask = 1 << random.randrange(space.size)
    while mask.bit_count() < size:
        near = (space.readers(mask) | space.sources(mask)) & ~mask
        if not near:
            break
        mask = hull(space, mask | 1 << random.choice(list(bits(near))))
    return mask


def part(space: Space, random: Random, mask: int) -> int:
    """Some layers of a set and what is between, or what is not before (or not after) one of them."""
    if random.random() < 0.5:
        share = random.choice((0.2, 0.5, 0.8, 0.95))
        return hull(space, sum(1 << number for number in bits(mask) if random.random() < share))
    number = random.choice(list(bits(mask)))
    away = space.descendants if random.random() < 0.5 else space.ancestors
    return mask & ~(away[number] | 1 << number)


@pytest.mark.parametrize("name", ["resnet50", "googlenet", "transformer", "gpt", "randwire_a", "randwire_b", "nasnet"])
def test_parts_of_groups_that_fit_do_too(name: str):
    """Connected or not, on the platform of the paper, for groups without layers between theirs left out."""
    graph = layer_graph(network(name))
    space, pricer, random = Space(graph.producers), SubgraphPricer(graph), Random(name)
    checked = 0
    for _ in range(700):
        group = grown(space, random, random.randint(2, 50))
        smaller = part(space, random, group)
        if smaller in (0, group) or pricer.cost(bits(group)) is None:
            continue
        checked += 1
        assert pricer.cost(bits(smaller)) is not None
    assert checked > 100
