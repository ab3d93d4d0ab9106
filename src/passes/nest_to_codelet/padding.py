"""Room around maps on chip for what their readers find out of bounds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from ...costs.mapping.problem import touches
from ...dialects.types import shape_of
from .map_pieces import channel_axis

if TYPE_CHECKING:
    from .fused_layers import FusedLayer


@dataclass(frozen=True)
class Padding:
    """Elements of `value` before and after each axis of a map."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    value: float

    def sizes(self, shape: tuple[int, ...]) -> list[int]:
        """The extents with padding."""
        return [b + n + a for b, n, a in zip(self.before, shape, self.after, strict=True)]

    @property
    def is_around(self) -> bool:
        """Whether it is around rows and columns of a map alone, and not beside its samples or channels."""
        return len(self.before) == 4 and not any((*self.before[:2], *self.after[:2]))

    def seen_as(self, shape: tuple[int, ...]) -> Padding:
        """The padding of a view, which differs from the map in leading axes that have none."""
        rank = len(shape)
        before, after = (((0,) * rank + side)[len(side) :] for side in (self.before, self.after))
        return Padding(before, after, self.value)


def wanted_padding(root: SSAValue, readers: Iterable[FusedLayer]) -> Padding | None:
    """What `readers` of a map want around it; None where one cannot have it, or none wants any."""
    shape = shape_of(root)
    before, after = [0] * len(shape), [0] * len(shape)
    values, views = set[float](), set[tuple[int, ...]]()
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
            values |= {value for buffer, value in layer.op.padded() if buffer == name}
    padded = [axis for axis in range(len(shape)) if before[axis] or after[axis]]
    if len(values) != 1 or not padded:
        return None
    inner = shape[padded[0] :]
    if any(view[-len(inner) :] != inner for view in views):  # a padded axis and those behind it are as in the map
        return None
    return Padding(tuple(before), tuple(after), values.pop())
