"""Products: MatMul and Gemm, products of 8-bit integers with zero points, exact in i32, and Einsum."""

import string
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from ...algebra.element import Array
from ...dialects import graph
from ...dialects.types import dtype_of, element_of, si8
from .arguments import broadcast_shape
from .formulas import Formulas
from .load import check_size
from .quantization import blocked_product
from .scope import Node, Scope, Value, shape_of
from .windows import ConvWindow, conv_window


def matmul(scope: Scope, node: Node) -> Sequence[Value]:
    """MatMul; vectors are matrices of one row or one column on the way."""
    left, right = scope.tensor(node, 0), scope.tensor(node, 1)
    name, rows, columns = node.outputs[0], shape_of(left), shape_of(right)
    if not rows or not columns or rows[-1] != columns[max(0, len(columns) - 2)]:
        raise node.error("inner extents that agree", f"{list(rows)} and {list(columns)}", kind="shape")
    if len(rows) == 1:
        left = scope.emit(graph.ReshapeOp(left, (1, *rows)), f"{name}.left")
    if len(columns) == 1:
        right = scope.emit(graph.ReshapeOp(right, (*columns, 1)), f"{name}.right")
    if right in scope.blocked and len(rows) > 1:
        return (blocked_product(Formulas(scope, node), left, scope.blocked[right]),)
    vector = 1 in (len(rows), len(columns))
    result = scope.emit(graph.MatmulOp(left, right), f"{name}.matrix" if vector else name)
    if not vector:
        return (result,)
    batch = broadcast_shape(node, rows[:-2], columns[:-2])
    shape = (*batch, *rows[-2:-1], *(columns[-1:] if len(columns) > 1 else ()))
    return (scope.emit(graph.ReshapeOp(result, shape), name),)


def gemm(scope: Scope, node: Node) -> Sequence[Value]:
    """Gemm."""
    op = graph.GemmOp(
        scope.tensor(node, 0),
        scope.tensor(node, 1),
        scope.optional_tensor(node, 2),
        trans_a=bool(node.integer("transA", 0)),
        trans_b=bool(node.integer("transB", 0)),
        alpha=node.real("alpha", 1.0),
        beta=node.real("beta", 1.0),
    )
    return (scope.emit(op, node.outputs[0]),)


BYTES = ("int8", "uint8")


def _signed(make: Formulas, x: SSAValue) -> tuple[SSAValue, int]:
    """8-bit integers as signed ones, and what was taken from them."""
    if element_of(x) == si8:
        return x, 0
    return make.cast(make.sub(make.cast(x, np.int32), 128), np.int8), 128


def _zero(make: Formulas, index: int, shape: Sequence[int], taken: int = 0) -> SSAValue | None:
    """The zero point at an input less what was `taken`, in i32, one number or under `shape`; None where that is 0."""
    scope, node = make.scope, make.node
    if not node.has_input(index) or (scope.is_constant(node, index) and not scope.constant(node, index).any()):
        return make.constant(np.asarray(-taken, np.int32)) if taken else None
    value = make.cast(make.operand(index), np.int32)
    zero = make.reshape(value, () if prod(shape_of(value)) == 1 else shape)
    return make.sub(zero, taken) if taken else zero


def _product(make: Formulas, a: int, b: int, a_zero: int, b_zero: int) -> SSAValue:
    """`(A - az) @ (B - bz)` as `A@B - bz * rows(A) - az * columns(B) + K * az * bz`, zero points of signed B."""
    left, right = make.operand(a), make.operand(b)
    right, taken = _signed(make, right)
    shapes = shape_of(left), shape_of(right)
    if min(map(len, shapes)) < 2:
        raise make.node.error("matrices", f"{list(shapes[0])} and {list(shapes[1])}")
    az = _zero(make, a_zero, (*shapes[0][:-1], 1) if len(shapes[0]) == 2 else (shapes[0][-2], 1))
    bz = _zero(make, b_zero, (1, shapes[1][-1]), taken)
    total = make.matmul(left, right)
    rows = make.reduce("sum", left, [len(shapes[0]) - 1])
    columns = make.reduce("sum", right, [len(shapes[1]) - 2])
    if bz is not None:
        total = make.sub(total, make.mul(rows, bz))
    if az is not None:
        total = make.sub(total, make.mul(columns, az))
    if az is not None and bz is not None:
        total = make.add(total, make.mul(make.mul(az, bz), shapes[0][-1]))
    return total


def matmul_integer(scope: Scope, node: Node) -> Sequence[Value]:
    """MatMulInteger."""
    for index in (0, 1):
        scope.require_type(node, index, BYTES)
    return (_product(Formulas(scope, node), 0, 1, 2, 3),)


def qlinear_matmul(scope: Scope, node: Node) -> Sequence[Value]:
    """QLinearMatMul."""
    for index in (0, 3):
        scope.require_type(node, index, BYTES)
    make = Formulas(scope, node)
    a, b = _dequantized(make, 0), _dequantized(make, 3, len(scope.shape(node, 3)) - 1)
    if a is not None and b is not None and min(len(shape_of(a)), len(shape_of(b))) > 1:
        return (_quantized(make, make.matmul(a, b)),)
    total = _product(make, 0, 3, 2, 5)
    rows = shape_of(make.operand(0))
    scale = make.mul(_scale(make, 1, (rows[-2], 1)), _scale(make, 4, (1, shape_of(total)[-1])))
    return (_quantized(make, make.mul(make.cast(total, np.float32), scale)),)


def _dequantized(make: Formulas, index: int, axis: int | None = None) -> SSAValue | None:
    """An input, dequantised by the scale and the zero point behind it: the form that `graph-quantize` folds.

    None where these are not constant, scales are not one number or one along `axis`, or weights less their zero points
    are no signed bytes.
    """
    scope, node = make.scope, make.node
    if not all(scope.is_constant(node, at) for at in (index + 1, index + 2)):
        return None
    shape, scale, zero = scope.shape(node, index), scope.constant(node, index + 1), scope.constant(node, index + 2)
    count, sizes = 1 if axis is None or not shape else shape[axis], {scale.size, zero.size}
    types = scale.dtype == np.float32 and zero.dtype == scope.dtype(node, index)
    if not types or not sizes <= {1, count} or not np.all(np.isfinite(scale) & (scale > 0)):
        return None
    spread = () if sizes == {1} else (count,)
    scale, zero = (np.broadcast_to(each.reshape(spread if each.size > 1 else ()), spread) for each in (scale, zero))
    if scope.is_constant(node, index):
        along = zero.reshape(*spread, *(1,) * (len(shape) - 1 - (axis or 0))) if spread else zero
        centred = scope.constant(node, index).astype(np.int32) - along
        if np.any((centred < -128) | (centred > 127)):
            return None
    return scope.emit(graph.DequantizeOp(make.operand(index), *map(make.constant, (scale, zero)), axis=axis or 0))


def _scale(make: Formulas, index: int, shape: Sequence[int]) -> SSAValue:
    make.scope.require_type(make.node, index, ("float32",))
    value = make.operand(index)
    return make.reshape(value, () if prod(shape_of(value)) == 1 else shape)


def _quantized(make: Formulas, value: SSAValue) -> SSAValue:
    """`saturate(rint(value / y_scale) + zero)`, one scale and zero point of the result: inputs 6 and 7."""
    make.scope.require_type(make.node, 7, BYTES)
    step, zero = _scale(make, 6, (1,)), make.operand(7)
    if shape_of(step) or prod(shape_of(zero)) != 1:
        raise make.node.error("one scale and zero point of the result", "several")
    return make.scope.emit(graph.QuantizeOp(value, step, make.reshape(zero, ())))


def conv_integer(scope: Scope, node: Node) -> Sequence[Value]:
    """ConvInteger."""
    return (_conv(Formulas(scope, node), 0, 1, 2, 3),)


def qlinear_conv(scope: Scope, node: Node) -> Sequence[Value]:
    """QLinearConv."""
    make = Formulas(scope, node)
    for index in (0, 3):
        scope.require_type(node, index, BYTES)
    x, w = _dequantized(make, 0), _dequantized(make, 3, 0)
    if x is not None and w is not None:
        scale = scope.constant(node, 1).reshape(()) * scope.constant(node, 4)
        scaling = make.constant(scale.reshape(() if scale.size == 1 else -1))
        bias = scope.emit(graph.DequantizeOp(make.operand(8), scaling)) if node.has_input(8) else None
        window = conv_window(node, shape_of(x), shape_of(w))
        return (_quantized(make, scope.emit(graph.ConvOp(x, w, bias, **vars(window)))),)
    total = _conv(make, 0, 3, 2, 5)
    along = (shape_of(total)[1], *(1,) * (len(shape_of(total)) - 2))
    if node.has_input(8):
        total = make.add(total, make.reshape(make.operand(8), along))
    scales = make.mul(_scale(make, 1, ()), _scale(make, 4, along))
    return (_quantized(make, make.mul(make.cast(total, np.float32), scales)),)


def _taps_inside(window: ConvWindow, sizes: Sequence[int], kernel: Sequence[int]) -> Iterator[Array]:
    """For each spatial axis, which taps (columns) of which window (rows) lie inside the map and not in its padding."""
    for axis, (size, taps) in enumerate(zip(sizes, kernel, strict=True)):
        begin, end = window.pads[axis], window.pads[len(sizes) + axis]
        step, dilation = window.strides[axis], window.dilations[axis]
        outs = (size + begin + end - dilation * (taps - 1) - 1) // step + 1
        places = step * np.arange(outs)[:, None] + dilation * np.arange(taps) - begin
        yield (places >= 0) & (places < size)


def _conv(make: Formulas, x_at: int, w_at: int, x_zero: int, w_zero: int) -> SSAValue:
    """The convolution of `x - xz` with `w - wz`: what zero points add is a sum of weights and a sum of windows.

    A constant xz pads the map.  One that is known at run time only (DynamicQuantizeLinear) is taken from the taps that
    lie inside the map: their sum is a convolution of ones, or a constant where weights are.
    """
    scope, node = make.scope, make.node
    for index in (x_at, w_at):
        scope.require_type(node, index, BYTES)
    x, (w, taken) = make.operand(x_at), _signed(make, make.operand(w_at))
    known = not node.has_input(x_zero) or scope.is_constant(node, x_zero)
    pad = int(scope.scalar(node, x_zero) or 0) if known else 0
    xz = pad if known else make.reshape(make.cast(make.operand(x_zero), np.int32), ())
    window = conv_window(node, shape_of(x), shape_of(w))
    along = (shape_of(w)[0], *(1,) * (len(shape_of(w)) - 2))

    convolution = partial(graph.ConvOp, **vars(window))

    def inside(weights: Array) -> SSAValue:
        """For each window, the sum of the weights at taps inside the map."""
        total = weights.sum(axis=1, dtype=np.int32)
        for taps in _taps_inside(window, shape_of(x)[2:], weights.shape[2:]):
            total = np.tensordot(total, taps.astype(np.int32), axes=([1], [1]))
        return make.constant(total)

    def summed(weights: SSAValue, constant: Array | None) -> SSAValue:
        """The sums of products minus what the zero point of x adds."""
        sums = scope.emit(convolution(x, weights, pad_value=pad))
        if known and not pad:
            return sums
        if not known and any(window.pads):
            if constant is None:
                ones = np.ones((1, *shape_of(x)[1:]), dtype_of(element_of(x)))
                taps = scope.emit(convolution(make.constant(ones), weights))
            else:
                taps = inside(constant)
            return make.sub(sums, make.mul(taps, xz))
        added = make.mul(make.reduce("sum", weights, range(1, len(shape_of(weights)))), xz)
        return make.sub(sums, make.reshape(added, along))

    total = summed(w, scope.constant(node, w_at).astype(np.int32) - taken if scope.is_constant(node, w_at) else None)
    wz = _zero(make, w_zero, along, taken)
    if wz is None:
        return total
    ones = np.ones(shape_of(w), np.int8)
    return make.sub(total, make.mul(summed(make.constant(ones), ones), wz))


@dataclass(frozen=True)
class Term:
    """A tensor and the letter of each of its axes, all different."""

    value: SSAValue
    letters: str

    def extent(self, letter: str) -> int:
        """The extent of an axis."""
        return shape_of(self.value)[self.letters.index(letter)]


def einsum(scope: Scope, node: Node) -> Sequence[Value]:
    """Einsum, in f32."""
    make = Formulas(scope, node)
    for index in range(len(node.inputs)):
        scope.require_type(node, index, ("float32",))
    shapes = [scope.shape(node, i) for i in range(len(node.inputs))]
    inputs, output = _parsed(node, shapes)
    terms = [_diagonal(make, make.operand(i), letters) for i, letters in enumerate(inputs)]
    while len(terms) > 1:
        left, right, *rest = terms
        kept = set(output).union(*(term.letters for term in rest))
        terms = [_contracted(make, left, right, kept), *rest]
    (term,) = terms
    result = _summed(make, term, set(output))
    return (make.transpose(result.value, [result.letters.index(letter) for letter in output]),)


def _parsed(node: Node, shapes: Sequence[Sequence[int]]) -> tuple[list[str], str]:
    """The letters of operands and result; the axes that dots stand for get letters of their own."""
    equation = node.text("equation", "").replace(" ", "")
    left, arrow, right = equation.partition("->")
    parts = left.split(",")
    if len(parts) != len(shapes) or len(equation) > 1000:
        raise node.error(f"an equation of {len(shapes)} operands", f"{equation!r:.80}", kind="parse")
    free = [letter for letter in string.printable[:94] if letter not in equation and letter not in ".,->"]
    dots = max(len(shape) - len(p.replace("...", "")) for p, shape in zip(parts, shapes, strict=True))
    if dots > len(free) or not 0 <= dots:
        raise node.error("as many letters as axes", equation[:80], kind="shape")
    many = "".join(free[:dots])
    inputs: list[str] = []
    for part, shape in zip(parts, shapes, strict=True):
        count = len(shape) - len(part.replace("...", ""))
        letters = part.replace("...", many[len(many) - count :] if count > 0 else "", 1)
        if len(letters) != len(shape) or "." in letters:
            raise node.error("as many letters as axes", f"{part!r:.80} for {list(shape)}", kind="shape")
        inputs.append(letters)
    joined = "".join(inputs)
    if not arrow:
        right = "..." if "..." in left else ""
        right += "".join(sorted(c for c in set(joined) if joined.count(c) == 1 and c not in many))
    output = right.replace("...", many, 1)
    if len(set(output)) != len(output) or not set(output) <= set(joined):
        raise node.error("a result of letters of the operands, each once", equation[:80], kind="parse")
    return inputs, output


def _diagonal(make: Formulas, value: SSAValue, letters: str) -> Term:
    """A tensor with one axis for each letter: of two axes of one letter the diagonal."""
    while len(set(letters)) != len(letters):
        letter = next(c for c in letters if letters.count(c) > 1)
        first = letters.index(letter)
        second = letters.index(letter, first + 1)
        shape = shape_of(value)
        if shape[first] != shape[second]:
            raise make.node.error(f"one extent for {letter!r}", f"{shape[first]} and {shape[second]}", kind="shape")
        rest = [i for i in range(len(shape)) if i not in (first, second)]
        value = make.transpose(value, [first, second, *rest])
        value = make.reshape(value, (shape[first] ** 2, *(shape[i] for i in rest)))
        value = make.gather(value, np.arange(shape[first]) * (shape[first] + 1), 0)
        letters = letter + "".join(letters[i] for i in rest)
    return Term(value, letters)


def _summed(make: Formulas, term: Term, kept: Collection[str]) -> Term:
    """The sum over all axes but those kept."""
    axes = [i for i, letter in enumerate(term.letters) if letter not in kept]
    letters = "".join(letter for letter in term.letters if letter in kept)
    return Term(make.reduce("sum", term.value, axes, keepdims=False), letters)


def _contracted(make: Formulas, left: Term, right: Term, kept: Collection[str]) -> Term:
    """Two tensors as one: axes of both that are kept are batches, the others of both are summed over."""
    left = _summed(make, left, {*kept, *right.letters})
    right = _summed(make, right, {*kept, *left.letters})
    shared = [c for c in left.letters if c in right.letters]
    for letter in shared:
        if left.extent(letter) != right.extent(letter):
            left, right = _spread(make, left, right, letter)
    batch = "".join(c for c in shared if c in kept)
    inner = "".join(c for c in shared if c not in kept)
    rows = "".join(c for c in left.letters if c not in shared)
    columns = "".join(c for c in right.letters if c not in shared)
    extent = {c: term.extent(c) for term in (left, right) for c in term.letters}
    sizes = [prod(extent[c] for c in letters) for letters in (batch, rows, inner, columns)]
    check_size(make.node.label, (sizes[0], sizes[1], sizes[3]), 4)
    a = make.transpose(left.value, [left.letters.index(c) for c in batch + rows + inner])
    b = make.transpose(right.value, [right.letters.index(c) for c in batch + inner + columns])
    product = make.matmul(
        make.reshape(a, (sizes[0], sizes[1], sizes[2])), make.reshape(b, (sizes[0], sizes[2], sizes[3]))
    )
    letters = batch + rows + columns
    return Term(make.reshape(product, [extent[c] for c in letters]), letters)


def _spread(make: Formulas, left: Term, right: Term, letter: str) -> tuple[Term, Term]:
    """Two tensors of one extent along an axis that one of them has once."""
    most = max(left.extent(letter), right.extent(letter))

    def spread(term: Term) -> Term:
        if term.extent(letter) not in (1, most):
            raise make.node.error(f"one extent for {letter!r}", f"{term.extent(letter)} and {most}", kind="shape")
        shape = [most if c == letter else term.extent(c) for c in term.letters]
        return Term(make.expand(term.value, shape), term.letters)

    return spread(left), spread(right)
