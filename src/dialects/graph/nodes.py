"""What the model calls its nodes, beside what it calls the values that they make."""

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.dialects.func import FuncOp

ATTRIBUTE = "graph.nodes"
"""On a function: pairs of the name of a value and the name of the node that makes it."""


@dataclass(frozen=True)
class NodeNames:
    """Name of a value -> name of its node, where nodes have names of their own."""

    names: Mapping[str, str]

    def of(self, value: str) -> str:
        """The node of a value; of a part that a pass made (`conv1.factor`) that of the whole; else the value's name."""
        whole = value
        while whole:
            if whole in self.names:
                return self.names[whole]
            whole = whole.rpartition(".")[0]
        return value


def set_node_names(function: FuncOp, names: Mapping[str, str]) -> None:
    """Note the names of nodes by those of their values; nothing where there are none."""
    if names:
        pairs = (ArrayAttr([StringAttr(value), StringAttr(node)]) for value, node in names.items())
        function.attributes[ATTRIBUTE] = ArrayAttr(pairs)


def node_names(function: FuncOp) -> NodeNames:
    """The names of nodes that the function knows."""
    names: dict[str, str] = {}
    pairs = function.attributes.get(ATTRIBUTE)
    for pair in pairs if isinstance(pairs, ArrayAttr) else ():
        texts = [one.data for one in pair if isinstance(one, StringAttr)] if isinstance(pair, ArrayAttr) else []
        if len(texts) == 2:
            names[texts[0]] = texts[1]
    return NodeNames(names)
