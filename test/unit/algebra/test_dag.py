"""Connected and convex sets of nodes of acyclic graphs."""

from graphlib import CycleError
from itertools import combinations
from random import Random

import pytest

from tilewright.algebra.dag import Dag, bits, flags, mask_of, ordered


def random_dag(random: Random, count: int) -> Dag:
    return Dag(tuple(tuple(sorted(random.sample(range(i), random.randint(0, min(3, i))))) for i in range(count)))


def paths(dag: Dag, node: int) -> set[int]:
    """Nodes reached from `node`."""
    found = set[int]()
    for consumer in dag.consumers[node]:
        found |= {consumer} | paths(dag, consumer)
    return found


@pytest.mark.parametrize("seed", range(5))
def test_convex_and_connected_by_their_definitions(seed: int):
    dag = random_dag(Random(seed), 7)
    reached = [paths(dag, node) for node in range(7)]
    assert [set(bits(mask)) for mask in dag.descendants] == reached
    assert [set(bits(mask)) for mask in dag.ancestors] == [{a for a in range(7) if b in reached[a]} for b in range(7)]
    for size in range(1, 8):
        for nodes in combinations(range(7), size):
            outside = set(range(7)) - set(nodes)
            leaves = any(b in reached[a] for a in nodes for b in outside if reached[b] & set(nodes))
            assert dag.convex(mask_of(nodes)) != leaves
            component = {nodes[0]}
            for _ in nodes:
                component |= {b for a in component for b in nodes if b in dag.consumers[a] or a in dag.consumers[b]}
            assert dag.connected(mask_of(nodes)) == (component == set(nodes))
            assert sum(dag.components(mask_of(nodes))) == mask_of(nodes)


def test_bits():
    assert tuple(bits(mask_of([70, 3, 5]))) == (3, 5, 70)
    assert tuple(bits(0)) == ()
    assert flags(mask_of([3, 5]), 7).tolist() == [False, False, False, True, False, True, False]


def test_order_by_key_among_those_that_may_be_next():
    assert ordered([set(), set(), {0}, {1, 2}], [1, 0, 0, 0]) == [1, 0, 2, 3]
    assert ordered([{1}, set(), {0}], range(3)) == [1, 0, 2]
    assert ordered([set(), {0}, {0}], [0, 2, 1]) == [0, 2, 1]
    assert ordered([set(), {0}, {0}], [0, 1, 1]) == [0, 1, 2]
    with pytest.raises(CycleError) as error:
        ordered([{1}, {2}, {1}, set()], range(4))
    assert set(error.value.args[1]) == {1, 2}
