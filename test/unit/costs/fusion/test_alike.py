"""Groups of one structure have the same ways to run, and nothing else has their structure."""

from random import Random
from typing import Any

import pytest

from tilewright.algebra.dag import bits
from tilewright.costs.fusion import Edge, Input, Layer, LayerGraph, Shape, SubgraphCost, layer_graph
from tilewright.costs.fusion.graph import WHOLE, Window
from tilewright.costs.fusion.pricer import Structure, SubgraphPricer
from tilewright.zoo.paper_networks import network


def cells(count: int, last_stride: int = 1) -> LayerGraph:
    """Cells of two branches and their sum, one after another; all of one size if the stride is 1."""
    layers: list[Layer] = []
    before, size = -1, 16
    for cell in range(count):
        stride = last_stride if cell == count - 1 else 1
        size //= stride
        near = (Window(3, 1, 1), Window(3, 1, 1))
        first = (Window(3, stride, 1), Window(3, stride, 1))
        shape, base = Shape(8, size, size), len(layers)
        layers.append(Layer(f"a{cell}", "conv", shape, (Edge(before, *first),), 576, 8, 9))
        layers.append(Layer(f"b{cell}", "conv", shape, (Edge(base, *near),), 576, 8, 9))
        layers.append(Layer(f"c{cell}", "add", shape, (Edge(base), Edge(base + 1))))
        before = base + 2
    return LayerGraph("cells", (Input("x", Shape(8, 16, 16)),), tuple(layers))


def test_cells_that_repeat_are_alike():
    pricer = SubgraphPricer(cells(4, 2))
    first, second, third, last = ([base, base + 1, base + 2] for base in (0, 3, 6, 9))
    assert pricer.structure(first) == pricer.structure(second) == pricer.structure(third)
    assert pricer.structure(last) != pricer.structure(first)
    assert pricer.structure(first[:2]) == pricer.structure(second[:2]) != pricer.structure(first[1:])
    assert pricer.structure([2, 3]) == pricer.structure([5, 6]) != pricer.structure([8, 9])


@pytest.mark.parametrize(
    "change",
    [
        {"weight_bytes": 577},
        {"reduction": 4},
        {"element_bytes": 2},
        {"groups": 2},
        {"edges": (Edge(0, Window(5, 1, 2), Window(3, 1, 1)),)},
        {"edges": (Edge(0, WHOLE, Window(3, 1, 1)),)},
    ],
)
def test_what_makes_a_difference(change: dict[str, Any]):
    graph = cells(2)
    layers = list(graph.layers)
    layers[1] = Layer(**{**layers[1].__dict__, **change})
    other = LayerGraph("other", graph.inputs, tuple(layers))
    pricer = SubgraphPricer(other)
    assert pricer.structure([0, 1, 2]) != pricer.structure([3, 4, 5])


def test_a_result_that_leaves_the_group_makes_a_difference():
    graph = cells(2)
    given = SubgraphPricer(LayerGraph("given", graph.inputs, graph.layers, outputs=(1,)))
    assert given.structure([0, 1, 2]) != given.structure([3, 4, 5])
    assert given.structure([0]) == given.structure([3])


@pytest.mark.parametrize("name", ["nasnet", "resnet50"])
def test_groups_of_one_structure_have_the_same_ways(name: str):
    pricer, random = SubgraphPricer(layer_graph(network(name)), metric="energy"), Random(1)
    seen: dict[Structure, tuple[SubgraphCost, ...]] = {}
    alike = 0
    for _ in range(300):
        base = random.randrange(len(pricer.graph) - 4)
        group = tuple(bits(random.randrange(1, 16) << base))
        structure, ways = pricer.structure(group), pricer.ways(group)
        alike += structure in seen
        assert seen.setdefault(structure, ways) == ways
    assert alike > 30
