"""The pass `graph-lookups`, and what a lookup becomes where no rows are read: a product."""

from dataclasses import dataclass
from math import prod

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr, f32, i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint, Rewriter

from ...algebra.element import ELEMENT_TYPES, Array
from ...algebra.lookup import lookup_of
from ...dialects import graph
from ...dialects.acg import has_target, machine_of
from ...dialects.types import WIDER, dtype_of, element_bytes, element_of, element_type_of, shape_of, si8, ui8
from ...errors import TilewrightError
from ...interpreters.constants import Constants, base_name
from ...machine import Machine
from .identities import renamed
from .narrow_weights import NARROW, held
from .quantized_values import Builder

EXACT_PLACES = 1 << 24
"""Places below this are exact in f32."""

MAX_COMPARED = 1 << 27
"""How many elements may be looked at one by one."""

INDEX_BYTES = 8
"""What an index takes at most."""


def reads_rows(machine: Machine) -> bool:
    """Whether an instruction of the machine copies rows at indices from memory off chip."""
    named = {(mnemonic.node, mnemonic.capability) for mnemonic in machine.mnemonics}
    return machine.control == "queues" and any(
        lookup_of(capability.statement) is not None and (link.name, capability.name) in named
        for link in machine.links
        if link.src in machine.offchip
        for capability in link.capabilities
    )


@dataclass(frozen=True)
class GraphLookupsPass(ModulePass):
    """Mark the lookups that the target does by reading rows: fewer bytes than the table has.

    The table is an input, or a constant, dequantised or not.  What is read is dequantised after it, and is in the
    narrowest float that holds a constant table exactly, if the target converts that.

        %y = graph.lookup %t at %i      ->     %r = graph.lookup %t at %i by_rows
                                               %y = graph.cast %r

    Lookups that have no mark become products in `graph-normalize`, which is to follow.
    """

    name = "graph-lookups"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not has_target(op):
            return
        machine, constants = machine_of(op), Constants.of(op)
        if not reads_rows(machine):
            return
        for layer in [layer for layer in op.walk() if isinstance(layer, graph.LookupOp)]:
            _mark(layer, machine, constants)
        constants.tidy()


def _mark(op: graph.LookupOp, machine: Machine, constants: Constants) -> None:
    if isinstance(op.table.owner, graph.ReshapeOp | graph.TransposeOp):
        array = constants.fold(op.table.owner)
        if array is not None:
            Rewriter.insert_op(made := constants.weight(base_name(op, op.table), array), InsertPoint.before(op))
            op.operands[0] = made.result
    stored, scaled = op.table, op.table.owner
    if isinstance(scaled, graph.DequantizeOp):
        stored = scaled.x
    rows = shape_of(stored)[0]
    root = stored
    while isinstance(root.owner, graph.ReshapeOp):
        root = root.owner.x
    is_input = isinstance(root, BlockArgument) and isinstance(root.owner.parent_op(), FuncOp)
    if not (is_input or isinstance(stored.owner, graph.WeightOp)):
        return
    row_bytes = shape_of(stored)[1] * element_bytes(stored)
    if prod(shape_of(op.index)) * (row_bytes + INDEX_BYTES) >= rows * row_bytes:
        return
    builder = Builder.of(constants, op)
    if isinstance(scaled, graph.DequantizeOp):
        value = _dequantised(builder, scaled, op.index)
        if value is None:
            return
    else:
        table = _narrow(builder, stored, machine)
        if table is None:
            op.by_rows = UnitAttr()
            return
        value = builder.emit(graph.CastOp(_rows(builder, table, op.index), f32))
    builder.replace(op, value)


def _rows(builder: Builder, table: SSAValue, index: SSAValue) -> SSAValue:
    return builder.emit(graph.LookupOp(table, index, by_rows=True), "rows")


def _dequantised(builder: Builder, op: graph.DequantizeOp, index: SSAValue) -> SSAValue | None:
    """Rows of 8 bits and their scales; None where the scales are not of the table, or of its columns."""
    if element_of(op.x) not in (si8, ui8):
        return None
    along_rows = shape_of(op.scale) not in ((), (1,)) and op.axis.value.data == 0
    if along_rows:
        return None
    rows = _rows(builder, op.x, index)
    axis = len(shape_of(rows)) - 1
    return builder.emit(graph.DequantizeOp(rows, op.scale, op.zero_point, axis=axis))


def _narrow(builder: Builder, table: SSAValue, machine: Machine) -> SSAValue | None:
    """A table of f32 in a narrower float that holds it and that the machine converts."""
    array = builder.constants.array(table) if element_of(table) == f32 else None
    for name in NARROW if array is not None else ():
        converts = any(("f32", name) in c.types for node in machine.computes for c in node.capabilities)
        found = held(array, ELEMENT_TYPES[name]) if array is not None and converts else None
        if found is not None:
            return builder.weight(f"table.{name}", found)
    return None


@dataclass
class LookupToProduct(RewritePattern):
    """A lookup without rows is a product with a 1 in the place of each index, exact because all other terms are 0."""

    constants: Constants

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: graph.LookupOp, rewriter: PatternRewriter, /) -> None:
        if op.by_rows is not None:
            return
        array = self.constants.array(op.table)
        by_product = isinstance(op.table.owner, graph.WeightOp | graph.DequantizeOp)
        self._check(op, array, by_product=by_product)
        builder = Builder.of(self.constants, op)
        emit = builder.emit

        def number(value: float) -> SSAValue:
            return emit(self.constants.weight(f"float32:{value!r}", np.array(value, np.float32)))

        rows, count = shape_of(op.table)[0], prod(shape_of(op.index))
        index = op.index if element_of(op.index) == i32 else emit(graph.CastOp(op.index, i32))
        place = emit(graph.CastOp(index, f32))
        below = emit(graph.CastOp(emit(graph.BinaryOp("lt", place, number(0.0))), ui8))
        place = emit(graph.SelectOp(below, emit(graph.BinaryOp("add", place, number(float(rows)))), place))
        column = emit(graph.ReshapeOp(place, (count, 1)))
        places = np.arange(rows, dtype=np.float32).reshape(1, rows)
        chosen = emit(graph.BinaryOp("eq", column, emit(self.constants.weight(f"places.{rows}", places))))
        if by_product:
            found = emit(
                graph.MatmulOp(chosen, op.table if element_of(op.table) == f32 else emit(graph.CastOp(op.table, f32)))
            )
        else:
            found = self._compared(op.table, chosen, builder)
        if shape_of(found) != shape_of(op.result):
            found = emit(graph.ReshapeOp(found, shape_of(op.result)))
        if element_of(found) != element_of(op.table):
            found = emit(graph.CastOp(found, element_of(op.table)))
        renamed(builder.made[-1], op)
        rewriter.replace(op, builder.made, (found,))

    def _compared(self, table: SSAValue, chosen: SSAValue, builder: Builder) -> SSAValue:
        """Rows of what may not be finite: the greatest of the elements of the row, and of least values elsewhere."""
        (count, rows), (_, width), element, emit = shape_of(chosen), shape_of(table), element_of(table), builder.emit
        wide = WIDER.get(dtype_of(element))
        if wide is not None:
            table = emit(graph.CastOp(table, element_type_of(wide)))
        dtype = dtype_of(element_of(table))
        least = np.array(-np.inf if dtype.kind == "f" else np.iinfo(dtype.name).min, dtype)
        is_row = emit(graph.ReshapeOp(emit(graph.CastOp(chosen, ui8)), (count, rows, 1)))
        every = emit(graph.ReshapeOp(table, (1, rows, width)))
        kept = emit(graph.SelectOp(is_row, every, emit(self.constants.weight(f"least.{dtype.name}", least))))
        found = emit(graph.ReduceOp("max", kept, axes=[1], keepdims=False))
        return found if element_of(found) == element else emit(graph.CastOp(found, element))

    @staticmethod
    def _check(op: graph.LookupOp, array: Array | None, *, by_product: bool) -> None:
        """What a product of f32 gives exactly; how many elements are compared."""
        subject = f"layer {graph.name_of(op) or op.name}"
        if shape_of(op.table)[0] >= EXACT_PLACES:
            raise TilewrightError("limit", subject, f"fewer than {EXACT_PLACES} rows", str(shape_of(op.table)[0]))
        element, compared = element_of(op.table), prod((*shape_of(op.index), *shape_of(op.table)))
        if not by_product and compared > MAX_COMPARED:
            expected = f"at most {MAX_COMPARED} elements to be looked at for run-time indices"
            raise TilewrightError("limit", subject, expected, str(compared), "use a target that reads rows (edge16)")
        if by_product and element != f32 and element_bytes(op.table) > 2:
            raise TilewrightError("unsupported", subject, "a table of f32, or of narrower numbers", str(element))
        if array is not None and not np.all(np.isfinite(array.astype(np.float32))):
            raise TilewrightError("unsupported", subject, "a table of finite numbers", "an infinity")
