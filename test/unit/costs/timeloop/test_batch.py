"""Batches against one mapping at a time."""

import random

import pytest

from tilewright.costs.hierarchy import Architecture, Level, LevelMapping, Loop, LoopMapping, Problem, Tensor, pack
from tilewright.costs.timeloop import evaluate, price_batch
from tilewright.errors import TilewrightError


def random_machine(rng: random.Random, hops: tuple[float, ...] = (0.0, 0.5)) -> Architecture:
    shapes = [(64, 8)]
    for _ in range(2):
        instances, width = shapes[-1]
        columns = rng.choice([c for c in (1, 2, width) if width % c == 0])
        rows = rng.choice([r for r in (1, 2, instances // width) if instances // width % r == 0])
        shapes.append((instances // (columns * rows), width // columns))
    shapes.append((1, 1))
    levels = [
        Level(
            f"L{i}",
            rng.choice([None, 8, 64]),
            *shape,
            rng.choice([1, 2, 3]),
            rng.random(),
            rng.choice([None, 0.5]),
            rng.choice([None, 1.5]),
            rng.choice([None, 0.7]),
            rng.choice(hops),
            write_energy_pj=rng.choice([None, 7.0]),
        )
        for i, shape in enumerate(shapes[1:])
    ]
    return Architecture("random", tuple(levels), "MAC", 64, 8, 1.0)


def random_sums(rng: random.Random) -> Problem:
    """Each dimension moves a tensor along one axis at most, and forwards."""
    dims = rng.randint(2, 5)
    tensors: list[Tensor] = []
    for name in "ABO":
        rows = [[0] * dims for _ in range(rng.randint(1, 3))]
        for d in range(dims):
            if rng.random() < 0.7:
                rng.choice(rows)[d] = rng.choice([1, 1, 2, 3])
        tensors.append(Tensor(name, tuple(map(tuple, rows)), name == "O"))
    bounds = tuple(rng.choice([2, 3, 4, 6, 8]) for _ in range(dims))
    return Problem("random", tuple("abcde"[:dims]), bounds, tuple(tensors))


def random_problem(rng: random.Random) -> Problem:
    dims = rng.randint(1, 5)

    def row() -> tuple[int, ...]:
        coefficients = [0] * dims
        for _ in range(rng.choice([1, 1, 2, 2, 3])):
            coefficients[rng.randrange(dims)] = rng.choice([1, 1, 2, 3, -1])
        return tuple(coefficients)

    tensors = [Tensor(name, tuple(row() for _ in range(rng.randint(1, 3))), name == "O") for name in "ABO"]
    bounds = tuple(rng.choice([1, 2, 3, 4, 6, 8, 12]) for _ in range(dims))
    return Problem("random", tuple("abcde"[:dims]), bounds, tuple(tensors))


def random_mapping(rng: random.Random, arch: Architecture, problem: Problem) -> LoopMapping:
    factors: list[list[dict[int, int]]] = [[{}, {}, {}] for _ in arch.levels]
    for dim, bound in enumerate(problem.bounds):
        for prime in (2, 3):
            while bound % prime == 0:
                bound //= prime
                chosen = rng.choice(rng.choice(factors))
                chosen[dim] = chosen.get(dim, 1) * prime
    levels: list[LevelMapping] = []
    for index, level in enumerate(factors):
        loops = [[Loop(d, f) for d, f in kind.items()] for kind in level]
        for kind in loops:
            rng.shuffle(kind)
        away = frozenset(t.name for t in problem.tensors if index < len(factors) - 1 and rng.random() < 0.2)
        levels.append(LevelMapping(tuple(loops[0]), tuple(loops[1]), tuple(loops[2]), away))
    return LoopMapping(tuple(levels))


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("compiled", [True, False])
def test_a_batch_prices_as_evaluate_does(seed: int, links: bool, compiled: bool):
    rng = random.Random(seed)
    arch, problem = (random_machine(rng), (random_sums if compiled else random_problem)(rng))
    mappings = [random_mapping(rng, arch, problem) for _ in range(15)]
    batch = price_batch(arch, problem, mappings, link_transfers=links)
    for n, mapping in enumerate(mappings):
        single = evaluate(arch, problem, mapping, link_transfers=links)
        assert batch.cycles[n] == single.cycles
        assert batch.energy_pj[n] == pytest.approx(single.energy_pj, rel=1e-12)
        assert batch.valid[n] == single.valid
        for index, level in enumerate(arch.levels):
            for t, tensor in enumerate(problem.tensors):
                report = single.levels[level.name].tensors.get(tensor.name)
                expected = (0, 0, 0) if report is None else (report.reads, report.fills, report.updates)
                assert (batch.reads[n, index, t], batch.fills[n, index, t], batch.updates[n, index, t]) == expected


def test_packing_keeps_mappings():
    rng = random.Random(1)
    arch, problem = random_machine(rng), random_problem(rng)
    mappings = [random_mapping(rng, arch, problem) for _ in range(5)]
    batch = pack(arch, problem, mappings)
    assert len(batch) == 5
    assert [batch.mapping(n, problem) for n in range(5)] == mappings


def test_an_empty_batch_has_no_prices():
    rng = random.Random(1)
    assert price_batch(random_machine(rng), random_problem(rng), []).cycles.shape == (0,)


def test_wrong_factors_are_named():
    rng = random.Random(1)
    arch, problem = random_machine(rng), random_problem(rng)
    good = random_mapping(rng, arch, problem)
    bad = LoopMapping((LevelMapping((Loop(0, 7),)), *good.levels[1:]))
    with pytest.raises(TilewrightError, match="mapping 1 of random: expected factors that multiply to"):
        price_batch(arch, problem, [good, bad])
