"""What a machine takes on the chip, in mm2: the `area` of its memories, compute nodes and links.

Each is a formula over attributes of the machine (`changes`).  Names without an owner are the node's own: `depth` and
`banks` of a memory, `bandwidth` of a link, `mac.k_lanes` of a compute node.  Memories and compute nodes say the area of
one instance, links that of both directions.  A machine with another depth or bandwidth has another area.
"""

from collections.abc import Iterator
from math import fsum, inf

from ..algebra.expr import Expr, free_names
from ..algebra.formula import evaluate_formula
from ..errors import TilewrightError
from .changes import Value, attribute, attributes_of
from .complaint import Complaint
from .model import Compute, Link, Machine, Memory

Node = Memory | Compute | Link


def areas_of(machine: Machine) -> dict[str, float]:
    """mm2 of each node that says its area, all instances together."""
    return {node.name: _area(machine, node, formula) for node, formula in _described(machine)}


def area_of(machine: Machine) -> float | None:
    """mm2 of the machine: of all nodes that say their area; None where none does."""
    areas = areas_of(machine)
    return fsum(areas.values()) if areas else None


def area_complaints(machine: Machine) -> Iterator[Complaint]:
    """Areas that name what there is not, or that are no number of at least 0."""
    for node, formula in _described(machine):
        kind = "memory" if isinstance(node, Memory) else "compute" if isinstance(node, Compute) else "link"
        expected = "an area over attributes of the machine, of at least 0 mm2"
        try:
            area = _area(machine, node, formula)
        except TilewrightError as error:
            yield Complaint(
                f"{kind} {node.name}", expected, f"`{error.subject}`: {error.found}", f"give {error.expected}"
            )
            continue
        if not 0 <= area < inf:
            yield Complaint(f"{kind} {node.name}", expected, f"{area}")


def _described(machine: Machine) -> Iterator[tuple[Node, Expr]]:
    links = (link for link in machine.links if not link.back)
    for node in (*machine.memories, *machine.computes, *links):
        if node.area_mm2 is not None:
            yield node, node.area_mm2


def _area(machine: Machine, node: Node, formula: Expr) -> float:
    known = attributes_of(machine)
    names: dict[str, Value] = {}
    for name in free_names(formula):
        own = f"{node.name}.{name}"
        names[name] = known[own] if own in known else attribute(machine, name)
    copies = 1 if isinstance(node, Link) else node.instances_x * node.instances_y
    return float(evaluate_formula(formula, names)) * copies
