"""Local response normalisation of quantised maps: squares and their sums in integers, quantised before maxima."""

import numpy as np
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import graph
from ...dialects.types import element_of, shape_of, tensor
from ...interpreters.constants import Constants
from ...machine import Machine
from .identities import renamed
from .quantized_values import Builder, find_goal, quantised, uniform_8_bits

WHOLE = float(1 << 20)
"""A bias of at least so much is rounded to a whole number: sums then change by half a millionth at most."""

MOST_BETA, MOST_BIAS, MOST_SIZE = 2.0, 2.0**40, 1 << 14
"""With exponents and biases up to these, powers are normal numbers of f32; sums of so many squares are below 2^30."""


def normalises_integers(machine: Machine) -> bool:
    """Whether a machine multiplies bytes into i32, and has powers of i32 and quotients of bytes in f32."""
    kinds = [("mul", ("i32", "u8", "u8")), ("mul", ("i32", "i8", "i8")), ("add", ("i32", "i32", "i32"))]
    kinds += [("pow", ("f32", "i32")), ("div", ("f32", "u8", "f32")), ("div", ("f32", "i32", "f32"))]
    known = {
        (function, types)
        for node in machine.computes
        for capability in node.capabilities
        for _, functions in capability.functions
        for function in functions
        for types in capability.types
    }
    return known.issuperset(kinds)


def integer_lrn(op: graph.QuantizeOp, constants: Constants) -> None:
    """Normalise integers where a map is quantised before and after, perhaps with maxima of windows in between.

    With `u = alpha/size s^2`, where s is the step of the input, the quotient of integers is a multiple of what is
    normalised, by which the step of the result is divided:

        s x / (bias + u sum x^2)^beta  =  s / u^beta * x / (bias / u + sum x^2)^beta

    Quantisation is monotonic, so that maxima of what is quantised are what is quantised of maxima.
    """
    found, pools = find_goal(op, constants), list[graph.PoolOp]()
    value = op.x
    while isinstance(value.owner, graph.PoolOp) and value.has_one_use():
        pools.append(value.owner)
        value = value.owner.x
    layer, maxima = value.owner, all(pool.kind.data == graph.PoolKind.MAX for pool in pools)
    if found is None or not maxima or not isinstance(layer, graph.LrnOp) or not value.has_one_use():
        return
    builder = Builder.of(constants, op)
    normalised = _normalised(layer, builder)
    if normalised is None:
        return
    value, unit = normalised
    step = builder.weight("step", np.array(found[0].scale / unit, np.float32))
    value = builder.emit(graph.QuantizeOp(value, step, op.zero_point, element=element_of(op.result)), "quantized")
    for pool in reversed(pools):
        type_ = tensor(shape_of(pool.result), element_of(value))
        value = builder.emit(
            graph.PoolOp.build(operands=[value], properties=dict(pool.properties), result_types=[type_])
        )
    Rewriter.insert_op(builder.made, InsertPoint.before(op))
    renamed(builder.made[-1], op)
    op.result.replace_all_uses_with(value)
    for each in (op, *pools, layer):
        Rewriter.erase_op(each)


def _normalised(op: graph.LrnOp, builder: Builder) -> tuple[SSAValue, float] | None:
    """Quotients of the integers that `op` reads, and what one stands for; None where numbers do not allow it."""
    given = quantised(op.x, builder.constants)
    size = op.size.value.data
    alpha, beta, bias = (each.value.data for each in (op.alpha, op.beta, op.bias))
    if not uniform_8_bits(given) or alpha <= 0 or not 0 < beta <= MOST_BETA or size > MOST_SIZE:
        return None
    square = alpha / size * float(given.scale) ** 2
    offset, unit = bias / square, float(given.scale) / square**beta
    if not (1 <= offset <= MOST_BIAS and 1 / MOST_BIAS <= unit <= MOST_BIAS):
        return None
    offset = float(np.rint(offset)) if offset >= WHOLE else float(np.float32(offset))
    made = graph.LrnOp(given.value, size=size, alpha=float(size), beta=beta, bias=offset, zero_point=int(given.zero))
    return builder.emit(made, "normalised"), unit
