"""Random tiny problems and machines, and all mappings of one on the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import permutations, product
from math import prod
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright.costs import exact, timeloop
from tilewright.costs.exact import price_batch
from tilewright.costs.hierarchy import Architecture, Level, LevelMapping, Loop, LoopMapping, Problem, Tensor
from tilewright.errors import InfeasibleError
from tilewright.mapping.machines import find_architecture
from tilewright.search.mapping.mappers import map_problem
from tilewright.search.mapping.values import Request, Space

FORMS: dict[str, tuple[str, dict[str, str]]] = {
    "gemm": ("mnk", {"A": "m,k", "B": "k,n", "Z": "m,n"}),
    "conv": ("kpr", {"I": "p+r", "W": "k,r", "Z": "k,p"}),
    "strided": ("cpr", {"I": "c,2*p+r", "W": "c,r", "Z": "p"}),
    "depthwise": ("cpr", {"I": "c,p+r", "W": "c,r", "Z": "c,p"}),
    "mttkrp": ("ijkl", {"T": "i,k,l", "B": "k,j", "C": "l,j", "Z": "i,j"}),
    "conv2d": ("pqrs", {"I": "p+r,q+s", "W": "r,s", "Z": "p,q"}),
    "dilated": ("pr", {"I": "p+2*r", "W": "r", "Z": "p"}),
}

SLIDING: dict[str, tuple[str, dict[str, str]]] = {
    "conv": FORMS["conv"],
    "strided": FORMS["strided"],
    "pool": ("pr", {"I": "2*p+r", "Z": "p"}),
    "line": ("pr", {"I": "p+r", "W": "r", "Z": "p"}),
    "dilated": FORMS["dilated"],
    "both": ("pr", {"I": "3*p+2*r", "W": "r", "Z": "p"}),
    "conv2d": ("pqrs", {"I": "p+r,2*q+s", "W": "r,s", "Z": "p,q"}),
    "transposed": ("kpr", {"Z": "p+2*r", "W": "k,r", "I": "k,p"}),
    "gemm": FORMS["gemm"],
}
"""Problems with windows of any stride, for machines with two arrays."""

KERNELS: dict[str, tuple[str, dict[str, str]]] = {
    "mttkrp": FORMS["mttkrp"],
    "sddmm": ("ijk", {"A": "i,j", "B": "i,k", "C": "k,j", "Z": "i,j"}),
    "ttmc": ("ijklm", {"A": "i,j,k", "B": "j,l", "C": "k,m", "Z": "i,l,m"}),
    "mmc": ("ijkl", {"A": "i,j", "B": "j,k", "C": "k,l", "Z": "i,l"}),
    "tcl": ("ijklmn", {"A": "i,j,k", "B": "i,l", "C": "j,m", "D": "k,n", "Z": "l,m,n"}),
}
"""Products of several tensors, whose loops let some of them rest at a time."""

FEW: dict[str, tuple[str, dict[str, str]]] = {
    "scale": ("m", {"A": "m", "Z": "m"}),
    "sum": ("mk", {"A": "m,k", "Z": "m"}),
    "matvec": ("mk", {"A": "m,k", "B": "k", "Z": "m"}),
    "outer": ("mn", {"A": "m", "B": "n", "Z": "m,n"}),
    "line": SLIDING["line"],
}
"""Problems of few dimensions, whose bounds may be large."""

Floats = NDArray[np.float64]

Slot = tuple[int, str, int]
"""A place for one loop per dimension: level, `x`, `y` or `t`, and the largest product there."""


def random_problem(random: Random) -> Problem:
    name = random.choice(list(FORMS))
    dims, texts = FORMS[name]
    bounds = [random.choice([1, 2, 2, 3, 3, 4, 5]) for _ in dims]
    while prod(bounds) > (40 if len(dims) > 2 else 60):
        bounds[bounds.index(max(bounds))] -= 1
    return _problem(random, name, dims, texts, bounds)


def random_sliding_problem(random: Random) -> Problem:
    """One with bounds that have several factors."""
    name = random.choice(list(SLIDING))
    dims, texts = SLIDING[name]
    bounds = [random.choice([2, 3, 4, 4, 6, 8]) for _ in dims]
    while prod(bounds) > 64:
        bounds[bounds.index(max(bounds))] = random.choice([1, 2, 3])
    return _problem(random, name, dims, texts, bounds)


def random_kernel(random: Random) -> Problem:
    """A product of several tensors; dimensions often have equal bounds, of several factors."""
    name = random.choice(list(KERNELS))
    dims, texts = KERNELS[name]
    bounds = [random.choice([2, 2, 4]) for _ in dims]
    while prod(bounds) > 16:
        bounds[bounds.index(max(bounds))] = random.choice([1, 2])
    bits = random.choice([None, None, 8])
    found = _problem(random, name, dims, texts, bounds)
    tensors = found.tensors if random.random() < 0.5 else tuple(replace(one, word_bits=bits) for one in found.tensors)
    return replace(found, tensors=tensors)


def random_few(random: Random) -> Problem:
    """One of few dimensions, most of their bounds awkward."""
    name = random.choice(list(FEW))
    dims, texts = FEW[name]
    return _problem(random, name, dims, texts, [random.randrange(2, 24 if len(dims) == 1 else 12) for _ in dims])


def _problem(random: Random, name: str, dims: str, texts: dict[str, str], bounds: list[int]) -> Problem:
    tensors = tuple(
        Tensor(tensor, tuple(_row(axis, dims) for axis in text.split(",")), tensor == "Z", random.choice([None, 8]))
        for tensor, text in texts.items()
    )
    return Problem(name, tuple(dims), tuple(bounds), tensors)


def _row(axis: str, dims: str) -> tuple[int, ...]:
    row = [0] * len(dims)
    for term in axis.split("+"):
        factor, _, dim = term.rpartition("*")
        row[dims.index(dim)] += int(factor or 1)
    return tuple(row)


class Draws(NamedTuple):
    """What a level of a random machine is drawn from; `partial` is how likely it holds some operands only, `held` how
    likely each of those."""

    partial: float
    held: float
    words: Sequence[int]
    ports: Sequence[int | None]
    write_pj: Sequence[float | None]
    block: Callable[[], int]
    hop_pj: Callable[[], float]
    buffering: Callable[[], float]
    network: Callable[[], int | None]


def random_machine(random: Random) -> Architecture:
    """Two to four levels, with at most two arrays; some levels hold some operands only."""
    count = random.choice([2, 2, 3, 3, 4])
    meshes = [random.choice([(1, 1), (1, 1), (2, 1), (1, 2), (2, 2), (3, 1)]) for _ in range(count)]
    if sum(mesh != (1, 1) for mesh in meshes) > 2:
        meshes[0] = (1, 1)
    draws = Draws(
        0.4,
        0.6,
        [2, 3, 4, 6, 8, 12, 20],
        [None, None, 1, 2, 3],
        [None, None, 2.0],
        lambda: random.choice([1, 2]),
        lambda: random.choice([0.0, 0.0, 0.0, 0.5]),
        lambda: random.choice([1.0, 1.0, 2.0]),
        lambda: random.choice([None, None, 2]),
    )
    return _stack(random, "random", meshes, draws)


def random_arrays(random: Random) -> Architecture:
    """Three or four levels with arrays inside and outside of one that holds some operands or none."""
    count = random.choice([3, 3, 4])
    meshes = [(1, 1)] * count
    inner = random.randrange(1, count - 1) if count > 3 else 1
    meshes[inner] = random.choice([(2, 1), (4, 1), (3, 1), (2, 2), (1, 2)])
    meshes[inner + 1] = random.choice([(2, 1), (4, 1), (2, 2), (1, 2)])
    if random.random() < 0.2:
        meshes[0] = (2, 1)
        meshes[inner + random.randrange(2)] = (1, 1)
    draws = Draws(
        0.7,
        0.5,
        [2, 4, 6, 8, 16, 32],
        [None, None, 1, 2],
        [None, 2.0],
        lambda: 1,
        lambda: 0.0 if random.random() < 0.9 else 0.5,
        lambda: 1.0,
        lambda: None if random.random() < 0.85 else 2,
    )
    return _stack(random, "arrays", meshes, draws)


def random_meshes(random: Random) -> Architecture:
    """Three or four levels with two arrays in a row, between which hardly anything is kept."""
    count = random.choice([3, 3, 4])
    meshes = [(1, 1)] * count
    inner = random.randrange(count - 2) if count > 3 else random.randrange(2)
    for level in (inner, inner + 1):
        meshes[level] = random.choice([(2, 1), (3, 1), (4, 1), (1, 2), (1, 3), (2, 2)])
    draws = Draws(
        0.9,
        0.4,
        [2, 3, 4, 6, 8, 16],
        [None, None, 1, 2],
        [None, 2.0],
        lambda: 1,
        lambda: 0.0,
        lambda: random.choice([1.0, 1.0, 2.0]),
        lambda: None,
    )
    return _stack(random, "meshes", meshes, draws)


def random_slow(random: Random) -> Architecture:
    """One of `random_machine` with ports and networks that hold it up, so that ragged spreads and last tiles count."""
    arch = random_machine(random)
    ports = "read_bandwidth", "write_bandwidth", "shared_bandwidth", "network_bandwidth"
    levels = (
        replace(level, **{port: random.choice([None, None, 0.25, 0.5, 1.0]) for port in ports}) for level in arch.levels
    )
    return replace(arch, levels=tuple(levels))


def random_deep(random: Random) -> Architecture:
    """Five levels with at most two arrays."""
    meshes = [(1, 1)] * 5
    for level in random.sample(range(5), 2):
        meshes[level] = random.choice([(1, 1), (2, 1), (1, 2), (3, 1), (2, 2)])
    draws = Draws(
        0.6,
        0.5,
        [1, 2, 3, 4, 8],
        [None, None, 1, 2],
        [None, None, 2.0],
        lambda: random.choice([1, 2]),
        lambda: random.choice([0.0, 0.0, 0.0, 0.5]),
        lambda: random.choice([1.0, 1.0, 2.0]),
        lambda: random.choice([None, None, 2]),
    )
    return _stack(random, "deep", meshes, draws)


def random_three(random: Random) -> Architecture:
    """Three levels, one instance of the middle one, links without energy, as the search in Timeloop's model wants."""
    meshes = [random.choice([(1, 1), (1, 1), (2, 1), (2, 2)]), random.choice([(2, 1), (1, 2), (4, 1), (2, 2)]), (1, 1)]
    draws = Draws(
        0.3,
        0.7,
        [2, 3, 4, 6, 8, 12, 20],
        [None, None, 1, 2, 3],
        [None, None, 2.0],
        lambda: random.choice([1, 2, 4]),
        lambda: 0.0,
        lambda: random.choice([1.0, 1.0, 2.0]),
        lambda: None,
    )
    return _stack(random, "three", meshes, draws)


SHIPPED = "conventional", "eyeriss_like", "simba_like", "cosa_simba", "diannao_like", "tpu_like"


def random_shipped(random: Random) -> Architecture:
    """One of the shipped machines with few words, arrays of at most 2 x 2 and some slow ports."""
    arch = find_architecture(random.choice(SHIPPED))
    meshes = [tuple(min(n, random.choice([1, 2, 2])) for n in arch.fan_out(n)) for n in range(len(arch.levels))]
    levels: list[Level] = []
    columns = rows = 1
    for level, mesh in zip(reversed(arch.levels), reversed(meshes), strict=True):
        words = None if level.entries is None else min(level.entries, random.choice([1, 2, 4, 6, 8, 12, 16]))
        ports = {
            port: random.choice([1.0, 2.0, width])
            for port in ("read_bandwidth", "write_bandwidth", "shared_bandwidth")
            if (width := getattr(level, port)) is not None
        }
        levels.append(replace(level, entries=words, instances=columns * rows, mesh_x=columns, block_size=1, **ports))
        columns, rows = columns * mesh[0], rows * mesh[1]
    return replace(arch, levels=tuple(reversed(levels)), mac_instances=columns * rows, mac_mesh_x=columns)


def untimed(arch: Architecture) -> Architecture:
    """The machine with ports of any width, and nothing to wait for."""
    free = {"read_bandwidth": None, "write_bandwidth": None, "shared_bandwidth": None, "network_bandwidth": None}
    return replace(arch, levels=tuple(replace(level, **free, latency_cycles=0) for level in arch.levels))


def _stack(random: Random, name: str, meshes: list[tuple[int, int]], draws: Draws) -> Architecture:
    """A level below each of `meshes`, (columns, rows) from the innermost."""
    levels: list[Level] = []
    columns = rows = 1
    for index in reversed(range(len(meshes))):
        outermost = index == len(meshes) - 1
        some = random.random() < draws.partial and not outermost
        levels.append(
            Level(
                f"L{index}",
                None if outermost else random.choice(draws.words) * (index + 1),
                columns * rows,
                columns,
                draws.block(),
                random.choice([0.3, 1.0, 5.0]) * 4**index,
                *(random.choice(draws.ports) for _ in range(3)),
                hop_energy_pj=draws.hop_pj(),
                multiple_buffering=1.0 if outermost else draws.buffering(),
                write_energy_pj=random.choice(draws.write_pj),
                network_bandwidth=draws.network(),
                latency_cycles=random.choice([0, 0, 3]),
                holds=tuple(role for role in "OIW" if random.random() < draws.held) if some else None,
            )
        )
        columns, rows = columns * meshes[index][0], rows * meshes[index][1]
    return Architecture(name, tuple(reversed(levels)), "MAC", columns * rows, columns, 1.0)


def every_mapping(
    arch: Architecture, problem: Problem, space: Space, most: int, *, ordered: bool = False
) -> list[LoopMapping] | None:
    """All mappings of a space (some do not fit), or None if there are more than `most`.

    `ordered` has all orders of loops, also those that are all the same to the exact model.
    """
    slots = list(_slots(arch))
    perfect = space.factors == "perfect"
    chains = [
        [c for c in _chains(n, len(slots), perfect) if all(f <= slot[2] for f, slot in zip(c, slots, strict=True))]
        for n in problem.bounds
    ]
    if prod(len(found) for found in chains) > most:
        return None
    keeps = list(_keeps(arch, problem, space))
    found: list[tuple[list[tuple[Loop, ...]], ...]] = []
    count = 0
    for combination in product(*chains):
        columns = [tuple(chain[i] for chain in combination) for i in range(len(slots))]
        if _placed(slots, columns, space):
            found.append(
                tuple(_orders(arch, slot, column, ordered=ordered) for slot, column in zip(slots, columns, strict=True))
            )
            count += len(keeps) * prod(len(orders) for orders in found[-1])
            if count > most:
                return None
    return [
        _mapping(slots, loops, away, len(arch.levels))
        for orders in found
        for loops in product(*orders)
        for away in keeps
    ]


def _slots(arch: Architecture) -> Iterator[Slot]:
    for level in range(len(arch.levels)):
        columns, rows = arch.fan_out(level)
        if columns > 1:
            yield level, "x", columns
        if rows > 1:
            yield level, "y", rows
        yield level, "t", 1 << 30


def _chains(bound: int, slots: int, perfect: bool) -> Iterator[tuple[int, ...]]:
    if slots == 1:
        yield (bound,)
        return
    for factor in range(1, bound + 1):
        if not perfect or bound % factor == 0:
            for rest in _chains(-(-bound // factor), slots - 1, perfect):
                yield (factor, *rest)


def _placed(slots: list[Slot], columns: list[tuple[int, ...]], space: Space) -> bool:
    if any(prod(column) > slot[2] for column, slot in zip(columns, slots, strict=True)):
        return False
    by_slot = {slot[:2]: column for column, slot in zip(columns, slots, strict=True)}
    return space.split_axes or not any(
        kind == "x" and a > 1 and b > 1
        for (level, kind), column in by_slot.items()
        for a, b in zip(column, by_slot.get((level, "y"), (1,) * len(column)), strict=True)
    )


def cheapest(arch: Architecture, problem: Problem, space: Space, most: int) -> tuple[LoopMapping, float]:
    """A mapping of least energy times delay (J * cycle) of all, at most `most`, and what it takes."""
    mappings = every_mapping(arch, problem, space, most)
    assert mappings is not None
    prices = price_batch(arch, problem, mappings)
    best = int(np.where(prices.valid, prices.edp_j_cycle, np.inf).argmin())
    return mappings[best], float(prices.edp_j_cycle[best])


SLACK = 1e-9
"""Of values that come to the same."""


def verdict(arch: Architecture, problem: Problem, request: Request, most: int) -> str:
    """Solve a pair and compare: `proven`, `open`, `nothing` (nothing fits), `many` (more than `most` mappings), or what
    is wrong."""
    mappings = every_mapping(arch, problem, request.space, most, ordered=request.model == "timeloop")
    if mappings is None:
        return "many"
    objective = request.objective
    values = _values(arch, problem, mappings, request)
    best = float(values.min())
    try:
        found = map_problem(arch, problem, "exact", request)
    except InfeasibleError:
        return "nothing" if best == np.inf else f"nothing found, optimum {best}"
    value = float(_values(arch, problem, [found.mapping], request)[0])
    told = {"edp": found.edp, "energy": found.energy, "latency": found.cycles, "dram": value}[objective]
    for wrong, text in (
        (value == np.inf or not np.isclose(value, told, SLACK, 0.0), "invalid or not of this price"),
        (found.lower_bound > best * (1 + SLACK), f"bound {found.lower_bound} above the optimum {best}"),
        (value < best * (1 - SLACK), f"{value} below the optimum {best}"),
        (found.proven and value > best * (1 + SLACK), f"proven {value}, optimum {best}"),
    ):
        if wrong:
            return f"{text} ({objective})"
    return "proven" if found.proven else "open"


def _values(arch: Architecture, problem: Problem, mappings: Sequence[LoopMapping], request: Request) -> Floats:
    """The objective of each mapping, infinite where it does not fit."""
    model = timeloop if request.model == "timeloop" else exact
    priced = arch.counting_words() if request.objective == "dram" else arch
    prices = model.price_batch(priced, problem, mappings)
    energy, cycles = prices.energy_pj, prices.cycles.astype(np.float64)
    value = {"edp": energy * cycles * 1e-12, "energy": energy, "latency": cycles, "dram": energy}[request.objective]
    return np.where(prices.valid, value, np.inf)


def _orders(arch: Architecture, slot: Slot, column: tuple[int, ...], *, ordered: bool) -> list[tuple[Loop, ...]]:
    loops = tuple(Loop(d, factor) for d, factor in enumerate(column) if factor > 1)
    matters = slot[0] > 0 if slot[1] == "t" else arch.levels[slot[0]].hop_energy_pj > 0
    return list(permutations(loops)) if matters or ordered else [loops]


def _keeps(arch: Architecture, problem: Problem, space: Space) -> Iterator[tuple[frozenset[str], ...]]:
    names = [tensor.name for tensor in problem.tensors]
    choices: list[list[frozenset[str]]] = []
    for level in range(len(arch.levels) - 1):
        options = [(True, False) if may and space.bypass else (may,) for may in arch.may_hold(level, problem)]
        choices.append([frozenset(n for n, kept in zip(names, k, strict=True) if not kept) for k in product(*options)])
    return product(*choices)


def _mapping(
    slots: list[Slot], loops: tuple[tuple[Loop, ...], ...], away: tuple[frozenset[str], ...], count: int
) -> LoopMapping:
    found = {slot[:2]: chosen for slot, chosen in zip(slots, loops, strict=True)}
    return LoopMapping(
        tuple(
            LevelMapping(
                found[level, "t"],
                found.get((level, "x"), ()),
                found.get((level, "y"), ()),
                away[level] if level < count - 1 else frozenset(),
            )
            for level in range(count)
        )
    )
