"""The time that units stand idle while an input comes in.

At the moment when x bytes of an input X have come, w bytes of other inputs and weights have, too, which took at least
(x + w) / bytes_per_cycle; and nothing is done of an operation that needs more.  What is left to do then comes after
it.  For each x, no w ends sooner than what is found here:

- Steps each of whose operations needs more than x bytes of X are left.
- A *row* of a step is a coordinate of a dim for which a part of X is needed; where parts of rows are disjoint and of s
  bytes or more, x / s rows are begun, and of two such dims, as in the products of all rows with each other, so many of
  each.
- A matrix is a weight that a product reads, each of its elements in as many operations.  So at most so many of them are
  done for a byte of it, times the part of the rows.
- A *bundle* is what an operation of a step needs of matrices, whole columns that no other one needs (a head's column of
  queries and of keys, of which scores are made).  Either some of it has not come, then nothing is done of these
  operations, and per byte as much as of any matrix; or all of it has, and the products with a column have done x out of
  all bytes of X of their work at most.  The larger of the two per byte holds for all of its matrices.
- All else is done.

Of an input of several samples x is less than one, so that operations that need all of any sample are left.  Rows of
one sample are others than those of another: x / s rows are begun of all together.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import product
from math import prod
from operator import or_

import numpy as np
from numpy.typing import NDArray

from ....algebra.affine import Affine
from .coordinates import Axis, count, everything, run
from .demand import Demand, elements, need
from .network import Network, Read, Step

Floats = NDArray[np.float64]

PARTS = 64
"""Bytes of an input are looked at in so many parts."""

MANY = 8192
"""Coordinates of all steps together that are looked at one by one."""

MOST_SAMPLES = 16
"""Samples of an input at most."""

LEAST_SHARE = 0.01
"""Inputs that come in a smaller part of the time of the work are not looked at."""

LEAST_WORK = 0.25
"""Nor are those all of which a smaller part of the work needs."""


@dataclass(frozen=True)
class Matrix:
    """A weight that a product reads: its value, its bytes, dims along its axes ("" of one element), and of columns."""

    value: int
    bytes: int
    dims: tuple[str, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Bundles:
    """How many there are, and the matrices with so many columns of each, and bytes of all."""

    number: int
    columns: Mapping[int, int]
    bytes: int


@dataclass
class Part:
    """A step some of whose operations need less than all of an input.

    `spans`: bytes of the parts of its rows together, for each dim with rows; `column_span` is the same of the
    operations of one column of its matrix.
    """

    place: int
    least: float
    spans: tuple[float, ...] = ()
    matrix: Matrix | None = None
    column_span: float = 0.0
    bundles: Bundles | None = None


@dataclass
class Arrival:
    """Steps of a network, with the least cycles of the operations that are carried out, whether these are all, the
    bytes of each external value that every operation of a step needs, and how many bytes come in a cycle."""

    network: Network
    steps: Sequence[Step]
    cycles: Floats
    whole: NDArray[np.bool_]
    needed: Mapping[int, Floats]
    bytes_per_cycle: float
    reads: dict[tuple[int, Demand], tuple[tuple[int, Demand], ...]] = field(
        default_factory=dict[tuple[int, Demand], tuple[tuple[int, Demand], ...]]
    )

    def __post_init__(self) -> None:
        self.shapes = [value.shape for value in self.network.values]
        self.made = {step.target: step for step in self.network.steps}

    def least_cycles(self) -> float:
        """No program ends this work sooner; 0 where nothing is found, or too much is to be looked at."""
        value = self._input()
        if value is None or self._coordinates(value) > MANY:
            return 0.0
        size, total = self._sample_bytes(value), float(self.cycles.sum())
        parts = self._parts(value)
        parts_of_input = (size * i / PARTS for i in range(1, PARTS))
        return max(x / self.bytes_per_cycle + total - self._done(parts, x) for x in parts_of_input)

    def _input(self) -> int | None:
        """The external value all of which, or a sample, most work needs."""
        found: dict[int, float] = {}
        for value, needed in self.needed.items():
            size = self._sample_bytes(value)
            if size >= LEAST_SHARE * self.bytes_per_cycle * self.cycles.sum():
                found[value] = float(self.cycles[needed >= size].sum())
        best = max(found, key=lambda value: found[value], default=None)
        return best if best is not None and found[best] >= LEAST_WORK * self.cycles.sum() else None

    def _samples(self, value: int) -> int:
        """Of an input of rows and columns the extent of an axis before, if it is short."""
        shape = self.shapes[value]
        return shape[0] if len(shape) == 3 and shape[0] <= MOST_SAMPLES else 1

    def _sample_bytes(self, value: int) -> int:
        return self.network.values[value].bytes // self._samples(value)

    def _partial(self, value: int) -> Iterator[int]:
        """Places of steps with operations that need less than a sample of an input."""
        for place, needed in enumerate(self.needed[value].tolist()):
            if self.cycles[place] and self.whole[place] and needed < self._sample_bytes(value):
                yield place

    def _coordinates(self, value: int) -> int:
        return sum(sum(self.steps[place].extents.values()) for place in self._partial(value))

    def _done(self, parts: Sequence[Part], x: float) -> float:
        """What is done at most, less the time in which what it takes came beside x."""
        cycles = self.cycles
        free = float(cycles.sum()) - sum(float(cycles[part.place]) for part in parts)
        begun = [part for part in parts if part.least <= x]
        shares = {part.place: prod(min(1.0, x / span) for span in part.spans) for part in begun}
        rates: dict[int, float] = {}
        columns: dict[int, float] = {}
        sizes = {part.matrix.value: part.matrix.bytes for part in parts if part.matrix is not None}
        for part in begun:
            work, share = float(cycles[part.place]), shares[part.place]
            if part.matrix is not None:
                value = part.matrix.value
                rates[value] = rates.get(value, 0.0) + work * share / part.matrix.bytes
                column = min(share, x / part.column_span) if part.column_span else share
                number = prod(self.steps[part.place].extents[name] for name in part.matrix.columns)
                columns[value] = columns.get(value, 0.0) + work * column / number
            elif part.bundles is None:
                free += work * share
        most = dict(rates)
        for part in begun:
            if part.bundles is not None:
                bundle = float(cycles[part.place]) * shares[part.place] / part.bundles.number
                bundle += sum(columns.get(value, 0.0) * number for value, number in part.bundles.columns.items())
                rate = max(bundle / part.bundles.bytes, *(rates.get(value, 0.0) for value in part.bundles.columns))
                most |= dict.fromkeys(part.bundles.columns, rate)
        return free + sum(max(0.0, rate - 1 / self.bytes_per_cycle) * sizes[value] for value, rate in most.items())

    def _parts(self, value: int) -> list[Part]:
        """The steps about which something is known: also those that need all of the input."""
        size, sample = float(self.network.values[value].bytes), float(self._sample_bytes(value))
        found = [Part(place, sample) for place in np.flatnonzero(self.needed[value] >= sample).tolist()]
        for place in self._partial(value):
            step, least = self.steps[place], float(self.needed[value][place])
            matrix = self._matrix(step, value)
            one_to_one = matrix is not None and self._is_one_to_one(step, value, matrix.columns)
            spans = () if one_to_one else tuple(self._spans(step, value, matrix))
            if matrix is not None or spans:
                found.append(Part(place, least, spans, matrix, size if one_to_one else 0.0))
        self._bundle(found, value)
        return found

    def _matrix(self, step: Step, value: int) -> Matrix | None:
        """The weight that a product reads, each of its elements as often, if it has bytes that come."""
        for read in step.reads:
            item = self.network.values[read.value]
            dims = dims_along(read, step, item.shape)
            if read.value != value and item.external and item.bytes and dims is not None and len(step.reads) == 2:
                target = {name for form in step.kernel.target.forms for name in form.names}
                return Matrix(read.value, item.bytes, dims, tuple(name for name in dims if name in target))
        return None

    def _is_one_to_one(self, step: Step, value: int, columns: Sequence[str]) -> bool:
        """Whether each operation of a column reads an element of an external value of its own, or of a copy."""
        rest = {name for name, extent in step.extents.items() if extent > 1} - set(columns)
        for read in step.reads:
            dims = dims_along(read, step, self.shapes[read.value]) if self._origin(read.value) == value else None
            if dims is not None and rest <= set(dims) and not set(columns) & set(dims):
                return True
        return False

    def _origin(self, value: int) -> int:
        """What a copy is of."""
        step = self.made.get(value)
        while isinstance(step, Step) and step.is_free and len(step.reads) == 1 and step.init is None:
            (read,) = step.reads
            if read.forms != step.kernel.target.forms or dims_along(read, step, self.shapes[read.value]) is None:
                break
            value, step = read.value, self.made.get(read.value)
        return value

    def _spans(self, step: Step, value: int, matrix: Matrix | None) -> Iterator[float]:
        """For each dim with rows, bytes of the disjoint parts of the input that these need.

        Of the first such dim in each sample, bytes of those of all samples.
        """
        names = [name for name in step.extents if matrix is None or name not in matrix.dims]
        names = [name for name in names if self._has_rows(step, name, value)]
        number = self._samples(value)
        samples = [name for name in names if number > 1 and step.extents[name] == number][:1]
        rows = [name for name in names if name not in samples]
        if samples and rows and (least := self._disjoint_in_samples(step, samples[0], rows[0], value)):
            yield float(least * number * step.extents[rows[0]])
            names = rows[1:]
        for name in names:
            extent = step.extents[name]
            least = self._disjoint_bytes([self._need_of(step, {name: i}, value) for i in range(extent)], value)
            if least:
                yield float(least * extent)

    def _disjoint_in_samples(self, step: Step, samples: str, name: str, value: int) -> int:
        """As `_disjoint_bytes`, of the coordinates of a dim for each coordinate of another, each in its own sample."""
        seen, least = 0, 0
        for sample in range(step.extents[samples]):
            found = [self._need_of(step, {samples: sample, name: i}, value) for i in range(step.extents[name])]
            boxes = [[box for box in own if box[0] > 0 and not box[0] & seen] for own in found]
            size = self._disjoint_bytes(boxes, value)
            if not size:
                return 0
            least = min(least, size) if least else size
            seen |= reduce(or_, (box[0] for own in boxes for box in own))
        return least

    def _has_rows(self, step: Step, name: str, value: int) -> bool:
        """Whether the first two coordinates of a dim need different parts of the input."""
        boxes = [self._need_of(step, {name: i}, value) for i in (0, 1)] if step.extents[name] > 1 else []
        return bool(boxes) and self._disjoint_bytes(boxes, value) > 0

    def _disjoint_bytes(self, boxes: Sequence[Sequence[Demand]], value: int) -> int:
        """The bytes of the smallest of boxes of a value of which no two overlap; 0 where nothing is known."""
        for axis in range(len(self.shapes[value])):
            seen, least = 0, 0
            for own in boxes:
                known = [box for box in own if box[axis] > 0 and not box[axis] & seen]
                if not known:
                    break
                best = max(known, key=elements)
                seen |= best[axis]
                least = min(least, elements(best)) if least else elements(best)
            else:
                return least * self.network.values[value].element_bytes
        return 0

    def _bundle(self, parts: Sequence[Part], value: int) -> None:
        """Let steps whose operations need columns of matrices that no other step needs have bundles."""
        readers = Counter(part.matrix.value for part in parts if part.matrix is not None)
        matrices = {p.matrix.value: p for p in parts if p.matrix is not None and readers[p.matrix.value] == 1}
        taken: set[int] = set()
        for part in parts:
            size = self._sample_bytes(value)
            if part.matrix is not None or part.least >= size or not part.spans:
                continue
            found = self._bundles(self.steps[part.place], value, matrices)
            if found is not None and not taken & set(found.columns):
                part.bundles = found
                taken |= set(found.columns)

    def _bundles(self, step: Step, value: int, matrices: Mapping[int, Part]) -> Bundles | None:
        rows = [name for name in step.extents if self._has_rows(step, name, value)]
        names = [name for name in step.extents if name not in rows and step.extents[name] > 1]
        number = prod(step.extents[name] for name in names)
        if not names or number > MANY:
            return None
        seen: dict[int, Axis] = {}
        columns: dict[int, int] | None = None
        for point in product(*(range(step.extents[name]) for name in names)):
            own: dict[int, int] = {}
            for other, boxes in self._reached(step, dict(zip(names, point, strict=True))).items():
                masks = [self._columns(box, matrices[other]) for box in boxes] if other in matrices else []
                mask = max(masks, default=0, key=count)
                if mask > 0 and not mask & seen.get(other, 0):
                    seen[other] = seen.get(other, 0) | mask
                    own[other] = count(mask)
            if not own or columns not in (None, own):
                return None
            columns = own
        if columns is None:
            return None
        sizes = {other: self._column_bytes(matrices[other]) for other in columns}
        return Bundles(number, columns, sum(sizes[other] * columns[other] for other in columns))

    def _columns(self, box: Demand, part: Part) -> Axis:
        """The columns of a matrix of which a box has all, if these are known and along one axis."""
        assert part.matrix is not None
        shape = self.shapes[part.matrix.value]
        along = [i for i, name in enumerate(part.matrix.dims) if name in part.matrix.columns]
        whole = all(box[i] == everything(shape[i]) for i in range(len(shape)) if i not in along)
        return box[along[0]] if whole and len(along) == 1 and box[along[0]] > 0 else 0

    def _column_bytes(self, part: Part) -> int:
        assert part.matrix is not None
        return part.matrix.bytes // prod(self.steps[part.place].extents[name] for name in part.matrix.columns)

    def _need_of(self, step: Step, at: Mapping[str, int], value: int) -> list[Demand]:
        return self._reached(step, at).get(value, [])

    def _reached(self, step: Step, at: Mapping[str, int]) -> dict[int, list[Demand]]:
        """What operations of a step with some known coordinates need of external values, box by box."""
        found: dict[int, list[Demand]] = {}
        stack = [(read.value, _operand(read, at, self.shapes[read.value])) for read in step.reads if not read.padded]
        seen = set(stack)
        while stack:
            value, demand = stack.pop()
            if self.network.values[value].external:
                found.setdefault(value, []).append(demand)
                continue
            if (value, demand) not in self.reads:
                self.reads[value, demand] = need(self.made[value], demand, self.shapes).reads
            fresh = [item for item in self.reads[value, demand] if item not in seen]
            seen |= set(fresh)
            stack += fresh
        return found


def _operand(read: Read, at: Mapping[str, int], shape: Sequence[int]) -> Demand:
    """The element that an operation with some known coordinates reads."""
    return tuple(_place(form, at, size) for form, size in zip(read.forms, shape, strict=True))


def _place(form: Affine, at: Mapping[str, int], size: int) -> Axis:
    if all(name in at for name in form.names):
        place = form.const + sum(coefficient * at[name] for name, coefficient in form.terms)
        return 1 << place
    return run(1, size)


def dims_along(read: Read, step: Step, shape: Sequence[int]) -> tuple[str, ...] | None:
    """The dims along the axes of a value ("" of one element), if each is read once along them; else None."""
    found: list[str] = []
    for form, size in zip(read.forms, shape, strict=True):
        terms = [(name, coefficient) for name, coefficient in form.terms if step.extents[name] > 1]
        names = [name for name, coefficient in terms if coefficient == 1 and step.extents[name] == size]
        if form.const != 0 or len(terms) != len(names) or len(names) != (size > 1):
            return None
        found.append("".join(names))
    named = [name for name in found if name]
    return tuple(found) if named and len(set(named)) == len(named) and not read.padded else None
