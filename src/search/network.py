"""The layers of a network as a search for what stays on chip sees them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Layer:
    """A layer by the numbers of the maps that it reads and makes.

    Its weights have `weight_bytes` in their memory, copies of maps there `copied_bytes`; where weights can be loaded
    piece by piece, `piece_bytes` are those of two pieces, of each size that these may have, ascending.  `scratch_bytes`
    lie between its kernels.  Only with `by_rows` it runs in groups, tile by tile, and only with `by_sample` in a span
    of layers, one sample after another.  It may make its map as a whole in the place of one of `overwrites`, read last.
    Maps that a step moves may take `cycles` of each of its layers before anything waits for them.
    """

    reads: tuple[int, ...]
    makes: tuple[int, ...]
    weight_bytes: int = 0
    piece_bytes: tuple[int, ...] = ()
    scratch_bytes: int = 0
    copied_bytes: int = 0
    by_rows: bool = False
    by_sample: bool = False
    overwrites: tuple[int, ...] = ()
    cycles: float = 0.0


@dataclass(frozen=True)
class Network:
    """Layers in order, the bytes of each map, which maps are `given` or `results` of the network.

    `capacity_bytes` is for maps; weights share it unless they have `weight_capacity_bytes` of their own.
    """

    layers: tuple[Layer, ...]
    map_bytes: tuple[int, ...]
    given: frozenset[int]
    results: frozenset[int]
    capacity_bytes: int
    weight_capacity_bytes: int | None = None
    bytes_per_cycle: float = 1.0
    samples: int = 1

    def lives(self) -> dict[int, tuple[int, int]]:
        """Map -> the first and the last layer that touch it."""
        found: dict[int, tuple[int, int]] = {}
        for place, layer in enumerate(self.layers):
            for number in (*layer.reads, *layer.makes):
                found[number] = found.get(number, (place, place))[0], place
        return found

    def leaving(self, span: int) -> set[int]:
        """The maps that the first `span` layers make and later ones read."""
        return {n for n, (first, last) in self.lives().items() if first < span <= last} - self.given


@dataclass(frozen=True)
class Rows:
    """A way to run layers tile by tile: `rows` of the last ones at a time, and the bytes of each map's ring.

    `cycles` is the work that layers have beyond that of whole ones, where arrays are fed for few rows at a time, and
    `tiles` is how many tiles a sample has.
    """

    rows: int
    rings: Mapping[int, int]
    cycles: float = 0.0
    tiles: int = 1


RowsOf = Callable[[int, int], Sequence[Rows]]
"""The ways to run the layers from the first to before the second number tile by tile, the largest tiles first."""
