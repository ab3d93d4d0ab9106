"""Timeloop's model against enumeration, on machines of two to five memories."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from tilewright.costs.hierarchy import Architecture
from tilewright.search.mapping.exact.space.limits import timeloop_agrees
from tilewright.search.mapping.values import OBJECTIVES, Request, Space

from ..enumerate import (
    random_arrays,
    random_deep,
    random_few,
    random_kernel,
    random_machine,
    random_problem,
    random_shipped,
    verdict,
)


def single_units(arch: Architecture) -> Architecture:
    """The machine with one unit below each innermost memory, and links without energy."""
    levels = tuple(replace(level, hop_energy_pj=0.0) for level in arch.levels)
    return replace(arch, levels=levels, mac_instances=levels[0].instances, mac_mesh_x=levels[0].mesh_x)


@pytest.mark.parametrize("machine", [random_machine, random_arrays, random_deep, random_shipped])
def test_equals_enumeration(machine: Callable[[Random], Architecture]):
    random, proven = Random(machine.__name__), 0
    for _ in range(40):
        problem, arch = random.choice([random_problem, random_kernel, random_few])(random), machine(random)
        arch = single_units(arch)
        if timeloop_agrees(arch, problem):
            space = Space(random.random() < 0.6, random.random() < 0.5)
            found = verdict(arch, problem, Request(random.choice(OBJECTIVES), "timeloop", space), 1500)
            assert found in ("many", "proven", "nothing")
            proven += found == "proven"
    assert proven >= 3
