"""The nodes of a graph in an order in which each comes after those that make its inputs."""

from collections.abc import Container, Sequence
from graphlib import CycleError

from onnx import NodeProto

from ...algebra.dag import ordered as in_order
from ...errors import TilewrightError
from .scope import node_label

SHOWN = 8
"""Nodes of a cycle that an error names."""


def ordered(nodes: Sequence[NodeProto], known: Container[str]) -> list[tuple[int, NodeProto]]:
    """The nodes with their positions in the file, in its order where that is possible, else the next one that can run.

    `known` are names that no node makes.  Raises `TilewrightError` (kind `parse`) for a name that nothing makes, with a
    node that reads it, and for a cycle, with the nodes on it.
    """
    makers: dict[str, int] = {}
    for position, node in enumerate(nodes):
        for name in node.output:
            makers.setdefault(name, position)
    needs = [_makers_of(node, position, makers, known) for position, node in enumerate(nodes)]
    try:
        found = in_order(needs, range(len(nodes)))
    except CycleError as error:
        raise _cycle(nodes, error.args[1]) from None
    return [(position, nodes[position]) for position in found]


def _makers_of(node: NodeProto, position: int, makers: dict[str, int], known: Container[str]) -> set[int]:
    """The positions of the nodes that make the inputs of a node."""
    needed: set[int] = set()
    for index, name in enumerate(node.input):
        if not name or name in known:
            continue
        if name not in makers:
            expected, found = f"input {index} to be made", f"{name!r}, which nothing makes"
            lever = "no input, initializer or node has this name; the file may be cut out of another"
            raise TilewrightError("parse", node_label(node, position), expected, found, lever)
        needed.add(makers[name])
    return needed


def _cycle(nodes: Sequence[NodeProto], cycle: list[int]) -> TilewrightError:
    """The error that names the nodes of a cycle."""
    first = cycle.index(min(cycle))
    cycle = cycle[first:] + cycle[:first]
    labels = [node_label(nodes[place], place) for place in cycle]
    shown = ", ".join(labels[:SHOWN]) + (f" and {len(labels) - SHOWN} more" if len(labels) > SHOWN else "")
    lever = "one of them must not read what comes after it"
    return TilewrightError("parse", labels[0], "nodes without a cycle", f"a cycle of {shown}", lever)
