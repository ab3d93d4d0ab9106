"""The tensors of a kernel as a machine of multiply-accumulators works on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....algebra.affine import Affine, index_forms
from ....algebra.evaluate import padded
from ....algebra.expr import Access, Call, Expr, Statement, print_statement, reduction_dims, tensors_of
from ....costs.hierarchy import Problem
from ....errors import TilewrightError
from .plan import Operand

Array = NDArray[Any]


@dataclass(frozen=True)
class NestKernel:
    """A sum of products with its operands' arrays: `statement` over the dims of a problem.

    A read outside an array gives `pads[tensor]`.  The output has `shape` and elements of type `dtype`.
    """

    statement: Statement
    arrays: Mapping[str, Array]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    pads: Mapping[str, int | float]

    def operands(self, problem: Problem) -> tuple[tuple[Operand, ...], tuple[Array, ...]]:
        """The operands in the order of the problem's tensors, the output last, and the arrays of the inputs.

        `TilewrightError` (kind `unsupported`) for what is no sum of products.
        """
        factors = list(_factors(self.statement.value))
        if None in factors or not (self.statement.reduce == "+=" or self._is_product()):
            expected = "a sum of products of tensors, which multiply-accumulators compute"
            lever = "compile it for a target with instructions"
            raise TilewrightError("unsupported", problem.name, expected, print_statement(self.statement), lever)
        extents = dict(zip(problem.dims, problem.bounds, strict=True))
        target, *names = tensors_of(self.statement)
        found: list[Operand] = []
        arrays: list[Array] = []
        for name in names:
            uses = [access for access in factors if access is not None and access.tensor == name]
            forms = index_forms(uses[0])
            array, constants = self._reached(uses[0], forms, extents)
            found.append(Operand(name, array.shape, constants, _rows(forms, problem), len(uses)))
            arrays.append(array)
        assert isinstance(self.statement.target, Access)
        forms = index_forms(self.statement.target)
        found.append(Operand(target, self.shape, tuple(form.const for form in forms), _rows(forms, problem)))
        return tuple(found), tuple(arrays)

    def _is_product(self) -> bool:
        return self.statement.reduce == "=" and not reduction_dims(self.statement)

    def _reached(
        self, access: Access, forms: tuple[Affine, ...], extents: Mapping[str, int]
    ) -> tuple[Array, tuple[int, ...]]:
        """The array with what is read around it, and the constant of each index in it."""
        array, ranges = self.arrays[access.tensor], [form.range(extents) for form in forms]
        constants = tuple(form.const for form in forms)
        if all(low >= 0 and high < size for (low, high), size in zip(ranges, array.shape, strict=True)):
            return array, constants
        box = padded(access, array, ranges, self.pads.get(access.tensor, 0))
        return box, tuple(const - low for const, (low, _) in zip(constants, ranges, strict=True))


def _rows(forms: tuple[Affine, ...], problem: Problem) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(form.coefficient(dim) for dim in problem.dims) for form in forms)


def _factors(value: Expr) -> Iterator[Access | None]:
    """The accesses that a value multiplies; None for anything else."""
    match value:
        case Access():
            yield value
        case Call("mul", args):
            for arg in args:
                yield from _factors(arg)
        case _:
            yield None
