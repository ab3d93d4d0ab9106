"""Closed forms against a walk over all iterations."""

from random import Random

import pytest

from tilewright.costs.exact.axes import axes_of, tile_words
from tilewright.costs.exact.nest import nest_of
from tilewright.costs.exact.words import first_words, words_moved, words_owned

from .walk import Walk, random_mapping, random_problem


@pytest.mark.parametrize("seed", range(12))
def test_words_equal_a_walk_over_all_iterations(seed: int):
    random = Random(seed)
    for _ in range(25):
        problem = random_problem(random)
        levels = random.randint(2, 3)
        mapping = random_mapping(random, problem, levels)
        walk, nest = Walk(problem, mapping), nest_of(problem, mapping)
        assert nest.steps() == walk.steps()
        for level in range(levels):
            assert nest.used(level) == walk.used(level)
            for tensor in problem.tensors:
                axes = axes_of(tensor, problem.bounds)
                sizes = tuple(min(nest.tile(level, d), n) for d, n in enumerate(problem.bounds))
                assert tile_words(axes, sizes) == len(walk.elements(tensor, level, (0,) * len(sizes)))
                assert words_owned(nest, axes, level) == walk.owned(tensor, level)
                assert words_owned(nest.first_instance(level), axes, level) == walk.owned_by_each(tensor, level)[0]
                for child in range(-1, level + 1):
                    moved = walk.moved(tensor, child, level)
                    assert words_moved(nest, axes, child, level) == moved, (problem, mapping, tensor, child, level)
                    first = words_moved(nest.first_instance(level), axes, child, level)
                    assert first == walk.moved_by_each(tensor, child, level)[0]
                    if child >= 0:
                        assert first_words(nest, axes, child, level) == walk.first(tensor, child, level)
