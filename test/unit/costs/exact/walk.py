"""The second witness: walk every iteration of a mapped nest, with the sets of elements that each instance holds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random

from tilewright.costs.hierarchy import Architecture, Level, LevelMapping, Loop, LoopMapping, Problem, Tensor

Element = tuple[int, ...]


def window(p: int, r: int, stride: int = 1, dilation: int = 1, k: int = 1) -> Problem:
    """O[p,k] += I[stride*p + dilation*r] * W[r,k]; dimensions 0, 1, 2."""
    tensors = (
        Tensor("I", ((stride, dilation, 0),)),
        Tensor("W", ((0, 1, 0), (0, 0, 1))),
        Tensor("O", ((1, 0, 0), (0, 0, 1)), is_output=True),
    )
    return Problem("window", ("P", "R", "K"), (p, r, k), tensors)


def random_problem(random: Random) -> Problem:
    """A small contraction, window (perhaps of two axes), transposed window, diagonal or three-term sum."""
    kind = random.randrange(7)
    size = [random.randint(1, 6) for _ in range(3)]
    stride, dilation = random.randint(1, 3), random.randint(1, 3)
    if kind <= 1:
        return window(size[0], size[1], stride, dilation, size[2])
    if kind == 2:
        dims, bounds = ("P", "Q", "R", "S"), tuple(random.randint(1, 4) for _ in range(4))
        tensors = (
            Tensor("I", ((stride, 0, 1, 0), (0, 1, 0, dilation))),
            Tensor("W", ((0, 0, 1, 0), (0, 0, 0, 1))),
            Tensor("O", ((1, 0, 0, 0), (0, 1, 0, 0)), is_output=True),
        )
        return Problem("window2", dims, bounds, tensors)
    if kind == 3:
        rows = {"A": ((1, 0, 0), (0, 0, 1)), "B": ((0, 0, 1), (0, 1, 0)), "O": ((1, 0, 0), (0, 1, 0))}
    elif kind == 4:
        rows = {"A": ((1, 0, 0),), "B": ((0, 1, 0), (0, 0, 1)), "O": ((stride, dilation, 0),)}
    elif kind == 5:
        rows = {"A": ((1, 0, 1), (0, 0, 1)), "B": ((0, 1, 0),), "O": ((1, 0, 0), (1, 0, 0))}
    else:
        rows = {"A": ((stride, -dilation, 1),), "B": ((0, 1, 1),), "O": ((1, 0, 0),)}
    tensors = tuple(Tensor(name, axes, name == "O") for name, axes in rows.items())
    return Problem(f"kind{kind}", ("X", "Y", "Z"), tuple(size), tensors)


def random_machine(random: Random, levels: int) -> Architecture:
    """A chain of `levels` memories with bandwidths, widths and energies of its own; arrays are large enough."""

    def some(choices: tuple[float | None, ...]) -> float | None:
        return random.choice(choices)

    chain = tuple(
        Level(
            f"L{i}",
            None if i == levels - 1 else random.choice((8, 40, 1000)),
            64 ** (levels - 1 - i),
            8 ** (levels - 1 - i),
            random.choice((1, 2)),
            random.choice((0.5, 2.0)),
            some((None, 0.5, 3)),
            some((None, 0.7, 2)),
            some((None, 4)),
            hop_energy_pj=random.choice((0.0, 0.3)),
            word_bits=random.choice((8, 16)),
            write_energy_pj=some((None, 1.5)),
            network_bandwidth=some((None, 1.5)),
            latency_cycles=random.choice((0, 3)),
        )
        for i in range(levels)
    )
    return Architecture("random", chain, "MAC", 64**levels, 8**levels, 1.0)


def random_mapping(random: Random, problem: Problem, levels: int, *, perfect: bool = False) -> LoopMapping:
    """Loops in random order whose factors cover the bounds, and bypass below the outermost level."""
    loops: list[tuple[list[Loop], list[Loop], list[Loop]]] = [([], [], []) for _ in range(levels)]
    for dim, bound in enumerate(problem.bounds):
        slots = [(level, kind) for level in range(levels) for kind in range(3)]
        random.shuffle(slots)
        left = bound
        for level, kind in slots[: random.randint(1, 4)]:
            choices = [f for f in range(1, left + 1) if not perfect or left % f == 0]
            factor = random.choice(choices if kind == 0 else [f for f in choices if f <= 3])
            left = -(-left // factor)
            loops[level][kind].append(Loop(dim, factor))
        loops[levels - 1][0].append(Loop(dim, left))
    for level in loops:
        for kind in level:
            random.shuffle(kind)
    names = [tensor.name for tensor in problem.tensors]
    return LoopMapping(
        tuple(
            LevelMapping(
                *_without_ones(*level),
                frozenset(name for name in names if index < levels - 1 and random.random() < 0.3),
            )
            for index, level in enumerate(loops)
        )
    )


def _without_ones(*kinds: list[Loop]) -> tuple[tuple[Loop, ...], tuple[Loop, ...], tuple[Loop, ...]]:
    temporal, columns, rows = (tuple(loop for loop in kind if loop.bound > 1) for kind in kinds)
    return temporal, columns, rows


class Walk:
    """Every iteration of `mapping`, in order."""

    def __init__(self, problem: Problem, mapping: LoopMapping) -> None:
        self.problem = problem
        self.bypass = [level.bypass for level in mapping.levels]
        pitch = [1] * len(problem.dims)
        self.loops: list[tuple[int, bool, Loop, int]] = []
        self.tiles: list[tuple[int, ...]] = []
        for index, level in enumerate(mapping.levels):
            for spatial, group in ((True, level.spatial), (False, level.temporal)):
                for loop in group:
                    self.loops.append((index, spatial, loop, pitch[loop.dim]))
                    pitch[loop.dim] *= loop.bound
            self.tiles.append(tuple(pitch))

    def _positions(self, loops: list[tuple[int, bool, Loop, int]]) -> Iterator[tuple[Element, Element]]:
        """(digits, offset per dimension), the last loop of the list running slowest."""
        for digits in product(*(range(loop.bound) for _, _, loop, _ in reversed(loops))):
            offset = [0] * len(self.problem.dims)
            for digit, (_, _, loop, pitch) in zip(digits, reversed(loops), strict=True):
                offset[loop.dim] += digit * pitch
            yield digits, tuple(offset)

    def elements(self, tensor: Tensor, child: int, offset: Element) -> frozenset[Element]:
        """What the tile of `child` at `offset` touches."""
        tile = self.tiles[child] if child >= 0 else (1,) * len(offset)
        points = product(*(range(o, min(o + t, n)) for o, t, n in zip(offset, tile, self.problem.bounds, strict=True)))
        return frozenset(
            tuple(sum(c * x for c, x in zip(row, point, strict=True)) for row in tensor.coefficients)
            for point in points
        )

    def moved(self, tensor: Tensor, child: int, level: int) -> int:
        """Words that leave instances of `level` for tiles of `child`, each once per step."""
        return sum(self.moved_by_each(tensor, child, level))

    def moved_by_each(self, tensor: Tensor, child: int, level: int) -> list[int]:
        """`moved` of each instance of `level`."""
        outside = [loop for loop in self.loops if loop[0] > child]
        temporal = [loop for loop in outside if not loop[1]]
        fan = [loop for loop in outside if loop[1] and loop[0] <= level]
        copies = [loop for loop in outside if loop[1] and loop[0] > level]
        holds: dict[tuple[Element, Element], frozenset[Element]] = {}
        total: dict[Element, int] = {}
        for _, time in self._positions(temporal):
            for copy, above in self._positions(copies):
                sent: set[Element] = set()
                for place, below in self._positions(fan):
                    offset = tuple(a + b + c for a, b, c in zip(time, above, below, strict=True))
                    now = self.elements(tensor, child, offset)
                    if now:
                        sent |= now - holds.get((copy, place), frozenset())
                        holds[copy, place] = now if child >= 0 else frozenset()
                total[copy] = total.get(copy, 0) + len(sent)
        return list(total.values())

    def owned(self, tensor: Tensor, level: int) -> int:
        """Distinct elements that each instance of `level` ever holds, summed."""
        return sum(self.owned_by_each(tensor, level))

    def owned_by_each(self, tensor: Tensor, level: int) -> list[int]:
        """Distinct elements that each instance of `level` ever holds."""
        outside = [loop for loop in self.loops if loop[0] > level]
        found: list[int] = []
        for _, above in self._positions([loop for loop in outside if loop[1]]):
            held: set[Element] = set()
            for _, time in self._positions([loop for loop in outside if not loop[1]]):
                held |= self.elements(tensor, level, tuple(a + b for a, b in zip(time, above, strict=True)))
            found.append(len(held))
        return found

    def used(self, level: int) -> int:
        """Instances of `level` that have work."""
        spatial = [loop for loop in self.loops if loop[0] > level and loop[1]]
        return sum(self._inside(offset) for _, offset in self._positions(spatial))

    def steps(self) -> int:
        """Steps at which the first instance has work."""
        return sum(self._inside(offset) for _, offset in self._positions([loop for loop in self.loops if not loop[1]]))

    def _inside(self, offset: Element) -> bool:
        return all(o < n for o, n in zip(offset, self.problem.bounds, strict=True))

    def first(self, tensor: Tensor, child: int, level: int) -> int:
        """Distinct elements of the first tiles of `child` below the first instance of `level`."""
        fan = [loop for loop in self.loops if child < loop[0] <= level and loop[1]]
        return len(frozenset().union(*(self.elements(tensor, child, offset) for _, offset in self._positions(fan))))
