"""Tiles: legal dims, capacity, and the choice against exhaustive enumeration."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.algebra.expr import tensors_of
from tilewright.algebra.parser import parse_statement
from tilewright.costs.mapping.binding import Pricer
from tilewright.costs.mapping.problem import Buffer, Group, Kernel
from tilewright.errors import InfeasibleError
from tilewright.frontends.acg import load_target
from tilewright.search.group_tiles.grid import Grid, sizes
from tilewright.search.group_tiles.tiling import tile_group

PRICER = Pricer(load_target("tiny"))


def group(dims: dict[str, int], buffers: dict[str, tuple[int, ...]], *statements: str, results: str = "Y") -> Group:
    """Kernels in order; a tensor that is not written is an input; each statement's target is made there."""
    kernels: list[Kernel] = []
    made: set[str] = set()
    for i, text in enumerate(statements):
        statement = parse_statement(text)
        names = tensors_of(statement)
        pairs = tuple((n, n) for n in names)
        kernels.append(Kernel(f"k{i}", statement, pairs, tuple((n, "f32") for n in names), names[0] in made))
        made.add(names[0])
    shapes = tuple(Buffer(n, s, "f32", 4, n not in made, n in results.split()) for n, s in buffers.items())
    return Group(tuple(dims.items()), tuple(kernels), shapes)


def test_reductions_are_not_cut_around_all_kernels():
    softmax = group(
        {"n": 3, "j": 8},
        {"X": (3, 8), "M": (3,), "D": (3, 8)},
        "M[n] max= X[n,j]",
        "D[n,j] = X[n,j] - M[n]",
        results="D",
    )
    assert softmax.tileable == ("n",)


def test_a_value_read_elsewhere_is_not_cut():
    shifted = group(
        {"n": 3, "e": 9, "c": 8}, {"X": (3, 9), "T": (3, 9), "Y": (3, 8)}, "T[n,e] = X[n,e]", "Y[n,c] = T[n,c + 1]"
    )
    assert shifted.tileable == ("n", "c")


def test_what_a_tile_writes_is_dense():
    resize = group({"h": 4, "i": 2}, {"X": (4,), "Y": (8,)}, "Y[2 * h + i] = X[h]")
    assert resize.tileable == ("h",)


@given(st.integers(1, 5000), st.integers(1, 5))
def test_sizes_cover_the_range(extent: int, dims: int):
    found = sizes(extent, dims, 4096)
    assert found[0] == extent
    assert found[-1] == 1
    assert list(found) == sorted(set(found), reverse=True)
    assert len(found) <= max(3, 4096 ** (1 / dims) + 1)


def test_a_table_of_the_grid():
    grid = Grid.of({"a": (4, 2), "b": (9, 3, 1)}, {"a": 4, "b": 9, "c": 5})
    table = grid.table(("b",), lambda tile: tile["a"] * 100 + tile["b"] * 10 + tile["c"])
    assert table.tolist() == [[495, 435, 415]]
    assert np.broadcast_shapes(grid.counts["a"].shape, grid.counts["b"].shape) == grid.shape


def matmul(m: int, n: int, k: int) -> Group:
    shapes = {"X": (m, k), "W": (k, n), "Y": (m, n)}
    return group({"m": m, "n": n, "k": k}, shapes, "Y[m,n] += X[m,k] * W[k,n]")


def least_traffic(m: int, n: int, k: int, capacity_bytes: int) -> int:
    """Fewest bytes of all tiles and orders of a matrix product whose sums stay on chip."""
    extents = {"m": m, "n": n, "k": k}
    indexing = {"X": "mk", "W": "nk", "Y": "mn"}
    best = -1
    for tile in product(*(range(1, e + 1) for e in (m, n, k))):
        step = dict(zip("mnk", tile, strict=True))
        count = {d: -(-extents[d] // step[d]) for d in "mnk"}
        for order in permutations("mn"):
            loops = (*order, "k")
            total = used = 0
            for name, dims in indexing.items():
                cut = [d for d in dims if count[d] > 1 and not (name == "Y" and d == "k")]
                used += (2 if cut else 1) * 4 * int(np.prod([step[d] for d in dims]))
                last = max((loops.index(d) for d in cut), default=-1)
                loads = int(np.prod([count[d] for d in loops[:last] if d not in dims] or [1]))
                total += 4 * int(np.prod([extents[d] for d in dims])) * loads
            if used <= capacity_bytes:
                best = total if best < 0 else min(best, total)
    return best


@pytest.mark.parametrize("shape", [(4, 4, 4), (12, 10, 8), (20, 6, 30), (9, 25, 14)])
def test_traffic_is_near_the_least(shape: tuple[int, int, int]):
    found = tile_group(matmul(*shape), PRICER)
    assert found.dram_bytes <= 1.35 * least_traffic(*shape, 1024)


def test_nothing_fits():
    rows = group({"i": 3, "j": 400}, {"X": (3, 400), "Y": (1200,)}, "Y[400 * i + j] = X[i,j]")
    with pytest.raises(InfeasibleError) as error:
        tile_group(rows, PRICER)
    assert error.value.resource == "memory SPAD"
    assert (error.value.demand, error.value.bound, error.value.unit) == (3200, 1024, "bytes")


def test_what_the_smallest_tiles_need_is_aligned_and_enough():
    """Three tiles of 4 bytes each take 64 of a memory of lines of 64 bytes."""
    machine, gemm = load_target("edge16:GBUF.banks=1,GBUF.depth=128"), matmul(33, 17, 70)
    with pytest.raises(InfeasibleError) as error:
        tile_group(gemm, Pricer(machine))
    assert (error.value.demand, error.value.bound) == (192, 128)
    assert "found 192 bytes; a GBUF of 192 bytes would hold the smallest tiles" in str(error.value)
    assert tile_group(gemm, Pricer(load_target("edge16:GBUF.banks=1,GBUF.depth=192")))
