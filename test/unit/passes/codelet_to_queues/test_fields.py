"""Fields of instructions: strides in their range, waits within the header."""

import numpy as np
import pytest

from tilewright.errors import TilewrightError
from tilewright.frontends.acg import load_target
from tilewright.passes.codelet_to_queues.isa import Isa


def test_strides_beyond_a_field_are_refused():
    isa = Isa(load_target("edge16"))
    binding = next(b for found in isa.bindings.values() for b in found if b.operands[0].strides)
    row, (dim, index) = [0] * len(binding.fields), next(iter(binding.operands[0].strides.items()))
    binding.set_stride(row, 0, dim, 3, "tile")
    assert row[index] == 3
    with pytest.raises(TilewrightError, match=f"^tile: expected a stride of .* B of .* along {dim} in "):
        binding.set_stride(row, 0, dim, 1 << 40, "tile")


def test_waits_beyond_the_header_are_refused():
    isa = Isa(load_target("edge16"))
    most, header = len(isa.control.waits), np.zeros((2, isa.control.size), np.int64)
    needs = np.zeros((2, max(len(isa.units), most + 1)), np.int32)
    needs[1, [0, 2]] = 7, 5
    isa.set_headers(header, np.array([1, 0]), needs)
    (tag, count), (other_tag, other_count), *_ = isa.control.waits
    assert header[:, isa.control.signal].tolist() == [2, 1]
    assert header[1, [tag, count, other_tag, other_count]].tolist() == [1, 7, 3, 5]
    assert not header[0, [tag, count, other_tag, other_count]].any()
    needs[0, : most + 1] = 7
    with pytest.raises(TilewrightError, match=f"expected at least {most + 1} waits"):
        isa.set_headers(header, np.array([1, 0]), needs)
