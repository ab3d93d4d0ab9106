"""The networks have the sizes that their papers tell."""

from random import Random

import pytest

from tilewright.errors import TilewrightError
from tilewright.zoo.paper_networks import COCCO_NAMES, Network, network
from tilewright.zoo.paper_networks.networks import watts_strogatz

PAPERS = {
    "vgg16": (138.3, 15.5),  # Simonyan and Zisserman, table 2 (biases left out); 15.5 G multiplications
    "resnet50": (25.5, 3.8),  # He et al., table 1
    "resnet152": (60.0, 11.3),
    "googlenet": (7.0, 1.5),  # Szegedy et al.: "1.5 billion multiply-adds"; table 1 sums to 6.8 M of rounded entries
    "transformer": (44.1, 5.9),  # Vaswani et al., table 3: 65 M with 37000 x 512 embeddings and biases
    "gpt": (85.0, 48.3),  # Radford et al.: 117 M with 40478 + 512 embeddings of 768
    "randwire_a": (5.6, 0.583),  # Xie et al., table 2: 5.6 M, 583 M multiply-adds
    "randwire_b": (31.9, 4.0),  # Xie et al., table 3: 31.9 M, 4.0 G
    "nasnet": (88.9, 23.8),  # Zoph et al., table 2: 88.9 M, 23.8 G
}


def macs(net: Network) -> int:
    return sum(
        layer.shape.height
        * layer.shape.width
        * layer.shape.channels
        * net.group_shape(i)[0]
        * layer.kernel[0]
        * layer.kernel[1]
        for i, layer in enumerate(net.layers)
        if layer.has_macs
    )


@pytest.mark.parametrize("name", COCCO_NAMES)
def test_weights_and_products_are_those_of_the_papers(name: str):
    net = network(name)
    millions, giga = PAPERS[name]
    assert sum(map(net.weight_bytes, range(len(net.layers)))) / 1e6 == pytest.approx(millions, rel=0.05)
    assert macs(net) / 1e9 == pytest.approx(giga, rel=0.06)


@pytest.mark.parametrize("name", COCCO_NAMES)
def test_every_layer_but_the_last_is_read_and_only_windows_are_padded(name: str):
    net = network(name)
    assert [i for i, readers in enumerate(net.consumers[:-1]) if not readers] == []
    for i, layer in enumerate(net.layers):
        assert net.padding(i)[0] < layer.kernel[0]


def test_random_graphs_are_those_of_their_seed():
    edges = watts_strogatz(32, 4, 0.75, Random(0))
    assert edges == watts_strogatz(32, 4, 0.75, Random(0))
    assert edges != watts_strogatz(32, 4, 0.75, Random(1))
    assert len(edges) == 64
    assert watts_strogatz(6, 2, 0.0, Random(0)) == [(0, 1), (0, 5), (1, 2), (2, 3), (3, 4), (4, 5)]


def test_unknown_name():
    with pytest.raises(TilewrightError, match="expected one of bert_base_block, googlenet, gpt"):
        network("nothing")
