"""The least time of a network whose last map is made in rounds, in each of which weights come again.

The elements of a map are each read with weights of their own, for which the chip has no room (a dense layer).  While
some elements are made, the weights of others that are made already may come: but then the weights of the convolutions
before are read once more, for those that are made next.  For any two times, s before t:

- An element is *made* when all operations that it needs have ended.  Some layers before have weights each of which
  every element needs.  Let w be one of layer L that no operation begins to read between s and t.  Then what reads w for
  the elements that are made at t has begun before s, so that what it reads was there: of one channel, the windows of
  all of these elements, and whatever this needs of the layers before L.
- So of the last layer of which some weights are not read between s and t, a part p of these, at least a part p of the
  channels that it reads were made before s, and all that any of them needs; and the weights of the later layers, and
  all but p of its own, are on chip at s, or come in between s and t.

Let t(i) be the time when the first element of the i-th part of the weights of the map is made.  Then the weights of the
elements that are not yet made are on chip at t(i) or come later, and so do those that are read with results of these.
Whatever times and layers a program has, the end is no sooner than found here: from the last t(i) back to the first,
each is as late as the loads after it let it be, as loads between it and others are then the fewest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ....algebra.affine import Affine
from .arrival import dims_along
from .coordinates import everything, run
from .demand import Demand, need, users, whole
from .last_reads import Chains, ReadOnce, counts_of, front_of, least_of_elements
from .network import Network, Read, Step
from .some_elements import LONGEST, Along, Floats, are_apart, least_positions, runs_along, sizes_of_lines, wanted

NEAR = 1e-4
"""Part of the time that is not looked at closer."""

TRIES = 16
"""How often a time is made earlier, at most, as loads after it need."""

_Item = TypeVar("_Item")

Axes = tuple[int, int]
"""The axes of rows and of columns of a value."""

Windows = tuple[list[Along], ...]
"""Rows and columns that each position of the map needs: those of each tap of a window."""


class _Link(NamedTuple):
    """A step, the axes of its target, the map that it reads and its axes, if these are known, and for each row and each
    column of its target those that it reads; `mixes`: of some channel it needs all channels, `keeps`: as many."""

    step: Step
    axes: Axes
    read: Read | None = None
    following: Axes = (0, 0)
    windows: Sequence[Along] | None = None
    mixes: bool = False
    keeps: bool = False


class Layer(NamedTuple):
    """Bytes of the weights of a layer, and what is made before one of them is read last for so many elements, by parts
    and steps: `before` of all channels; `channels` of all channels that it reads, of which some may be read before.
    """

    bytes: int
    before: Floats
    channels: Floats


class _Needs(NamedTuple):
    """Cycles of what is made with a part `alone` (parts); `before` it, where some weights of a layer are not read from
    it to another part (parts, parts, layers); those of the `channels` that all weights of a layer read until that part
    (parts, layers); and those of the same steps that are `shared` with what is made alone (parts, layers)."""

    alone: Floats
    before: Floats
    channels: Floats
    shared: Floats


@dataclass(frozen=True)
class Rounds:
    """Points of steps that are made with the first element of each part (parts, steps), the cycles of a point of each,
    the bytes of weights that are still read then (parts), and the layers before the map, first ones first."""

    made: Floats
    cycles: Floats
    left: Floats
    layers: Sequence[Layer]
    room_bytes: int
    load_rate: float

    def least_end(self, least: float) -> float:
        """Cycles at least; `least` are known."""
        needs = self._needs()
        first, last = least, least + float(needs.before.max() + needs.channels.max()) + self.left[0] / self.load_rate
        while last - first > NEAR * first:
            middle = (first + last) / 2
            first, last = (first, middle) if self._is_possible(middle, needs) else (middle, last)
        return first

    def _needs(self) -> _Needs:
        shared = [self.made * (layer.channels.max(axis=0) > 0) for layer in self.layers]
        return _Needs(
            self.made @ self.cycles,
            np.stack([np.maximum(self.made[:, None], layer.before) @ self.cycles for layer in self.layers], 2),
            np.stack([layer.channels @ self.cycles for layer in self.layers], 1),
            np.stack([made @ self.cycles for made in shared], 1),
        )

    def _is_possible(self, end: float, needs: _Needs) -> bool:
        """Whether there are times for all parts: each is as late as the loads after it let it be, or later."""
        again = np.zeros(len(needs.alone))  # bytes that come again from each part on, but for those on chip then
        time = end
        for i in reversed(range(len(again))):
            bytes_again = 0.0
            for _ in range(TRIES):
                bytes_again = float((self._again(i, time, needs) + again[i + 1 :]).max(initial=0))
                loads = max(0.0, self.left[i] - self.room_bytes + bytes_again)
                latest, time = time, min(time, end - loads / self.load_rate)
                if time < needs.alone[i]:
                    return False
                if time == latest:
                    break
            again[i] = max(0.0, bytes_again - self.room_bytes)
        return True

    def _again(self, part: int, time: float, needs: _Needs) -> Floats:
        """Bytes of layers that are read from a part at a time to each one after it, the fewest that may be."""
        sizes = np.array([layer.bytes for layer in self.layers], float)
        late = np.cumsum(sizes[::-1])[::-1]
        before, channels = needs.before[part, part + 1 :], needs.channels[part + 1 :]
        share = np.clip((time - before + needs.shared[part]) / np.maximum(channels, 1e-9), 0, 1)
        return np.where(before <= time, late - share * sizes, late[0]).min(axis=1)


def rounds_of(
    network: Network,
    chains: Chains,
    steps: Sequence[Step],
    cycles: Floats,
    sizes: Mapping[int, int],
    reader: tuple[Step, Read, ReadOnce],
) -> tuple[Floats, Floats, list[Layer]] | None:
    """`made`, `left` and `layers` of the rounds of a map whose elements `reader` reads with weights of their own.

    `cycles` are those of a point of each of `steps`; `sizes` bytes of the weights that are read, by value.
    """
    step, read, once = reader
    shape = chains.shapes[once.value]
    front = front_of(once, shape)
    if front is None or len(shape) < front + 2 or not all(1 < size <= LONGEST for size in shape[-2:]):
        return None
    counts, number = counts_of(shape, front), prod(shape[front:])
    positions = -(-counts * shape[-2] * shape[-1] // number)
    column = {other.target: i for i, other in enumerate(steps)}
    layers = list(_Layers(network, chains, front, cycles, sizes, column, positions).before(once.value))[::-1]
    if not layers:
        return None
    made = np.zeros((len(counts), len(steps)))
    for target, points in least_of_elements(network, chains, once).items():
        if target in column:
            made[:, column[target]] = points
    following = steps[steps.index(step) + 1 :]
    later = sum(sizes[value] for value in _read_after(network, following, once.value, sizes, chains.shapes))
    return made, sizes[read.value] * (1 - (counts - 1) / number) + later, layers


def _read_after(
    network: Network, steps: Sequence[Step], value: int, sizes: Mapping[int, int], shapes: Sequence[Sequence[int]]
) -> set[int]:
    """Weights each element of which is read for the last time after all of a value is made."""
    found: set[int] = set()
    for step in steps:
        for read in step.reads:
            parts = users(step, read, shapes) if read.value in sizes else []
            needs = [wanted(network, dict(part), shapes).get(value) for part in parts]
            if needs and all(demand == whole(shapes[value]) for demand in needs):
                found.add(read.value)
    return found


@dataclass(frozen=True)
class _Layers:
    """Layers before a map, of `front` axes of samples, each of whose weights all elements of the map need."""

    network: Network
    chains: Chains
    front: int
    cycles: Floats
    sizes: Mapping[int, int]
    column: Mapping[int, int]
    positions: NDArray[np.int64]
    lines: dict[tuple[int, bool], tuple[Floats, Floats] | None] = field(default_factory=dict[Any, Any])

    def before(self, value: int) -> Iterator[Layer]:
        """Those of a chain of steps, last ones first."""
        shape = self.chains.shapes[value]
        links = list(self._links(value, (len(shape) - 2, len(shape) - 1)))
        windows = tuple([_single(size)] for size in shape[-2:])
        mixed = False
        for i, link in enumerate(links):
            if mixed and link.read is not None and (weight := self._weight(link, link.read)) is not None:
                yield self._layer(
                    self.sizes[weight], links[i + 1 :], _taps(link, link.read, windows, self.chains.shapes)
                )
            mixed = mixed or link.mixes
            windows = _through(link, windows)

    def _links(self, value: int, axes: Axes) -> Iterator[_Link]:
        while isinstance(step := self.chains.makers.get(value), Step):
            link = next(self._followed(step, axes), _Link(step, axes))
            yield link
            if link.read is None:
                return
            value, axes = link.read.value, link.following

    def _followed(self, step: Step, axes: Axes) -> Iterator[_Link]:
        """By each read of a map whose rows and columns are known."""
        target, shapes = step.kernel.target.forms, self.chains.shapes
        names = [set(target[axis].names) for axis in axes]
        if not are_apart(step, *names) or any(len(own) != 1 for own in names):
            return
        some = self._some(step.target, axes)
        for read in step.reads:
            found = [[i for i, form in enumerate(read.forms) if own & {*form.names}] for own in names]
            if read.value not in self.chains.makers or [len(own) for own in found] != [1, 1] or found[0] == found[1]:
                continue
            row, col = found[0][0], found[1][0]
            rows, columns = (_windows(step, read, *pair, shapes) for pair in zip(axes, (row, col), strict=True))
            is_apart = not {*read.forms[row].names} & {*read.forms[col].names}
            box = _one([box for value, box in need(step, some, shapes).reads if value == read.value])
            if read.forms[: self.front] != target[: self.front] or not is_apart or box is None:
                continue
            if rows is None or columns is None:
                continue
            others, own = self._others(read.value, (row, col)), self._others(step.target, axes)
            forms = [read.forms[i] for i in others]
            mixes = all(box[i] == everything(shapes[read.value][i]) for i in others)
            keeps = forms == [target[i] for i in own] and all(len(form.names) == 1 for form in forms)
            yield _Link(step, axes, read, (row, col), (rows, columns), mixes, keeps)

    def _others(self, value: int, axes: Axes) -> list[int]:
        """The axes of channels."""
        return [i for i in range(self.front, len(self.chains.shapes[value])) if i not in axes]

    def _some(self, value: int, axes: Axes) -> Demand:
        """Some channel at all places."""
        others = self._others(value, axes)
        return tuple(run(1, n) if i in others else everything(n) for i, n in enumerate(self.chains.shapes[value]))

    def _weight(self, link: _Link, read: Read) -> int | None:
        """The weight of a layer, all of which each place needs, each of its elements for one channel."""
        step, shapes = link.step, self.chains.shapes
        weight = _one([other for other in step.reads if other is not read])
        if weight is None or self.sizes.get(weight.value) != self.network.values[weight.value].bytes:
            return None
        readers = [other for one in self.network.steps if isinstance(one, Step) for other in one.reads]
        own = {*(dims_along(weight, step, shapes[weight.value]) or ())}
        target = step.kernel.target.forms
        places = {name for i in (*range(self.front), *link.axes) for name in target[i].names}
        channels = [(read.forms[i], shapes[read.value][i]) for i in self._others(read.value, link.following)]
        taps = [(read.forms[i], target[axis].names[0]) for i, axis in zip(link.following, link.axes, strict=True)]
        is_known = (
            own
            and not own & places
            and sum(other.value == weight.value for other in readers) == 1
            and all({*form.names} <= own and _is_plain(form, step, size) for form, size in channels if size > 1)
            and all(form.coefficient(name) == 1 and len(_taps_of(form, name, step)) <= 1 for form, name in taps)
            and all({dim for dim, _ in _taps_of(form, name, step)} <= own for form, name in taps)
        )
        return weight.value if is_known else None

    def _layer(self, size: int, links: Sequence[_Link], windows: Windows) -> Layer:
        """A layer that reads these windows of what the first of some links makes."""
        before, channels = (np.zeros((len(self.positions), len(self.column))) for _ in range(2))
        mixes, keeps = False, True
        for link in links:
            at = self.column.get(link.step.target)
            if at is not None and self.cycles[at] and (mixes or keeps):
                (before if mixes else channels)[:, at] = self._points(link, windows, mixes)
            mixes, keeps = mixes or link.mixes, keeps and link.keeps
            windows = _through(link, windows)
        return Layer(size, before, channels)

    def _points(self, link: _Link, windows: Windows, is_whole: bool) -> Floats:
        """Of all channels at the places of windows, as each channel has: as many as the most parts need."""
        step, shape = link.step, self.chains.shapes[link.step.target]
        key = step.target, is_whole
        if key not in self.lines:
            box = whole(shape) if is_whole else self._some(step.target, link.axes)
            self.lines[key] = sizes_of_lines(step, box, *link.axes, self.chains.shapes)
        lines = self.lines[key]
        if lines is None:
            return np.zeros(len(self.positions))
        least = [np.min([one.least(own) for one in way], axis=0) for way, own in zip(windows, lines, strict=True)]
        number = 1 if is_whole else prod(shape[i] for i in self._others(step.target, link.axes))
        return least_positions(*least)[self.positions] * number


def _one(items: Sequence[_Item]) -> _Item | None:
    return items[0] if len(items) == 1 else None


def _is_plain(form: Affine, step: Step, size: int) -> bool:
    """Whether a dim alone goes along an axis."""
    return len(form.names) == 1 and form.const == 0 and form.terms[0][1] == 1 and step.extents[form.names[0]] == size


def _taps_of(form: Affine, name: str, step: Step) -> list[tuple[str, int]]:
    """The other dims of a form, with their factors."""
    return [(dim, factor) for dim, factor in form.terms if dim != name and step.extents[dim] > 1]


def _single(size: int) -> Along:
    return Along(np.arange(size), np.arange(size) + 1)


def _windows(step: Step, read: Read, axis: int, at: int, shapes: Sequence[Sequence[int]]) -> Along | None:
    """What each coordinate of an axis of the target needs along an axis of a value, if neighbours leave nothing out."""
    full, size = whole(shapes[step.target]), shapes[step.target][axis]
    if read.forms[at] == step.kernel.target.forms[axis] and shapes[read.value][at] == size:
        return _single(size)
    masks: list[int] = []
    for place in range(size):
        reads = need(step, (*full[:axis], 1 << place, *full[axis + 1 :]), shapes).reads
        box = _one([box for value, box in reads if value == read.value])
        if box is None or box[at] <= 0:
            return None
        masks.append(box[at])
    found = runs_along(masks)
    return found if found is not None and (found.low[1:] <= found.high[:-1]).all() else None


def _through(link: _Link, windows: Windows) -> Windows:
    """What windows of a step's target need of the map that it reads."""
    if link.windows is None:
        return windows
    return tuple([_reached(along, one) for one in way] for along, way in zip(link.windows, windows, strict=True))


def _reached(along: Along, windows: Along) -> Along:
    low = np.append(along.low, along.high[-1])[windows.low]
    return Along(low, np.where(windows.low < windows.high, along.high[windows.high - 1], low))


def _taps(link: _Link, read: Read, windows: Windows, shapes: Sequence[Sequence[int]]) -> Windows:
    """The windows of what a layer reads with weights of each tap."""
    found: list[list[Along]] = []
    for axis, at, (window,) in zip(link.axes, link.following, windows, strict=True):
        form, size = read.forms[at], shapes[read.value][at]
        (name,) = link.step.kernel.target.forms[axis].names
        taps = [(factor, link.step.extents[dim]) for dim, factor in _taps_of(form, name, link.step)] or [(0, 1)]
        moved = [form.const + factor * tap for factor, extent in taps for tap in range(extent)]
        found.append([Along(np.clip(window.low + by, 0, size), np.clip(window.high + by, 0, size)) for by in moved])
    return tuple(found)
