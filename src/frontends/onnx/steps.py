"""Several steps of a model one after another in one graph: what a step makes is what the next one is given.

argmax(logits)=ids        the place of the greatest of the last axis
start+1=start             an input, and a number more in each step
mask,1=mask               an input, longer by a number along its last axis in each step
present.0.key=past.0.key  an output, in whatever shape it is made
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, helper, numpy_helper

from ...errors import TilewrightError
from .expansion import captured, renamed, subgraphs

MAX_STEPS = 4096
"""How often a model is repeated at most."""

OUTPUT, GREATEST, MORE, LONGER = "output", "argmax", "+", ","


@dataclass(frozen=True)
class Carry:
    """What input `target` is in the next step: `source` of this one, or that and a `number`, by `kind`."""

    target: str
    kind: str
    source: str
    number: int = 0

    @staticmethod
    def parse(text: str) -> "Carry":
        """A carry as it is written; `TilewrightError` (kind `usage`) for another text."""
        source, equals, target = text.rpartition("=")
        found = re.fullmatch(r"argmax\((.+)\)", source)
        if found is not None:
            return Carry(target, GREATEST, found[1])
        found = re.fullmatch(r"(.+)([+,])(-?\d{1,9})", source)
        if found is not None and found[1] == target:
            return Carry(target, found[2], target, int(found[3]))
        if not equals or not source or not target:
            expected = "OUTPUT=INPUT, argmax(OUTPUT)=INPUT, INPUT+NUMBER=INPUT or INPUT,NUMBER=INPUT"
            raise TilewrightError("usage", "--carry", expected, repr(text[:80]))
        return Carry(target, OUTPUT, source)


@dataclass(frozen=True)
class Steps:
    """How many steps, and what goes from one to the next; without `carries` what exporters' names say."""

    count: int
    carries: Sequence[Carry] = field(default_factory=tuple[Carry, ...])

    def __post_init__(self) -> None:
        if not 1 <= self.count <= MAX_STEPS:
            raise TilewrightError("usage", "--steps", f"1 to {MAX_STEPS} steps", str(self.count))


def usual_carries(graph: GraphProto) -> tuple[Carry, ...]:
    """What goes from step to step by the names that exporters of decoders give."""
    stored, outputs = {tensor.name for tensor in graph.initializer}, {value.name for value in graph.output}
    found: list[Carry] = []
    for name in [value.name for value in graph.input if value.name not in stored]:
        presents = [name.replace(past, "present") for past in ("past_key_values", "past") if past in name]
        if match := next((present for present in presents if present in outputs), None):
            found.append(Carry(name, OUTPUT, match))
        elif name in ("input_ids", "ids") and "logits" in outputs:
            found.append(Carry(name, GREATEST, "logits"))
        elif name == "position_ids":
            found.append(Carry(name, MORE, name, 1))
        elif name == "attention_mask":
            found.append(Carry(name, LONGER, name, 1))
    return tuple(found)


def repeated(model: ModelProto, steps: Steps) -> ModelProto:
    """The model `steps.count` times in a row.

    Inputs that are not carried are those of all steps.  Its results are those of the last step and, for each carried
    place `argmax(OUTPUT)=INPUT`, `INPUT.steps`: what each step found.  Nodes that depend on constants only are there
    once.  Raises `TilewrightError` (kind `usage`) for names that the model does not have.
    """
    graph = model.graph
    carries = tuple(steps.carries) or usual_carries(graph)
    _check(graph, carries)
    made = ModelProto()
    made.CopyFrom(model)
    for name in ("node", "output", "value_info"):
        made.graph.ClearField(name)
    builder = _Builder(graph, made.graph, {carry.target: carry for carry in carries})
    for step in range(steps.count):
        builder.step(step, last=step == steps.count - 1)
    builder.finish()
    return made


def _check(graph: GraphProto, carries: Sequence[Carry]) -> None:
    inputs, outputs = [value.name for value in graph.input], [value.name for value in graph.output]
    if not carries:
        lever = f"name them, such as --carry '{outputs[0] if outputs else 'OUTPUT'}={inputs[0] if inputs else 'INPUT'}'"
        raise TilewrightError("usage", "--steps", "inputs that a step gives to the next", "none by their names", lever)
    for carry in carries:
        known = inputs if carry.kind in (MORE, LONGER) else outputs
        for name, among, what in ((carry.source, known, "a source"), (carry.target, inputs, "an input")):
            if name not in among:
                expected = f"{what} among {', '.join(map(repr, among[:20]))}"
                raise TilewrightError("usage", "--carry", expected, repr(name))
    targets = [carry.target for carry in carries]
    twice = next((name for name in targets if targets.count(name) > 1), None)
    if twice is not None:
        raise TilewrightError("usage", "--carry", f"one source of {twice!r}", "several")


class _Builder:
    """Puts steps into a graph; `now` has the name that each carried input has in the step."""

    def __init__(self, source: GraphProto, target: GraphProto, carries: Mapping[str, Carry]) -> None:
        self.source, self.target, self.carries = source, target, carries
        self.now = {name: name for name in carries}
        self.kinds = {value.name: value.type.tensor_type.elem_type for value in source.input}
        self.names = dict(self.now)
        self.made: dict[str, list[str]] = {}
        self.constant = {tensor.name for tensor in source.initializer}
        for node in source.node:
            read = (*node.input, *captured(node))
            if node.op_type not in RANDOM and all(name in self.constant or not name for name in read):
                self.constant.update(node.output)
        self.constant.discard("")
        self.stored: dict[str, str] = {}
        self.taken = set(_names(source))
        self.fixed = [node for node in source.node if self._is_constant(node)]
        self.changing = [node for node in source.node if not self._is_constant(node)]

    def step(self, number: int, *, last: bool) -> None:
        """One more step, and what the next one is given; the last one has the names of the model."""
        made = [name for node in self.changing for name in node.output if name]
        self.names = dict(self.now) if last else self.now | {n: self._own(f"{n}.step{number}") for n in made}
        if not number:
            self.target.node.extend(self.fixed)
        for node in self.changing:
            copy = renamed(node, lambda name: self.names.get(name, name))
            if node.name and not last:
                copy.name = f"{node.name}.step{number}"
            self.target.node.append(copy)
        self.now = {
            name: self._next(carry, number)
            for name, carry in self.carries.items()
            if not last or carry.kind == GREATEST
        }

    def _own(self, name: str) -> str:
        """A name that nothing else has: `name`, or that with primes."""
        while name in self.taken:
            name += "'"
        self.taken.add(name)
        return name

    def _is_constant(self, node: NodeProto) -> bool:
        return bool(node.output) and all(name in self.constant for name in node.output if name)

    def _next(self, carry: Carry, step: int) -> str:
        """What an input is in the step after `step`."""
        source = self.names.get(carry.source, carry.source)
        if carry.kind == OUTPUT:
            return source
        now, name = self.now[carry.target], f"{carry.target}.after{step}"
        if carry.kind == GREATEST:
            place = self._add("ArgMax", [source], f"{name}.place", axis=-1, keepdims=0)
            shape = self._add("Shape", [now], f"{name}.shape")
            flat = self._add("Reshape", [place, shape], f"{name}.token")
            found = self._add("Cast", [flat], name, to=self.kinds[carry.target])
            self.made.setdefault(carry.target, []).append(found)
            return found
        kind = helper.tensor_dtype_to_np_dtype(self.kinds[carry.target])
        number = self._stored(f"{carry.target}.number", np.array([carry.number]).astype(kind))
        if carry.kind == MORE:
            return self._add("Add", [now, number], name)
        return self._longer(now, name, number)

    def _longer(self, now: str, name: str, number: str) -> str:
        """A value longer by one element of a number along its last axis."""
        last = self._stored("carry.last", np.array([-1], np.int64))
        first, one = self._stored("carry.first", np.array([0], np.int64)), self._stored("carry.one", np.array([1]))
        piece = self._add("Slice", [now, first, one, last], f"{name}.piece")
        shape = self._add("Shape", [piece], f"{name}.shape")
        return self._add("Concat", [now, self._add("Expand", [number, shape], f"{name}.more")], name, axis=-1)

    def _stored(self, name: str, array: np.ndarray[Any, np.dtype[Any]]) -> str:
        if name not in self.stored:
            self.stored[name] = self._own(name)
            self.target.initializer.append(numpy_helper.from_array(array, self.stored[name]))
        return self.stored[name]

    def _add(self, op: str, inputs: Sequence[str], output: str, **attributes: int) -> str:
        output = self._own(output)
        node = helper.make_node(op, list(inputs), [output], output)
        node.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())
        self.target.node.append(node)
        return output

    def finish(self) -> None:
        """The results: those of the last step, and what each found."""
        self.target.output.extend(self.source.output)
        for value in self.target.output:
            value.type.tensor_type.ClearField("shape")
        flat = self._stored("carry.flat", np.array([-1], np.int64))
        for name, found in self.made.items():
            pieces = [self._add("Reshape", [token, flat], f"{token}.flat") for token in found]
            steps = self._add("Concat", pieces, f"{name}.steps", axis=0)
            self.target.output.append(helper.make_tensor_value_info(steps, self.kinds[name], None))


RANDOM = ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")
"""Operators whose results differ each time."""


def _names(graph: GraphProto) -> Iterator[str]:
    """The names of all values, those of inner graphs too."""
    for values in (graph.input, graph.output, graph.initializer, graph.value_info):
        yield from (value.name for value in values)
    for node in graph.node:
        yield from (*node.input, *node.output)
        for inner in subgraphs(node):
            yield from _names(inner)
