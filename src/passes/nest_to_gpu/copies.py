"""How wide the copies to shared memory are."""

from __future__ import annotations

from ...algebra.element import ELEMENT_TYPES
from .plan import WIDEST_BYTES, Operand, Plan


def neighbours(plan: Plan, x: Operand) -> int:
    """How many neighbouring elements of a tile a thread copies at once: 1, or what makes 4, 8 or 16 bytes.

    They are neighbours in global memory and in the tile, begin at a multiple of their number in both, and are all
    within the tensor or all outside, where zeros are read.
    """
    if not x.rows or x.pad:
        return 1
    row, last = x.rows[-1], len(x.shape) - 1
    if row.axis != last or row.scale != 1 or any(other.axis == last for other in x.rows[:-1]):
        return 1
    if plan.tile_order(x)[-1] != len(x.rows) - 1:
        return 1
    steps = [c * loop.stride for loop in (*plan.serial, *plan.grid) for dim, c in row.terms if dim == loop.dim]
    bounds = [plan.bounds[dim] for dim, _ in row.terms if dim in plan.ragged]
    multiples = *steps, *bounds, x.constants[last], row.low(plan.shared_tile), x.shape[last]
    lines = row.extent(plan.shared_tile), plan.tile_shape(x)[-1]
    size = ELEMENT_TYPES[x.element].itemsize
    widths = (width // size for width in (WIDEST_BYTES, 8, 4) if width > size)
    return next((n for n in widths if not any(number % n for number in (*multiples, *lines))), 1)
