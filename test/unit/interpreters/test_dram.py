"""NumPy's layers of the `dram` dialect, against loops over single elements."""

import numpy as np

from tilewright.interpreters.dram import random_tensors, run_network
from tilewright.zoo.schedule_networks import Layer, Network, Shape
from tilewright.zoo.schedule_networks.meaning import SHIFT, scale_of

NETWORK = Network(
    "net",
    (("x", Shape(6, 7, 5)),),
    (
        Layer("a", "conv", Shape(4, 4, 3), external=(0,), kernel=(3, 3), stride=(2, 2)),
        Layer("b", "group_conv", Shape(6, 7, 5), external=(0,), kernel=(3, 2), groups=3),
        Layer("c", "pool", Shape(6, 3, 2), (1,), kernel=(3, 3), stride=(2, 2)),
        Layer("d", "eltwise", Shape(6, 7, 5), (1,), (0,), operands=2),
        Layer("e", "transpose", Shape(7, 6, 5), (3,), permutation=(1, 0, 2)),
    ),
)


def clipped(total: int, scale: int) -> int:
    return max(-128, min(127, (total * scale + (1 << (SHIFT - 1))) >> SHIFT))


def test_products_element_by_element():
    inputs, weights = random_tensors(NETWORK, 2, 1)
    found = run_network(NETWORK, inputs, weights)
    for number, name in ((0, "a"), (1, "b")):
        layer, (given, made) = NETWORK.layers[number], NETWORK.group_shape(number)
        above, left = NETWORK.padding(number)
        for place in np.ndindex(found[name].shape):
            sample, channel, row, column = place
            total = 0
            for c, r, s in np.ndindex(given, *layer.kernel):
                y, x = row * layer.stride[0] - above + r, column * layer.stride[1] - left + s
                if 0 <= y < 7 and 0 <= x < 5:
                    value = inputs["x"][sample, channel // made * given + c, y, x]
                    total += int(value) * int(weights[f"{name}.weights"][channel, c, r, s])
            assert found[name][place] == clipped(total, scale_of(NETWORK, number))


def test_vector_layers():
    inputs, weights = random_tensors(NETWORK, 1, 1)
    found = run_network(NETWORK, inputs, weights)
    assert found["c"][0, 2, 1, 1] == found["b"][0, 2, 2:5, 2:5].max()
    total = int(found["b"][0, 3, 2, 4]) + int(inputs["x"][0, 3, 2, 4])
    assert found["d"][0, 3, 2, 4] == clipped(total, scale_of(NETWORK, 3))
    assert (found["e"] == found["d"].transpose(0, 2, 1, 3)).all()
