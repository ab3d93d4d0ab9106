"""The ways to run a schedule, and the one whose program ends first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from ..backends.program import Candidate
from ..costs.clock import Limit
from ..errors import InfeasibleError, TilewrightError
from ..passes.graph.graph_unfold import Unfolding
from ..search.lengths import least_beside, least_price
from ..search.reloaded_spans import kept_cuts, reloaded_spans
from .applicable import HIDDEN_SHARES, LARGE_SHARE, Applicable
from .choice import LOADS, Figures, figures_of, is_near
from .lowering import Lowering
from .pipelines import Room, Target
from .side_by_side import outcomes

if TYPE_CHECKING:
    from ..backends.program import Program

RELOADED_SPANS = 5
"""Lengths of a span of layers whose weights are loaded for each sample that are tried first."""

LEAST_SAVING = 1 / 200
"""Part of the bound that fuller lanes of products must save for a try."""

LATE_GAIN = 0.02
"""Where bytes taken again late save so much of a program's cycles, weights in holes are not tried."""

KEPT_SHARES = 1 / 16, 1 / 10
"""Parts of the buffer that weights of a short span of layers take at most, which stay while all samples pass."""

LARGEST_SHARE = 1 / 4
"""The same for the shortest of several spans, where weights come in finer parts, which fit in holes."""

SPAN_SLACK = 3
"""Groups for which bytes of maps of samples stay unused after them, with weights in holes between maps: products of the
next sample then go on beside the last layers of a sample on another unit.
"""

PLAIN_SHARE = 1.1
"""How many times the cycles of the best way the first one may take to be tried in other pieces, too."""

SLACKS = 1, 0
"""Groups for which bytes of maps stay unused after them, as they are tried with weights in holes between maps, until
one gains."""


def fastest_schedule(lowering: Lowering, target: Target, compiled: Callable[..., Program]) -> Program:
    """The program that ends first of those that `compiled` makes of a `Room` (and a folder for its IR).

    All but the first are only `tried`, without proofs and without what layers were compiled from, until one is taken.

    With taps as channels or not, with joined maps apart or not, with sums of dense layers in chunks or not, with all
    samples together, one after another with weights loaded for each, some of the first layers sample by sample, with
    attention split into heads or head by head, each also with hidden maps in chunks or rows, and the best of these
    with bytes taken again late or with weights in holes between maps, and, where heads are not split, in other
    pieces; that with more layers in rows while an input comes in; then with weights loaded for each sample in the first
    layers alone, or with short spans of layers sample by sample, one after another; the best of several samples also
    with loads moved ahead. All are compared with the bound of the module as it is given.
    """
    dump = lowering.options.dump
    ways = _Ways(lowering, target, compiled)
    ways.take(Room(), dump)
    ways.unfold()
    ways.band()
    ways.split_joins()
    ways.split_sums()
    plain = ways.best
    apart = ways.sample_by_sample, ways.reload
    for try_way in reversed(apart) if ways.has_attention() else apart:
        try_way(plain)
    ways.attend(plain)
    ways.place()
    ways.overlap()
    ways.reload_first(plain)
    ways.keep_short(plain)
    ways.fill()
    program = ways.taken()
    best, found = ways.best, ways.found
    costs = {room: (one.predicted["cycles"], one.predicted["energy_pj"]) for room, one in found.items()}
    tried = [Candidate(room.words, *cost, chosen=room == best) for room, cost in costs.items()]
    tried += [Candidate(room.words, error=error.paragraph()) for room, error in ways.refused.items()]
    why = LOADS if ways.loads_weights else ""
    return replace(program, candidates=tuple(tried) if len(tried) > 1 else (), why=why)


@dataclass
class _Ways:
    """The ways that were tried, with the figures of their programs; `priced` has also some that may be asked for."""

    lowering: Lowering
    target: Target
    compiled: Callable[..., Program]
    found: dict[Room, Figures] = field(default_factory=dict[Room, Figures])
    refused: dict[Room, TilewrightError] = field(default_factory=dict[Room, TilewrightError])
    priced: dict[Room, Figures | TilewrightError] = field(default_factory=dict[Room, "Figures | TilewrightError"])

    def __post_init__(self) -> None:
        self.options = self.lowering.options
        self.applies = Applicable(self.lowering, self.target)
        self.limit = Limit(self.options.time_limit_s or None)

    @property
    def best(self) -> Room:
        """The way of fewest cycles."""
        return min(self.found, key=self.cycles)

    def cycles(self, room: Room) -> float:
        """Of a way; infinite where it was not tried or has no room."""
        return self.found[room].predicted["cycles"] if room in self.found else inf

    def take(self, room: Room, dump: Path | None = None) -> None:
        """Compile in a way that was not tried, the first in any case; of others those that have no room are left out,
        and those that cannot be compiled for another reason are `refused`.
        """
        if not self.found:
            self.first = self.compiled(room, dump)
            self.found[room] = figures_of(self.first)
        elif room not in self.found:
            self._price([room], 1)
            priced = self.priced[room]
            if isinstance(priced, Figures):
                self.found[room] = priced
            elif not isinstance(priced, InfeasibleError):
                self.refused[room] = priced

    def ahead(self, rooms: Iterable[Room]) -> None:
        """Price ways that are likely to be asked for, where there are several processes for it."""
        if self.options.jobs > 1 and self.is_worth_more():
            self._price(list(dict.fromkeys(rooms)), self.options.jobs)

    def _price(self, rooms: Sequence[Room], jobs: int) -> None:
        """Figures of ways that have none yet, or why there is no program."""
        fresh = [room for room in rooms if room not in self.priced]
        self.priced.update(outcomes(lambda room: figures_of(self.compiled(room, tried=True)), fresh, jobs))

    def take_each(self, rooms: Iterable[Room]) -> None:
        """Compile in one way after another, until one is near enough to the bound."""
        self.ahead(rooms := list(rooms))
        for room in rooms:
            if self.is_worth_more():
                self.take(room)

    def taken(self) -> Program:
        """The program of the best way, compiled to the end; ways whose proof fails are `refused`."""
        while (best := self.best) != Room():
            try:
                return self.compiled(best, self.options.dump)
            except TilewrightError as error:
                self.refused[best] = error
                del self.found[best]
        return self.first

    def is_worth_more(self) -> bool:
        """Whether the best is farther than the gap from the bound of all programs, and there is time."""
        return not (self.loads_weights or is_near(self.found[self.best], self.options.near) or self.limit.late)

    @property
    def loads_weights(self) -> bool:
        """Whether the best takes hardly longer than what any way does, loads of weights."""
        return self.cycles(self.best) <= (1 + self.options.near) * self.applies.weight_cycles

    def unfold(self) -> None:
        """Taps as channels, where that saves enough work; then more of them, where copies save little."""
        worth_cycles = LEAST_SAVING * self.found[Room()].lower_bound.get("cycles", 0.0)
        known: list[Unfolding] = []
        for room in (Room(unfold=True), Room(unfold=True, unfold_worth=1)) if self.is_worth_more() else ():
            found = self.applies.unfoldable(room)
            saved = sum(each.saved_cycles for each in found)
            found = [each._replace(saved_cycles=0.0) for each in found]
            self.take_each([room] if saved > worth_cycles and found != known else [])
            known = found

    def band(self) -> None:
        """Several results of depthwise convolutions together, where that saves enough work."""
        worth_cycles = LEAST_SAVING * self.found[Room()].lower_bound.get("cycles", 0.0)
        if self.is_worth_more() and self.applies.saved_by_bands() > worth_cycles:
            self.take(self.best._replace(band=True))

    def split_joins(self) -> None:
        """Channelwise layers of joined maps in two parts."""
        best = self.best._replace(split_joins=True)
        if self.is_worth_more() and self.applies.splits_joins(best):
            self.take(best)

    def split_sums(self) -> None:
        """Dense layers whose weights come while the convolution before them is computed, chunk by chunk."""
        best = self.best._replace(split_sums=True)
        if self.is_worth_more() and self.applies.splits_sums(best):
            self.take(best)

    def spread(self) -> None:
        """Weights also in the memory of maps, where the estimate says that some come earlier so."""
        best = self.best
        if not best.cuts and self.is_worth_more() and self.applies.spreads_weights(best):
            others = [] if best.rows_first else [best._replace(rows_inside=not best.rows_inside)]
            self.take_each(room._replace(spread=True) for room in (best, *others))

    def spread_last(self) -> None:
        """The best with weights in the memory of maps, those of the last layers rather than of others."""
        best = self.best._replace(spread=True, last_first=True)
        if not best.cuts and self.is_worth_more() and self.applies.spreads_weights(best):
            self.take(best)

    def split_finer(self) -> None:
        """Layers of large weights in finer parts, which may then come to the memory of maps."""
        best = self.best
        if not best.cuts and self.is_worth_more() and self.applies.splits_finer(best):
            self.take(best._replace(finer_parts=True))
            if self.best.finer_parts and not best.spread:
                self.spread()

    def reload(self, plain: Room) -> None:
        """Samples one after another with weights loaded for each, where these loads take less than the best so far."""
        samples = self.applies.samples
        if samples == 1 or not self.is_worth_more() or samples * self.applies.weight_cycles >= self.cycles(self.best):
            return
        hidden_share = samples * min(HIDDEN_SHARES) if self.applies.has_hidden(samples) else 0.0
        room = plain._replace(reload=True, hidden_share=hidden_share)
        room = next((way for way in self.applies.attention(room, samples) if way.split_heads), room)
        span = self.applies.span(room)
        room = room._replace(cuts=(0, span))
        self.take_each((room._replace(late=True), room._replace(slack=0)) if span else ())

    def reload_first(self, plain: Room) -> None:
        """The first layers, or those after maps too large for one sample, sample by sample with weights reloaded."""
        if self.applies.samples == 1 or not self.is_worth_more():
            return
        room = plain._replace(reload=True, late=True)
        reader = self.applies.reader(room)
        spans = reloaded_spans(reader.network(room.share), reader.rows_of)
        rooms = {span.stop: room._replace(cuts=(span.start, span.stop)) for span in spans}
        tried = [span.stop for span in spans[:RELOADED_SPANS]]
        self.take_each(rooms[stop] for stop in tried)
        if self.best in rooms.values():
            least_beside(lambda stop: self._cycles_if_worth(rooms[stop]), sorted(rooms), tried)

    def keep_short(self, plain: Room) -> None:
        """Short spans of layers after those in rows, each with all samples one by one, and with its weights kept."""
        if self.applies.samples == 1 or not self.is_worth_more():
            return
        rooms = [plain._replace(late=True)]
        rooms += [rooms[0]._replace(finer_parts=True)] if self.applies.splits_finer(plain) else []
        for room in rooms:
            reader = self.applies.reader(room._replace(reload=True))
            network = reader.network(room.share)
            sizes = (int(share * network.capacity_bytes) for share in KEPT_SHARES)
            most = int(LARGEST_SHARE * network.capacity_bytes) if room.finer_parts else 0
            found = dict.fromkeys(kept_cuts(network, reader.rows_of, size, most) for size in sizes)
            self.take_each(room._replace(cuts=cuts) for cuts in found if cuts)
        self.take_each([self.best._replace(late=False, slack=0)] if len(self.best.cuts) > 2 else [])

    def fill(self) -> None:
        """The best of several samples with loads in time that then move ahead, and with maps placed before them."""
        best = self.best._replace(late=True, holes=True)
        self.take_each(best._replace(slack=slack) for slack in (-1, 0) if self.applies.samples > 1)

    def sample_by_sample(self, plain: Room) -> None:
        """The first layers sample by sample: how many of them, and with weights in holes or not."""
        if self.applies.samples == 1 or not self.is_worth_more():
            return
        longest = self.applies.span(plain)
        if not longest:
            return
        middle = 1 << (longest.bit_length() + 1) // 2
        given = [plain, plain._replace(slack=SPAN_SLACK)]
        if Room(unfold=True) in self.found and not plain.unfold:  # of one sample the unfolded map takes less room
            given.append(plain._replace(unfold=True))
        ways = sorted(given, key=lambda room: self._of_span(room, middle))
        span = least_price(partial(self._of_span, ways[0]), 2, min(middle, longest), longest)
        if self._of_span(ways[1], span) < self._of_span(ways[0], span):
            least_price(partial(self._of_span, ways[1]), max(2, span // 2), span, min(2 * span, longest))

    def attend(self, plain: Room) -> None:
        """Attention by heads, and hidden maps in chunks, or for some rows of tokens after others."""
        self.take_each(self.applies.attention(plain) if self.is_worth_more() else ())
        best, shares = self.best, HIDDEN_SHARES if self.is_worth_more() and self.applies.has_hidden() else ()
        self.take_each([best._replace(hidden_share=share) for share in shares])
        self.take_each([best._replace(rows_share=LARGE_SHARE)] if shares else ())

    def has_attention(self) -> bool:
        """Whether there are heads to split, of samples that run one after another and are worth more ways."""
        samples = self.applies.samples
        is_asked = samples > 1 and self.is_worth_more()
        return is_asked and any(way.split_heads for way in self.applies.attention(Room(), samples))

    def place(self) -> None:
        """The best with bytes taken again late, weights in holes between maps, other pieces, weights beside maps."""
        base = self.best
        if base.reload or not self.is_worth_more():
            return
        if base.split_heads:
            self.take_each((base._replace(late=True), base._replace(slack=0)))
            return
        late = base._replace(late=True, slack=-1)
        self.ahead([late, *(base._replace(slack=slack) for slack in SLACKS if not base.cuts)])
        self.take(late)
        gained = self.cycles(self.best) <= (1 - LATE_GAIN) * self.cycles(base)
        for slack in () if base.cuts or gained else SLACKS:
            refused = self.found[base].refused  # its maps have less room than those that are asked about
            self.take_each([base._replace(slack=slack)] if refused or self.applies.has_holes(base, slack) else [])
            if self.best.slack >= 0:
                break
        best = self.best
        alone = best.cuts or best == Room(slack=best.slack, late=best.late)
        alone = alone or self.cycles(Room()) > PLAIN_SHARE * self.cycles(best)
        rooms = [room._replace(rows_first=False) for room in ((best,) if alone else (Room(), best))]
        self.ahead(rooms)
        for room in rooms:
            self.take(room)
        self.take_each([self.best._replace(rows_inside=False)] if not self.best.rows_first else ())
        self.spread()
        self.split_finer()
        self.spread_last()

    def overlap(self) -> None:
        """The best with more layers in rows while an input comes in, where others are, with taps as channels,
        neighbours together and weights beside maps or not.
        """
        best = self.best
        if best.cuts or not self.is_worth_more() or not self.applies.overlaps(best):
            return
        unfolds = dict.fromkeys((best.unfold, any(room.unfold for room in self.found)))
        bands = dict.fromkeys((best.band, any(room.band for room in self.found)))
        places = dict.fromkeys((best, best._replace(spread=False, last_first=False)))
        ways = product(places, unfolds, bands)
        self.take_each(room._replace(overlap=True, unfold=unfold, band=band) for room, unfold, band in ways)

    def _of_span(self, room: Room, length: int) -> float:
        """Cycles with at most so many layers sample by sample; infinite where there is no room or time for it."""
        span = self.applies.span(room, length)
        return self._cycles_if_worth(room._replace(cuts=(0, span))) if span else inf

    def _cycles_if_worth(self, room: Room) -> float:
        """Cycles of a way, which is tried where it is worth it."""
        self.take_each([room])
        return self.cycles(room)
