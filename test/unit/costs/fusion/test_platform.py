"""Platforms read from machines, and cycles as the machine's own formula has them."""

from itertools import product
from random import Random

import numpy as np
import pytest

from tilewright.costs.fusion import (
    Buffers,
    Edge,
    Input,
    Layer,
    LayerGraph,
    Platform,
    Shape,
    SubgraphPricer,
    platform_of,
)
from tilewright.costs.mapping.formula import compile_formula
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import load_target, parse_target
from tilewright.machine.memory_chain import multiply_accumulate


def test_the_default_is_the_target():
    assert platform_of(load_target("cocco_npu")) == Platform(name="cocco_npu")


def test_one_memory_is_a_shared_buffer():
    platform = platform_of(load_target("edge16"))
    assert platform.buffers == Buffers(8 << 20)
    assert (platform.array, platform.lanes, platform.align_bytes) == ((4, 4), (16, 32), 64)
    assert (platform.mac_pj, platform.dram_bytes_per_cycle) == (0.018, 16)


def test_energies_per_access_and_instances():
    """16 buffers of 32 KiB hold weights; words of a byte."""
    platform = platform_of(load_target("simba_like_dbw"))
    assert platform.buffers == Buffers(512 << 10, 512 << 10)
    assert (platform.global_read_pj, platform.weight_read_pj, platform.mac_pj) == (5.6, 5.59, 0.56)


MACHINE = """acg m {
  memory DRAM { data_width 8; offchip; }
  memory L1 { data_width 8; depth 64; }
  compute MAC { capability mac { O{} += I{} * W{}; types i32 = i8, i8; energy 1; } }
  link DRAM <-> L1 { bandwidth 1; }
  link L1 <-> MAC;
}"""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [("I{} * W{}", "I{} + W{}", "a capability that sums products"), ("{ bandwidth 1; }", ";", "a bandwidth")],
)
def test_machines_that_cannot_be_read(old: str, new: str, words: str):
    assert platform_of(parse_target(MACHINE)).buffers == Buffers(64)
    with pytest.raises(TilewrightError, match=words):
        platform_of(parse_target(MACHINE.replace(old, new)))


@pytest.mark.parametrize("seed", range(10))
def test_cycles_are_the_formula_s(seed: int):
    """A block of results takes the fewest cycles over all ways to spread the capability's dims over the array."""
    random = Random(seed)
    machine = load_target("cocco_npu")
    capability = multiply_accumulate(machine)
    assert capability is not None
    groups, reduction = random.choice(((1, random.randint(1, 40)), (random.randint(2, 40), random.randint(1, 3))))
    per_group = random.randint(1, 40) if groups == 1 else random.randint(1, 3)
    rows, columns, taps = random.randint(1, 9), random.randint(1, 9), random.choice((1, 3, 9))
    extents = {"g": groups, "k": per_group, "c": reduction, "p": rows, "q": columns, "r": taps, "s": 1}
    formula = compile_formula(capability.cycles)

    def cycles(spread: tuple[str, str]) -> int:
        ways = {f"{dim}_ways": 4 ** spread.count(dim) for dim in capability.splits}
        return int(formula(extents | ways | {"ops": int(np.prod(list(extents.values())))}))

    spreads = [pair for pair in product("gkcpq", "gkcpq") if pair not in (("p", "p"), ("q", "q"))]
    best = min(map(cycles, spreads))
    layer = Layer("y", "conv", Shape(groups * per_group, rows, columns), (Edge(-1),), 1, reduction, taps, groups)
    graph = LayerGraph("one", (Input("x", Shape(groups * reduction, rows, columns)),), (layer,))
    pricer = SubgraphPricer(graph, platform_of(machine), tiles=((1, 1), (16, 16)))
    cost = pricer.cost([0])
    assert cost is not None
    assert (cost.tile, cost.compute_cycles) == ((16, 16), best)
