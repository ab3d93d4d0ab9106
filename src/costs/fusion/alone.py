"""Layers on their own that exceed a buffer: cut into pieces of their results' channels, and bands of their maps.

The paper leaves them open; this is ours.  Either a piece of the weights stays while all bands stream past it (a map is
read once per piece, or only the channels of the piece where channels are independent), or a band of the map of some
samples stays while the pieces stream past it (weights are read once per band).  A map that every result reads as a
whole is cut like weights.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...algebra.element import Floats, Ints
from ..pareto import undominated
from .demand import row_step, spans
from .graph import Layer
from .price import Costs, Terms
from .tables import END_EDGE, EXTENT, FIRST_EDGE, PIXEL_BYTES, REACH, SOURCE, STRIDE, GraphTables
from .trace import DELTA, LAST, LEAD, LOW, WHOLE

ALL_PIECES = 64


@dataclass(frozen=True)
class _Map:
    """A map that the layer reads through windows, in bytes of one sample: all of it, what one band streams through, one
    band, and what bands read again.
    """

    size: int
    streamed: int
    band: int
    again: int


@dataclass(frozen=True)
class Alone:
    """Layer `v`, as `layer` and in the arrays `net`, traced as a group of its own in `trace`."""

    net: GraphTables
    trace: Ints
    terms: Terms
    layer: Layer
    v: int

    def ways(self, tiles: Ints, table: Ints, energy: Floats) -> tuple[Ints, Floats]:
        """Rows like those of `table` and `energy`, which are for the group with each of `tiles`.

        Capacities do not matter here; no row is worse than another in everything.
        """
        rows: list[Ints] = []
        found: list[Floats] = []
        pieces = counts_of_pieces(self.layer.groups if self.layer.groups > 1 else self.layer.shape.channels)
        for tile, row, spent in zip(tiles, table, energy, strict=True):
            if tile[1] == 0 and tiles[:, 1].any():
                continue
            tile = tile if tile[1] else np.array((tile[0], self.extent(self.v, 1)))
            for bands in self.bands():
                for samples in self.samples(bands):
                    cut = self.cut(row, tile, pieces, bands, samples)
                    rows.append(cut)
                    found.append(self.energy(row, float(spent), cut))
        return _front(np.concatenate(rows), np.concatenate(found))

    @property
    def axis(self) -> int:
        """Bands are of columns, or of rows where maps have one column."""
        return 1 if self.net.sources[self.v, EXTENT + 1] > 1 else 0

    def bands(self) -> Iterator[int]:
        """1, 2, 4, ..., up to one per position."""
        count = 1
        while count <= self.net.sources[self.v, EXTENT + self.axis]:
            yield count
            count *= 2

    def samples(self, bands: int) -> Iterator[int]:
        """How many samples' maps stay while weights stream past: 0 (weights stay), 1, 2, 4, ... of the batch."""
        yield 0
        count = 1
        while self.layer.groups == 1 and count <= (self.terms.batch if bands == 1 else 1):
            yield count
            count *= 2

    def cut(self, row: Ints, tile: Ints, pieces: Ints, bands: int, samples: int) -> Ints:
        """Traffic and demand of one order, a row for each count of pieces."""
        layer, terms = self.layer, self.terms
        maps, whole = self.maps(tile, bands)
        rows = np.repeat(row[None, :], len(pieces), axis=0)
        share = -(-layer.groups // pieces) / layer.groups
        reads = pieces if layer.groups == 1 and samples == 0 else np.ones_like(pieces)
        rounds = 1 if samples == 0 else bands * -(-terms.batch // samples)
        trips = np.where(pieces > 1, rounds, 1)
        streamed = sum(item.streamed if samples == 0 else -(-item.band * samples // terms.cores) for item in maps)
        results = min(tile[0], self.net.sources[self.v, EXTENT]) * min(tile[1], self.net.sources[self.v, EXTENT + 1])
        results = results * -(-layer.shape.channels // pieces) * layer.element_bytes
        rows[:, Costs.GLOBAL] = np.ceil(streamed * share) + -(-whole // (pieces * terms.cores)) + results
        rows[:, Costs.WEIGHT] = -(-layer.weight_bytes // (pieces * terms.cores))
        rows[:, Costs.WEIGHTS] = layer.weight_bytes * trips
        loads = sum(item.size + item.again for item in maps) * reads
        rows[:, Costs.INPUTS] = (loads + whole * np.where(pieces > 1, bands if samples else 1, 1)) * terms.batch
        rows[:, Costs.PASSES] = np.maximum(trips, reads)
        total = rows[:, Costs.WEIGHTS] + rows[:, Costs.INPUTS] + rows[:, Costs.OUTPUTS]
        rows[:, Costs.TRANSFER] = np.ceil(total / (terms.dram_bytes_per_cycle * terms.cores))
        return rows

    def maps(self, tile: Ints, bands: int) -> tuple[list[_Map], int]:
        """What is read through windows, and bytes of what is read as a whole."""
        found: dict[int, _Map] = {}
        whole: dict[int, int] = {}
        for e in range(*self.net.layers[self.v, FIRST_EDGE : END_EDGE + 1]):
            u = int(self.net.edges[e, SOURCE])
            size = self.extent(u, 0) * self.extent(u, 1) * int(self.net.sources[u, PIXEL_BYTES])
            if self.trace[u, WHOLE]:
                whole[u] = size
            else:
                found[u] = self.map(e, u, size, tile, bands)
        return list(found.values()), sum(whole.values())

    def map(self, e: int, u: int, size: int, tile: Ints, bands: int) -> _Map:
        """What is read through edge `e` of source `u`."""
        stride, reach = int(self.net.edges[e, STRIDE + self.axis]), int(self.net.edges[e, REACH + self.axis])
        line = size // self.extent(u, self.axis)
        part = min(self.extent(u, self.axis), (-(-self.extent(self.v, self.axis) // bands) - 1) * stride + reach)
        return _Map(size, self.streamed(u, tile, part), part * line, (bands - 1) * max(0, reach - stride) * line)

    def extent(self, u: int, axis: int) -> int:
        return int(self.net.sources[u, EXTENT + axis])

    def streamed(self, u: int, tile: Ints, part: int) -> int:
        """Bytes of MAIN and SIDE for a band of `part` columns (all columns where bands are of rows)."""
        s, net = self.trace, self.net
        steps = int(row_step(s, u, tile[0])), int(s[u, DELTA] * tile[1])
        height, width = int(net.sources[u, EXTENT]), int(net.sources[u, EXTENT + 1])
        high, left, _ = spans(steps[0], s[u, LEAD], s[u, LOW], s[u, LAST], height)
        wide, _, _ = spans(steps[1], s[u, LEAD + 1], s[u, LOW + 1], s[u, LAST + 1], width)
        reach = part if self.axis == 1 else width
        return int(net.sources[u, PIXEL_BYTES]) * (high * min(wide, reach) + left * max(0, reach - wide))

    def energy(self, row: Ints, energy: float, rows: Ints) -> Floats:
        """The group's energy with the traffic of `rows` in the place of that of `row`."""
        terms = self.terms
        weight, given = terms.dram_read_pj + terms.weight_write_pj, terms.dram_read_pj + terms.global_write_pj
        more = (rows[:, Costs.WEIGHTS] - row[Costs.WEIGHTS]) * weight + (
            rows[:, Costs.INPUTS] - row[Costs.INPUTS]
        ) * given
        return energy + more


def counts_of_pieces(units: int) -> Ints:
    """Counts of pieces of so many groups or channels that differ in the size of a piece.

    All of them up to `ALL_PIECES` squared; above, those between many pieces and small ones in steps of an eighth.
    """
    counts = {*range(1, ALL_PIECES + 1), *(-(-units // size) for size in range(1, ALL_PIECES + 1))}
    between = ALL_PIECES
    while between < units:
        between += between // 8
        counts.add(between)
    return np.array(sorted({-(-units // -(-units // n)) for n in counts if n <= units}), dtype=np.int64)


def _front(rows: Ints, energy: Floats) -> tuple[Ints, Floats]:
    """Rows that no other one matches in traffic, latency, energy and both demands, least traffic first."""
    traffic = rows[:, Costs.WEIGHTS] + rows[:, Costs.INPUTS] + rows[:, Costs.OUTPUTS]
    latency = np.maximum(rows[:, Costs.CYCLES], rows[:, Costs.TRANSFER])
    columns = (traffic, latency, energy, rows[:, Costs.GLOBAL], rows[:, Costs.WEIGHT])
    kept = undominated(np.column_stack(columns).astype(np.float64))
    return rows[kept], energy[kept]
