"""Einsum: operands contracted two by two, each pair as one batched matrix product."""

from __future__ import annotations

import string
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from ...dialects.types import shape_of
from .formulas import Formulas
from .load import check_size
from .node import Node
from .scope import Scope, Value


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
