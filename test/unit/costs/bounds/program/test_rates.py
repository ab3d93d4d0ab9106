"""Least costs per operation, against boxes of all kinds."""

from itertools import product
from math import prod
from random import Random

import numpy as np
import pytest

from tilewright.algebra.parser import parse_expr
from tilewright.costs.bounds.program.rates import Rates, Shared
from tilewright.costs.mapping.binding import split_choices
from tilewright.costs.mapping.formula import compile_formula
from tilewright.frontends.acg import load_target
from tilewright.machine import Capability, CapabilityDim, Compute, Machine, Memory

TARGETS = "edge16", "cloud128", "cocco_npu", "tiny", "diannao", "uneven"


def costs(machine: Machine, capability: Capability, extents: dict[str, int], random: Random) -> tuple[float, float]:
    """Cycles and energy per operation of a box, spread somehow."""
    split = random.choice(split_choices(machine, capability))
    ways = {f"{name}_ways": 1 for name in extents}
    for _, name, count in split:
        ways[f"{name}_ways"] *= count
    ops = 1
    for extent in extents.values():
        ops *= extent
    env = {**extents, **ways, "ops": ops}
    cycles, energy = (compile_formula(f)(env) for f in (capability.cycles, capability.energy_pj))
    return float(cycles) / ops, float(energy) / ops


@pytest.mark.parametrize("target", TARGETS)
def test_no_box_is_cheaper(target: str):
    machine, random = load_target(target), Random(1)
    rates = Rates(machine)
    for capability in (c for node in machine.computes for c in node.capabilities):
        for _ in range(8):
            most = {dim.name: random.choice((1, 2, 3, 7, 16, 24, 100, 3000)) for dim in capability.dims}
            least = rates.rate(capability, tuple(most.values()))
            for _ in range(60):
                box = {
                    dim.name: random.choice((1, min(most[dim.name], dim.limit, dim.lanes), random.randint(1, n)))
                    for dim in capability.dims
                    if (n := min(most[dim.name], dim.limit))
                }
                cycles, energy = costs(machine, capability, box, random)
                assert least.cycles <= cycles
                assert least.energy_pj <= energy * (1 + 1e-12)


@pytest.mark.parametrize(
    ("extents", "cycles"),
    [
        ((1, 64, 49, 49, 64, 1, 1), 1 / 8192),  # all lanes of all cores
        ((1, 64, 49, 1, 64, 1, 1), (49 + 64) / (49 * 64 * 256)),  # what feeds them
        ((1, 64, 49, 49, 3, 1, 1), 1 / (8192 * 3 / 16)),  # three of sixteen channels
        ((32, 1, 49, 1, 1, 3, 3), 1 / 256),  # sixteen groups share a core of 16 x 32
        ((1, 1000, 1, 1, 2048, 1, 1), 1001 / 1000 / 256),  # a product with one vector reads each weight for itself
    ],
)
def test_rates_of_a_core(extents: tuple[int, ...], cycles: float):
    machine = load_target("edge16")
    mac = machine.computes[0].capabilities[0]
    found = Rates(machine).rate(mac, extents).cycles
    assert found == pytest.approx(cycles, rel=1e-9)


def machine_with(cycles: str) -> Machine:
    dims = CapabilityDim("a", 100), CapabilityDim("b", 100, 4)
    capability = Capability("c", "N", dims, None, (), parse_expr(cycles), parse_expr("2 * ops"))  # type: ignore[arg-type]
    memory = Memory("M", 8, 1, 1)
    return Machine("m", "queues", (memory,), (Compute("N", 1, 1, (capability,)),), ())


@pytest.mark.parametrize(
    ("cycles", "least"),
    [
        ("a * ceildiv(b, 4)", 1 / 4),
        ("a * a * b", 1),  # short boxes are cheaper
        ("5 + a * b", 1 + 5 / 10000),
        ("min(a * b, 7)", 7 / 10000),
        ("a * b - 1", 0),  # nothing is known of differences
        ("max(a * b - 1, b)", 1 / 100),  # but the other is
    ],
)
def test_shapes_of_formulas(cycles: str, least: float):
    machine = machine_with(cycles)
    found = Rates(machine).rate(machine.computes[0].capabilities[0], (1000, 1000))
    assert found.cycles == pytest.approx(least, rel=1e-9)
    assert found.energy_pj == pytest.approx(2)


@pytest.mark.parametrize("target", ["edge16", "cocco_npu", "tiny"])
def test_no_box_is_cheaper_per_block(target: str):
    """Of each box that holds `n` elements of a dim in blocks of `m` no more than `ceildiv(n, m)` are begun."""
    machine, random = load_target(target), Random(2)
    rates = Rates(machine)
    mac = machine.computes[0].capabilities[0]
    for slot in (i for i, dim in enumerate(mac.dims) if dim.lanes > 1):
        block = mac.dims[slot].lanes
        for _ in range(6):
            most = {dim.name: random.choice((1, 2, 5, 16, 34, 100)) for dim in mac.dims}
            least = rates.cycles_per_block(mac, tuple(most.values()), slot, block)
            for _ in range(200):
                box = {name: random.randint(1, extent) for name, extent in most.items()}
                points, own = 1, box[mac.dims[slot].name]
                for extent in box.values():
                    points *= extent
                begun = points // own * -(-own // block)
                assert least <= costs(machine, mac, box, random)[0] * points / begun * (1 + 1e-9)


def test_blocks_of_channels():
    """Nine blocks of 8 for 68 outputs, where each block is done by one of sixteen elements."""
    machine = load_target("cocco_npu")
    mac = machine.computes[0].capabilities[0]
    slots = [dim.name for dim in mac.dims]
    extents = tuple({"k": 68, "p": 64, "q": 64, "c": 64}.get(name, 1) for name in slots)
    found = Rates(machine).cycles_per_block(mac, extents, slots.index("k"), 8)
    assert found == pytest.approx(1 / 16 / 8, rel=1e-9)
    assert found * 9 / 68 > Rates(machine).rate(mac, extents).cycles * 1.05


PLACES, SUMS = (2, 3), (4, 5, 6)
"""Dims of a product that carry the same dims of a kernel: of positions, and of what is summed."""


@pytest.mark.parametrize("target", ["edge16", "cloud128", "cocco_npu"])
@pytest.mark.parametrize(("places", "sums"), [(1, 5), (4, 3), (6, 4), (9, 9)])
def test_no_box_with_so_many_elements_is_cheaper(target: str, places: int, sums: int):
    """All boxes of which two dims, and three others, have at most so many elements together."""
    machine = load_target(target)
    for mac in machine.computes[0].capabilities:
        most = (2, 5, *(min(n, dim.limit) for n, dim in zip((places,) * 2 + (sums,) * 3, mac.dims[2:], strict=True)))
        boxes = np.array(list(product(*(range(1, extent + 1) for extent in most)))).T
        boxes = boxes[:, (boxes[2:4].prod(axis=0) <= places) & (boxes[4:].prod(axis=0) <= sums)]
        env = {dim.name: own for dim, own in zip(mac.dims, boxes, strict=True)} | {"ops": boxes.prod(axis=0)}
        least = np.inf
        for split in split_choices(machine, mac):
            ways = {f"{dim.name}_ways": prod(n for _, name, n in split if name == dim.name) for dim in mac.dims}
            least = min(least, float((compile_formula(mac.cycles)(env | ways) / env["ops"]).min()))
        alone = Rates(machine).rate(mac, most).cycles
        together = Rates(machine).rate(mac, most, (Shared(PLACES, places), Shared(SUMS, sums))).cycles
        assert alone * (1 - 1e-9) <= together <= least * (1 + 1e-9)


@pytest.mark.parametrize("target", ["edge16", "cloud128"])
def test_no_large_box_with_so_many_elements_is_cheaper(target: str):
    machine, random = load_target(target), Random(3)
    for mac in machine.computes[0].capabilities[:2]:
        for _ in range(6):
            places, sums = random.choice((4, 49, 128)), random.choice((27, 256, 1024))
            most = dict(zip((d.name for d in mac.dims), (64, 1000, places, places, sums, sums, sums), strict=True))
            shared = Shared(PLACES, places), Shared(SUMS, sums)
            least = Rates(machine).rate(mac, tuple(most.values()), shared).cycles
            for _ in range(300):
                p, c = random.randint(1, places), random.choice((1, 8, 16, 64, random.randint(1, sums)))
                r = random.randint(1, max(1, sums // c))
                own = p, max(1, places // p), min(c, sums), r, max(1, sums // (c * r))
                box = dict(zip(most, (random.choice((1, 4, 64)), random.choice((4, 16, 64, 999)), *own), strict=True))
                if all(box[dim.name] <= dim.limit for dim in mac.dims):
                    assert least <= costs(machine, mac, box, random)[0] * (1 + 1e-9)


def test_a_product_with_four_vectors_reads_each_weight_for_these():
    """1,024 x 1,000 weights of f32 come from the buffer 64 a cycle; two dims of four positions are no 16 of them."""
    machine = load_target("edge16")
    most, shared = (1000, 1000, 4, 4, 1024, 1024, 1024), (Shared(PLACES, 4), Shared(SUMS, 1024))
    fmac = machine.computes[0].capabilities[1]
    assert Rates(machine).rate(fmac, most, shared).cycles == pytest.approx(1 / 256, rel=1e-6)
    assert Rates(machine).rate(fmac, most).cycles < 1 / 1000
