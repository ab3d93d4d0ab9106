"""The part of the `acg` dialect for control model `stages`, and its way to and from `machine.stages`.

acg.token @l2g @load -> @compute push "PUSH_NEXT" pop "POP_PREV"
acg.microops @UOP <DST 11 index ACC 0, SRC 11 index INP 0>
acg.fetch "bus"
acg.shadow @OUT of @ACC
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr, SymbolNameConstraint
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation, irdl_op_definition, lazy_traits_def, prop_def

from ..machine.stages import StagesIsa, TokenQueue
from .acg_attributes import FieldsAttr
from .acg_macros import in_graph
from .acg_values import declaration, declared


@irdl_op_definition
class TokenOp(IRDLOperation):
    """A queue of tokens from a unit to another, pushed and popped by bits of the header ("": never)."""

    name = "acg.token"
    sym_name = prop_def(SymbolNameConstraint())
    src = prop_def(SymbolNameConstraint())
    dst = prop_def(SymbolNameConstraint())
    push = prop_def(StringAttr)
    pop = prop_def(StringAttr)
    traits = lazy_traits_def(in_graph)
    assembly_format = "$sym_name $src `->` $dst `push` $push `pop` $pop attr-dict"


@irdl_op_definition
class MicroopsOp(IRDLOperation):
    """The memory of micro-ops, and their fields, the least significant first."""

    name = "acg.microops"
    memory = prop_def(SymbolNameConstraint())
    fields = prop_def(FieldsAttr)
    traits = lazy_traits_def(in_graph)
    assembly_format = "$memory $fields attr-dict"


@irdl_op_definition
class ShadowOp(IRDLOperation):
    """A memory that holds what another holds, narrowed, where computations write."""

    name = "acg.shadow"
    narrow = prop_def(SymbolNameConstraint())
    original = prop_def(SymbolNameConstraint())
    traits = lazy_traits_def(in_graph)
    assembly_format = "$narrow `of` $original attr-dict"


@irdl_op_definition
class FetchOp(IRDLOperation):
    """The channel over which instructions come."""

    name = "acg.fetch"
    channel = prop_def(StringAttr)
    traits = lazy_traits_def(in_graph)
    assembly_format = "$channel attr-dict"


def stage_ops(isa: StagesIsa) -> list[Operation]:
    """The ops of the declarations."""
    ops: list[Operation] = [declaration(TokenOp, queue) for queue in isa.tokens]
    if isa.microops:
        properties = {"memory": StringAttr(isa.microops), "fields": FieldsAttr(isa.fields)}
        ops.append(MicroopsOp.create(properties=properties))
    if isa.fetch:
        ops.append(FetchOp.create(properties={"channel": StringAttr(isa.fetch)}))
    for narrow, original in isa.shadows:
        ops.append(ShadowOp.create(properties={"narrow": StringAttr(narrow), "original": StringAttr(original)}))
    return ops


def stages_value(ops: Sequence[Operation]) -> StagesIsa | None:
    """The declarations of a machine's ops; None where there are none."""
    tokens = tuple(TokenQueue(**declared(op)) for op in ops if isinstance(op, TokenOp))
    micro = [op for op in ops if isinstance(op, MicroopsOp)]
    shadows = tuple((op.narrow.data, op.original.data) for op in ops if isinstance(op, ShadowOp))
    fetch = "".join(op.channel.data for op in ops if isinstance(op, FetchOp))
    if not (tokens or micro or shadows or fetch):
        return None
    memory, fields = (micro[0].memory.data, micro[0].fields.data) if micro else ("", ())
    return StagesIsa(tokens, memory, fields, shadows, fetch)
