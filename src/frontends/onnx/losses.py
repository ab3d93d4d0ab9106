"""Losses of classification: the class that a label names is picked by comparison."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from ...dialects.types import dtype_of, element_of, shape_of
from .formulas import Formulas
from .node import Node
from .reductions import log_of_softmax
from .scope import Scope, Value


def negative_log_likelihood(scope: Scope, node: Node) -> Sequence[Value]:
    """NegativeLogLikelihoodLoss."""
    return (_loss(Formulas(scope, node), scope.tensor(node, 0)),)


def softmax_cross_entropy(scope: Scope, node: Node) -> Sequence[Value]:
    """SoftmaxCrossEntropyLoss, and its logarithms of probabilities."""
    make = Formulas(scope, node)
    logs = log_of_softmax(make, scope.tensor(node, 0), 1)
    return (_loss(make, logs), logs)


def _loss(make: Formulas, x: SSAValue) -> SSAValue:
    """`-weight[label] * x[label]` of each sample; with the mean divided by the sum of weights."""
    node, scope = make.node, make.scope
    labels, shape = scope.tensor(node, 1), shape_of(x)
    reduction = node.text("reduction", "mean")
    if reduction not in ("none", "sum", "mean") or len(shape) < 2:
        raise node.error("reduction none, sum or mean of samples with classes", reduction)
    spread = make.reshape(labels, (shape[0], 1, *shape[2:]))
    along = (1, shape[1], *(1,) * (len(shape) - 2))
    found = make.binary("eq", spread, make.counting(shape[1], 1, len(shape), dtype_of(element_of(labels))))
    weights: SSAValue | None = None
    if node.has_input(2):
        weights = make.select(found, make.reshape(scope.tensor(node, 2), along), 0.0)
    elif "ignore_index" in node.attributes:
        weights = make.cast(found, np.float32)
    if "ignore_index" in node.attributes:
        assert weights is not None
        ignored = make.binary("eq", spread, node.integer("ignore_index", -100))
        weights = make.select(ignored, 0.0, weights)
    chosen = make.select(found, x, 0.0)
    losses = make.reduce("sum", make.unary("neg", chosen if weights is None else make.mul(chosen, weights)), [1])
    if reduction == "none":
        return make.reshape(losses, (shape[0], *shape[2:]))
    total = make.reduce("sum", losses, range(len(shape)), keepdims=False)
    if reduction == "sum":
        return total
    if weights is None:
        return make.div(total, float(prod(shape) // shape[1]))
    return make.div(total, make.reduce("sum", weights, range(len(shape)), keepdims=False))
