"""Nodes and instructions of `cloud128` are those of `edge16`, with more lanes and longer addresses."""

from tilewright.frontends.acg import load_target
from tilewright.machine import Machine


def capabilities(machine: Machine) -> dict[str, tuple[object, ...]]:
    """Functions and types by capability."""
    nodes = (*machine.computes, *machine.links)
    return {f"{node.name}.{one.name}": (one.functions, one.types) for node in nodes for one in node.capabilities}


def test_what_is_computed_is_the_same():
    edge, cloud = load_target("edge16"), load_target("cloud128")
    assert capabilities(cloud) == capabilities(edge)
    words = [[(one.name, one.unit, one.node, one.capability) for one in m.mnemonics] for m in (cloud, edge)]
    assert words[0] == words[1]
