"""Paths of operands through memories, and what is said where there is none."""

from __future__ import annotations

import pytest

from tilewright.errors import TilewrightError
from tilewright.frontends.acg import load_target, parse_target
from tilewright.machine.memory_chain import memory_chain, multiply_accumulate

TWO_WAYS = """acg two {
  memory DRAM { data_width 8; offchip; }
  memory L2 { data_width 8; depth 64; holds I, O; }
  memory Act[2][1] { data_width 8; depth 16; holds I; }
  memory Sum[2][1] { data_width 8; depth 16; }
  memory Reg[4][3] { data_width 8; depth 1; holds W; }
  compute MAC[4][3] {
    capability mac { O{} += I{} * W{}; types i32 = i8, i8; }
  }
  link DRAM <-> L2 <-> Sum <-> MAC;
  link L2 -> Act -> MAC;
  link DRAM -> Reg -> MAC;
}
"""


def chain_of(text: str) -> dict[str, tuple[str, ...]]:
    machine = parse_target(text, "two.acg")
    capability = multiply_accumulate(machine)
    assert capability is not None
    chain = memory_chain(machine, capability)
    return {memory.name: names for memory, names in zip(chain.memories, chain.served, strict=True)}


def test_operands_follow_links() -> None:
    """Nothing is said of Sum; I and O reach it."""
    expected = {"Reg": ("W",), "Sum": ("O", "I"), "Act": ("I",), "L2": ("O", "I"), "DRAM": ("O", "I", "W")}
    assert chain_of(TWO_WAYS) == expected
    assert list(chain_of(TWO_WAYS)) == list(expected)


def test_operands_follow_instructions() -> None:
    machine = load_target("tiny")
    capability = multiply_accumulate(machine)
    assert capability is not None
    assert capability.name == "mac"
    assert memory_chain(machine, capability).served == (("O", "X", "W"), ("O", "X", "W"))


BROKEN = {
    "unknown operand": (
        "holds W;",
        "holds V;",
        "two.acg:6 (memory Reg): expected operands among O, I, W, found `holds V`",
    ),
    "operand twice": ("holds W;", "holds W, W;", "two.acg:6 (memory Reg): expected each operand once, found W, W"),
    "no path of an input": (
        "  link DRAM -> Reg -> MAC;\n",
        "",
        "two.acg:6 (memory Reg): expected links that bring W here and on, found none",
    ),
    "no memory for an input": (
        "memory Reg[4][3] { data_width 8; depth 1; holds W; }",
        "memory Reg[4][3] { data_width 8; depth 1; holds I; }",
        "two.acg:8 (capability MAC.mac): expected a path of links for W from an off-chip memory, through memories that",
    ),
    "no path of the output": (
        "link DRAM <-> L2 <-> Sum <-> MAC;",
        "link MAC -> DRAM -> L2 -> Sum -> MAC;",
        "two.acg:3 (memory L2): expected links that bring O here and on",
    ),
    "columns that do not divide": (
        "Reg[4][3]",
        "Reg[3][3]",
        "two.acg:6 (memory Reg): expected instances that those of Sum outside, [2][1], divide, found [3][3]",
    ),
    "rows that do not divide": (
        "MAC[4][3]",
        "MAC[4][4]",
        "two.acg:7 (compute MAC): expected instances that those of Reg outside, [4][3], divide, found [4][4]",
    ),
    "nothing multiplies": (
        "I{} * W{}",
        "I{} + W{}",
        "two.acg:3 (memory L2): expected a capability that sums products of operands, found none; give a compute node",
    ),
    "no depth on chip": ("depth 64; ", "", "expected depth of memory L2, found none"),
    "instances": ("Act[2][1]", "Act[0][1]", "two.acg:4 (memory Act): expected 1 to 1048576 instances, found [0][1]"),
    "buffering": (
        "depth 64;",
        "depth 64; buffering 0.5;",
        "(memory L2): expected a buffering of at least 1, found 0.5",
    ),
    "block": ("depth 64;", "depth 64; block 0;", "(memory L2): expected a block of at least 1 word, found 0"),
    "bandwidth": (
        "depth 64;",
        "depth 64; read_bandwidth 0;",
        "(memory L2): expected positive bandwidths, at least 1e-09 words per cycle, found 0.0; without one it",
    ),
    "two prices": (
        "depth 64;",
        "depth 64; read_energy 1; access_energy 1;",
        "(memory L2): expected energies per byte or per access, found both; leave one out",
    ),
    "price of writes only": (
        "depth 64;",
        "depth 64; write_access_energy 1;",
        "(memory L2): expected access_energy beside write_access_energy, found none",
    ),
    "holds twice": ("holds W;", "holds W; holds W;", "two.acg:6:54: expected holds once, found it twice"),
}


@pytest.mark.parametrize(("old", "new", "message"), BROKEN.values(), ids=BROKEN)
def test_rules(old: str, new: str, message: str) -> None:
    assert TWO_WAYS.count(old) == 1
    with pytest.raises(TilewrightError) as raised:
        parse_target(TWO_WAYS.replace(old, new), "two.acg")
    assert message in str(raised.value)
