"""What an instruction costs: the machine's own formulas, and each byte that an operand touches once."""

import pytest

from tilewright.frontends.acg import load_target
from tilewright.passes.codelet_to_queues.isa import Binding, Isa
from tilewright.passes.codelet_to_queues.price import Prices

ISA = Isa(load_target("edge16"))
LOAD = ISA.copies("DRAM", "GBUF")[0]
MAC = next(b for b in ISA.of_capability("MXU", "mac"))
READ, WRITE = 1.525882, 1.64465  # of the buffer, pJ per byte


def row(binding: Binding, extents: dict[str, int], strides: dict[str, dict[str, int]]) -> list[int]:
    """Fields with these extents (others 1) and byte strides by operand."""
    found = [0] * len(binding.fields)
    for dim, index in binding.extents.items():
        found[index] = extents.get(dim, 1)
    for slot in binding.operands:
        for dim, stride in strides.get(slot.name, {}).items():
            found[slot.strides[dim]] = stride
    return found


def test_a_copy_costs_its_bytes_on_both_sides():
    prices = Prices(ISA.machine)
    price = prices.of(LOAD, row(LOAD, {"a": 100, "b": 3}, {"D": {"b": 128}, "S": {"b": 128}}))
    assert (price.cycles, price.dram_bytes, price.resource) == (19, 300, "DRAM<->GBUF")
    assert price.energy_pj == pytest.approx(300 * (84 + WRITE))


def test_windows_that_overlap_are_read_once_and_sums_that_go_on_are_read():
    prices = Prices(ISA.machine)
    fields = row(MAC, {"k": 4, "q": 5, "s": 3}, {"O": {"k": 20, "q": 4}, "X": {"q": 1, "s": 1}, "W": {"k": 3, "s": 1}})
    fresh = prices.of(MAC, fields).energy_pj
    assert fresh == pytest.approx((7 + 12) * READ + 80 * WRITE + 0.018 * 60)
    fields = fields.copy()
    fields[MAC.accumulate] = 1
    assert prices.of(MAC, fields).energy_pj == pytest.approx(fresh + 80 * READ)
