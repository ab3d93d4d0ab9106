"""The pass `graph-quantize`: networks in QDQ form as integer networks."""

from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriteWalker
from xdsl.rewriter import Rewriter

from ...algebra.element import Array
from ...dialects import graph
from ...dialects.acg import has_target, machine_of
from ...dialects.types import element_of, shape_of, tensor
from ...interpreters.constants import Constants
from ...machine import Machine
from ..functions import functions_of
from .graph_fuse import PRODUCTS
from .graph_normalize import FoldConstants
from .identities import IDENTITIES
from .narrow_weights import narrow_weights
from .quantized_affine import affine
from .quantized_layers import arithmetic, average, commutes, concatenation, on_integers, softmax
from .quantized_products import accumulate
from .quantized_values import (
    Builder,
    Goal,
    constant,
    epilogue_bounds,
    find_goal,
    multipliers_and_shifts,
    quantised,
    uniform_8_bits,
)

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
    builder.replace(op, value)
    for each in (*pools, layer):
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


LEAST_BITS, MOST_BITS = 14, 18
"""Bits after the point of normalised numbers: with the fewest, factors of rows are off by at most 2^-7 at 255 steps."""

MOST_OFFSET = 1 << 30
"""Offsets of channels leave room for normalised numbers, which are at most 2^MOST_BITS (N - 1)^(1/2) for N <= 2^15."""


def layer_norm(builder: Builder, op: graph.LayerNormOp, goal: Goal) -> SSAValue | None:
    """Layer normalisation of an 8-bit map along its last axis, as 8 bits.

    `clip(rshift_round((n + b) m, s) + zero, low, high)`, n normalised (`graph.standardize`), and b, m, s in i32 along
    the axis.  A zero point and the map's scale change nothing but epsilon.
    """
    x, shape = quantised(op.x, builder.constants), shape_of(op.x)
    axis, count = op.axis.value.data, shape[-1]
    scale = constant(op.scale, builder.constants)
    bias = np.zeros(count) if op.bias is None else constant(op.bias, builder.constants)
    fits = axis == len(shape) - 1 and 2 <= count <= graph.LONGEST_ROW
    if not fits or not uniform_8_bits(x) or scale is None or bias is None:
        return None
    bits = min(graph.most_bits(count), MOST_BITS)
    parameters = _integers(scale.astype(np.float64), bias.astype(np.float64), goal, bits)
    epsilon = op.epsilon.value.data / float(x.scale) ** 2
    if parameters is None or bits < LEAST_BITS or not np.isfinite(np.float32(count**2 * epsilon)):
        return None
    offset, multiplier, shift = parameters
    value = builder.emit(graph.StandardizeOp(x.value, axis=axis, epsilon=epsilon, bits=bits), "standardize")
    if offset.any():
        value = builder.emit(graph.BinaryOp("add", value, builder.weight("offset", offset)))
    return goal.requantize_by(builder, value, multiplier, shift, axis)


def _integers(scale: Array, bias: Array, goal: Goal, bits: int) -> tuple[Array, Array, Array] | None:
    """Offsets, multipliers and shifts of channels; None where an offset is too large beside its factor."""
    if not np.all(np.isfinite(scale) & np.isfinite(bias)) or np.any((scale == 0) & (bias != 0)):
        return None
    offset = np.rint(bias / np.where(scale == 0, 1, scale) * 2.0**bits)
    if np.abs(offset).max() > MOST_OFFSET:
        return None
    found = multipliers_and_shifts(np.abs(scale) / goal.scale / 2**bits)
    return None if found is None else (offset.astype(np.int32), found[0] * np.sign(scale).astype(np.int32), found[1])


def quantize_result(op: graph.QuantizeOp, constants: Constants) -> bool:
    """Compute what `op` quantises in integers, if that is possible."""
    found = find_goal(op, constants)
    if found is None:
        return False
    goal, source = found
    layer = source.owner
    builder = Builder.of(constants, layer if isinstance(layer, Operation) else op)
    value = _reach(builder, goal, source) if source is op.x or source.has_one_use() else None
    if value is not None:
        builder.replace(op, value)
    return value is not None


def _reach(builder: Builder, goal: Goal, source: SSAValue) -> SSAValue | None:
    given = quantised(source, builder.constants)
    if given is not None:
        return goal.rescale(builder, given) if uniform_8_bits(given) else None
    match source.owner:
        case graph.ConvOp() | graph.GemmOp() | graph.MatmulOp() as layer:
            sums = accumulate(builder, layer)
            return None if sums is None else goal.requantize(builder, sums)
        case graph.BinaryOp() as layer:
            value = arithmetic(builder, layer, goal)
            return affine(builder, layer, goal) if value is None else value
        case graph.ReduceOp() as layer if layer.kind.data in (graph.ReduceKind.MEAN, graph.ReduceKind.SUM):
            return average(builder, layer, goal)
        case graph.PoolOp() as layer if layer.kind.data != graph.PoolKind.MAX:
            return average(builder, layer, goal)
        case graph.ConcatOp() as layer:
            return concatenation(builder, layer, goal)
        case graph.LayerNormOp() as layer:
            return layer_norm(builder, layer, goal)
        case graph.SoftmaxOp() as layer if layer.result.has_one_use():
            return softmax(builder, layer, goal)
        case _:
            return None


def quantize_before_move(op: graph.QuantizeOp) -> graph.QuantizeOp | None:
    """Quantise by one scale before elements are moved, not after; the new `graph.quantize`, None where none move."""
    move = op.x.owner
    if not isinstance(move, graph.ReshapeOp | graph.TransposeOp) or not op.x.has_one_use() or shape_of(op.scale):
        return None
    made = graph.QuantizeOp(move.x, op.scale, op.zero_point, element=element_of(op.result))
    moved = type(move).build(operands=[made.result], properties=dict(move.properties), result_types=[op.result.type])
    if (name := graph.name_of(op)) is not None:
        graph.set_name(moved, name)
    Rewriter.replace_op(op, [made, moved], [moved.results[0]])
    Rewriter.erase_op(move)
    return made


def is_quantised_later(op: graph.LayerOp, constants: Constants) -> bool:
    """Whether the only reader of `op` is a `graph.quantize` that can take it as its goal.

    Relu, clip and what reshapes or transposes may lie in between.
    """
    value: SSAValue = op.result
    while (user := value.get_user_of_unique_use()) is not None:
        if isinstance(user, graph.QuantizeOp):
            return value is user.x and find_goal(user, constants) is not None
        if not isinstance(user, graph.LayerOp) or (
            epilogue_bounds(user.result) is None and not isinstance(user, graph.ReshapeOp | graph.TransposeOp)
        ):
            return False
        value = user.result
    return False


def dequantize_product(op: graph.ConvOp | graph.GemmOp | graph.MatmulOp, constants: Constants) -> bool:
    """Compute a product in integers and its f32 result from the accumulators, if that is possible."""
    builder = Builder.of(constants, op)
    sums = accumulate(builder, op)
    if sums is None:
        return False
    scale = builder.weight("scale", sums.scale.astype(np.float32))
    builder.replace(op, builder.emit(graph.DequantizeOp(sums.value, scale, axis=sums.axis)))
    return True


def bound_softmax(op: graph.SoftmaxOp, constants: Constants) -> bool:
    """Take exponentials without the maximum of a row, if they are known to be finite."""
    builder = Builder.of(constants, op)
    value = softmax(builder, op, None)
    if value is not None:
        builder.replace(op, value)
    return value is not None


def move_dequantize(op: graph.LayerOp, constants: Constants) -> bool:
    """Do a layer that moves or compares elements on integers, and dequantise after it."""
    builder = Builder.of(constants, op)
    result = on_integers(builder, op)
    if result is None:
        return False
    source = op.operands[0].owner
    if not isinstance(source, graph.DequantizeOp):
        return False
    builder.replace(op, builder.emit(graph.DequantizeOp(result.value, source.scale, source.zero_point)))
    return True


def visit(op: Operation, constants: Constants) -> None:
    """Apply to one layer what applies."""
    if isinstance(op, graph.QuantizeOp):
        while (before := quantize_before_move(op)) is not None:
            op = before
        done = quantize_result(op, constants)
        source = op.x.owner if not done else None
        if isinstance(source, PRODUCTS):
            dequantize_product(source, constants)
    elif isinstance(op, PRODUCTS):
        if not is_quantised_later(op, constants):
            dequantize_product(op, constants)
    elif isinstance(op, graph.SoftmaxOp):
        if not is_quantised_later(op, constants):
            bound_softmax(op, constants)
    elif isinstance(op, graph.LayerOp) and commutes(op):
        move_dequantize(op, constants)


@dataclass(frozen=True)
class GraphQuantizePass(ModulePass):
    """Turn a network in QDQ form (quantize and dequantize around f32 layers) into an integer network.

    Convolutions and matrix products become 8-bit products with i32 accumulators, then `graph.requantize` (scaling by
    an integer factor and a shift, as in Jacob et al., CVPR 2018); where their result is wanted in f32, the
    accumulators are dequantised.  Zero points of activations go into pad value and bias.  Sums, differences, products
    of two maps or with constants, means, maxima and what moves elements are done on integers too; relu and clip
    become bounds.  Layer normalisation sums integers (`graph.standardize`), as does local response normalisation where
    the target has the operations for that.  Softmax takes integers where its exponentials are known to be finite,
    without the maximum of a row, and makes integers.  Other layers stay in f32 between dequantize and quantize.

        %a = graph.dequantize %x, ...            %a = graph.conv %x, %w, %b ... : i32
        %c = graph.conv %a, ...             ->   %y = graph.requantize %a, %m, %s ... : si8
        %y = graph.quantize %c, ...

    Scales, zero points and weights must be constants with bytes at hand; what has others stays.  Weights with a zero
    point are centred, and stay in f32 where the centred ones leave 8 bits.  Where the target in the module multiplies
    f32 by si8 or narrower floats, weights of such products are kept so: dequantised ones with their scale applied
    to the product, and others in the narrowest float that holds them exactly.  Run `graph-normalize` before.  At the
    end no constant is dequantised at run time.
    """

    name = "graph-quantize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        constants = Constants.of(op)
        for function in functions_of(op):
            for block in function.body.blocks:
                for layer in list(block.ops):
                    visit(layer, constants)
        if has_target(op):
            products = [layer for layer in op.walk() if isinstance(layer, PRODUCTS)]
            narrow_weights(products, machine_of(op), constants)
            if normalises_integers(machine_of(op)):
                for layer in [layer for layer in op.walk() if isinstance(layer, graph.QuantizeOp)]:
                    integer_lrn(layer, constants)
        patterns = [*IDENTITIES, FoldConstants(constants, dequantize=True)]
        PatternRewriteWalker(GreedyRewritePatternApplier(patterns)).rewrite_module(op)
        constants.tidy()
