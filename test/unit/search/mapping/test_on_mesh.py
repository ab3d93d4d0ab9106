"""Objective `noc`: of all candidates none takes fewer cycles on the mesh."""

from dataclasses import replace

import pytest

from tilewright.costs.hierarchy import Architecture, Level, Problem, Tensor
from tilewright.costs.noc import make_program, run_program, with_link_bandwidth
from tilewright.errors import TilewrightError
from tilewright.search.mapping.mappers import map_problem
from tilewright.search.mapping.values import Request, Space

ROWS = {"A": ((1, 0, 0), (0, 0, 1)), "B": ((0, 0, 1), (0, 1, 0)), "O": ((1, 0, 0), (0, 1, 0))}
PROBLEM = Problem(
    "p", ("M", "N", "K"), (8, 4, 4), tuple(Tensor(name, axes, name == "O") for name, axes in ROWS.items())
)
PE = Level("PE", 24, 4, 2, 1, 1.0)
MACHINE = Architecture(
    "small",
    (PE, Level("GB", 512, 1, 1, 1, 4.0, mesh_flit_bits=32), Level("DRAM", None, 1, 1, 1, 50.0, shared_bandwidth=4.0)),
    "MAC",
    4,
    2,
    1.0,
    ("O", "A", "B"),
)


def cycles_of(objective: str) -> int:
    space = Space(factors="perfect")
    request = Request(objective, space=space, time_limit_s=0.2)  # pyright: ignore[reportArgumentType]
    found = map_problem(MACHINE, PROBLEM, "random", request)
    run = run_program(MACHINE, make_program(MACHINE, PROBLEM, found.mapping))
    if objective == "noc":
        assert found.cycles == run.cycles
        assert not found.proven
        assert found.lower_bound <= run.cycles
    return run.cycles


def test_no_worse_than_by_the_bandwidth_model():
    assert cycles_of("noc") <= min(cycles_of("latency"), cycles_of("energy"))


def test_candidates_know_the_first_link():
    assert with_link_bandwidth(MACHINE).levels[1].network_bandwidth == 32 / 16
    slow = replace(MACHINE, levels=(PE, replace(MACHINE.levels[1], network_bandwidth=0.5), MACHINE.levels[2]))
    assert with_link_bandwidth(slow).levels[1].network_bandwidth == 0.5


def test_machines_without_a_mesh_have_no_such_objective():
    plain = replace(MACHINE, levels=tuple(replace(level, mesh_flit_bits=0) for level in MACHINE.levels))
    with pytest.raises(TilewrightError, match="a `flit` at one memory on chip, of one instance"):
        map_problem(plain, PROBLEM, "random", Request("noc"))
