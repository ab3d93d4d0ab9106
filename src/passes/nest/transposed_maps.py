"""Layers that transpose a map, as the heads of attention, are made along what the map is made along."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from ...algebra.affine import Affine
from ...dialects import nest
from ...dialects.types import shape_of
from .arrivals import outermost_cut
from .trees import group_of

if TYPE_CHECKING:
    from ..nest_to_codelet.fused_layers import FusedLayer


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
