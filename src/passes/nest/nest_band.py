"""The pass `nest-band`."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import NamedTuple

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...algebra.affine import Affine, make_affine, to_affine
from ...algebra.expr import Access, Call, Statement, substitute, substitute_statement
from ...costs.fusion.of_machine import platform_of
from ...costs.mapping.binding import Pricer, pricer_of
from ...costs.mapping.problem import Group, Kernel, Use, touches
from ...dialects import nest
from ...dialects.acg import machine_of
from ...dialects.graph import WeightOp
from ...interpreters.constants import Array, Constants
from ..accesses import changed, with_accesses
from ..functions import erase_unread_weights, functions_of
from ..names import take_name, unique_name
from .nest_swap_factors import cycles_of, load_cycles
from .trees import group_of

WORTHS = 1, 4
"""Cycles of products that each cycle of loads must save, as zeros come from DRAM with the weights: the first number
where all products then take more cycles than all loads, or else the last."""

MOST = 64
"""Results at most that are neighbours of each other in one product."""


@dataclass(frozen=True)
class NestBandPass(ModulePass):
    """Make several neighbours of a depthwise convolution's results from what they see together.

    A product of one channel each leaves most lanes of an array idle that sums up channels into channels.  The product
    of a row of elements with a banded matrix has lanes for the elements that are summed up, and for the results: 7
    results of 3 taps see 9 elements, and 21 of the 63 elements of the matrix are taps, others zero.  The matrix is not
    made: rows of taps with zeros between them are the weights, of which result `k` begins `k` elements earlier.

        dims {g = 8, p = 28, q = 28, r = 3, s = 3}
        nest.kernel @mac "Y[0, g, p, q] += X[0, g, p + r - 1, q + s - 1] * W[g, 0, r, s]"

    becomes, with weights of 8x1x33 in place of 8x1x3x3,

        dims {g = 8, p = 28, q = 4, k = 7, r = 3, s = 9}
        nest.kernel @mac "Y[0, g, p, 7 * q + k] += X[0, g, p + r - 1, 7 * q + s - 1] * W[g, 0, 9 * r + s - k + 6]"

    of integers, where a cycle of the loads of zeros saves four of products; or less, where products take longer than
    all loads.

    Many elements do not fit in lanes, and each result sees few of them.  Where the product adds to what is there, it
    may be made in segments: elements one after another, each segment with the results that see some of its elements.
    Of 14 results, which see 16 elements, the first 8 see the first 8, and the last 8 the others, so that with
    `{g = 8, p = 28, q = 2, r = 3, k = 14, s = 8, k1 = 8}`

        nest.kernel @mac "Y[0, g, p, 14 * q + k1] += X[0, g, p + r - 1, 14 * q + s - 1] * W[g, 0, 10 * r + s - k1 + 7]"
        nest.kernel @mac1 "Y[0, g, p, 14 * q + k1 + 6] += X[0, g, p + r - 1, 14 * q + s + 7]
            * W[g, 0, 10 * r + s - k1 + 9]"
    """

    name = "nest-band"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine, constants = machine_of(op), Constants.of(op)
        for band in list(bands(op, pricer_of(machine), constants)):
            _replace(band, constants)
        constants.tidy()


class Row(NamedTuple):
    """The product of a group, its results' dim along rows, the taps along and across them, and the step of windows."""

    kernel: Kernel
    weight: Use
    place: str
    tap: str
    across: str
    stride: int


class Segment(NamedTuple):
    """Elements `start` to `stop` (exclusive) of those that neighbours see, and `first` to `last` of the neighbours.

    `taps` and `places` are the dims of both.
    """

    start: int
    stop: int
    first: int
    last: int
    taps: str
    places: str

    @property
    def extents(self) -> dict[str, int]:
        """Of its dims."""
        return {self.taps: self.stop - self.start, self.places: self.last - self.first + 1}

    def offsets(self, stride: int) -> tuple[int, int]:
        """The least and the greatest distance of an element from the first that a neighbour sees."""
        return self.start - stride * self.last, self.stop - 1 - stride * self.first


class Band(NamedTuple):
    """How many neighbours are made together, in segments of how many elements (0: one), and what their dim is called.

    Cycles of products that this saves, and of the loads that it adds.
    """

    op: nest.GroupOp
    row: Row
    together: int
    dim: str
    saved_cycles: float = 0.0
    segment: int = 0
    load_cycles: float = 0.0

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Segments of equal sizes have the same dims."""
        row, taken = self.row, {*self.op.extents, self.dim}
        taps, seen = self.op.extents[row.tap], row.stride * (self.together - 1) + self.op.extents[row.tap]
        if not self.segment:
            return (Segment(0, seen, 0, self.together - 1, row.tap, self.dim),)
        found: list[Segment] = []
        names: dict[tuple[int, int], tuple[str, str]] = {}
        for start in range(0, seen, self.segment):
            stop = min(seen, start + self.segment)
            first = max(0, -((taps - 1 - start) // row.stride))
            last = min(self.together - 1, (stop - 1) // row.stride)
            size = stop - start, last - first + 1
            if size[1] < 1:  # between windows
                continue
            if size not in names:
                named = unique_name(row.tap, taken, "") if names else row.tap, unique_name(self.dim, taken, "")
                names[size] = named
                taken |= {*named}
            found.append(Segment(start, stop, first, last, *names[size]))
        return tuple(found)

    @property
    def lead(self) -> int:
        """Zeros before each row of taps."""
        return -min(segment.offsets(self.row.stride)[0] for segment in self.segments)

    @property
    def trail(self) -> int:
        """Elements from the first tap on that are read with a row."""
        return max(segment.offsets(self.row.stride)[1] for segment in self.segments) + 1

    @property
    def row_elements(self) -> int:
        """Elements from a row of taps to the next, so that no row is read with another."""
        return max(self.trail, self.op.extents[self.row.tap] + self.lead)

    @property
    def extents(self) -> dict[str, int]:
        """Of the group's dims."""
        extents, row = self.op.extents, self.row
        changed = {row.place: extents[row.place] // self.together, self.dim: self.together}
        sizes = [segment.extents for segment in self.segments]
        return {**extents, **changed, **{name: extent for size in sizes for name, extent in size.items()}}

    def statement(self, statement: Statement) -> Statement:
        """With several results in place of one."""
        place = make_affine(0, {self.row.place: self.together, self.dim: 1})
        return plain_statement(substitute_statement(statement, {self.row.place: place.to_expr()}))

    def products(self) -> list[Statement]:
        """The kernel's, one for each segment, on rows of taps with zeros between them."""
        return [self._product(segment) for segment in self.segments]

    def _product(self, segment: Segment) -> Statement:
        row, tensor, statement = self.row, self.row.weight.tensor, self.row.kernel.statement
        first, start = segment.first, segment.start
        steps = {row.across: self.row_elements, segment.taps: 1, segment.places: -row.stride}
        along = make_affine(self.lead + start - row.stride * first, steps)
        weight = Access(tensor, (*(form.to_expr() for form in row.weight.forms[:-2]), along.to_expr()))
        assert isinstance(statement.value, Call)
        seen = {row.place: make_affine(0, {row.place: self.together}), row.tap: make_affine(start, {segment.taps: 1})}
        factors = (substitute(arg, {dim: form.to_expr() for dim, form in seen.items()}) for arg in statement.value.args)
        args = tuple(
            weight if isinstance(a, Access) and a.tensor == tensor else with_accesses(a, _plain_access) for a in factors
        )
        place = make_affine(first, {row.place: self.together, segment.places: 1})
        target = substitute(statement.target, {row.place: place.to_expr()})
        assert isinstance(target, Access)
        return Statement(_plain_access(target), statement.reduce, replace(statement.value, args=args))

    def weights(self, array: Array) -> Array:
        """Rows of taps with zeros before, between and after them."""
        outer = [(0, 0)] * (array.ndim - 1)
        rows = np.pad(array, [*outer, (self.lead, self.row_elements - self.lead - array.shape[-1])])
        joined = rows.reshape(*array.shape[:-2], -1)
        size = self.row_elements * (array.shape[-2] - 1) + self.lead + self.trail
        return np.pad(joined, [*outer[1:], (0, max(0, size - joined.shape[-1]))])[..., :size]


def plain_statement(statement: Statement) -> Statement:
    """With indices as sums of dims."""
    return changed(statement, _plain_access)


def _plain_access(access: Access) -> Access:
    return Access(access.tensor, tuple(to_affine(index).to_expr() for index in access.indices))


def bands(module: ModuleOp, pricer: Pricer, constants: Constants) -> Iterator[Band]:
    """Groups that are worth it, each with the way that saves most."""
    groups = [op for op in module.walk() if isinstance(op, nest.GroupOp) and not op.is_mapped]
    rows = [(op, row) for op in groups if (row := row_of(group_of(op), op, constants)) is not None]
    ways = [_ways(op, row, pricer) for op, row in rows]
    if not rows:
        return
    work = _work(module, pricer)
    loads = sum(load_cycles(function, pricer) for function in functions_of(module))
    found: list[Band] = []
    for worth in WORTHS:
        best = [max(own, key=partial(_gain, worth), default=None) for own in ways]
        found = [band for band in best if band is not None and _gain(worth, band) > 0]
        if work - sum(band.saved_cycles for band in found) > loads + sum(band.load_cycles for band in found):
            break
    yield from found


def _gain(worth: float, band: Band) -> float:
    return band.saved_cycles - worth * band.load_cycles


def _work(module: ModuleOp, pricer: Pricer) -> float:
    """Cycles of all sums of products, one after another."""
    known: dict[Group, float] = {}
    for op in module.walk():
        if isinstance(op, nest.GroupOp) and (group := group_of(op)) not in known:
            products = (kernel for kernel in group.kernels if kernel.reductions and len(kernel.uses) == 3)
            known[group] = sum(cycles_of(kernel, group.extents, pricer) for kernel in products)
    return sum(known[group_of(op)] for op in module.walk() if isinstance(op, nest.GroupOp))


def _ways(op: nest.GroupOp, row: Row, pricer: Pricer) -> list[Band]:
    """Numbers of neighbours and segments, priced."""
    extent, name = op.extents[row.place], unique_name("k", set(op.extents))
    counts = [n for n in range(2, min(extent, MOST) + 1) if extent % n == 0]
    before, sizes = cycles_of(row.kernel, op.extents, pricer), _segment_sizes(row, pricer)
    return [_priced(Band(op, row, n, name, segment=size), before, pricer) for n in counts for size in sizes]


def row_of(group: Group, op: nest.GroupOp, constants: Constants) -> Row | None:
    """The row of a group's only product, where it is one of integers that sums up taps alone; else None."""
    products = [kernel for kernel in group.kernels if kernel.reductions and len(kernel.uses) == 3]
    if len(products) != 1 or products[0].statement.reduce != "+=":
        return None
    (kernel,), values = products, op.inputs_by_name
    _, x, w = kernel.uses
    array = constants.array(values[w.buffer]) if w.buffer in values else None
    if array is None or array.dtype.kind not in "iu" or len(touches(group, w.buffer)) > 1 or w.tensor in kernel.padded:
        return None
    across, tap = (_plain_dim(form) for form in (*w.forms, Affine(0), Affine(0))[len(w.forms) - 2 : len(w.forms)])
    if not across or not tap or set(kernel.reductions) != {across, tap}:
        return None
    fixed = {name for form in w.forms for name in form.names}
    for form in x.forms:
        places = [name for name in form.names if name != tap]
        if form.coefficient(tap) == 1 and len(places) == 1 and not {*places} & fixed:
            (place,) = places
            others = [f for k in group.kernels for use in k.uses for f in use.forms if place in f.names and f != form]
            if form.coefficient(place) > 0 and all(_plain_dim(other) == place for other in others):
                return Row(kernel, w, place, tap, across, form.coefficient(place))
    return None


def _plain_dim(form: Affine) -> str:
    """The dim that a form is; empty if it is none."""
    return form.names[0] if len(form.names) == 1 and form == make_affine(0, {form.names[0]: 1}) else ""


def _segment_sizes(row: Row, pricer: Pricer) -> list[int]:
    """Elements of a segment, as they are tried (0: all): those that fill the lanes of a dim.

    A segment adds to what is there of results that other segments make, too.
    """
    lanes = {dim.lanes for dim in pricer.matches(row.kernel)[0].capability.dims}
    return [0, *sorted(lanes - {1})] if row.kernel.continues else [0]


def _priced(band: Band, before: float, pricer: Pricer) -> Band:
    row, extents = band.row, band.op.extents
    size = band.row_elements * (extents[row.across] - 1) + band.lead + band.trail
    zeros = size - extents[row.across] * extents[row.tap]
    rows = prod(form.range(extents)[1] + 1 for form in row.weight.forms[:-2])
    loads = rows * zeros / platform_of(pricer.machine).dram_bytes_per_cycle
    kernels = [replace(row.kernel, statement=product) for product in band.products()]
    after = sum(cycles_of(kernel, band.extents, pricer) for kernel in kernels)
    return band._replace(saved_cycles=before - after, load_cycles=loads)


def _replace(band: Band, constants: Constants) -> None:
    """Put a group on rows of taps in place of one."""
    op, row = band.op, band.row
    inputs = op.inputs_by_name
    old = inputs[row.weight.buffer]
    array = constants.array(old)
    assert array is not None
    assert isinstance(old.owner, WeightOp)
    stored = constants.weight(f"{old.owner.resource}.band", band.weights(array))
    Rewriter.insert_op(stored, InsertPoint.before(op))
    inputs[row.weight.buffer] = stored.result
    group = nest.GroupOp(op.sym_name.data, band.extents, inputs, [value.type for value in op.outs])
    block = group.body.block
    inside: dict[SSAValue, SSAValue] = dict(zip(op.body.block.args, block.args, strict=True))
    taken = {kernel.sym_name.data for kernel in op.kernels}
    for kernel in op.kernels:
        is_product = kernel.sym_name.data == row.kernel.name
        statements = band.products() if is_product else [band.statement(kernel.statement.data)]
        operands = {tensor: inside[value] for tensor, value in kernel.operands_by_name.items()}
        init = None if kernel.init is None else inside[kernel.init]
        name = kernel.sym_name.data
        for statement in statements:
            made = kernel.like(statement, init, label=name, operands=operands)
            block.add_op(made)
            init, name = made.result, take_name(name, taken, "")
        assert init is not None
        inside[kernel.result] = init
    block.add_op(nest.YieldOp(*(inside[value] for value in op.yielded)))
    group.attributes.update(op.attributes)
    for result, before in zip(group.outs, op.outs, strict=True):
        result.name_hint = before.name_hint
    Rewriter.replace_op(op, [group], list(group.outs))
    erase_unread_weights([old])
