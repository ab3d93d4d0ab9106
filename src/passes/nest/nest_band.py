"""The pass `nest-band`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...algebra.affine import Affine, make_affine, to_affine
from ...algebra.expr import Access, Call, Expr, Statement
from ...algebra.statement import substitute, substitute_statement
from ...costs.fusion.of_machine import platform_of
from ...costs.mapping.binding import Pricer, pricer_of
from ...costs.mapping.problem import Group, Kernel, Use, touches
from ...dialects import nest
from ...dialects.acg import machine_of
from ...dialects.graph import WeightOp
from ...interpreters.constants import Array, Constants
from ..names import unique_name
from .trees import group_of

WORTH = 4
"""Cycles of products that each cycle of loads must save: zeros come from DRAM with the weights."""

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

    of integers, where a cycle of the loads of zeros saves four of products.
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


class Band(NamedTuple):
    """How many neighbours are made together, what their dim is called, and the cycles of products that it saves."""

    op: nest.GroupOp
    row: Row
    together: int
    dim: str
    saved_cycles: float

    @property
    def lead(self) -> int:
        """Zeros before each row of taps."""
        return self.row.stride * (self.together - 1)

    @property
    def extents(self) -> dict[str, int]:
        """Of the group's dims."""
        extents, row = self.op.extents, self.row
        changed = {row.place: extents[row.place] // self.together, row.tap: extents[row.tap] + self.lead}
        return {**extents, **changed, self.dim: self.together}

    def statement(self, statement: Statement) -> Statement:
        """With several results in place of one."""
        place = make_affine(0, {self.row.place: self.together, self.dim: 1})
        made = substitute_statement(statement, {self.row.place: place.to_expr()})
        assert isinstance(made.target, Access)
        return Statement(_plain_access(made.target), made.reduce, _plain(made.value))

    def product(self) -> Statement:
        """The kernel's, on rows of taps with zeros between them."""
        row, tensor = self.row, self.row.weight.tensor
        forms = {row.across: self.extents[row.tap], row.tap: 1, self.dim: -row.stride}
        along = make_affine(self.lead, forms)
        weight = Access(tensor, (*(form.to_expr() for form in row.weight.forms[:-2]), along.to_expr()))
        statement = row.kernel.statement
        assert isinstance(statement.value, Call)
        places = {row.place: make_affine(0, {row.place: self.together}).to_expr()}
        factors = (substitute(arg, places) for arg in statement.value.args)
        args = tuple(weight if isinstance(a, Access) and a.tensor == tensor else _plain(a) for a in factors)
        target = self.statement(statement).target
        return Statement(target, statement.reduce, replace(statement.value, args=args))

    def weights(self, array: Array) -> Array:
        """Rows of taps with zeros before, between and after them."""
        rows = np.pad(array, [(0, 0)] * (array.ndim - 1) + [(self.lead, 0)])
        joined = rows.reshape(*array.shape[:-2], -1)
        return np.pad(joined, [(0, 0)] * (joined.ndim - 1) + [(0, self.lead)])


def _plain(expr: Expr) -> Expr:
    """With indices as sums of dims."""
    match expr:
        case Call(fn, args):
            return Call(fn, tuple(map(_plain, args)))
        case Access():
            return _plain_access(expr)
        case _:
            return expr


def _plain_access(access: Access) -> Access:
    return Access(access.tensor, tuple(to_affine(index).to_expr() for index in access.indices))


def bands(module: ModuleOp, pricer: Pricer, constants: Constants) -> Iterator[Band]:
    """Groups that are worth it, with the number of results that saves most."""
    bytes_per_cycle = platform_of(pricer.machine).dram_bytes_per_cycle
    for op in module.walk():
        if not isinstance(op, nest.GroupOp) or op.is_mapped:
            continue
        row = row_of(group_of(op), op, constants)
        if row is None:
            continue
        extent, name = op.extents[row.place], unique_name("k", set(op.extents))
        found = [Band(op, row, n, name, 0.0) for n in range(2, min(extent, MOST) + 1) if extent % n == 0]
        before = _cycles(row.kernel, op.extents, pricer)
        priced = [_priced(band, before, pricer, bytes_per_cycle) for band in found]
        best = max(priced, key=lambda band: band.saved_cycles, default=None)
        if best is not None and best.saved_cycles > 0:
            yield best


def row_of(group: Group, op: nest.GroupOp, constants: Constants) -> Row | None:
    """The row of a group's only product, where it is one of integers that sums up taps alone; else None."""
    products = [kernel for kernel in group.kernels if kernel.reductions and len(kernel.uses) == 3]
    if len(products) != 1 or products[0].statement.reduce != "+=":
        return None
    (kernel,), values = products, {n.data: v for n, v in zip(op.input_names, op.inputs, strict=True)}
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


def _priced(band: Band, before: float, pricer: Pricer, bytes_per_cycle: float) -> Band:
    row, extents = band.row, band.op.extents
    zeros = band.lead * (extents[row.across] + 1)
    rows = prod(form.range(extents)[1] + 1 for form in row.weight.forms[:-2])
    loads = rows * zeros / bytes_per_cycle
    after = _cycles(replace(row.kernel, statement=band.product()), band.extents, pricer)
    return band._replace(saved_cycles=before - after - WORTH * loads)


def _cycles(kernel: Kernel, extents: Mapping[str, int], pricer: Pricer) -> float:
    fitting = pricer.matches(kernel)[0]
    return float(np.asarray(pricer.tile_cycles(fitting, pricer.best(fitting, extents).dims, extents)[0]))


def _replace(band: Band, constants: Constants) -> None:
    """Put a group on rows of taps in place of one."""
    op, row = band.op, band.row
    inputs = {name.data: value for name, value in zip(op.input_names, op.inputs, strict=True)}
    old = inputs[row.weight.buffer]
    array = constants.array(old)
    assert array is not None
    assert isinstance(old.owner, WeightOp)
    stored = constants.weight(f"{old.owner.resource}.band", band.weights(array))
    Rewriter.insert_op(stored, InsertPoint.before(op))
    inputs[row.weight.buffer] = stored.result
    block = Block(arg_types=[value.type for value in inputs.values()])
    for name, argument in zip(inputs, block.args, strict=True):
        argument.name_hint = name
    inside: dict[SSAValue, SSAValue] = dict(zip(op.body.block.args, block.args, strict=True))
    for kernel in op.kernels:
        is_product = kernel.sym_name.data == row.kernel.name
        statement = band.product() if is_product else band.statement(kernel.statement.data)
        operands = {tensor: inside[value] for tensor, value in kernel.operands_by_name.items()}
        init = None if kernel.init is None else inside[kernel.init]
        made = nest.KernelOp(kernel.sym_name.data, statement, operands, kernel.result.type, init=init, pad=kernel.pads)
        made.result.name_hint = kernel.result.name_hint
        block.add_op(made)
        inside[kernel.result] = made.result
    block.add_op(nest.YieldOp(*(inside[value] for value in op.yielded)))
    types = [value.type for value in op.outs]
    made = nest.GroupOp(op.sym_name.data, band.extents, inputs, types, Region(block))
    made.attributes.update(op.attributes)
    for result, before in zip(made.outs, op.outs, strict=True):
        result.name_hint = before.name_hint
    Rewriter.replace_op(op, [made], list(made.outs))
    if not old.uses:
        Rewriter.erase_op(old.owner)
