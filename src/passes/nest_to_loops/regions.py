"""Groups of rows: elementwise layers and sums over lanes, one after another, that run tile by tile without DRAM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from ...algebra.expr import Access
from ...dialects import nest
from ...dialects.types import shape_of
from ...errors import TilewrightError
from .forms import Form, forms, unsupported
from .leaves import SLOTS, Leaves, Scene
from .places import Store, VectorLayer
from .tensors import axis_order, lane_axis

if TYPE_CHECKING:
    from .program import LoopsProgram

MAX_KERNELS = 160


@dataclass
class Region:
    """Groups that share rows: `shape` is that of their widest tensors; `dims` gives the axis of each group's dims."""

    shape: tuple[int, ...]
    groups: list[nest.GroupOp] = field(default_factory=list[nest.GroupOp])
    dims: list[Mapping[str, int]] = field(default_factory=list[Mapping[str, int]])

    @property
    def lane(self) -> int:
        """The axis over lanes."""
        return lane_axis(self.shape)

    def take(self, group: nest.GroupOp) -> bool:
        """Adds a group that works on the same rows, if it does."""
        dims = _dims(group, self.shape, self._made())
        if dims is None or sum(len(g.kernels) for g in (*self.groups, group)) > MAX_KERNELS:
            return False
        self.groups.append(group)
        self.dims.append(dims)
        return True

    def _made(self) -> set[SSAValue]:
        return {group.results[0] for group in self.groups}

    def reads(self, group: nest.GroupOp) -> bool:
        """Whether a group reads what the region makes or reads."""
        known = self._made() | {value for one in self.groups for value in one.inputs}
        return bool(known & set(group.inputs))


def region_of(group: nest.GroupOp) -> Region | None:
    """A region that begins with a group; None for sums of products, windows and the like."""
    if len(group.results) != 1:
        return None
    shapes = [shape_of(kernel.result) for kernel in group.kernels]
    shapes += [shape_of(value) for value in group.inputs]
    rank = max(len(shape) for shape in shapes)
    wide = [shape for shape in shapes if len(shape) == rank]
    region = Region(tuple(max(shape[i] for shape in wide) for i in range(rank)))
    return region if rank and region.take(group) else None


def _dims(group: nest.GroupOp, shape: Sequence[int], made: set[SSAValue]) -> dict[str, int] | None:
    """The axis of the region that each dim of a group runs along; None where the group is not of its rows."""
    if len(group.results) != 1:
        return None
    outside = group.outside
    inner = {kernel.result for kernel in group.kernels}
    found: dict[str, int] = {}
    for kernel in group.kernels:
        target, *sources = forms(kernel)
        values = [kernel.operands_by_name[form.name] for form in sources]
        own = [f for f, v in zip(sources, values, strict=True) if v in inner or outside.get(v) in made]
        for form in (target, *own):
            if not _align(form, shape, found):
                return None
        for form in sources:
            if len(form.axes) == len(shape) and any(d not in found for d in form.dims):
                _align(form, shape, found)
        if not _simple(kernel, shape, found, sources):
            return None
    extents = group.extents
    if any(extents[dim] != shape[axis] for dim, axis in found.items()):
        return None
    return found


def _align(form: Form, shape: Sequence[int], found: dict[str, int]) -> bool:
    """Notes the axis of each dim of a tensor of the region; False where an axis is another's or moves otherwise."""
    if len(form.axes) != len(shape):
        return not form.dims
    for number, axis in enumerate(form.axes):
        if axis.const or len(axis.terms) > 1 or any(step != 1 for _, step in axis.terms):
            return False
        if axis.names and found.setdefault(axis.names[0], number) != number:
            return False
    return len(set(found.values())) == len(found)


def _simple(kernel: nest.KernelOp, shape: Sequence[int], found: Mapping[str, int], sources: Sequence[Form]) -> bool:
    """Elementwise with steps of one dim each, or a sum, maximum or minimum over lanes that keeps its axis."""
    if any(len(axis.terms) > 1 or any(d not in found for d in axis.names) for form in sources for axis in form.axes):
        return False
    statement, target = kernel.statement.data, forms(kernel)[0]
    if statement.reduce == "=":
        return True
    folded = {dim for form in sources for dim in form.dims} - target.dims
    same = len(target.axes) == len(shape) and isinstance(statement.value, Access)
    return same and {found[dim] for dim in folded} == {lane_axis(shape)} and kernel.init is None


def region_layer(program: LoopsProgram, region: Region) -> VectorLayer:
    """A region as one layer of the vector engine."""
    slots = _slots(region.shape)
    width = region.shape[region.lane]
    leaves = Leaves(program, Scene({}, {}, {}))
    builder = leaves.builder(width)
    inside: dict[SSAValue, SSAValue] = {}
    scenes: list[Scene] = []
    for group, dims in zip(region.groups, region.dims, strict=True):
        names = {axis: dim for dim, axis in dims.items()}
        leaves.scene = Scene.of(group, {slot: names[axis] for slot, axis in slots.items() if axis in names})
        scenes.append(leaves.scene)
        for argument, value in leaves.scene.outside.items():
            if value in inside:
                builder.terms[argument] = builder.terms[inside[value]]
                if not value.has_one_use():
                    builder.shared.add(str(builder.terms[argument].name))
        for kernel in group.kernels:
            builder.take(kernel)
        last = group.body.block.last_op
        assert last is not None
        inside[group.results[0]] = last.operands[0]
    stores: list[Store] = []
    for group, scene in zip(region.groups, scenes, strict=True):
        value = group.results[0]
        if all(use.operation in region.groups for use in value.uses):
            continue
        kernel = list(group.kernels)[-1]
        term = builder.terms[inside[value]]
        if shape_of(value) != tuple(region.shape):
            raise unsupported(kernel, f"results of shape {list(region.shape)}", f"{list(shape_of(value))}")
        leaves.scene, form = scene, forms(kernel)[0]
        stores.append(program.store(value, builder.rows(term), partial(leaves.rows, kernel, form)))
    n = -(-width // program.table.lanes)
    name = region.groups[-1].sym_name.data
    extents = {slot: region.shape[slots[slot]] if slot in slots else 1 for slot in SLOTS}
    return VectorLayer(name, {**extents, "n": n}, leaves.epilogue(builder, name, stores, n))


def _slots(shape: Sequence[int]) -> dict[str, int]:
    """The axis of each slot: lanes, and rows from the innermost in memory on."""
    lane = lane_axis(shape)
    rows = [axis for axis in reversed(axis_order(shape)) if axis != lane and shape[axis] > 1]
    if len(rows) > len(SLOTS):
        raise TilewrightError("unsupported", "elementwise layers", "at most three dims of rows", f"{len(rows)}")
    return {"n": lane} | dict(zip(SLOTS, rows, strict=False))
