"""Which inputs of a model must be constant when it is imported: shapes, axes, indices and what they come from."""

from collections.abc import Callable, Collection, Sequence

from onnx import ModelProto, NodeProto

from .expansion import MAX_DEPTH, Functions, captured, static_function, subgraphs
from .load import opset_of
from .operators import OPERATORS
from .order import ordered

POSITIONS = {
    "If": (0,),
    "Loop": (0, 1),
    "SequenceAt": (1,),
    "SequenceErase": (1,),
    "SequenceInsert": (2,),
    "SplitToSequence": (1,),
}
"""Inputs that must be constant of operators that `OPERATORS` does not have."""


def constant_names(model: ModelProto) -> tuple[str, ...]:
    """The graph inputs of `model` that operators need to be constant."""
    stored = {t.name for t in model.graph.initializer}
    inputs = [i.name for i in model.graph.input if i.name not in stored]
    needed = _Needs(model).of_nodes(model.graph.node, stored | set(inputs))
    return tuple(name for name in inputs if name in needed)


class _Needs:
    def __init__(self, model: ModelProto) -> None:
        self.functions = Functions(model)
        self.version = opset_of(model)
        self.known: dict[tuple[str, str, str], Collection[int]] = {}
        self.depth = 0

    def of_nodes(self, nodes: Sequence[NodeProto], outside: Collection[str]) -> set[str]:
        """The names that some node needs to be constant, and all that they come from."""
        needed: set[str] = set()
        for _, node in reversed(ordered(nodes, outside)):
            if node.op_type in ("Shape", "Size"):
                continue
            if needed.intersection(node.output):
                needed.update(node.input)
                needed.update(captured(node))
            needed.update(node.input[i] for i in self._positions(node) if i < len(node.input))
            for inner in subgraphs(node):
                own = {v.name for v in inner.input} | {t.name for t in inner.initializer}
                names = own | set(captured(node))
                needed |= self._deeper(lambda: self.of_nodes(inner.node, names)) - own
        return needed

    def _deeper(self, find: Callable[[], set[str]]) -> set[str]:
        if self.depth >= MAX_DEPTH:
            return set()
        self.depth += 1
        found = find()
        self.depth -= 1
        return found

    def _positions(self, node: NodeProto) -> Collection[int]:
        """The inputs of a node that must be constant."""
        function = self.functions.of_model(node)
        if function is None and node.domain not in ("", "ai.onnx"):
            return ()
        if function is None and node.op_type in OPERATORS:
            return OPERATORS[node.op_type].constant_inputs
        if function is None and node.op_type in POSITIONS:
            return POSITIONS[node.op_type]
        key = (node.domain, node.op_type, node.overload)
        if key not in self.known:
            self.known[key] = ()  # of a function inside of itself
            if function is None:
                function = static_function(node.op_type, self.version, node.domain)
            if function is not None:
                body, formal = function.node, list(function.input)
                needed = self._deeper(lambda: self.of_nodes(body, formal))
                self.known[key] = [i for i, name in enumerate(formal) if name in needed]
        return self.known[key]
