"""How many elements of a window lie inside of the input."""

import numpy as np
import pytest
from xdsl.dialects.builtin import f32
from xdsl.dialects.test import TestOp as AnyOp

from tilewright.dialects import graph
from tilewright.dialects.types import tensor
from tilewright.passes.graph_to_nest.window import window_counts


def counts(extent: int, kernel: int, stride: int, begin: int, end: int, dilation: int) -> list[int]:
    x = AnyOp(result_types=[tensor((1, 1, extent), f32)]).results[0]
    pool = graph.PoolOp(
        "average",
        x,
        kernel=(kernel,),
        strides=(stride,),
        pads=(begin, end),
        dilations=(dilation,),
        count_include_pad=False,
    )
    return window_counts((extent,), pool).tolist()


@pytest.mark.parametrize("kernel", [1, 2, 3, 5])
@pytest.mark.parametrize(
    ("stride", "begin", "end", "dilation"), [(1, 0, 3, 1), (2, 2, 1, 2), (3, 4, 4, 1), (1, 5, 0, 3)]
)
def test_counts_are_those_of_the_elements_one_by_one(kernel: int, stride: int, begin: int, end: int, dilation: int):
    padded = np.pad(np.ones(9), (begin, end))
    starts = range(0, len(padded) - dilation * (kernel - 1), stride)
    expected = [padded[at : at + dilation * (kernel - 1) + 1 : dilation].sum() for at in starts]
    assert counts(9, kernel, stride, begin, end, dilation) == expected


def test_a_large_window_is_not_walked_through():
    assert counts(9, 1 << 40, 1, (1 << 40) - 1, 0, 1) == list(range(1, 10))
