"""Maps on chip with room around them for what readers find out of bounds: no read then needs to be cut at a border."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ...algebra.expr import Num
from ...costs.mapping.binding import pricer_of
from ...costs.mapping.problem import touches
from ...costs.mapping.tree import Leaf
from ...dialects import nest
from ...dialects.codelet import CodeletOp
from ...dialects.types import element_of, shape_of, tensor
from ...errors import TilewrightError
from ...machine import Machine
from ..graph_to_nest.builder import GroupBuilder, copy, index
from ..nest.nest_map import bind_in_place
from ..nest.storage import overwritten_inputs
from ..nest.trees import set_mapping
from .fused_codelets import LayerBuilder, Place
from .fused_layers import FusedGroup, FusedLayer, read_whole
from .map_pieces import channel_axis

SAMPLES = "n"
"""The dim of samples of the codelet that writes around a map."""


@dataclass(frozen=True)
class Padding:
    """Elements of `value` before and after each axis of a map."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    value: float

    def sizes(self, shape: tuple[int, ...]) -> list[int]:
        """The extents with padding."""
        return [b + n + a for b, n, a in zip(self.before, shape, self.after, strict=True)]

    def seen_as(self, shape: tuple[int, ...]) -> Padding:
        """The padding of a view, which differs from the map in leading axes that have none."""
        rank = len(shape)
        before, after = (((0,) * rank + side)[len(side) :] for side in (self.before, self.after))
        return Padding(before, after, self.value)


Groups = Mapping[nest.GroupOp, FusedGroup]


def paddings(groups: Groups, kept: frozenset[SSAValue], machine: Machine) -> dict[SSAValue, Padding]:
    """The kept maps that all readers can read with room around them, and how much of it they want."""
    found: dict[SSAValue, Padding] = {}
    for group in dict.fromkeys(groups.values()):
        if not group.whole:
            continue
        for root in group.layers[0].made.values():
            if root in kept and root.owner is group.layers[0].op:
                padding = _padding(root, groups)
                if padding is not None and _can_fill(machine, root, padding):
                    found[root] = padding
    return found


def _padding(root: SSAValue, groups: Groups) -> Padding | None:
    """What readers of a map want around it; None where one cannot have it, or none wants any."""
    shape = shape_of(root)
    before, after = [0] * len(shape), [0] * len(shape)
    values, views = set[float](), set[tuple[int, ...]]()
    readers = _readers(root, groups)
    if readers is None:
        return None
    for layer in readers:
        for name, pieces in layer.maps.items():
            if not any(piece.root is root for piece in pieces):
                continue
            seen = shape_of(layer.inputs[name])
            views |= {shape_of(piece.value) for piece in pieces if piece.root is root}
            for use in touches(layer.problem, name):
                for axis, form in enumerate(use.forms):
                    if len(pieces) > 1 and axis == channel_axis(len(seen)):
                        continue
                    low, high = form.range(layer.problem.extents)
                    own = axis - len(seen) + len(shape)
                    if own >= 0 and seen[axis:] == shape[own:]:
                        before[own], after[own] = max(before[own], -low), max(after[own], high - shape[own] + 1)
                    elif low < 0 or high >= seen[axis]:
                        return None
            values |= set(_pad_values(layer, name))
    padded = [axis for axis in range(len(shape)) if before[axis] or after[axis]]
    if len(values) != 1 or not padded:
        return None
    inner = shape[padded[0] :]
    if any(view[-len(inner) :] != inner for view in views):  # a padded axis and those behind it are as in the map
        return None
    return Padding(tuple(before), tuple(after), values.pop())


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


def _pad_values(layer: FusedLayer, name: str) -> Iterator[float]:
    buffers = layer.op.buffers()
    for kernel in layer.op.kernels:
        operands = kernel.operands_by_name
        yield from (value for tensor_, value in kernel.pads.items() if buffers[operands[tensor_]] == name)


def _can_fill(machine: Machine, root: SSAValue, padding: Padding) -> bool:
    try:
        _border_layer(machine, root, padding)
    except TilewrightError:
        return False
    return True


def _border_layer(machine: Machine, root: SSAValue, padding: Padding) -> tuple[FusedLayer, str]:
    """A layer that writes one element all around a map, and the name of what it reads."""
    builder = GroupBuilder("border")
    sizes = padding.sizes(shape_of(root))
    type_ = tensor(sizes, element_of(root))
    source = _element(root)
    term = builder.term(source, "B", [Num(0)])
    result: SSAValue | None = None
    samples = builder.dim(SAMPLES, sizes[0])
    for axis in range(len(sizes)):
        for start, count in ((0, padding.before[axis]), (sizes[axis] - padding.after[axis], padding.after[axis])):
            if not count:
                continue
            target = [
                index(
                    samples if i == 0 and axis != 0 else builder.dim(f"i{axis}_{start}_{i}", count if i == axis else n),
                    start if i == axis else 0,
                )
                for i, n in enumerate(sizes)
            ]
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
    machine: Machine, name: str, root: SSAValue, padding: Padding, ends: tuple[SSAValue, SSAValue]
) -> CodeletOp:
    """Writes the element on chip of `ends` all around the map in the other one."""
    layer, source = _border_layer(machine, root, padding)
    element, target = ends
    places = {source: [Place(element, 0, 1)], next(iter(layer.made)): [Place(target, 0, 1)]}
    codelet = LayerBuilder(machine, layer, places, {}).build()
    codelet.properties["sym_name"] = type(codelet.sym_name)(name)
    return codelet
