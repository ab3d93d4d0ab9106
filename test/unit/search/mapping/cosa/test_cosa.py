"""CoSA: the program against brute force and against the released code's optima, and what its mappings obey."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations, product
from math import inf, log2, prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.costs.hierarchy import (
    Architecture,
    Level,
    LevelMapping,
    Loop,
    LoopMapping,
    Problem,
    Tensor,
    parse_architecture,
)
from tilewright.costs.timeloop import evaluate
from tilewright.errors import InfeasibleError
from tilewright.search.mapping.cosa import Weights, place, solve
from tilewright.search.mapping.cosa.solve import fixed_order, repair
from tilewright.search.mapping.room import Room
from tilewright.search.mapping.values import Request, Space
from tilewright.zoo.mapping_layers import convolution, layer
from tilewright.zoo.mapping_layers.tables import ConvShape

ROOT = Path(__file__).parents[5]
OWN = ROOT / "test/data/cosa_objectives.json"
FULL = ROOT.parent / "shared/data/cosa_results.json"
TIMELOOP = Request("edp", "timeloop", Space(split_axes=True))


def machine(inner: int = 8, middle: int = 24) -> Architecture:
    levels = (Level("L1", inner, 4, 2, 1, 1.0), Level("L2", middle, 1, 1, 1, 6.0), Level("DRAM", None, 1, 1, 1, 60.0))
    return Architecture("small", levels, "MAC", 4, 2, 0.5)


def conv(p: int, r: int, k: int, stride: int = 1) -> Problem:
    tensors = (
        Tensor("I", ((stride, 1, 0),)),
        Tensor("W", ((0, 1, 0), (0, 0, 1))),
        Tensor("O", ((1, 0, 0), (0, 0, 1)), is_output=True),
    )
    return Problem("conv", ("P", "R", "K"), (p, r, k), tensors)


def splits(bound: int) -> list[tuple[int, ...]]:
    """Factors for L1, columns, rows, L2 and DRAM."""
    divisors = [d for d in range(1, bound + 1) if bound % d == 0]
    return [f for f in product(divisors, repeat=5) if prod(f) == bound]


def box(problem: Problem, tensor: Tensor, tile: tuple[int, ...]) -> int:
    del problem
    return prod(tensor.extents(tile))


def fits(problem: Problem, tile: tuple[int, ...], capacity: float, parts: int = 8) -> bool:
    """Whether some division of the memory into eighths has room for each tensor."""
    words = [box(problem, tensor, tile) for tensor in problem.tensors]
    shares = [a for a in product(range(1, parts), repeat=3) if sum(a) == parts]
    return any(all(w <= capacity * s / parts for w, s in zip(words, share, strict=True)) for share in shares)


def moving(problem: Problem, tensor: Tensor, order: tuple[int, ...], factors: tuple[int, ...]) -> float:
    """Iterations, inner to outer, from the first one that moves the tensor."""
    started, found = False, 0.0
    for dim in order:
        started |= factors[dim] > 1 and any(row[dim] for row in tensor.coefficients)
        found += log2(factors[dim]) if started else 0.0
    del problem
    return found


def every_objective(arch: Architecture, problem: Problem, weights: Weights) -> Iterator[float]:
    """The released code's objective for every placement that the constraints allow, from tile sizes alone."""
    for rows in product(*(splits(bound) for bound in problem.bounds)):
        inner, columns, lines, middle, outer = zip(*rows, strict=True)
        if prod(columns) > 2 or prod(lines) > 2:
            continue
        tile = tuple(prod(row[:4]) for row in rows)
        if not fits(problem, inner, arch.levels[0].entries or 0) or not fits(
            problem, tile, arch.levels[1].entries or 0
        ):
            continue
        used = sum(log2(box(problem, t, inner)) * (1.01 if t.name == "W" else 1) for t in problem.tensors)
        compute = log2(prod(inner) * prod(middle) * prod(outer))
        for order in permutations(range(3)):
            traffic = 0.0
            for tensor in problem.tensors:
                own = [d for d in range(3) if any(row[d] for row in tensor.coefficients)]
                own = [d for d in own if (tensor.name, d) != ("I", 1)]  # `R` only shifts the window of `P`
                traffic += 0.99 * 0.8 * log2(prod(inner[d] for d in own))
                traffic += 0.99 * log2(prod(columns) * prod(lines)) + moving(problem, tensor, order, middle)
                traffic += log2(prod(outer)) * (1.01 if tensor.name == "W" else 1)
            yield weights.compute * compute + weights.traffic * traffic - weights.utilisation * used


@pytest.mark.parametrize("weights", [Weights(), Weights(0.5, 1.0, 2.0), Weights(1.0, 0.2, 1.0)])
@pytest.mark.parametrize(("problem", "entries"), [(conv(4, 3, 4), (8, 24)), (conv(6, 2, 2, 2), (12, 24))])
def test_the_optimum_is_that_of_brute_force(weights: Weights, problem: Problem, entries: tuple[int, int]):
    arch = machine(*entries)
    found = place(arch, problem, TIMELOOP, weights, gap=0.0)
    assert found.optimal
    assert found.objective == pytest.approx(min(every_objective(arch, problem, weights)), abs=1e-5)
    assert found.repaired == 0
    composite = weights.compute * found.compute + weights.traffic * found.traffic
    assert found.objective == pytest.approx(composite - weights.utilisation * found.utilisation)


def flat(arch: Architecture) -> Architecture:
    """One row of everything: the released code knows no columns and rows."""
    levels = tuple(replace(level, mesh_x=level.instances) for level in arch.levels)
    return replace(arch, levels=levels, mac_mesh_x=arch.mac_instances)


def check_objective(arch: Architecture, dims: dict[str, int], objective: float):
    problem = convolution("layer", ConvShape(dims["N"], dims["K"], dims["C"], dims["P"], dims["Q"], 1, 1))
    found = place(flat(arch), problem, TIMELOOP, Weights(), {"GlobalBuffer": (0.5, 1.0, 0.5)})
    assert found.optimal
    assert found.objective == pytest.approx(objective, rel=1e-6)


@pytest.mark.parametrize("entry", json.loads(OWN.read_text())["layers"], ids=lambda entry: entry["layer"])
def test_the_released_objective_is_reproduced(entry: dict[str, Any]):
    check_objective(parse_architecture(json.loads(OWN.read_text())["arch"]), entry["dims"], entry["objective"])


@pytest.mark.skipif(not FULL.exists(), reason="no reference data")
def test_the_released_objective_is_reproduced_on_all_layers_without_kernels():
    arch = parse_architecture(json.loads(OWN.read_text())["arch"])
    results = [variants["head"] for variants in json.loads(FULL.read_text())["results"].values()]
    alike = [r for r in results if r["dims"]["R"] * r["dims"]["S"] == 1 and r["stride"] == [1, 1]]
    assert len(alike) >= 16
    for result in alike:
        check_objective(arch, result["dims"], result["orig_obj_at_point"])


@pytest.mark.parametrize("name", ["resnet50:conv1", "resnet50:conv4_1_3x3", "alexnet:fc6", "mttkrp:poisson1"])
def test_mappings_fit(name: str):
    arch = parse_architecture(json.loads(OWN.read_text())["arch"])
    problem = layer(name)
    found = place(arch, problem, Request("edp", "timeloop", Space(True, True)))
    assert found.repaired == 0
    prices = evaluate(arch, problem, found.mapping)
    assert prices.valid, prices.violations


def test_a_dimension_stays_on_one_axis_where_it_must():
    arch = machine(64, 256)
    problem = conv(2, 1, 4)
    for split in (False, True):
        found = place(arch, problem, Request("edp", "timeloop", Space(split_axes=split)), Weights(0.0, 1.0, 1e-3))
        level = found.mapping.levels[1]
        both = {loop.dim for loop in level.spatial_x} & {loop.dim for loop in level.spatial_y}
        assert split or not both
        assert prod(loop.bound for loop in level.spatial) == 4


def test_loops_without_a_rank_have_a_fixed_order():
    problem = layer("resnet18:conv2_1", 16)
    assert [problem.dims[d] for d in fixed_order(problem)] == ["R", "S", "P", "Q", "C", "N", "K"]


def test_an_overfull_mapping_is_repaired():
    arch, problem = machine(), conv(4, 3, 4)
    everything = tuple(Loop(d, bound) for d, bound in enumerate(problem.bounds))
    overfull = LoopMapping((LevelMapping(everything), LevelMapping(), LevelMapping()))
    assert not evaluate(arch, problem, overfull).valid
    mapping, moved = repair(arch, problem, Room(arch, problem, "timeloop", Space()), overfull)
    prices = evaluate(arch, problem, mapping)
    assert prices.valid
    assert moved > 0
    again, still = repair(arch, problem, Room(arch, problem, "timeloop", Space()), mapping)
    assert (again, still) == (mapping, 0)


def test_what_cannot_be_repaired_is_reported():
    spread = LoopMapping((LevelMapping(), LevelMapping((), (Loop(0, 2),), (Loop(2, 2),)), LevelMapping()))
    problem = conv(2, 1, 2)
    with pytest.raises(InfeasibleError, match="L2"):
        repair(machine(8, 3), problem, Room(machine(8, 3), problem, "timeloop", Space()), spread)


def test_where_nothing_fits_the_memory_is_named():
    with pytest.raises(InfeasibleError, match="L1") as error:
        solve(machine(2), conv(4, 3, 4), TIMELOOP)
    assert (error.value.demand, error.value.bound) == (3, 2)


def test_the_answer_is_priced():
    arch, problem = machine(), conv(4, 3, 4)
    found = solve(arch, problem, TIMELOOP)
    prices = evaluate(arch, problem, found.mapping)
    assert found.edp == pytest.approx(prices.edp_j_cycle)
    assert (found.proven, found.lower_bound) == (False, 0.0)
    assert found.edp < inf


def test_rooms_count_elements_or_boxes():
    problem = conv(6, 2, 2, stride=3)
    tiles = np.array([[4, 2, 1], [1, 2, 2], [4, 1, 1]])
    boxes = Room(machine(), problem, "timeloop", Space()).elements(0, tiles)
    exact = Room(machine(), problem, "exact", Space()).elements(0, tiles)
    assert boxes.tolist() == [11, 2, 10]
    assert exact.tolist() == [len({3 * p + r for p in range(m) for r in range(n)}) for m, n, _ in tiles.tolist()]
