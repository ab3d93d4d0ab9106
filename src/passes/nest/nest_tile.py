"""The pass `nest-tile`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ...algebra.affine import Affine
from ...costs.mapping.binding import Pricer, pricer_of
from ...costs.mapping.transform import tile
from ...costs.mapping.tree import Hold, Node
from ...dialects import nest
from ...dialects.acg import machine_of
from ...dialects.types import shape_of
from ...errors import InfeasibleError, TilewrightError
from ...search.group_tiles.tiling import build, tile_group
from ..functions import functions_of
from ..nest_to_codelet.fused_marks import BY_SAMPLE, marked_groups
from .arrivals import Arrivals, MovedMaps, Way, cut_dim, nearly_least, outermost_cut
from .nest_map import bind_tree
from .split import split_group
from .trees import Nodes, change_groups, group_of, in_group, set_mapping

if TYPE_CHECKING:
    from ..nest_to_codelet.fused_layers import FusedGroup, FusedLayer


def followed_dim(layer: FusedLayer) -> str:
    """The dim of a layer that transposes a map along which the pieces of this map are made; "" where there is none.

    A product that is made in pieces of columns has the first heads before all of its columns.  Made head by head, the
    layer that transposes it has them soon after; made row by row, when the product ends.
    """
    kernels = layer.problem.kernels
    if len(kernels) != 1 or kernels[0].reductions or len(kernels[0].uses) != 2:
        return ""
    target, read = kernels[0].uses
    axis = _made_axis(layer.inputs[read.buffer]) if read.buffer in layer.inputs else None
    if axis is None or _order(read.forms) == _order(target.forms):
        return ""
    return next((dim for dim in layer.problem.extents if read.forms[axis].terms == ((dim, 1),)), "")


def _order(forms: Sequence[Affine]) -> list[str]:
    """Dims in the order in which a map is indexed by them."""
    return [name for form in forms for name in form.names]


def _made_axis(value: SSAValue) -> int | None:
    """The axis along which the pieces of a map are made, as it is seen; None where that is not known."""
    match value.owner:
        case nest.ViewOp() as view:
            axis = _made_axis(view.source)
            return None if axis is None else _outermost_axis(shape_of(value), prod(shape_of(view.source)[axis:]))
        case nest.GroupOp() as group if group.is_mapped:
            cut = outermost_cut(group)
            forms = group_of(group).kernels[-1].target.forms
            return next((axis for axis, form in enumerate(forms) if cut and form.terms == ((cut[0], 1),)), None)
        case _:
            return None


def _outermost_axis(shape: Sequence[int], elements: int) -> int | None:
    """The axis of more than one place that with those after it has so many elements."""
    axes = (axis for axis, extent in enumerate(shape) if extent > 1 and prod(shape[axis:]) == elements)
    return next(axes, None)


CLEARLY = 5 / 6
"""Part of the cycles of all units that another way to make a layer's rows takes where it is chosen.

Between two measured cases: attention of GPT-2 small (0.55 to 0.8), which gains by it, and convolutions of ResNet-18 in
512 KiB (0.86 and more), which lose.
"""

ROWS_WORTH = 4
"""A piece of rows counts as so many of channels.

Rows come from the layer before, and go to the next, as they are made; most layers need all channels of the layer
before.  Pools of SqueezeNet and Inception-v1 have 12 pieces of rows or 16 of channels.
"""


@dataclass(frozen=True)
class NestTilePass(ModulePass):
    """Cut groups into tiles: loops, and holds of what is on chip at a time, chosen or as told.

    Without options, before: groups without a mapping, and the target's `acg.graph` in the module.  After: each has one
    of `nest.for`, `nest.hold` and unbound `nest.compute`, whose tiles fit in the target's memories (twice, where a
    transfer can overlap other work).  Least latency times energy wins, both estimated: traffic counted exactly, cycles
    by the formulas of the capabilities, transfers beside work as far as two copies let them
    (`search.group_tiles.overlap`).  A group of several kernels that does not fit in any tiling is cut into groups of
    one kernel, which meet in DRAM; if one of those does not fit, `InfeasibleError`.  Groups that have a mapping are
    left alone.

        nest.group @fc dims {m = 8, n = 64, k = 512} ... mapping {
          nest.hold @GBUF [X] {
            nest.for n step 32 {
              nest.hold @GBUF [W, mac] buffers 2 {
                nest.compute @mac
              }
            }
          }
        }

    Groups of a fused group (attribute `fused`) get loops over samples and over the rows of an update, and hold what is
    between their kernels; all else is on chip already.  Those that run as a whole are cut into pieces, rather of rows
    than of channels (with `rows_first`); else rows of each piece of channels count as pieces, too (`rows_inside`).

    With `dims` and `sizes`, one size for each dim, it adds the loops over pieces of these sizes, the first outermost,
    around what is innermost in the mappings of all groups (or of `group`); with `memory` it keeps there, below these
    loops, the buffers of `hold` (without: all of the group) in `buffers` copies.  Pieces need not divide: the last may
    be shorter.  `nest-tile{dims=m,n sizes=8,32 memory=GBUF hold=X,W}`, then `nest-tile{dims=k sizes=1}`, make

        nest.for m step 8 {
          nest.for n step 32 {
            nest.hold @GBUF [X, W] {
              nest.for k step 1 {
                nest.compute @mac
              }
            }
          }
        }
    """

    name = "nest-tile"
    dims: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    memory: str = ""
    hold: tuple[str, ...] = ()
    buffers: int = 1
    group: str = ""
    rows_first: bool = True
    rows_inside: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if replace(self, rows_first=True, rows_inside=True) != NestTilePass():
            change_groups(self.name, op, self.group, self._tiled, unmapped=True)
            return
        groups = [group for group in op.walk() if isinstance(group, nest.GroupOp) and not group.is_mapped]
        if not groups:
            return
        pricer = pricer_of(machine_of(op))
        for group in groups:
            if "fused" not in group.attributes:
                _tile(group, pricer)
        for function in functions_of(op):
            groups_of = marked_groups(function.body.block, pricer.machine, pricer)
            _tile_fused(groups_of, pricer, self.rows_first, self.rows_inside)

    def _tiled(self, group: nest.GroupOp, nodes: Nodes) -> Nodes:
        if len(self.dims) != len(self.sizes) or min(self.sizes, default=1) < 1 or self.buffers < 1:
            found = f"{len(self.dims)} dims, sizes {', '.join(map(str, self.sizes)) or 'none'}"
            raise TilewrightError("usage", "options", "a positive size for each dim", found)
        known = {"dims": group.extents, "hold": group.buffer_types()}
        for option, names in (("dims", self.dims), ("hold", self.hold)):
            for name in names:
                if name not in known[option]:
                    raise TilewrightError("usage", option, f"one of {', '.join(known[option])}", name)
        kept = self.hold or tuple(group.buffer_types())
        hold = Hold(self.memory, kept, self.buffers, ()) if self.memory else None
        return tile(nodes, list(zip(self.dims, self.sizes, strict=True)), hold)


def _tile(op: nest.GroupOp, pricer: Pricer) -> None:
    problem = group_of(op)
    try:
        tree = pricer.remembered(("tree", problem), lambda: build(problem, tile_group(problem, pricer)))
    except TilewrightError as error:
        if len(problem.kernels) > 1 and _is_split_useful(error):
            for part in split_group(op):
                _tile(part, pricer)
            return
        raise in_group(error, op) from error
    set_mapping(op, tree)


def _tile_fused(groups: Mapping[nest.GroupOp, FusedGroup], pricer: Pricer, rows_first: bool, rows_inside: bool) -> None:
    arrivals = Arrivals(pricer.machine)
    for group, fused in groups.items():
        if group.is_mapped:
            continue
        if not fused.whole:
            set_mapping(group, row_tree(fused, fused.layers[fused.number[group.outs[0]]], pricer))
            continue
        pieces = group.attributes.get("piece_bytes")
        limit = pieces.value.data if isinstance(pieces, IntegerAttr) else 0
        along = followed_dim(fused.layers[0])
        moved = arrivals.moved_maps(fused)
        key = fused.layers[0].form, limit, BY_SAMPLE in group.attributes, along, rows_inside and not rows_first, moved
        ways = pricer.remembered(("ways", *key), partial(_whole_ways, fused.layers[0], *key[1:], pricer))
        nearly = nearly_least(ways)
        following = [way for way in nearly if along and cut_dim(fused.layers[0], way.tree) == along]
        worth = ROWS_WORTH if rows_first else 1
        best = max(following or nearly, key=lambda way: way.pieces * (worth if way.by_rows else 1))
        set_mapping(group, arrivals.choose(fused, best, ways).tree)


def row_tree(group: FusedGroup, layer: FusedLayer, pricer: Pricer) -> tuple[Node, ...]:
    """The first way to make the rows of an update, or another whose units take `CLEARLY` of it at most.

    Of each way pieces are taken with which units take least.

    The price leaves out how updates of several layers overlap; they overlap more where each makes fewer rows.
    """
    from ..nest_to_codelet.fused_tiles import row_trees

    def cycles(tree: tuple[Node, ...]) -> float:
        return sum(bind_tree(layer.problem, tree, pricer)[1].queue_cycles.values())

    first, *others = (min(trees, key=cycles) for trees in row_trees(group, layer))
    best = min(others, key=cycles, default=first)
    return best if others and cycles(best) <= CLEARLY * cycles(first) else first


def _whole_ways(
    layer: FusedLayer,
    piece_bytes: int,
    by_sample: bool,
    along: str,
    rows_inside: bool,
    moved: MovedMaps,
    pricer: Pricer,
) -> list[Way]:
    """The pieces in which a layer that runs as a whole may be made; those of the dim `along`, too.

    With `rows_inside` rows of each piece of channels count as pieces.

    Maps are copied to another memory in rows, the first of which come before the layer.  Those that are `moved` from
    and to DRAM keep its channel busy, beside a layer that is made in rows.
    """
    from ..nest_to_codelet.fused_copies import copy_cycles
    from ..nest_to_codelet.fused_tiles import whole_trees

    ways: list[Way] = []
    copies = copy_cycles(layer, pricer.machine)
    for pieces, by_rows, tree, rows in whole_trees(pricer.machine, layer, piece_bytes, by_sample, along):
        count = pieces * (rows if rows_inside else 1)
        cycles = bind_tree(layer.problem, tree, pricer)[1].queue_cycles
        unit = max(cycles, key=lambda name: cycles[name], default="")
        beside, ahead = (moved, copies / count) if by_rows else ((), copies + sum(moved))
        busiest, total = max((*cycles.values(), *beside), default=0.0), sum((*cycles.values(), *beside))
        ways.append(Way(busiest + (total - busiest) / count + ahead, count, tree, by_rows, unit, total))
    return ways


def _is_split_useful(error: TilewrightError) -> bool:
    return isinstance(error, InfeasibleError) or "split the group" in error.lever
