"""Machines from the three forms of YAML."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tilewright.costs.hierarchy import Architecture, Level
from tilewright.errors import TilewrightError
from tilewright.frontends.timeloop import load_architecture, parse_timeloop

LISTS = """arch:
  arithmetic: {instances: 64, meshX: 16, word-bits: 8, energy: 2}
  storage:
  - {name: Reg, entries: 4, instances: 64, meshX: 16, word-bits: 8, vector-access-energy: 0.5}
  - {name: L2, sizeKB: 64, instances: 4, block-size: 4, vector-access-energy: 6, bandwidth: 10, multiple-buffering: 2}
  - {name: DRAM, technology: DRAM, instances: 1, word-bits: 8, vector-access-energy: 512, energy_per_hop: 0.5}
"""

REG = Level("Reg", 4, 64, 16, 1, 0.5, word_bits=8)
L2 = Level("L2", 32768, 4, 4, 4, 6.0, 5.0, 5.0, multiple_buffering=2.0)
DRAM = Level("DRAM", None, 1, 1, 1, 512.0, hop_energy_pj=0.5, word_bits=8)
MACHINE = Architecture("machine", (REG, L2, DRAM), "MAC", 64, 16, 2.0)

TREE = """architecture:
  version: 0.3
  subtree:
  - name: system
    attributes: {technology: 40nm, datawidth: 8}
    local:
    - {name: DRAM, class: DRAM, attributes: {vector_access_energy: 512, energy-per-hop: 0.5}}
    subtree:
    - name: chip[0..3]
      local:
      - name: L2
        class: SRAM
        attributes:
          {depth: 8192, block-size: 4, word-bits: 16, read_bandwidth: 5, write_bandwidth: 5, multiple_buffering: 2}
      subtree:
      - name: PE[1..16]
        local:
        - {name: Reg, class: regfile, attributes: {depth: 4, width: 8, meshX: 16, vector_access_energy: 0.5}}
        - {name: MAC, class: intmac, attributes: {meshX: 16}}
"""

TABLE = """ERT:
  version: 0.3
  tables:
  - name: system.chip[0..3].L2
    actions:
    - {name: read, energy: 5, arguments: {address_delta: 0}}
    - {name: read, energy: 6, arguments: {address_delta: 1}}
    - {name: write, energy: 6}
    - {name: leak, energy: 0.1}
  - {name: 'system.chip[0..3].PE[1..16].MAC', actions: [{name: compute, energy: 2}]}
"""

NODES = """architecture:
  version: 0.4
  nodes:
  - !Container {name: system, attributes: {datawidth: 8}}
  - !Component {name: DRAM, class: DRAM, attributes: {width: 64, vector_access_energy: 512}}
  - !Component
    name: GLB
    class: smartbuffer_SRAM
    attributes: {depth: 16, width: 32, vector_access_energy: 6, shared_bandwidth: 8}
    constraints: {dataspace: {keep: [Inputs, Outputs], bypass: [Weights]}}
  - !Container {name: columns, spatial: {meshX: 4}}
  - !Container {name: rows, spatial: {meshY: 2}}
  - !Parallel
    nodes:
    - !Component
      name: Sums
      class: storage
      attributes: {depth: 2, width: 24, datawidth: 24, vector_access_energy: 0.5}
      constraints: {dataspace: {keep: [Outputs]}}
    - !Component
      name: Weights
      class: storage
      attributes: {depth: 2, width: 8, vector_access_energy: 0.25}
      constraints: {dataspace: {keep_only: [Weights]}}
    - !Nothing {constraints: {dataspace: {keep: [Inputs]}}}
  - !Component {name: mac, class: intmac, spatial: {meshY: 3}, attributes: {energy: 2}}
"""


def machine_of(*texts: str) -> Architecture:
    machine = parse_timeloop(*texts).architecture
    assert machine is not None
    return machine


def test_list_form() -> None:
    assert machine_of(LISTS) == MACHINE


def test_tree_form_with_energies_in_a_table() -> None:
    assert machine_of(TREE, TABLE) == replace(MACHINE, name="system")


def test_prices_of_writes() -> None:
    table = TABLE.replace("{name: write, energy: 6}", "{name: write, energy: 7}")
    assert machine_of(TREE, table).levels[1] == replace(L2, write_energy_pj=7.0)
    prices = "{a.L2: {read: [{energy: 6}], write: {energy: 8}}, a.MAC: {mac_random: {energy: 2}}}"
    old = f"ERT: {{version: 0.2, tables: {prices}}}"
    assert machine_of(TREE, old).levels[1] == replace(L2, write_energy_pj=8.0)


def test_nodes_form() -> None:
    weights = Level("Weights", 2, 8, 4, 1, 0.25, word_bits=8, holds=("W",))
    sums = Level("Sums", 2, 8, 4, 1, 0.5, word_bits=24, holds=("O",))
    glb = Level("GLB", 64, 1, 1, 4, 6.0, shared_bandwidth=8.0, word_bits=8, holds=("O", "I"))
    dram = Level("DRAM", None, 1, 1, 8, 512.0, word_bits=8)
    assert machine_of(NODES) == Architecture("system", (weights, sums, glb, dram), "mac", 24, 4, 2.0)


def test_constraints_tell_what_a_level_holds() -> None:
    for key in ("architecture_constraints: {targets: [", "mapspace_constraints: ["):
        end = "]}" if "{" in key else "]"
        text = f"{key}{{target: Reg, type: datatype, keep: [Weights], bypass: [Inputs, Outputs]}}{end}"
        assert machine_of(LISTS, text).levels[0].holds == ("W",)


def test_operands_of_other_problems() -> None:
    """Data spaces that are none of a layer's are operands of their own."""
    problem = "problem: {shape: gemm-ABZ, M: 2, N: 2, K: 2}"
    constraint = "architecture_constraints: [{target: Reg, type: bypass, bypass: [A, Z]}]"
    machine = machine_of(LISTS, problem, constraint)
    assert machine.operands == ("Z", "A", "B")
    assert machine.levels[0].holds == ("B",)


WRONG = {
    "no energy": (LISTS, ", vector-access-energy: 6", "", "yaml 1:5: expected an energy for L2: vector_access_energy"),
    "no energy of the arithmetic": (LISTS, ", energy: 2", "", "yaml 1:2: expected an energy for MAC: energy"),
    "an expression": (
        LISTS,
        "entries: 4",
        "entries: 2 * 2",
        "yaml 1:4: expected entries of Reg: a number of at least 0",
    ),
    "a negative number": (LISTS, "entries: 4", "entries: -4", "yaml 1:4: expected entries of Reg"),
    "rows of columns": (LISTS, "instances: 4,", "instances: 4, meshX: 3,", "yaml 1:5: expected L2: instances that are"),
    "instances that divide": (LISTS, "instances: 4,", "instances: 5,", "instances and meshX that divide"),
    "a name twice": (
        LISTS,
        "name: L2",
        "name: Reg",
        "yaml 1:4: expected components, each with a name of its own, found `Reg` twice",
    ),
    "no form": (LISTS, "storage:", "stores:", "yaml 1:2: expected an architecture: nodes, a subtree, or storage"),
    "a network of its own": (LISTS, "sizeKB: 64", "network_read: x", "expected L2 without network_read, found `x`"),
    "wires": (LISTS, "energy_per_hop", "wire_energy", "expected DRAM: energy_per_hop"),
    "two subtrees": (TREE, "  - name: system\n", "  - {name: a}\n  - name: system\n", "expected one subtree"),
    "a range": (TREE, "chip[0..3]", "chip[0..x]", "yaml 1:9: expected a range like [0..15]"),
    "an empty range": (TREE, "chip[0..3]", "chip[3..2]", "expected a range that is not empty"),
    "an unknown node": (NODES, "!Parallel", "!Pipelined", "yaml 1:13: expected !Container, !Component"),
    "an unknown data space": (NODES, "keep_only: [Weights]", "keep_only: [V]", "expected data spaces among Outputs"),
    "lines of part of a word": (NODES, "width: 24, data", "width: 20, data", "a width of whole words of 24 bits"),
    "storage at last": (NODES, "class: intmac", "class: storage", "expected a component that computes as the last one"),
}


@pytest.mark.parametrize(("text", "old", "new", "message"), WRONG.values(), ids=WRONG)
def test_what_is_wrong(text: str, old: str, new: str, message: str) -> None:
    assert text.count(old) == 1
    text = text.replace(old, new)
    if "storage" in new and "last" in message:
        text = text.replace("{energy: 2}", "{depth: 2, energy: 2}")
    with pytest.raises(TilewrightError) as raised:
        machine_of(text, *([TABLE] if text.startswith(TREE[:40]) and "subtree" in text else []))
    assert message in str(raised.value)


def test_two_of_a_kind() -> None:
    with pytest.raises(TilewrightError, match=r"yaml 2:\d+: expected one arch, found a second one after yaml 1:"):
        parse_timeloop(LISTS, LISTS)


def test_a_file_without_a_machine(tmp_path: Path) -> None:
    path = tmp_path / "other.yaml"
    path.write_text("mapper: {}\n")
    with pytest.raises(TilewrightError, match="expected a Timeloop architecture or arch"):
        load_architecture(path)
