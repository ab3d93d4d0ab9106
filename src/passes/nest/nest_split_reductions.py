"""The pass `nest-split-reductions`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...algebra.affine import make_affine
from ...algebra.expr import Statement, dims_of, substitute_statement
from ...costs.mapping.binding import Pricer, pricer_of
from ...costs.mapping.problem import Group, Kernel
from ...dialects import nest
from ...dialects.acg import machine_of
from ..functions import functions_of
from ..names import unique_name
from ..nest_to_codelet.fused_marks import marked_groups
from ..nest_to_codelet.fused_tiles import update_tile
from .nest_band import plain_statement
from .nest_swap_factors import WORTH, cycles_of, is_product

if TYPE_CHECKING:
    from ..nest_to_codelet.fused_layers import FusedLayer


@dataclass(frozen=True)
class NestSplitReductionsPass(ModulePass):
    """Sum up along two dims of an instruction what a product sums up along one.

    By the cost formula of an instruction arrays may be fed once for all taps of a window, whether these overlap or not,
    but with each channel that they sum up.  A product of 512 channels then takes fewer cycles as one of 64 channels of
    8 taps:

        dims {m = 512, n = 64, k = 512}
        nest.kernel @mac "Y[m, n] += A[m, k] * B[k, n]"

    becomes, where that saves an eighth of the cycles of what is made at a time, a whole layer or some rows of it
    (`nest-schedule`),

        dims {m = 512, n = 64, k = 8, k1 = 64}
        nest.kernel @mac "Y[m, n] += A[m, 64 * k + k1] * B[64 * k + k1, n]"
    """

    name = "nest-split-reductions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pricer = pricer_of(machine_of(op))
        known: dict[object, tuple[ReductionSplit, ...]] = {}
        for function in functions_of(op):
            groups = marked_groups(function.body.block, pricer.machine, pricer)
            for fused in dict.fromkeys(groups.values()):
                for layer, tile in [(layer, update_tile(fused, layer)) for layer in fused.layers]:
                    form = layer.form, tuple(tile.items())
                    if form not in known:
                        known[form] = tuple(_splits(layer, tile, pricer))
                    _replace(layer.op, known[form])


class ReductionSplit(NamedTuple):
    """The product `kernel` with its summed dim as `size` times this dim plus `inner`, and its cycles."""

    kernel: str
    dim: str
    inner: str
    size: int
    statement: Statement
    cycles: float


def _splits(layer: FusedLayer, tile: Mapping[str, int], pricer: Pricer) -> Iterator[ReductionSplit]:
    """The best for each product, where it is worth it in a `tile`.

    Maps that are joined are read channel by channel, and a dim that other kernels have, too, stays.
    """
    group = layer.problem
    taken, joined = set(tile), {name for name, pieces in layer.maps.items() if len(pieces) > 1}
    for kernel in filter(is_product, group.kernels):
        if any(use.buffer in joined for use in kernel.uses):
            continue
        before = cycles_of(kernel, tile, pricer)
        best = min(_ways(group, kernel, tile, taken, pricer), key=lambda way: way.cycles, default=None)
        if best is not None and best.cycles <= (1 - WORTH) * before:
            taken.add(best.inner)
            yield best


def _ways(
    group: Group, kernel: Kernel, tile: Mapping[str, int], taken: set[str], pricer: Pricer
) -> Iterator[ReductionSplit]:
    lanes = {dim.lanes for dim in pricer.matches(kernel)[0].capability.dims} - {1}
    for dim in kernel.reductions:
        others = (dims_of(other.statement) for other in group.kernels if other is not kernel)
        if any(dim in names for names in others):
            continue
        extent = tile[dim]
        for size in (size for size in sorted(lanes) if size < extent and extent % size == 0):
            inner = unique_name(dim, taken, "")
            statement = _split_statement(kernel.statement, dim, inner, size)
            extents: Mapping[str, int] = {**tile, dim: extent // size, inner: size}
            cycles = cycles_of(replace(kernel, statement=statement), extents, pricer)
            yield ReductionSplit(kernel.name, dim, inner, size, statement, cycles)


def _split_statement(statement: Statement, dim: str, inner: str, size: int) -> Statement:
    return plain_statement(substitute_statement(statement, {dim: make_affine(0, {dim: size, inner: 1}).to_expr()}))


def _replace(op: nest.GroupOp, splits: tuple[ReductionSplit, ...]) -> None:
    """Change the products and dims of a group in place."""
    extents = op.extents
    kernels = {kernel.sym_name.data: kernel for kernel in op.kernels}
    for split in splits:
        kernels[split.kernel].statement = nest.StatementAttr(split.statement)
        extents |= {split.dim: extents[split.dim] // split.size, split.inner: split.size}
    op.dims = nest.DimsAttr.of(extents)
