"""The layers of Covenant's table 2: sizes, names, cuts, and that graph and mapping problem are the same layer."""

import numpy as np
import pytest

from tilewright.dialects.types import shape_of
from tilewright.driver import load_model
from tilewright.zoo.covenant_layers import EXTRA, LAYERS
from tilewright.zoo.mapping_layers import layer

MEGA_MACS = {
    "bert_gemm1": 1610.6, "bert_gemm2": 1610.6, "bert_atn1": 402.7, "bert_atn2": 151.0, "bert_atn3": 151.0,
    "bert_atn4": 402.7, "resnet50_conv1": 118.0, "resnet50_conv2": 115.6, "inceptionv3_fc1": 2.048,
}  # fmt: skip
"""From the shapes of table 2, by hand."""


def signature(name: str) -> tuple[tuple[int, ...], ...]:
    module = load_model(name)
    (function,) = module.body.block.ops
    block = function.regions[0].block
    assert block.last_op is not None
    return *(shape_of(arg) for arg in block.args), shape_of(block.last_op.operands[0])


def test_there_are_sixteen_layers_of_known_size():
    assert len(LAYERS) == 16
    for name, millions in MEGA_MACS.items():
        assert LAYERS[name].macs / 1e6 == pytest.approx(millions, rel=1e-3)


@pytest.mark.parametrize("name", LAYERS)
def test_module_and_mapping_problem_have_the_same_size(name: str):
    problem = layer(f"covenant:{name}")
    *_, y = signature(f"covenant:{name}")
    assert problem.macs == LAYERS[name].macs
    extents = problem.tensor("O").extents(problem.bounds)
    assert np.prod(extents) == np.prod(y)


def test_convolutions_have_the_output_sizes_of_the_table():
    sizes = {"mobilenetv3_conv1": 149, "mobilenetv3_conv2": 112, "resnet50_conv1": 112, "resnet50_conv2": 56}
    for name, size in sizes.items():
        assert signature(f"covenant:{name}")[-1][2:] == (size, size)
    assert set(EXTRA) == {"resnet50_conv2_literal"}
    assert signature("covenant:resnet50_conv2_literal") == ((1, 64, 224, 224), (64, 64, 3, 3), (1, 64, 56, 56))


def test_heads_share_their_input_where_it_is_projected():
    assert signature("covenant:bert_atn1") == ((384, 1024), (16, 1024, 64), (16, 384, 64))
    assert signature("covenant:bert_atn2") == ((16, 384, 64), (16, 64, 384), (16, 384, 384))
