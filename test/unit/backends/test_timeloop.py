"""What is written for Timeloop says what was meant: it reads back, and has the form that the tool asks for."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from tilewright.backends.timeloop import (
    architecture_yaml,
    dimension_letters,
    mapping_yaml,
    problem_yaml,
    write_timeloop,
)
from tilewright.costs.hierarchy import (
    Architecture,
    Level,
    LevelMapping,
    Loop,
    LoopMapping,
    Problem,
    Tensor,
    architecture_of,
    parse_architecture,
    parse_mapping,
    parse_problem,
)
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import load_target
from tilewright.frontends.timeloop import load_timeloop, parse_timeloop

SAMPLE: Any = json.loads((Path(__file__).parents[2] / "data" / "timeloop_sample.json").read_text())
ENTRIES = [
    e for e in SAMPLE["random_mappings"] + SAMPLE["link_transfer_mappings"] if e["problem"] in SAMPLE["problems"]
]


def without_roles(problem: Problem) -> Problem:
    return replace(problem, tensors=tuple(replace(t, role="") for t in problem.tensors))


@pytest.mark.parametrize("number", range(0, len(ENTRIES), 3))
def test_reference_mappings_read_back(number: int, tmp_path: Path) -> None:
    entry = ENTRIES[number]
    arch = parse_architecture(SAMPLE["archs"][entry["arch"]])
    problem = parse_problem(SAMPLE["problems"][entry["problem"]])
    mapping = parse_mapping(entry["mapping"], arch, problem)
    back = load_timeloop(*write_timeloop(tmp_path / "out", arch, problem, mapping))
    assert back.mapping == mapping
    assert back.problem is not None
    assert back.architecture is not None
    assert without_roles(back.problem) == without_roles(problem)
    for level, again in zip(arch.levels, back.architecture.levels, strict=True):
        assert replace(level, holds=None) == replace(again, holds=None)
    for index in range(len(arch.levels)):
        assert back.architecture.may_hold(index, back.problem) == arch.may_hold(index, problem)
    assert (back.architecture.mac_instances, back.architecture.mac_mesh_x) == (arch.mac_instances, arch.mac_mesh_x)
    assert back.architecture.mac_energy_pj == arch.mac_energy_pj


@pytest.mark.parametrize(
    "name", ["conventional_noc", "cosa_simba", "diannao_like", "eyeriss_like", "lanes", "tpu_like"]
)
def test_targets_read_back(name: str) -> None:
    arch = architecture_of(load_target(name))
    back = parse_timeloop(architecture_yaml(arch)).architecture
    assert back is not None
    levels = tuple(replace(level, mesh_flit_bits=0) for level in arch.levels)  # it has no word for flits
    assert back == replace(arch, levels=levels)


def test_what_timeloop_has_no_word_for_is_left_out() -> None:
    arch = architecture_of(load_target("tiny"))
    back = parse_timeloop(architecture_yaml(arch)).architecture
    assert back is not None
    levels = tuple(replace(level, network_bandwidth=None) for level in arch.levels)
    assert replace(back, operands=arch.operands) == replace(arch, levels=levels)
    assert back.levels[0].write_energy_pj == 1.6


CHAIN = Architecture("two", (Level("L1", 64, 8, 4, 1, 1.5), Level("DRAM", None, 1, 1, 1, 100.0)), "MAC", 8, 4, 2.5)
WINDOW = Problem(
    "window",
    ("pixel", "row", "P"),
    (12, 3, 7),
    (Tensor("I", ((2, 1, 0),)), Tensor("W", ((0, 1, 0), (0, 0, 3))), Tensor("O", ((1, 0, 0),), True)),
)


def test_form_of_the_files() -> None:
    """Lists of storage from the inside, energies of parts of a pJ in a table, permutations of letters."""
    arch = yaml.safe_load(architecture_yaml(CHAIN))
    assert [level["name"] for level in arch["arch"]["storage"]] == ["L1", "DRAM"]
    assert "energy" not in arch["arch"]["arithmetic"]
    (table,) = arch["ERT"]["tables"]
    assert {action["energy"] for action in table["actions"]} == {2.5}
    assert dimension_letters(WINDOW) == ("p", "R", "P")
    problem = yaml.safe_load(problem_yaml(WINDOW))["problem"]
    assert problem["shape"]["coefficients"] == [{"name": "by2", "default": 2}, {"name": "by3", "default": 3}]
    assert problem["shape"]["data_spaces"][0]["projection"] == [[["p", "by2"], ["R"]]]
    assert problem["instance"] == {"p": 12, "R": 3, "P": 7, "by2": 2, "by3": 3}
    assert problem_yaml(WINDOW).startswith("# p is pixel, R is row\n")


def test_directives() -> None:
    """The first `split` dimensions of a spatial permutation lie along X; 7 in tiles of 3 leaves one of 1."""
    inner = LevelMapping((Loop(2, 3), Loop(0, 3)), bypass=frozenset({"W"}))
    outer = LevelMapping((Loop(2, 3), Loop(1, 3)), (Loop(0, 2),), (Loop(0, 2),))
    with pytest.raises(
        TilewrightError, match="a dimension once per level, found pixel in several spatial loops at DRAM"
    ):
        mapping_yaml(CHAIN, WINDOW, LoopMapping((inner, outer)))
    outer = replace(outer, spatial_x=(Loop(0, 4),), spatial_y=())
    directives = yaml.safe_load(mapping_yaml(CHAIN, WINDOW, LoopMapping((inner, outer))))["mapping"]
    assert directives == [
        {"target": "DRAM", "type": "temporal", "factors": "p=1 R=3 P=3", "permutation": "PRp"},
        {"target": "DRAM", "type": "spatial", "factors": "p=4 R=1 P=1", "permutation": "pRP", "split": 1},
        {"target": "L1", "type": "bypass", "keep": ["I", "O"], "bypass": ["W"]},
        {"target": "L1", "type": "temporal", "factors": "p=3 R=1 P=3,1", "permutation": "PpR"},
    ]


def test_spatial_loops_need_an_array() -> None:
    inner = LevelMapping((), (Loop(0, 2),))
    with pytest.raises(TilewrightError, match="spatial loops at L1, which has one child"):
        mapping_yaml(CHAIN, WINDOW, LoopMapping((inner, LevelMapping())))


@pytest.mark.parametrize("seed", range(20))
def test_imperfect_mappings_read_back(seed: int) -> None:
    rng = Random(seed)
    bounds = tuple(rng.randint(1, 40) for _ in range(3))
    problem = replace(WINDOW, dims=("p", "r", "k"), bounds=bounds)
    factors = [[rng.randint(1, 5) for _ in range(3)] for _ in range(3)]
    last = [-(-bound // (a * b * c)) for bound, a, b, c in zip(bounds, *factors, strict=True)]
    loops = [[Loop(dim, factor) for dim, factor in enumerate(row) if factor > 1] for row in (*factors, last)]
    for row in loops:
        rng.shuffle(row)
    inner, along_x, outer = LevelMapping(tuple(loops[0])), tuple(loops[1]), tuple(loops[3])
    middle = LevelMapping(tuple(loops[2]), along_x[:1], along_x[1:])
    levels = (CHAIN.levels[0], Level("L2", 999, 1, 1, 1, 1.0), CHAIN.levels[1])
    arch = replace(CHAIN, levels=levels)
    mapping = LoopMapping((inner, middle, LevelMapping(outer)))
    texts = architecture_yaml(arch), problem_yaml(problem), mapping_yaml(arch, problem, mapping)
    assert parse_timeloop(*texts).mapping == mapping


def test_dimensions_beyond_the_alphabet() -> None:
    dims = tuple(f"d{i}" for i in range(60))
    with pytest.raises(TilewrightError, match="at most 52 dimensions"):
        dimension_letters(replace(WINDOW, dims=dims))
