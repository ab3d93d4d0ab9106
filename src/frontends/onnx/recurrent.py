"""RNN, GRU and LSTM, unrolled: a product for all inputs, then for each step one of its state, and single elements."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import SSAValue

from ...dialects import graph
from ...dialects.types import shape_of
from .expansion import MAX_STEPS
from .formulas import Formulas
from .scope import Node, Scope, Value

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
LEAST = {"RNN": 4, "GRU": 15, "LSTM": 14}
"""Operations of a step: one reads its input, and without biases, peepholes and clipping these compute it."""

DEFAULTS = {"RNN": ("Tanh",), "GRU": ("Sigmoid", "Tanh"), "LSTM": ("Sigmoid", "Tanh", "Tanh")}

Function = Callable[[SSAValue], SSAValue]


@dataclass
class Direction:
    """One direction of a layer: weights `[gates * hidden, ...]`, biases of input and state, functions, clipping."""

    make: Formulas
    kind: str
    hidden: int
    w: SSAValue
    r: SSAValue
    biases: tuple[SSAValue, SSAValue] | None
    peepholes: SSAValue | None
    functions: Sequence[Function]
    clip: float
    linear: bool

    def gate(self, value: SSAValue, index: int) -> SSAValue:
        """The part of one gate in `[batch, gates * hidden]`."""
        return self.make.part(value, len(shape_of(value)) - 1, index * self.hidden, self.hidden)

    def applied(self, index: int, value: SSAValue) -> SSAValue:
        """An activation of what is clipped."""
        if self.clip:
            value = self.make.scope.emit(graph.ClipOp(value, min=-self.clip, max=self.clip))
        return self.functions[index](value)

    def peeped(self, value: SSAValue, cell: SSAValue, index: int) -> SSAValue:
        """What a gate sees of the cell, too."""
        return (
            value
            if self.peepholes is None
            else self.make.add(value, self.make.mul(cell, self.gate(self.peepholes, index)))
        )

    def entering(self, x: SSAValue) -> list[SSAValue]:
        """What the input `[steps, batch, width]` brings to the gates of each step."""
        make, (steps, batch, width) = self.make, shape_of(x)
        found = make.matmul(make.reshape(x, (steps * batch, width)), self.w)
        if self.biases is not None:
            found = make.add(found, self.biases[0])
        return [make.part(found, 0, t * batch, batch) for t in range(steps)]

    def step(self, entering: SSAValue, states: Sequence[SSAValue]) -> list[SSAValue]:
        """The next state, and cell, from what a step's input brings and those before."""
        make, h = self.make, states[0]
        past = make.matmul(h, self.r)
        if self.biases is not None:
            past = make.add(past, self.biases[1])
        if self.kind == "GRU":
            return [self._gated(entering, past, h)]
        total = make.add(entering, past)
        if self.kind == "RNN":
            return [self.applied(0, total)]
        cell = states[1]
        i, o, f, c = (self.gate(total, index) for index in range(4))
        i, f = self.applied(0, self.peeped(i, cell, 0)), self.applied(0, self.peeped(f, cell, 2))
        new = make.add(make.mul(f, cell), make.mul(i, self.applied(1, c)))
        o = self.applied(0, self.peeped(o, new, 1))
        return [make.mul(o, self.functions[2](new)), new]

    def _gated(self, entering: SSAValue, past: SSAValue, h: SSAValue) -> SSAValue:
        make = self.make
        z, r = (self.applied(0, make.add(self.gate(entering, k), self.gate(past, k))) for k in (0, 1))
        if self.linear:
            seen = make.mul(r, self.gate(past, 2))
        else:
            seen = make.matmul(make.mul(r, h), self.gate(self.r, 2))
            seen = seen if self.biases is None else make.add(seen, self.gate(self.biases[1], 2))
        new = self.applied(1, make.add(self.gate(entering, 2), seen))
        return make.add(make.mul(make.sub(1.0, z), new), make.mul(z, h))


def recurrent(scope: Scope, node: Node) -> Sequence[Value]:
    """RNN, GRU and LSTM: all states, the last one, and of an LSTM the last cell."""
    make, x = Formulas(scope, node), scope.tensor(node, 0)
    batch_first = bool(node.integer("layout", 0))
    x = make.transpose(x, [1, 0, 2]) if batch_first else x
    steps, batch = shape_of(x)[:2]
    hidden = node.integer("hidden_size", shape_of(make.operand(2))[2])
    ways = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
    text = node.text("direction", "forward")
    if text not in ways or steps > MAX_STEPS:
        raise node.error(f"forward, reverse or bidirectional, at most {MAX_STEPS} steps", f"{text}, {steps} steps")
    scope.reserve(node.label, steps * len(ways[text]) * LEAST[node.op])
    lengths = scope.optional_constant(node, 4)
    lengths = np.full(batch, steps) if lengths is None else lengths.reshape(-1).astype(np.int64)
    if len(lengths) != batch or np.any(lengths < 0) or np.any(lengths > steps):
        raise node.error(f"{batch} lengths of at most {steps}", str(lengths[:20]), kind="shape")
    found = [
        _run(_direction(make, d, hidden, len(ways[text])), x, back, lengths, d, batch_first)
        for d, back in enumerate(ways[text])
    ]
    every = [make.concat([make.reshape(f[0][t], (1, 1, batch, hidden)) for f in found], 1) for t in range(steps)]
    whole = make.concat(every, 0)
    last = [make.concat([make.reshape(f[1][i], (1, batch, hidden)) for f in found], 0) for i in range(len(found[0][1]))]
    if batch_first:
        whole = make.transpose(whole, [2, 0, 1, 3])
        last = [make.transpose(value, [1, 0, 2]) for value in last]
    return (whole, *last)


def _direction(make: Formulas, index: int, hidden: int, count: int) -> Direction:
    node, gates = make.node, GATES[make.node.op]

    def own(position: int, size: int) -> SSAValue:
        value = make.part(make.operand(position), 0, index, 1)
        return make.reshape(value, (size, *shape_of(value)[2:]))

    biases = None
    if node.has_input(3):
        both = make.reshape(make.part(make.operand(3), 0, index, 1), (2 * gates * hidden,))
        biases = tuple(make.part(both, 0, i * gates * hidden, gates * hidden) for i in (0, 1))
    peepholes = None
    if node.op == "LSTM" and node.has_input(7):
        peepholes = make.reshape(make.part(make.operand(7), 0, index, 1), (3 * hidden,))
    if node.integer("input_forget", 0):
        raise node.error("input_forget 0", "1")
    w, r = (make.transpose(own(position, gates * hidden), [1, 0]) for position in (1, 2))
    functions = _functions(make, index, count)
    clip, linear = node.real("clip", 0.0), bool(node.integer("linear_before_reset", 0))
    return Direction(make, node.op, hidden, w, r, biases, peepholes, functions, clip, linear)  # pyright: ignore


def _functions(make: Formulas, index: int, count: int) -> list[Function]:
    """The activations of a direction, with their alphas and betas in order."""
    node, defaults = make.node, DEFAULTS[make.node.op]
    names = node.texts("activations", defaults * count)
    if len(names) != len(defaults) * count:
        raise node.error(f"{len(defaults) * count} activations", str(names), kind="parse")
    alphas, betas = node.reals("activation_alpha"), node.reals("activation_beta")
    made: list[Function] = []
    for name in names:
        numbers = ACTIVATIONS.get(name.lower())
        if numbers is None:
            raise node.error("activations " + ", ".join(ACTIVATIONS), name)
        kind, alpha, beta = numbers
        alpha = (alphas.pop(0) if alphas else alpha) if alpha is not None else None
        beta = (betas.pop(0) if betas else beta) if beta is not None else None
        made.append(_function(make, kind, alpha, beta))
    return made[index * len(defaults) : (index + 1) * len(defaults)]


def _function(make: Formulas, kind: str, alpha: float | None, beta: float | None) -> Function:
    if kind == "affine":
        return lambda x: make.add(make.mul(x, alpha or 0.0), beta or 0.0)
    if kind == "scaled_tanh":
        return lambda x: make.mul(make.unary("tanh", make.mul(x, beta or 0.0)), alpha or 0.0)
    return lambda x: make.scope.emit(graph.UnaryOp(kind, x, alpha=alpha, beta=beta))


ACTIVATIONS: Mapping[str, tuple[str, float | None, float | None]] = {
    "affine": ("affine", 1.0, 0.0),
    "elu": ("elu", 1.0, None),
    "hardsigmoid": ("hard_sigmoid", 0.2, 0.5),
    "leakyrelu": ("leaky_relu", 0.01, None),
    "relu": ("relu", None, None),
    "scaledtanh": ("scaled_tanh", 1.0, 1.0),
    "sigmoid": ("sigmoid", None, None),
    "softplus": ("softplus", None, None),
    "softsign": ("softsign", None, None),
    "tanh": ("tanh", None, None),
}
"""Activations by name, with their default alpha and beta where they have them."""


def _run(
    way: Direction, x: SSAValue, back: bool, lengths: np.ndarray, index: int, batch_first: bool
) -> tuple[list[SSAValue], list[SSAValue]]:
    """The states after each step, and the last ones; behind a sample's end states are 0 and the last one stays."""
    make, (steps, batch), inputs = way.make, shape_of(x)[:2], way.entering(x)
    states: list[SSAValue] = []
    for position in (5, 6) if way.kind == "LSTM" else (5,):
        if not make.node.has_input(position):
            states.append(make.constant(np.zeros((batch, way.hidden), np.float32)))
            continue
        given = make.operand(position)
        given = make.transpose(given, [1, 0, 2]) if batch_first else given
        states.append(make.reshape(make.part(given, 0, index, 1), (batch, way.hidden)))
    every: dict[int, SSAValue] = {}
    for t in range(steps)[:: -1 if back else 1]:
        new = way.step(inputs[t], states)
        inside = (t < lengths).astype(np.uint8).reshape(batch, 1)
        if inside.all():
            states = new
            every[t] = new[0]
            continue
        mask = make.constant(inside)
        states = [make.select(mask, n, old) for n, old in zip(new, states, strict=True)]
        every[t] = make.select(mask, new[0], 0.0)
    return [every[t] for t in range(steps)], states
