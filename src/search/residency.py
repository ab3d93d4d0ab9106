"""Which layers run together, as a whole or tile by tile, and which maps stay on chip between them.

Layers run in order.  A map that is kept is on chip from the layer that makes it to the last that reads it; others are
stored, and loaded for each group that reads them.  Between groups the least traffic is sought: a shortest path over the
borders of groups, for a set of kept maps that shrinks where they exceed the memory (ours; the notation is SoMa's).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from math import inf, nextafter

from .network import Layer, Network, RowsOf
from .steps import OFFCHIP, Plan, Span, Step

MOST_LAYERS = 12
"""Layers of one group at most."""

LARGE = 1 / 8
"""Part of the room from which on a map is better made and read tile by tile."""

HELD_SHARE = 1 / 64
"""Part of their traffic that a step in rows pays for large maps left on chip and for rings in a memory that weights
share; a step of whole layers pays it for an input."""

SIDE_BY_SIDE = 3
"""Layers of a group in rows with room for what lies between their kernels, if weights have a memory of their own.

They work side by side then, as their locals take turns (`codelet-prefetch`).
"""

LAYER_CYCLES = 64
"""What a step in rows pays for each of its layers, in cycles."""

PIECES_SHARE = 1 / 2
"""Part of the room that two pieces of streamed weights take at most, if smaller ones may be chosen."""

RESERVE = 1 / 32
"""Part of a memory that is left to fragments."""


@dataclass
class Search:
    """Steps and kept maps, of which there are fewer as long as a layer has no room."""

    network: Network
    rows_of: RowsOf
    share: float
    spans: tuple[Span, ...] = ()
    kept: frozenset[int] = frozenset()
    offchip: set[int] = field(default_factory=set[int])
    stuck: int = -1
    stored: set[int] = field(default_factory=set[int])
    summed: frozenset[int] | None = None

    def __post_init__(self) -> None:
        self.lives = self.network.lives()
        self.samples, self.price = self.network.samples, 0.0
        self.span_of = {place: span for span in self.spans for place in range(span.start, span.stop)}
        lives = dict(self.lives)
        sizes = tuple(map(self.bytes_in_span, range(len(self.network.map_bytes))))
        self.crossing: set[int] = set()
        for n, (first, last) in lives.items():  # bytes of all samples are there from the first on, and to the last
            made, read = self.span_of.get(first), self.span_of.get(last)
            if made is not read:
                self.crossing.add(n)
                self.lives[n] = first if made is None else made.start, last if read is None else read.stop - 1
        self.room = int(self.network.capacity_bytes * (1 - RESERVE))
        self.kept = frozenset(self.lives) - self.network.given
        self.kept -= {number for number in self.network.results if self.leaves_by_sample(number)}
        self.network = replace(self.network, map_bytes=sizes, samples=1)
        self.span_bytes = {span: 0 if span.reload else span.weight_bytes(self.network) for span in self.spans}

    def run(self) -> Plan | None:
        """The plan; None where a layer of a span, which is then `stuck`, has no room, also where all is stored that
        other layers make or read.
        """
        while True:
            steps, stuck = self.path()
            if stuck < 0:
                inner = {n for step in steps for n in self.kept if self.is_inner(n, step.start, step.stop)}
                return Plan(tuple(steps), self.kept - inner, self.spans, self.kept & self.stored)
            if self.in_span(stuck):
                crossing = {n for n in self.kept & self.crossing if self.lives[n][0] <= stuck <= self.lives[n][1]}
                crossing = {n for n in crossing if len(self.makers(n)) == 1}  # parts of others are not stored
                if not crossing:
                    self.stuck = stuck
                    return None
                self.store(max(crossing, key=lambda n: (self.network.map_bytes[n], n)))
            else:
                self.give_up(stuck)
                if apart := self.offchip & self.span_of.keys():
                    self.stuck = min(apart)
                    return None

    def store(self, number: int) -> None:
        """A map that a span touches has no room there.  What several layers read after the span that makes it is loaded
        for the first of them, and stays; another is not kept.
        """
        (maker,) = self.makers(number)
        reads = [place for place, layer in enumerate(self.network.layers) if number in layer.reads]
        reads = [place for place in reads if self.span_of.get(place) is not self.span_of.get(maker)]
        if self.in_span(maker) and len(reads) > 1 and not any(map(self.in_span, reads)):
            self.stored.add(number)
            self.lives[number] = reads[0], reads[-1]
            self.summed = None
        else:
            self.kept -= {number}

    def stays(self, number: int, place: int) -> bool:
        """Whether a map is on chip from a layer to the last that reads it."""
        return number in self.kept and not (number in self.stored and place < self.lives[number][0])

    def path(self) -> tuple[list[Step], int]:
        """The cheapest steps, and -1; or those so far, and a layer that nothing fits for."""
        count = len(self.network.layers)
        cost = [0.0] + [inf] * count
        last: list[Step | None] = [None] * (count + 1)
        for stop in range(1, count + 1):
            for start in range(stop - 1, max(-1, stop - 1 - MOST_LAYERS), -1):
                if cost[start] == inf:
                    continue
                step, price = self.step(start, stop)
                known = nextafter(cost[stop], inf) if price and self.hides(start, stop) else cost[stop]
                if step is not None and cost[start] + price < known:
                    cost[stop], last[stop] = cost[start] + price, step
                if start == stop - 1 and step is not None and step.rows == 0 and price == 0:
                    is_large = any(self.is_large(n) for n in self.network.layers[start].reads)
                    if not is_large and not self.hides(stop - MOST_LAYERS, stop):
                        break
            if cost[stop] == inf and not self.later(stop, cost):
                return [], stop - 1
        steps: list[Step] = []
        at = count
        while at:
            step = last[at]
            assert step is not None
            steps.append(step)
            at = step.start
        self.price = cost[count]
        return steps[::-1], -1

    def hides(self, start: int, stop: int) -> bool:
        """Whether layers may work while an input of the network comes in that one of them reads."""
        layers = self.network.layers[max(0, start) : stop]
        return any(layer.cycles for layer in layers) and any(self.network.given & {*layer.reads} for layer in layers)

    def later(self, stop: int, cost: Sequence[float]) -> bool:
        """Whether a longer group may end after a border that no group can end at."""
        reach = min(len(self.network.layers), stop + MOST_LAYERS)
        return any(
            cost[start] < inf and self.step(start, end)[0] is not None
            for end in range(stop + 1, reach + 1)
            for start in range(max(0, end - MOST_LAYERS), stop)
        )

    def step(self, start: int, stop: int) -> tuple[Step | None, float]:
        """The best way to run some layers, and what it costs: cycles of traffic of maps, and some a layer in groups."""
        network = self.network
        layers = network.layers[start:stop]
        if any(start < span.start < stop for span in self.spans):
            return None, inf
        if any(place in self.offchip for place in range(start, stop)):
            return (Step(start, stop, OFFCHIP), 0.0) if stop == start + 1 else (None, inf)
        touched = {n for layer in layers for n in (*layer.reads, *layer.makes)}
        inner = {n for n in touched if self.is_inner(n, start, stop)}
        passing = self.passing(start, stop) - sum(network.map_bytes[n] for n in inner & self.kept)
        coming = {n for n in self.stored if start <= self.lives[n][0]}
        moved = [n for n in touched if n not in inner and (n not in self.kept or n in coming)]
        traffic = sum(network.map_bytes[n] for n in moved) / network.bytes_per_cycle
        beside = sum(layer.cycles for layer in layers)
        crossing = max(0.0, traffic - beside)
        scratch = max(layer.scratch_bytes for layer in layers)
        need = passing + 2 * scratch
        staying = self.staying_bytes(start)
        if network.weight_capacity_bytes is None:
            need += max(0, staying - layers[0].weight_bytes)
        elif staying > network.weight_capacity_bytes:
            return None, inf
        whole: tuple[Step | None, float] = None, inf
        if len(layers) == 1:
            step = self.whole(start, need)
            arriving = sum(network.map_bytes[n] for n in touched & network.given if self.is_large(n))
            if step is not None:
                whole = step, crossing + self.left_cycles(arriving)
            if step is not None and not arriving:
                return whole
        if self.in_span(start):
            return whole
        own, weights_bytes = network.weight_capacity_bytes, sum(x.weight_bytes + x.copied_bytes for x in layers)
        if own is None:
            need += weights_bytes
        if (own is not None and weights_bytes > own) or not all(layer.by_rows for layer in layers):
            return whole
        if own is not None and len(layers) > 1:  # else what is left is for weights that come early
            need += (SIDE_BY_SIDE - 2) * scratch
        best, least = None, inf
        for way in self.rows_of(start, stop):
            rings = sum(size for n, size in way.rings.items() if n not in self.kept or n in inner)
            cycles = way.cycles  # the work on the last tile begins when all traffic has ended
            cycles += max(0.0, traffic - (beside + cycles) * (1 - 1 / way.tiles)) if beside else 0.0
            cycles += self.ring_cycles(rings)
            if need + rings <= self.room and cycles < least:
                best, least = way, cycles
        if best is None:
            return whole
        held = sum(network.map_bytes[n] for n in touched & self.kept if n not in inner and self.is_large(n))
        own_cycles = 0 if self.hides(start, stop) else LAYER_CYCLES * len(layers)
        cycles = crossing + own_cycles + self.left_cycles(held) + best.cycles
        return whole if whole[1] <= cycles else (Step(start, stop, best.rows), cycles)

    def passing(self, start: int, stop: int) -> int:
        """Bytes of the maps that are kept while some layers run."""
        if self.summed is not self.kept:
            begun, ended = [0] * (len(self.network.layers) + 1), [0] * (len(self.network.layers) + 1)
            for number in self.kept:
                first, last = self.lives[number]
                begun[first + 1] += self.network.map_bytes[number]
                ended[last + 1] += self.network.map_bytes[number]
            self.begun, self.ended = list(accumulate(begun)), list(accumulate(ended))
            self.summed = self.kept
        return self.begun[stop] - self.ended[start]

    def whole(self, place: int, need: int) -> Step | None:
        """A layer as a whole where others and what it has between its kernels `need` so many bytes."""
        layer, network = self.network.layers[place], self.network
        loaded = sum(self.bytes_at(n, place) for n in {*layer.reads, *layer.makes} if not self.stays(n, place))
        over = self.overwritten(place)
        saved = network.map_bytes[over] if over >= 0 else 0
        stays = self.staying_bytes(place) > 0
        weights = self.whole_weights(layer, self.room - need - loaded + saved, 1 if stays else self.share)
        if weights is None or (self.in_span(place) and not layer.by_sample) or (stays and weights):
            return None
        return Step(place, place + 1, 0, weights, over)

    def bytes_at(self, number: int, place: int) -> int:
        """Bytes of a map that is not kept where a layer touches it: in the span of one sample."""
        size = self.network.map_bytes[number]
        return -(-size // self.samples) if self.in_span(place) and number in self.crossing else size

    def left_cycles(self, held_bytes: int) -> float:
        """What a step pays for large maps that it leaves on chip, or waits for as wholes."""
        return HELD_SHARE * held_bytes / self.network.bytes_per_cycle

    def ring_cycles(self, rings_bytes: int) -> float:
        """What a step pays for rings where weights, which share the memory, have no room meanwhile."""
        return self.left_cycles(rings_bytes) if self.network.weight_capacity_bytes is None else 0.0

    def overwritten(self, place: int) -> int:
        """The map in whose place a layer that runs as a whole makes its own; -1 for none."""
        layer, network = self.network.layers[place], self.network
        if not all(self.stays(n, place) for n in layer.makes) or network.results.intersection(layer.makes):
            return -1
        if self.staying_bytes(place) and len(self.spans) == 1:  # the next sample would wait
            return -1
        ends = (n for n in layer.overwrites if n in self.kept and self.lives[n][1] == place)
        ends = (n for n in ends if not self.in_span(place) or n not in self.crossing)
        return next((n for n in ends if n not in network.results), -1)

    def in_span(self, place: int) -> bool:
        """Whether a layer runs sample by sample."""
        return place in self.span_of

    def staying_bytes(self, place: int) -> int:
        """Of the weights that are there while a layer runs, with its own; 0 outside of spans whose weights stay."""
        return self.span_bytes[self.span_of[place]] if place in self.span_of else 0

    def bytes_in_span(self, number: int) -> int:
        """Bytes of a map that are there: of one sample where layers of one span touch it."""
        first, last = self.lives[number]
        span = self.span_of.get(first)
        inside = span is not None and span is self.span_of.get(last)
        of_one_sample = inside and (number not in self.network.results or self.leaves_by_sample(number))
        return -(-self.network.map_bytes[number] // (self.network.samples if of_one_sample else 1))

    def leaves_by_sample(self, number: int) -> bool:
        """Whether a result of the network that no layer reads is stored sample by sample and then no longer there."""
        is_read = any(number in layer.reads for layer in self.network.layers)
        return self.lives[number][1] in self.span_of and not is_read

    def whole_weights(self, layer: Layer, room: int, share: float) -> int | None:
        """The bytes of two pieces of the weights where maps leave `room` for them; 0: all are there, None: no room.

        They are streamed where they would take more than `share` of the room: then others may be loaded ahead.
        """
        if room < 0:
            return None
        limit = room if self.network.weight_capacity_bytes is None else self.network.weight_capacity_bytes
        if layer.weight_bytes <= share * limit:
            return 0
        pieces = [size for size in layer.piece_bytes if size <= limit]
        if not pieces:
            return 0 if layer.weight_bytes <= limit else None
        return max([size for size in pieces if size <= PIECES_SHARE * limit], default=pieces[0])

    def is_inner(self, number: int, start: int, stop: int) -> bool:
        """Whether a map is made and read by the layers of one group only."""
        first, last = self.lives[number]
        apart = number in self.network.given | self.network.results | self.stored
        return start <= first and last < stop and not apart

    def is_large(self, number: int) -> bool:
        """Whether a map takes so much of the room that weights of later layers have none."""
        return self.network.map_bytes[number] > LARGE * self.room

    def give_up(self, place: int) -> None:
        """Keeps one map less at a layer that nothing fits for: the smallest whose leaving lets it run, else the largest
        that is there; where there is none, the layer is tiled from DRAM.
        """
        network = self.network
        live = [n for n in self.kept if self.lives[n][0] <= place <= self.lives[n][1]]
        layer = network.layers[place]
        own = {*layer.reads, *layer.makes}
        passing = [n for n in live if n not in own]
        first, last = place + 1 - MOST_LAYERS, place + MOST_LAYERS - 1
        near = [n for n in self.kept if self.lives[n][0] <= last and self.lives[n][1] >= first]
        near.sort(key=lambda n: (network.map_bytes[n], n))
        choice = next((n for n in near if self.fits_without(n, place)), None)
        if choice is None and not live:
            self.leave({place})
            return
        if choice is None:
            choice = max(passing or live, key=lambda n: (network.map_bytes[n], self.lives[n][1] - self.lives[n][0], n))
        self.kept -= {choice}
        makers = self.makers(choice)
        if len(makers) > 1:
            self.leave(makers)

    def fits_without(self, number: int, place: int) -> bool:
        """Whether a layer could run if a map were not kept."""
        kept, self.kept = self.kept, self.kept - {number}
        starts = range(max(0, place + 1 - MOST_LAYERS), place + 1)
        stops = range(place + 1, min(len(self.network.layers), place + MOST_LAYERS) + 1)
        fits = any(
            self.step(start, stop)[0] is not None for start in starts for stop in stops if stop - start <= MOST_LAYERS
        )
        self.kept = kept
        return fits

    def makers(self, number: int) -> set[int]:
        """The layers that make a map, or a part of it."""
        return {place for place, layer in enumerate(self.network.layers) if number in layer.makes}

    def leave(self, places: set[int]) -> None:
        """Layers that are tiled from DRAM, where what they touch then lies, with all that make parts of such maps."""
        while places:
            self.offchip |= places
            layers = [self.network.layers[place] for place in places]
            touched = {n for layer in layers for n in (*layer.reads, *layer.makes)}
            self.kept -= touched
            parts = [makers for n in touched if len(makers := self.makers(n)) > 1]
            places = {place for makers in parts for place in makers} - self.offchip


def plan(network: Network, rows_of: RowsOf, share: float = 0.5, spans: Iterable[Span] = ()) -> Plan:
    """Steps and kept maps of little traffic; weights of more than `share` of what maps leave are streamed.

    The layers of each of the `spans` run sample by sample; the last span ends earlier where it has no room else.
    Samples of their maps then pass through the memory one after another, and the input arrives while they work.
    """
    apart = (place for place, layer in enumerate(network.layers) if not layer.by_sample)
    if spans := tuple(spans):
        *before, last = spans
        limit = next((place for place in apart if place >= last.start), len(network.layers))
        for stop in range(min(last.stop, limit), last.start + 1, -1):
            found = Search(network, rows_of, share, (*before, replace(last, stop=stop))).run()
            if found is not None:
                return found
    found = Search(network, rows_of, share).run()
    assert found is not None
    return found
