"""Mapping by the name of a mapper: one problem or many."""

from dataclasses import replace

import pytest

from tilewright.costs.exact.model import TensorTotals
from tilewright.costs.hierarchy import Architecture, Level, Problem, Tensor
from tilewright.costs.model import evaluate_with
from tilewright.errors import InfeasibleError, TilewrightError
from tilewright.mapping.machines import find_architecture
from tilewright.search.mapping.mappers import map_problem, map_problems
from tilewright.search.mapping.registry import MAPPERS, find_mapper
from tilewright.search.mapping.values import CostModel, Factors, Objective, Request, Space

from .exact.enumerate import verdict

ARCH = Architecture(
    "small",
    (Level("L1", 16, 4, 2, 1, 1.0), Level("L2", 64, 1, 1, 1, 6.0), Level("DRAM", None, 1, 1, 1, 100.0)),
    "MAC",
    4,
    2,
    1.0,
)
GEMM = Problem(
    "gemm",
    ("m", "n", "k"),
    (12, 8, 6),
    (
        Tensor("A", ((1, 0, 0), (0, 0, 1))),
        Tensor("B", ((0, 0, 1), (0, 1, 0))),
        Tensor("C", ((1, 0, 0), (0, 1, 0)), is_output=True),
    ),
)
REQUEST = Request(model="timeloop", space=Space(bypass=True, split_axes=True), time_limit_s=0.3)


@pytest.mark.parametrize("name", MAPPERS)
def test_every_mapper_answers_a_mapping_that_fits_at_its_price(name: str) -> None:
    found = map_problem(ARCH, GEMM, name, replace(REQUEST, space=replace(REQUEST.space, split_axes=name != "cosa")))
    prices = evaluate_with("timeloop", ARCH, GEMM, found.mapping)
    assert prices.valid
    assert found.edp == pytest.approx(prices.edp_j_cycle)
    assert found.lower_bound <= found.edp * (1 + 1e-9)


def test_an_unknown_mapper() -> None:
    with pytest.raises(TilewrightError, match=r"mapper: expected one of exact, .*, found best"):
        find_mapper("best")


@pytest.mark.parametrize("objective", ["edp", "energy", "latency", "dram"])
def test_a_machine_without_energies(objective: Objective) -> None:
    levels = tuple(replace(level, energy_pj=0.0) for level in ARCH.levels)
    free, request = replace(ARCH, levels=levels, mac_energy_pj=0.0), Request(objective, time_limit_s=0.3)
    if objective in ("latency", "dram"):
        assert map_problem(free, GEMM, "refine", request).cycles > 0
        return
    for run in (map_problem, lambda arch, gemm, name, asked: map_problems(arch, [gemm], name, asked)):
        with pytest.raises(TilewrightError, match=r"objective e\w+ on small: expected energies"):
            run(free, GEMM, "refine", request)


@pytest.mark.parametrize(("model", "room"), [("exact", 216), ("timeloop", 216)])
@pytest.mark.parametrize("name", ["exact", "random"])
def test_tensors_that_the_outermost_memory_has_no_room_for(model: CostModel, room: int, name: str) -> None:
    """12 x 6, 6 x 8 and 12 x 8 words; without a look at them a search with a time limit would go on for ever."""
    request = replace(REQUEST, model=model)
    small = replace(ARCH, levels=(*ARCH.levels[:2], replace(ARCH.levels[2], entries=room - 1)))
    for run in (map_problem, lambda arch, gemm, name, asked: map_problems(arch, [gemm], name, asked)):
        with pytest.raises(InfeasibleError) as told:
            run(small, GEMM, name, request)
        assert (told.value.resource, told.value.demand, told.value.bound) == ("DRAM", room, room - 1)
    enough = replace(ARCH, levels=(*ARCH.levels[:2], replace(ARCH.levels[2], entries=room)))
    assert map_problem(enough, GEMM, name, request).cycles > 0


def test_equal_problems_are_solved_once_also_side_by_side() -> None:
    told: list[tuple[int, int]] = []
    problems = [GEMM, replace(GEMM, bounds=(4, 4, 4)), replace(GEMM, name="again")]
    request = replace(REQUEST, time_limit_s=None)
    found = map_problems(ARCH, problems, "exact", request, progress=lambda *said: told.append(said))
    assert found[0] is found[2]
    assert told == [(1, 2), (2, 2)]
    side_by_side = map_problems(ARCH, problems, "exact", request, jobs=2)
    assert [mapped and mapped.mapping for mapped in side_by_side] == [mapped and mapped.mapping for mapped in found]


def test_fewest_words_off_chip() -> None:
    space = Space(bypass=True, split_axes=True)
    request = Request("dram", space=space)
    found = map_problem(ARCH, GEMM, "exact", request)
    prices = evaluate_with("exact", ARCH, GEMM, found.mapping)
    assert (prices.energy_pj, prices.cycles) == (pytest.approx(found.energy), found.cycles)
    off_chip = prices.levels["DRAM"].tensors.values()
    words = sum(sum(report.totals) for report in off_chip if isinstance(report, TensorTotals))
    # L2 has room for 8 rows of A (48 words) with a column of B (6), or all of B (48) with 2 rows of A (12): once each
    assert words == 12 * 6 + 6 * 8 + 12 * 8
    assert found.proven
    assert found.lower_bound == pytest.approx(words)


@pytest.mark.parametrize("objective", ["edp", "energy", "latency"])
def test_imperfect_factors_are_never_worse(objective: Objective) -> None:
    perfect, imperfect = (
        map_problem(ARCH, GEMM, "exact", Request(objective, space=Space(True, True, factors)))
        for factors in ("perfect", "imperfect")
    )
    values = [{"edp": m.edp, "energy": m.energy, "latency": m.cycles}[objective] for m in (perfect, imperfect)]
    assert values[1] <= values[0] * (1 + 1e-9)
    assert imperfect.lower_bound <= perfect.lower_bound * (1 + 1e-9)


def test_fewest_words_without_bypass() -> None:
    """No memory may stand alone, so the first mapping of free work is left out."""
    assert map_problem(ARCH, GEMM, "exact", Request("dram", space=Space(bypass=False))).proven


@pytest.mark.parametrize("factors", ["perfect", "imperfect"])
@pytest.mark.parametrize("objective", ["edp", "energy", "dram"])
@pytest.mark.parametrize("model", ["exact", "timeloop"])
def test_what_costs_nothing_is_found_and_proven(objective: Objective, model: CostModel, factors: Factors) -> None:
    """Off-chip words and operations are free, so the mapping that keeps nothing on chip costs nothing."""
    last = len(ARCH.levels) - 1
    levels = tuple(replace(level, energy_pj=0.0 if n == last else 1.0) for n, level in enumerate(ARCH.levels))
    free = replace(ARCH, levels=levels, mac_energy_pj=0.0)
    request = Request(objective, model, Space(bypass=True, factors="perfect" if model == "timeloop" else factors))
    found = map_problem(free, GEMM, "exact", request)
    assert found.proven
    if objective != "dram":
        assert (found.energy, found.lower_bound) == (0.0, 0.0)


@pytest.mark.parametrize("target", ["conventional", "eyeriss_like", "simba_like", "diannao_like", "tpu_like"])
def test_fewest_words_without_bypass_on_targets(target: str) -> None:
    """Against all mappings, with the shipped machine's memories and with ones that hold a few words."""
    arch, space = find_architecture(target), Space(bypass=False, split_axes=True, factors="imperfect")
    few = tuple(
        replace(level, entries=min(level.entries, 4 + 2 * n), block_size=1) if level.entries is not None else level
        for n, level in enumerate(arch.levels)
    )
    for machine in (arch, replace(arch, levels=few)):
        small = replace(GEMM, bounds=(3, 2, 2))
        assert verdict(machine, small, Request("dram", space=space), 100_000) == "proven"
