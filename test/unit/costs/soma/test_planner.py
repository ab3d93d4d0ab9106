"""Plans made one after another are those made afresh."""

from random import Random

import numpy as np
import pytest

from tilewright.costs.soma import Fusion, hardware
from tilewright.errors import TilewrightError
from tilewright.zoo.schedule_networks import Layer, Network, Shape, schedule_network

from .witness import Planner, network_columns, plan
from .witness_prices import evaluate

MACHINE = hardware(8, 1, 4, 256, 512)


def test_columns_list_sources_and_readers():
    shape = Shape(4, 4, 4)
    layers = (
        Layer("a", "conv", shape, external=(1,)),
        Layer("b", "conv", shape, (0,)),
        Layer("c", "eltwise", shape, (1, 0), external=(0,), operands=3),
    )
    columns = network_columns(Network("n", (("x", shape), ("y", shape)), layers))
    assert [np.asarray(column).tolist() for column in columns] == [
        [0, 1, 2, 5],
        [-2, 0, 0, 1, -1],
        [0, 2, 3, 3],
        [1, 2, 2],
        [16, 16, 0],
    ]


@pytest.mark.parametrize("name", ["resnet50", "inception_resnet_v1", "gpt2_small_decode", "randwire_large"])
def test_a_planner_forgets_nothing_and_mixes_nothing(name: str):
    network, random = schedule_network(name), Random(1)
    planner = Planner(network, MACHINE, 2)
    count = len(network.layers)
    for _ in range(6):
        places = sorted(random.sample(range(1, count), 6))
        groups = tuple(places[::2])
        tiles = tuple(random.choice((1, 2)) for _ in range(7))
        fusion = Fusion(tuple(range(count)), groups, tuple(places[1::2]), tiles)
        known, fresh = planner.plan(fusion), plan(network, MACHINE, fusion, 2)
        assert known.stages == fresh.stages
        assert known.energy_pj == fresh.energy_pj
        for column in ("layer", "kind", "tile", "source", "size_bytes", "position", "start", "end", "moves"):
            assert np.array_equal(getattr(known.tensors, column), getattr(fresh.tensors, column)), column
        assert evaluate(known).latency_cycles == evaluate(fresh).latency_cycles > 0
        assert sum(stage.tiles for stage in known.stages) == len(known.tile_cycles)


def test_a_planner_refuses_tiles_that_cannot_be():
    planner = Planner(schedule_network("resnet50"), MACHINE, 1)
    assert planner.tiling((71,), 1).boxes[0] == (1, 1000, 1, 1)
    with pytest.raises(TilewrightError, match="use fewer tiles"):
        planner.tiling((71,), 2)
