"""Maps on chip with room around them for what readers find out of bounds: no read then needs to be cut at a border."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from xdsl.ir import SSAValue

from ...algebra.expr import Expr, Num
from ...costs.mapping.binding import pricer_of
from ...costs.mapping.tree import Leaf
from ...dialects import nest
from ...dialects.codelet import CodeletOp, TensorOp
from ...dialects.types import element_of, shape_of, tensor
from ...errors import TilewrightError
from ...machine import Machine
from ..graph_to_nest.builder import GroupBuilder, copy, index
from ..nest.nest_map import bind_in_place
from ..nest.storage import overwritten_inputs
from ..nest.trees import set_mapping
from .fused_codelets import LayerBuilder, Place
from .fused_layers import FusedGroup, FusedLayer, read_whole
from .map_pieces import row_axis
from .padding import Padding, wanted_padding

SAMPLES, ROWS = "n", "rows"
"""The dims of samples and rows of codelets that write around a map."""

Slab = Sequence[tuple[int, int]]
"""The first index along each axis, and how many there are."""

Border = tuple[FusedLayer, str]
"""A layer that writes around a map, and the name of what it reads."""

Borders = Literal["border", "rows", "columns"]
"""All around a map; all over rows of it, those around it among them; or beside all rows that a ring has of it."""

Groups = Mapping[nest.GroupOp, FusedGroup]


def paddings(groups: Groups, kept: frozenset[SSAValue], machine: Machine) -> dict[SSAValue, Padding]:
    """The kept maps that all readers can read with room around them, and how much of it they want."""
    found: dict[SSAValue, Padding] = {}
    for group in dict.fromkeys(groups.values()):
        for layer in group.layers if group.whole or not group.is_unpadded else ():
            for root in layer.made.values():
                readers = _readers(root, groups) if root in kept and root.owner is layer.op else None
                padding = wanted_padding(root, readers) if readers is not None else None
                if padding is not None and can_fill(machine, root, padding):
                    found[root] = padding
    return found


def loaded_paddings(group: FusedGroup, kept: frozenset[SSAValue]) -> dict[SSAValue, Padding]:
    """What a layer that runs as a whole wants around the maps that are loaded for it."""
    (layer,) = group.layers
    left_out = {*kept, *layer.made.values(), *layer.copied.values(), *overwritten_inputs(layer.op).values()}
    outside = [root for root in group.outside if root not in left_out and not group.is_unpadded]
    found = {root: wanted_padding(root, [layer]) for root in outside}
    return {r: padding for r, padding in found.items() if padding is not None and can_fill(group.machine, r, padding)}


def _readers(value: SSAValue, groups: Groups) -> list[FusedLayer] | None:
    """The layers that read a map as it is, in another shape, or joined with others; None where something else does."""
    found: dict[FusedLayer, None] = {}
    stack = [value]
    while stack:
        for use in stack.pop().uses:
            user = use.operation
            if isinstance(user, nest.JoinOp) or (isinstance(user, nest.ViewOp) and shape_of(user.result)):
                stack.append(user.result)
            elif isinstance(user, nest.GroupOp) and user in groups and value not in overwritten_inputs(user).values():
                found |= {layer: None for layer in groups[user].layers if layer.op is user}
            else:
                return None
    return list(found)


def can_fill(machine: Machine, root: SSAValue, padding: Padding) -> bool:
    """Whether the machine has instructions that write around a map."""
    try:
        _border_layer(machine, root, padding.sizes(shape_of(root)), _around(padding, shape_of(root)))
    except TilewrightError:
        return False
    return True


def _around(padding: Padding, shape: tuple[int, ...]) -> Iterator[Slab]:
    """What lies around a map, as first index and count along each axis: all samples of each."""
    sizes = padding.sizes(shape)
    for axis, size in enumerate(sizes):
        for start, count in ((0, padding.before[axis]), (size - padding.after[axis], padding.after[axis])):
            if count:
                yield [(start, count) if i == axis else (0, n) for i, n in enumerate(sizes)]


def _border_layer(machine: Machine, root: SSAValue, sizes: Sequence[int], slabs: Iterable[Slab]) -> Border:
    """A layer that writes one element all over slabs of a map of `sizes`, with dims of samples and rows for all."""
    builder = GroupBuilder("border")
    type_ = tensor(sizes, element_of(root))
    term = builder.term(_element(root), "B", [Num(0)])
    result: SSAValue | None = None
    shared: dict[tuple[str, int], Mapping[str, int]] = {}
    for number, slab in enumerate(slabs):
        target: list[Expr] = []
        for axis, (start, count) in enumerate(slab):
            name = {0: SAMPLES, row_axis(len(sizes)): ROWS}.get(axis) if count == sizes[axis] else None
            name = name or f"i{number}_{axis}"
            if (name, count) not in shared:
                shared[name, count] = builder.dim(name, count)
            target.append(index(shared[name, count], start))
        result = builder.kernel("border", type_, target, copy, [term], into=result).value
    assert result is not None
    op = builder.finish([result], None)
    pricer = pricer_of(machine)
    set_mapping(op, tuple(Leaf(kernel.sym_name.data) for kernel in op.kernels))
    bind_in_place(op, pricer)
    return read_whole(op, pricer), "B"


def _element(root: SSAValue) -> SSAValue:
    """A value that stands for one element of a map's type."""
    from xdsl.dialects.test import TestOp

    return TestOp(result_types=[tensor([1], element_of(root))]).results[0]


def border_codelet(
    machine: Machine, what: Borders, name: str, root: SSAValue, padding: Padding, ends: tuple[SSAValue, SSAValue]
) -> CodeletOp:
    """Writes the element on chip of `ends` around the map in the other one, where `what` says."""
    sizes, (element, target) = padding.sizes(shape_of(root)), ends
    if what == "border":
        slabs = _around(padding, shape_of(root))
    else:
        slabs = [[(0, n) for n in sizes]] if what == "rows" else _beside(padding, sizes, target)
    layer, source = _border_layer(machine, root, sizes, slabs)
    places = {source: [Place(element, 0, 1)], next(iter(layer.made)): [Place(target, 0, 1)]}
    codelet = LayerBuilder(machine, layer, places, {}).build()
    codelet.properties["sym_name"] = type(codelet.sym_name)(name)
    return codelet


def _beside(padding: Padding, sizes: Sequence[int], target: SSAValue) -> list[Slab]:
    """What lies beside all rows that a ring has of one sample."""
    ring = target.owner.ring.get_values() if isinstance(target.owner, TensorOp) and target.owner.ring else sizes
    held = [kept or n for kept, n in zip(ring, sizes, strict=True)]
    sides = (0, padding.before[3]), (sizes[3] - padding.after[3], padding.after[3])
    return [[*((0, n) for n in held[:3]), side] for side in sides if side[1]]
