"""Fields of instructions: strides in their range, waits within the header."""

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
    row, most = [0] * isa.control.size, len(isa.control.waits)
    isa.set_header(row, 1, [(0, 7)])
    (tag, count), *_ = isa.control.waits
    assert (row[isa.control.signal], row[tag], row[count]) == (2, 1, 7)
    with pytest.raises(TilewrightError, match=f"expected at least {most + 1} waits"):
        isa.set_header(row, 1, [(0, 7)] * (most + 1))
