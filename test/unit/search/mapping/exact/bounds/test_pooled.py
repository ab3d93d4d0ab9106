"""What the outermost memory sends to all instances together, against all mappings."""

from __future__ import annotations

from dataclasses import replace
from math import inf, prod
from random import Random

import numpy as np
import pytest

from tilewright.costs.exact import price_batch
from tilewright.search.mapping.exact.bounds.pooled import Pooled
from tilewright.search.mapping.exact.space.model import model_of
from tilewright.search.mapping.values import Factors, Space

from ..enumerate import every_mapping, random_arrays, random_kernel


@pytest.mark.parametrize("factors", ["perfect", "imperfect"])
@pytest.mark.parametrize("seed", [11, 22, 24, 32, 40, 52])
def test_no_mapping_takes_less_energy_of_the_outermost_memory(seed: int, factors: Factors):
    random = Random(seed)
    problem, arch = random_kernel(random), random_arrays(random)
    free = [replace(level, energy_pj=0.0, write_energy_pj=None, hop_energy_pj=0.0) for level in arch.levels[:-1]]
    arch = replace(arch, mac_energy_pj=0.0, levels=(*free, arch.levels[-1]))
    space = Space(factors=factors)
    mappings = every_mapping(arch, problem, space, 30_000)
    assert mappings
    model, dims = model_of(arch, problem, space)
    pooled = Pooled(model, [arch.fan_out(level) for level in range(len(arch.levels))])
    prices = price_batch(arch, problem, mappings)
    names, told = [tensor.name for tensor in problem.tensors], 0
    once = np.where(model.is_output, model.write[-1], model.read[-1]) * model.full
    for mapping, energy, valid in zip(mappings, prices.energy_pj, prices.valid, strict=True):
        kept = np.array([[name not in level.bypass for name in names] for level in mapping.levels], np.int64)
        spatial = [loop for level in mapping.levels for loop in (*level.spatial_x, *level.spatial_y)]
        begin = np.array([prod(loop.bound for loop in spatial if loop.dim == d) for d in dims], np.int64)
        least = float(pooled.least(kept[None], begin)[0, 0]) + float(once[kept[:-1].any(axis=0)].sum())
        told += least > float(once.min())
        assert not valid or energy >= least * (1 - 1e-9)
    assert told


def test_nothing_is_found_out_when_it_is_late():
    random = Random(11)
    problem, arch = random_kernel(random), random_arrays(random)
    model, _ = model_of(arch, problem, Space())
    meshes = [arch.fan_out(level) for level in range(len(arch.levels))]
    kept, begin = np.ones((1, len(meshes), len(problem.tensors)), np.int64), np.ones(len(model.bounds), np.int64)
    kept[:, 1:-1] = 0
    in_time, late = Pooled(model, meshes), Pooled(model, meshes)
    late.until = 0.0
    assert np.isfinite(in_time.least(kept, begin)).all()
    assert late.least(kept, begin)[0, 0] == -inf
