"""A link and the capabilities that copy over it say one bandwidth."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, isfinite, prod

from ..algebra.element import ELEMENT_TYPES
from ..algebra.expr import Strided, print_expr
from ..algebra.formula import evaluate_formula
from ..errors import TilewrightError
from .complaint import Complaint
from .model import Capability, Link

TOLERANCE = 0.01
LARGE = 1 << 20
"""Iterations of a dim by which a formula is taken as long as it gets."""


def bandwidth_complaints(link: Link) -> Iterator[Complaint]:
    """A complaint for each capability whose cycles move bytes at another rate than the link."""
    limit = link.bandwidth_bytes_per_cycle
    for capability in link.capabilities:
        rate = _elements_per_cycle(capability)
        sizes = {ELEMENT_TYPES[row[0]].itemsize for row in capability.types if row and row[0] in ELEMENT_TYPES}
        if rate is None or limit == inf or not sizes:
            continue
        if all(abs(rate * size - limit) > TOLERANCE * limit for size in sizes):
            said = capability.written[0] if capability.written is not None else capability.cycles
            yield Complaint(
                f"capability {link.name}.{capability.name}",
                f"a copy at the link's {limit:g} bytes per cycle",
                f"{rate * min(sizes):g} bytes per cycle by `{print_expr(said)}`",
                "name `bandwidth` in the formula instead of a number",
            )


def _elements_per_cycle(capability: Capability) -> float | None:
    """What a copy's cycles come to for very long runs, along the best dim; None where they do not grow with them."""
    if not isinstance(capability.statement.value, Strided):
        return None
    try:
        rates = [_rate(capability, dim.name) for dim in capability.dims]
    except TilewrightError:
        return None  # another rule tells
    return max((rate for rate in rates if isfinite(rate)), default=None)


def _rate(capability: Capability, along: str) -> float:
    """Elements per cycle from LARGE iterations of a dim on, the others at some; infinite where they cost nothing."""
    points: list[tuple[int, float]] = []
    for times in (1, 2):
        extents = {dim.name: times * LARGE * dim.lanes if dim.name == along else dim.lanes for dim in capability.dims}
        ops = prod(extents.values())
        points.append((ops, float(evaluate_formula(capability.cycles, {**extents, "ops": ops}))))
    (less, soon), (more, late) = points
    return (more - less) / (late - soon) if late > soon else inf
