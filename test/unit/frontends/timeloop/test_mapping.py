"""Mappings from YAML."""

from __future__ import annotations

import pytest

from tilewright.costs.hierarchy import LevelMapping, Loop, LoopMapping
from tilewright.errors import TilewrightError
from tilewright.frontends.timeloop import parse_timeloop
from tilewright.frontends.timeloop.mapping import border

MACHINE = """arch:
  arithmetic: {instances: 8, meshX: 4, energy: 1}
  storage:
  - {name: L1, entries: 64, instances: 8, meshX: 4, vector_access_energy: 1}
  - {name: DRAM, instances: 1, vector_access_energy: 100}
"""
PROBLEM = "problem: {shape: gemm-ABZ, M: 12, N: 8, K: 7}\n"
MAPPING = """mapping:
- {target: DRAM, type: temporal, factors: K=7 M=1 N=2, permutation: KN}
- {target: 1, type: spatial, factors: 'M=4,N2', permutation: [M, N], split: 1}
- {target: L1, type: temporal, factors: [M=3, N=2]}
- {target: L1, type: bypass, keep: [Z], bypass: [A, B]}
"""
M, N, K = range(3)


def mapping_of(text: str) -> LoopMapping:
    mapping = parse_timeloop(MACHINE, PROBLEM, text).mapping
    assert mapping is not None
    return mapping


def test_directives() -> None:
    inner = LevelMapping((Loop(M, 3), Loop(N, 2)), bypass=frozenset("AB"))
    outer = LevelMapping((Loop(K, 7), Loop(N, 2)), (Loop(M, 4),), (Loop(N, 2),))
    assert mapping_of(MAPPING) == LoopMapping((inner, outer))


def test_without_a_split_all_lies_along_x() -> None:
    level = mapping_of(MAPPING.replace(", split: 1", "")).levels[1]
    assert (level.spatial_x, level.spatial_y) == ((Loop(M, 4), Loop(N, 2)), ())


def test_zero_is_the_whole_bound() -> None:
    assert mapping_of(MAPPING.replace("K=7", "K=0")) == mapping_of(MAPPING)


def test_residues_are_tiles_cut_off() -> None:
    """7 in tiles of 3: two whole ones and one of 1."""
    text = MAPPING.replace("K=7", "K=3").replace("[M=3, N=2]", "['K=3,1', M=3, N=2]")
    mapping = mapping_of(text)
    assert Loop(K, 3) in mapping.levels[0].temporal
    assert border(mapping, K, 7) == ((1, "temporal", 3, 3), (0, "temporal", 3, 1))


@pytest.mark.parametrize("bound", range(1, 40))
def test_borders_count_every_point(bound: int) -> None:
    """The formula by which Timeloop checks residues gives the bound."""
    factors = (2, 3, 2, 4)
    levels = tuple(LevelMapping((Loop(0, t),), (Loop(0, s),)) for s, t in zip(factors[::2], factors[1::2], strict=True))
    product = 0
    for _, _, factor, residue in border(LoopMapping(levels), 0, bound):
        assert 1 <= residue <= factor
        product = product * factor + residue - 1
    assert product + 1 == bound


NODES = """architecture:
  version: 0.4
  nodes:
  - !Component {name: DRAM, class: DRAM, attributes: {vector_access_energy: 100}}
  - !Container {name: col, spatial: {meshX: 4}}
  - !Container {name: row, spatial: {meshY: 2, meshX: 2}}
  - !Component {name: L1, class: regfile, attributes: {depth: 64, vector_access_energy: 1}}
  - !Component {name: MAC, class: mac, attributes: {energy: 1}}
"""
ARRAYS = """mapping:
- {target: DRAM, type: temporal, factors: K=7, permutation: K}
- {target: inter_col_spatial, type: bypass, keep: [], bypass: [A, B, Z]}
- {target: inter_col_spatial, type: temporal, factors: M=1, permutation: MNK}
- {target: inter_col_spatial, type: spatial, factors: M=2 N=2, permutation: MN, split: 2}
- {target: inter_row_spatial, type: spatial, factors: M=2 N=2, permutation: MN, split: 1}
- {target: L1, type: temporal, factors: M=3 N=2}
"""


def test_arrays_of_containers() -> None:
    """The front end's levels without storage: their loops are those of the storage around, inner arrays inside."""
    mapping = parse_timeloop(NODES, PROBLEM, ARRAYS).mapping
    assert mapping is not None
    assert mapping.levels[1] == LevelMapping((Loop(K, 7),), (Loop(M, 4), Loop(N, 2)), (Loop(N, 2),))
    with pytest.raises(TilewrightError, match="no temporal loops at inter_col_spatial, which stores nothing"):
        parse_timeloop(NODES, PROBLEM, ARRAYS.replace("M=1", "M=2"))


def test_arrays_as_the_front_end_writes_them_out() -> None:
    written = """architecture:
      subtree:
      - name: System_top_level
        local:
        - {name: 'DRAM[1..1]', class: DRAM, attributes: {vector_access_energy: 100}}
        - {name: 'inter_col_spatial[1..1]', class: dummy_storage, attributes: {meshX: 1}}
        - {name: 'inter_row_spatial[1..4]', class: dummy_storage, attributes: {meshX: 4}}
        - {name: 'L1[1..16]', class: regfile, attributes: {depth: 64, meshX: 8, vector_access_energy: 1}}
        - {name: 'MAC[1..16]', class: mac, attributes: {meshX: 8, energy: 1}}
    """
    ours, theirs = (parse_timeloop(machine, PROBLEM, ARRAYS) for machine in (NODES, written))
    assert ours.mapping == theirs.mapping
    assert ours.architecture is not None
    assert theirs.architecture is not None
    assert ours.architecture.levels == theirs.architecture.levels


WRONG = {
    "a product too small": ("K=7", "K=6", "yaml 3:2: expected factors of K that multiply to 7, found a product of 6"),
    "a product too large": ("K=7", "K=9", "expected temporal factor of K at DRAM: K=9,7, so that the factors reach 7"),
    "a residue elsewhere": ("K=7 M=1 N=2", "'K=7,6 M=1 N=2'", "K=7, so that the factors reach 7, found K=7,6"),
    "no such level": ("target: 1", "target: L3", "yaml 3:3: expected a level among L1, DRAM, found `L3`"),
    "no such dimension": (
        "permutation: KN",
        "permutation: KX",
        "yaml 3:2: expected a dimension among M, N, K, found `X`",
    ),
    "a dimension twice": ("permutation: KN", "permutation: KK", "expected each dimension of a permutation once"),
    "a factor twice": ("K=7", "K=7 K=1", "expected factors like `P=4 Q=2`, each dimension once, found `K=1`"),
    "no factors": ("K=7 M=1 N=2", "often", "yaml 3:2: expected factors like `P=4 Q=2`, found `often`"),
    "no such data space": ("bypass: [A, B]", "bypass: [A, C]", "expected data spaces among A, B, Z, found `C`"),
    "a directive twice": ("target: 1, type: spatial", "target: L1, type: temporal", "expected one temporal directive"),
    "another type": (
        "type: bypass",
        "type: skew",
        "yaml 3:5: expected a directive of type temporal, spatial or bypass",
    ),
    "a switch": ("split: 1", "no_link_transfer: [A]", "expected a mapping without no_link_transfer, found a list"),
    "too many children": ("M=4,N2", "M=400000,N2", "expected at most 65536 spatial children"),
}


@pytest.mark.parametrize(("old", "new", "message"), WRONG.values(), ids=WRONG)
def test_what_is_wrong(old: str, new: str, message: str) -> None:
    assert MAPPING.count(old) == 1
    with pytest.raises(TilewrightError) as raised:
        mapping_of(MAPPING.replace(old, new))
    assert message in str(raised.value)
