"""Random tiny spaces with all their mappings, and the regions that each mapping is in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf, prod
from random import Random
from typing import NamedTuple

from tilewright.certificates.bounds import price
from tilewright.certificates.space import GOALS, Question, Region
from tilewright.costs.hierarchy import LoopMapping
from tilewright.errors import TilewrightError
from tilewright.search.mapping.values import Request, Space

from ..search.mapping.exact.enumerate import (
    every_mapping,
    random_arrays,
    random_few,
    random_kernel,
    random_machine,
    random_meshes,
    random_problem,
    random_sliding_problem,
    random_slow,
)

PROBLEMS = random_problem, random_sliding_problem, random_kernel, random_few
MACHINES = random_machine, random_arrays, random_meshes, random_slow


class Pair(NamedTuple):
    """A question, what a mapper is asked, and the mappings that fit with their prices, the least first."""

    question: Question
    request: Request
    priced: list[tuple[float, LoopMapping]]


def pair_of(seed: int, most: int) -> Pair | None:
    """A random pair of at most so many mappings, some of which fit; None where the draw is none."""
    random = Random(seed)
    problem, arch = random.choice(PROBLEMS)(random), random.choice(MACHINES)(random)
    space = Space(random.random() < 0.6, random.random() < 0.5, "perfect")
    goal = random.choice(GOALS)
    mappings = every_mapping(arch, problem, space, most)
    try:
        dims = tuple(range(len(problem.dims)))
        question = Question(arch, problem, goal, space.bypass, space.split_axes, dims)
    except TilewrightError:
        return None
    priced = [(float(price(arch, problem, mapping, goal)), mapping) for mapping in mappings or ()]
    fitting = sorted((one for one in priced if one[0] < inf), key=lambda one: one[0])
    return Pair(question, Request(objective=goal, space=space), fitting) if fitting else None


def regions_of(question: Question, mapping: LoopMapping) -> Iterator[Region]:
    """Those that a mapping is in, from that with nothing but what is kept inwards."""
    names = [tensor.name for tensor in question.problem.tensors]
    kept = [tuple(name not in level.bypass for name in names) for level in mapping.levels[:-1]]
    region = Region(question, (*kept, (True,) * len(names)))
    yield region
    for d in question.dims:
        factors = tuple(_factor(mapping, n, "x", d) * _factor(mapping, n, "y", d) for n, *_ in question.arrays)
        region = replace(region, spreads=(*region.spreads, factors))
        yield region
    spatial = region.spatial()
    for memory in region.memories:
        inside = [prod(_factor(mapping, level, "t", d) for level in range(memory + 1)) for d in range(len(spatial))]
        tile = tuple(n * size for n, size in zip(inside, spatial, strict=True))
        region = replace(region, tiles=(*region.tiles, tile))
        yield region


def _factor(mapping: LoopMapping, level: int, kind: str, d: int) -> int:
    own = mapping.levels[level]
    loops = {"t": own.temporal, "x": own.spatial_x, "y": own.spatial_y}[kind]
    return prod(loop.bound for loop in loops if loop.dim == d)
