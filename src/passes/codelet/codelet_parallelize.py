"""The pass `codelet-parallelize`."""

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.passes import ModulePass

from ...algebra.affine import index_forms
from ...algebra.expr import Access, tensors_of
from ...costs.mapping.binding import Pricer, pricer_of
from ...costs.mapping.shares import Helper, best_shares
from ...dialects.acg import machine_of
from ...dialects.codelet import CodeletOp, ComputeOp
from ...dialects.codelet_rules import extents_at, surrogate
from ...dialects.nest_attributes import DimsAttr
from ...dialects.types import element_type_name
from ...machine import Capability, Machine
from ..codelet_to_queues.isa import Isa, find_capability
from .fit import codelets


@dataclass(frozen=True)
class CodeletParallelizePass(ModulePass):
    """Share a compute between all nodes that can do it, however unequal (Covenant, section 4, figures 8c and 9b).

    Before: codelets, the target in the module.  After: a compute whose statement, types and places another node of a
    different unit can do as well is one compute for each of these nodes, side by side on parts of the same tile.  The
    parts are those that finish first together by the capabilities' own formulas: with a vector unit of four lanes and
    a scalar one, of 25 elements the first has 20 and the second 5.

        codelet.compute @SIMD::@relu ... dims {a = i}  ->  codelet.compute @SIMD::@relu ... dims {a = i} take {i = 20}
                                                           codelet.compute @PE::@relu ... dims {a = i} skip {i = 20}

    The dim that is shared is the outermost of the result's, so that the parts are apart in memory.
    """

    name = "codelet-parallelize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_of(op)
        if machine.control != "queues":  # units of other control models do not run by themselves
            return
        isa, pricer = Isa(machine), pricer_of(machine)
        for _, codelet in codelets(op):
            for compute in [inner for inner in codelet.walk() if isinstance(inner, ComputeOp)]:
                _share(machine, isa, pricer, codelet, compute)


def _share(machine: Machine, isa: Isa, pricer: Pricer, codelet: CodeletOp, op: ComputeOp) -> None:
    dim = _shared_dim(op)
    if dim is None or op.skip is not None or op.take is not None or op.spread is not None or op.border_names:
        return
    able = _able(machine, isa, op)
    if len(able) < 2:
        return
    slots, extents = {bound: slot for slot, bound in op.dims.data}, extents_at(op)
    helpers = [Helper(capability, slots[dim], {slots[d]: extents[d] for d in slots}) for capability in able]
    shares = best_shares(pricer, helpers, extents[dim])
    _split(op, dim, {c.node: share for c, share in zip(able, shares, strict=True)}, able)


def _split(op: ComputeOp, dim: str, shares: Mapping[str, int], able: list[Capability]) -> None:
    """One compute for each node with a share, in place of the one; the last takes all that is left."""
    block = op.parent_block()
    assert block is not None
    workers = [capability for capability in able if shares[capability.node]]
    before = 0
    for capability in workers:
        part = op.clone()
        part.on = SymbolRefAttr(capability.node, [capability.name])
        part.skip = DimsAttr.of({dim: before}) if before else None
        last = capability is workers[-1]
        part.take = None if last else DimsAttr.of({dim: shares[capability.node]})
        block.insert_op_before(part, op)
        before += shares[capability.node]
    block.erase_op(op)


def _shared_dim(op: ComputeOp) -> str | None:
    """The outermost dim of the result: the one that moves furthest in the target's memory."""
    statement = op.statement.data
    target = statement.target
    assert isinstance(target, Access)
    extents, bound = extents_at(op), {dim for _, dim in op.dims.data}
    strides: dict[str, int] = {}
    step = 1
    sizes = surrogate(op.tensors[0]).sizes
    for form, size in reversed(list(zip(index_forms(target), sizes, strict=True))):
        for name, coefficient in form.terms:
            if name in bound and extents[name] > 1:
                strides[name] = strides.get(name, 0) + abs(coefficient) * step
        step *= size
    return max(strides, key=lambda name: (strides[name], name), default=None)


def _able(machine: Machine, isa: Isa, op: ComputeOp) -> list[Capability]:
    """The capabilities of all nodes that can do this compute where its operands lie, its own first, one per unit."""
    own = find_capability(machine, op.node, op.capability)
    every = [own, *(c for node in machine.computes for c in node.capabilities if c is not own)]
    found: list[Capability] = []
    units: set[int] = set()
    for capability in every:
        unit = _unit(isa, op, capability) if _means(op, own, capability) else None
        if unit is not None and unit not in units:
            units.add(unit)
            found.append(capability)
    return found


def _means(op: ComputeOp, own: Capability, other: Capability) -> bool:
    """Whether `other` says the same of the same operands and may be all that the compute asks of it."""
    limits = {dim.name: dim.limit for dim in other.dims}
    functions = dict(op.functions.data) if op.functions is not None else {}
    allowed = dict(other.functions)
    extents = extents_at(op)
    return (
        (own.statement, own.immediates) == (other.statement, other.immediates)
        and _types(op) in other.types
        and all(name in allowed.get(variable, ()) for variable, name in functions.items())
        and all(limits.get(slot, 0) >= extents[dim] for slot, dim in op.dims.data)
    )


def _types(op: ComputeOp) -> tuple[str, ...]:
    return tuple(element_type_name(surrogate(value).element) for value in op.tensors)


def _unit(isa: Isa, op: ComputeOp, capability: Capability) -> int | None:
    """The queue of a mnemonic that does the compute with its operands where they are."""
    names = tensors_of(op.statement.data)
    kinds = dict(zip(names, zip(_types(op), (surrogate(v).memory for v in op.tensors), strict=True), strict=True))
    for binding in isa.bindings.get((capability.node, capability.name), []):
        if all(slot.allows(*kinds[slot.name]) for slot in binding.operands):
            return binding.unit
    return None
