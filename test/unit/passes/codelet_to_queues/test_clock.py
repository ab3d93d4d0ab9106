"""When instructions run: units in order, channels to who is first."""

from dataclasses import replace

import numpy as np

from tilewright.frontends.acg import load_target
from tilewright.passes.codelet_to_queues.isa import Binding, Isa
from tilewright.passes.codelet_to_queues.price import Prices
from tilewright.passes.codelet_to_queues.timed import Arrows

from .works import Work, problem_of

ISA = Isa(load_target("cocco_npu"))
LOAD, STORE = (ISA.copies(*ends)[0] for ends in (("DRAM", "GBUF"), ("GBUF", "DRAM")))
MAC = ISA.of_capability("MXU", "mac")[0]


def row(binding: Binding, **extents: int) -> list[int]:
    """Fields with these extents, all others 1."""
    found = [0] * len(binding.fields)
    for dim, index in binding.extents.items():
        found[index] = extents.get(dim, 1)
    return found


class Timed:
    """Instructions by their rows, in program order."""

    def __init__(self, isa: Isa = ISA) -> None:
        self.isa, self.prices = isa, Prices(isa.machine)
        self.work: list[Work] = []
        self.waits: list[list[tuple[int, int]]] = []

    def issue(self, binding: Binding, fields: list[int], waits: list[tuple[int, int]]) -> None:
        price = self.prices.of(binding, fields)
        self.work.append(Work(binding.unit, price.resource, price.cycles))
        self.waits.append(waits)

    def end_cycle(self) -> int:
        nothing = Arrows(np.zeros(len(self.work) + 1, np.int64), np.zeros(0, np.int32))
        problem = problem_of(self.work, nothing, [unit.depth for unit in self.isa.machine.units])
        needs = np.zeros((len(self.work), len(self.isa.units)), np.int32)
        for row, waits in zip(needs, self.waits, strict=True):
            row[[unit for unit, _ in waits]] = [count for _, count in waits]
        return problem.end_cycle(np.arange(len(self.work)), needs)


def test_units_wait_for_counts_and_a_channel_goes_to_the_first():
    clock = Timed()
    clock.issue(LOAD, row(LOAD, a=160), [])  # 0 to 10
    clock.issue(MAC, row(MAC, k=8, c=8, p=5, q=4), [(LOAD.unit, 1)])  # 10 to 30
    clock.issue(STORE, row(STORE, a=160), [(MAC.unit, 1)])  # 32 to 42: the bus is taken
    clock.issue(LOAD, row(LOAD, a=100, b=2), [])  # 10 to 23
    clock.issue(LOAD, row(LOAD, a=144), [])  # 23 to 32
    assert clock.end_cycle() == 42


def test_dims_that_are_spread_take_a_part_of_the_time():
    clock = Timed()
    fields = row(MAC, k=8, c=8, p=10, q=3)
    fields[MAC.spread["x"]] = MAC.code(MAC.spread["x"], "p")
    clock.issue(MAC, fields, [])
    assert clock.end_cycle() == 3 * 3
    fields = fields.copy()
    fields[MAC.spread["y"]] = MAC.code(MAC.spread["y"], "p")
    clock.issue(MAC, fields, [])
    assert clock.end_cycle() == 3 * 3 + 3


def test_instructions_wait_for_room_in_queues():
    """Into a queue of one, a load only comes when the one before has started; the product behind it waits as well."""
    shallow = Isa(replace(ISA.machine, units=tuple(replace(unit, depth=1) for unit in ISA.machine.units)))
    ends: list[int] = []
    for isa in (ISA, shallow):
        clock = Timed(isa)
        for size in (160, 160, 16):  # 10, 10 and 1 cycles: the third load enters at 10
            clock.issue(LOAD, row(LOAD, a=size), [])
        clock.issue(MAC, row(MAC, k=8, c=8, p=5, q=5), [])
        ends.append(clock.end_cycle())
    assert ends == [25, 35]
