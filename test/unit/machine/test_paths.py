"""Paths over edges between nodes, compared with networkx."""

from itertools import pairwise
from random import Random

import networkx as nx
import pytest

from tilewright.machine.paths import reachable, shortest_path

NODES = "abcdefgh"


@pytest.mark.parametrize("seed", range(10))
def test_paths_are_those_of_the_graph(seed: int):
    random = Random(seed)
    edges = [(random.choice(NODES), random.choice(NODES)) for _ in range(10)]
    graph: nx.DiGraph[str] = nx.DiGraph(edges)
    graph.add_nodes_from(NODES)
    for src in NODES:
        assert reachable(iter(edges), [src]) == {src} | nx.descendants(graph, src)
        shortest = nx.single_source_shortest_path(graph, src)
        assert {dst: path for dst in NODES if (path := shortest_path(edges, src, dst)) is not None} == shortest
    assert reachable(edges, "ab") == reachable(edges, "a") | reachable(edges, "b")
    assert reachable(edges, []) == set()


def test_a_shortest_path_has_the_fewest_edges():
    edges = [*pairwise("abcd"), ("a", "c"), ("x", "d")]
    assert shortest_path(edges, "a", "d") == ["a", "c", "d"]
    assert shortest_path(edges, "a", "x") is None
