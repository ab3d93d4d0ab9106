from typing import Any

import numpy as np
import pytest

from tilewright.errors import TilewrightError
from tilewright.frontends.networks import NAMES, network_module
from tilewright.interpreters.graph import argument_names, find_function, result_names
from tilewright.resources import resources_of

SMALL = [name for name in NAMES if not name.startswith(("gptj", "llama", "gpt2_xl", "vgg", "nasnet"))]


@pytest.mark.parametrize("name", SMALL)
def test_networks_verify(name: str):
    module = network_module(name, tokens=4 if name in ("gpt", "transformer") else None)
    module.verify()
    function = find_function(module)
    assert argument_names(function)
    assert result_names(function)


def test_weights_depend_on_seed_and_layer_alone():
    def weights(seed: int, batch: int) -> dict[str, np.ndarray]:
        return dict(resources_of(network_module("googlenet", seed=seed, batch=batch)))

    one, two, other = weights(1, 1), weights(1, 2), weights(2, 1)
    assert all(np.array_equal(one[name], two[name]) for name in one)
    assert not np.array_equal(one["conv1.weight"], other["conv1.weight"])


def test_resnet50_has_the_weights_of_its_table():
    weights = resources_of(network_module("resnet50"))
    assert sum(a.size for name, a in weights.items() if name.endswith(".weight")) == 25_502_912


@pytest.mark.parametrize(
    "arguments",
    [
        {"name": "resnet5"},
        {"name": "resnet50", "tokens": 8},
        {"name": "gpt", "batch": 0},
        {"name": "gpt2_small_decode", "tokens": 1},
    ],
    ids=["unknown", "tokens of images", "batch", "tokens"],
)
def test_bad_requests_are_refused(arguments: dict[str, Any]):
    with pytest.raises(TilewrightError) as caught:
        network_module(**arguments)
    assert caught.value.kind == "network"
