"""Grids of tiles and what is kept of tables."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod
from random import Random

import numpy as np
import pytest

from tilewright.remembered import Store
from tilewright.search.mapping.exact.bounds.grids import cells_of, grid_of, grown, part_of, places_in, sizes_of
from tilewright.search.mapping.exact.bounds.outer import Outer
from tilewright.search.mapping.exact.bounds.tables import Tables
from tilewright.search.mapping.exact.space.model import model_of
from tilewright.search.mapping.values import Space

from ..enumerate import random_machine, random_problem


@pytest.mark.parametrize("perfect", [True, False])
def test_grown_answers_the_least_over_tiles_that_contain_a_cell_s(perfect: bool) -> None:
    grid = grid_of([12, 1, 10], perfect=perfect, cells=1000)
    sizes = [tiles.tolist() for tiles in sizes_of(grid, high=False)]
    table = np.random.default_rng(3).random([len(tiles) for tiles in sizes])
    before = table.copy()
    found = grown(grid, table, fixed=0b010)
    for cell in product(*(range(len(tiles)) for tiles in sizes)):
        around = [
            table[other]
            for other in product(*(range(len(tiles)) for tiles in sizes))
            if all(
                sizes[d][more] % sizes[d][mine] == 0 if perfect else more >= mine
                for d, (mine, more) in enumerate(zip(cell, other, strict=True))
            )
        ]
        assert found[cell] == min(around)
    assert (table == before).all()


def test_places_in_find_the_part_s_cells_where_axes_may_be_missing() -> None:
    grid = grid_of([12, 8, 9], perfect=True, cells=1000)
    part, places = part_of(grid, np.array([2, 4, 3]))
    assert [tiles.tolist() for tiles in sizes_of(part, high=False)] == [[2, 4, 6, 12], [4, 8], [3, 9]]
    full = tuple(grid.size.tolist())
    for shape in (full, (full[0], 1, full[2]), (1, full[1], 1)):
        table = np.arange(np.prod(shape), dtype=np.float64).reshape(shape)
        mine = [np.zeros(1, np.int64) if size == 1 else p for size, p in zip(shape, places, strict=True)]
        assert (table.reshape(-1)[places_in(shape, places)] == table[np.ix_(*mine)]).all()


def test_a_store_drops_its_tables_where_they_take_too_much() -> None:
    store: Store[np.float64] = Store(1000)
    first, second = np.zeros(500), np.ones(600)
    store.put("first", first)
    assert store.get("first") is first
    assert store.get("second") is None
    store.put("second", second)
    assert store.get("second") is second
    assert store.get("first") is None


@pytest.mark.parametrize("cells", [1000, 24])
def test_imperfect_cells_take_in_all_multiples(cells: int) -> None:
    """A multiple of the smallest tile lies in its cell; where there is room, those of a cell cover the bound alike."""
    bounds, least, most = [40, 17, 9], [3, 1, 4], [24, 17, 9]
    grid = grid_of(bounds, perfect=False, cells=cells, least=least, most=most)
    assert grid.size.prod() <= cells
    for d, (n, b, end) in enumerate(zip(bounds, least, most, strict=True)):
        low, high = (sizes_of(grid, high=high)[d] for high in (False, True))
        tiles = np.arange(b, (end if end < n else n + b - 1) + 1, b)
        mine = cells_of(grid, d, tiles)
        assert (low[mine] <= tiles).all()
        assert (tiles <= high[mine]).all()
        if cells == 1000:
            assert (-(-n // tiles) == -(-n // low[mine])).all()


@pytest.mark.parametrize("seed", range(4))
def test_a_cell_is_bounded_by_all_of_its_tiles(seed: int) -> None:
    """Cells of several sizes: some may fit, and cost less than others, of which the bound may not be."""
    random = Random(f"plain {seed}")
    problem, arch = random_problem(random), random_machine(random)
    problem = replace(problem, bounds=tuple(3 * n + 1 for n in problem.bounds))
    model = model_of(arch, problem, Space(True, False, "imperfect"))[0]
    tables, bounds, children = Tables(model), model.bounds.tolist(), prod(arch.fan_out(len(arch.levels) - 1))
    fine, coarse = (Outer(model, tables, children, grid_of(bounds, perfect=False, cells=n)) for n in (1 << 14, 12))
    assert coarse.grid.size.prod() < fine.grid.size.prod()
    cells = np.ix_(*(cells_of(coarse.grid, d, tiles) for d, tiles in enumerate(fine.tiles)))
    for kept in range(1 << len(model.full)):
        assert (coarse.energies(kept)[cells] <= fine.energies(kept) * (1 + 1e-9)).all()
