"""Networks whose scales are powers of two: by name, and whole on VTA against the graph's integers."""

import numpy as np
import pytest

from tilewright import compile, simulate
from tilewright.driver import load_model, reference
from tilewright.frontends.networks.shifted import NETWORKS, shifted_network


@pytest.mark.parametrize("name", NETWORKS)
def test_a_name_is_a_network_of_integers(name: str) -> None:
    text = str(load_model(f"{name}:shifted"))
    assert "1x3x224x224xsi8" in text
    assert "f32" not in text


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_a_small_image_through_a_whole_network_on_vta(name: str) -> None:
    module = shifted_network(name, 64)
    program = compile(module, "vta")
    image = np.random.default_rng(0).integers(-128, 128, (1, 3, 64, 64)).astype(np.int8)
    result = simulate(program, {"image": image})
    expected = reference(module, {"image": image})["scores"]
    assert len(np.unique(expected)) > 20
    assert (result.outputs["scores"] == expected).all()
    assert result.cycles == program.predicted["cycles"]
