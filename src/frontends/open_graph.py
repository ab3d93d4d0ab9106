"""A graph with open extents, from imports of a model at some points of them.

Each import is a graph of static shapes.  All must have the same operations; their integers (extents of results, starts
of slices, kernels of global pools, ...) are interpolated between the corners of the ranges by sums of products of the
named extents, and compared with more imports inside.  Constants at each point must be the leading part of those at the
largest one, as positions and causal masks are.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import lcm
from typing import cast

import numpy as np
from xdsl.dialects.builtin import I64, DenseArrayBase, DenseIntOrFPElementsAttr, DictionaryAttr, IntegerAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from ..algebra.element import Array
from ..dialects.graph import WeightOp, dense_array, name_of
from ..dialects.graph.extents import OPEN, Extent, ExtentsAttr, Term, open_tensor, set_dims
from ..dialects.types import element_of, shape_of
from ..errors import TilewrightError
from ..resources import Resources, resources_of

MAX_DIMS = 4
"""The most named extents: the graph is imported at each corner of their ranges."""

Point = Mapping[str, int]
ImportAt = Callable[[Point], ModuleOp]


def open_graph(import_at: ImportAt, dims: Mapping[str, range]) -> ModuleOp:
    """The graph that `import_at` gives at each point of `dims`, with open extents.

    Raises `TilewrightError` (kind `shape`) where graphs differ in more than integers, or these are no such sums.
    """
    if not 1 <= len(dims) <= MAX_DIMS:
        raise TilewrightError("shape", "open extents", f"1 to {MAX_DIMS}", str(len(dims)), "give the others a number")
    *corners, top = (dict(zip(dims, ends, strict=True)) for ends in product(*((r[0], r[-1]) for r in dims.values())))
    largest = _Graph(import_at(top), top)
    extents = _interpolated([*(largest.compared(import_at, point) for point in corners), largest.integers], dims)
    for point in (point for point in _inner_points(dims) if point not in (*corners, top)):
        largest.check(extents, largest.compared(import_at, point), point)
    return largest.opened(extents, dims)


def _inner_points(dims: Mapping[str, range]) -> list[Point]:
    """The middle, and the points where one extent is a step from its ends, each once."""
    middle = {name: r[len(r) // 2] for name, r in dims.items()}
    found: list[Point] = [middle]
    for name, r in dims.items():
        beside = ({**middle, name: number} for number in (r[min(1, len(r) - 1)], r[max(len(r) - 2, 0)]))
        found += [point for point in beside if point not in found]
    return found


def _interpolated(corners: Sequence[Sequence[int]], dims: Mapping[str, range]) -> list[Extent]:
    """The polynomial, of degree 1 in each named extent, of each integer with these values at the corners."""
    values = np.array(corners, dtype=object).reshape(*[2] * len(dims), -1)
    for axis, r in enumerate(dims.values()):
        first, last = np.moveaxis(values, axis, 0)
        slope = (last - first) * Fraction(1, r[-1] - r[0])
        values = np.stack([first - slope * r[0], slope], axis)
    powers = list(product((False, True), repeat=len(dims)))
    monomials = [tuple(name for name, used in zip(dims, power, strict=True) if used) for power in powers]
    return [_extent(dict(zip(monomials, column, strict=True))) for column in values.reshape(len(monomials), -1).T]


def _extent(factors: Mapping[tuple[str, ...], Fraction]) -> Extent:
    divisor = lcm(*(Fraction(factor).denominator for factor in factors.values()))
    terms = [Term(int(factor * divisor), names) for names, factor in factors.items() if factor]
    terms.sort(key=lambda term: (-len(term.names), term.names))
    return Extent(tuple(terms) or (Term(0, ()),), divisor)


class _Graph:
    """The graph at one point: its values and operations in order, and all their integers."""

    def __init__(self, module: ModuleOp, point: Point) -> None:
        self.module, self.point, self.resources = module, _point_text(point), resources_of(module)
        self.function = next(op for op in module.body.ops if isinstance(op, FuncOp))
        self.ops = list(self.function.body.block.ops)
        self.values = [*self.function.body.block.args, *(result for op in self.ops for result in op.results)]
        shapes = [shape_of(value) for value in self.values]
        properties = [numbers for op in self.ops for numbers in _integer_properties(op).values()]
        self.integers = [number for numbers in (*shapes, *properties) for number in numbers]

    def compared(self, import_at: ImportAt, point: Point) -> list[int]:
        """The integers at another point, whose graph must have the same operations and parts of the same constants."""
        other = _Graph(import_at(point), point)
        both = f"{other.point} as at {self.point}"
        if len(other.ops) != len(self.ops):
            raise _differs("the model", f"as many operations at {both}", f"{len(other.ops)} and {len(self.ops)}")
        pairs = zip(self.ops, other.ops, self._skeletons(), other._skeletons(), strict=True)
        for mine, its, one, two in pairs:
            if one != two:
                raise _differs(_name(mine), f"the same operation at {both}", f"another `{its.name}`")
            constants = zip(_constants(mine, self.resources), _constants(its, other.resources), strict=True)
            if not all(_is_leading(part, whole) for whole, part in constants):
                raise _differs(
                    _name(mine), f"at {other.point} the leading part of what it is at {self.point}", "another"
                )
        return other.integers

    def _skeletons(self) -> Iterator[object]:
        """Each operation without its integers and constants."""
        number: dict[SSAValue, int] = {value: index for index, value in enumerate(self.values)}
        for op in self.ops:
            lengths = {name: len(numbers) for name, numbers in _integer_properties(op).items()}
            rest = {name: value for name, value in op.properties.items() if name not in (*lengths, "symbol")}
            types = [(element_of(result), len(shape_of(result))) for result in op.results]
            yield op.name, [number[operand] for operand in op.operands], types, lengths, rest

    def check(self, extents: Sequence[Extent], found: Sequence[int], point: Point) -> None:
        """Check that the integers `found` at a point are those that `extents` give."""
        for extent, number, largest in zip(extents, found, self.integers, strict=True):
            if extent.total_at(point) != number * extent.divisor:
                told = f"{number} at {_point_text(point)}, {largest} at {self.point}"
                raise _differs("the model", "integers that are sums of products of the extents", told)

    def opened(self, extents: Sequence[Extent], dims: Mapping[str, range]) -> ModuleOp:
        """The module, in which integers become `extents`."""
        rest = iter(extents)
        for value in self.values:
            of_value = [next(rest) for _ in shape_of(value)]
            Rewriter.replace_value_with_new_type(value, open_tensor(of_value, element_of(value)))
        for op in self.ops:
            held = {name: ExtentsAttr([next(rest) for _ in n]) for name, n in _integer_properties(op).items()}
            if varying := {name: attribute for name, attribute in held.items() if attribute.is_open}:
                op.attributes[OPEN] = DictionaryAttr(varying)
        set_dims(self.function, dims)
        self.function.update_function_type()
        return self.module


def _integer_properties(op: Operation) -> dict[str, Sequence[int]]:
    """The properties of an operation that are integers, and the shapes of those that are arrays of them."""
    found: dict[str, Sequence[int]] = {}
    for name, value in op.properties.items():
        match value:
            case DenseArrayBase():
                found[name] = list(cast(DenseArrayBase[I64], value).get_values())
            case IntegerAttr():
                found[name] = [value.value.data]
            case DenseIntOrFPElementsAttr():
                found[name] = list(value.type.get_shape())
            case _:
                pass
    return found


def _constants(op: Operation, resources: Resources) -> list[Array]:
    """The arrays that an operation holds."""
    held = [dense_array(value) for value in op.properties.values() if isinstance(value, DenseIntOrFPElementsAttr)]
    return [*held, resources.as_stored(op.resource)] if isinstance(op, WeightOp) else held


def _is_leading(part: Array, whole: Array) -> bool:
    lead = whole[tuple(slice(0, extent) for extent in part.shape)]
    return lead.shape == part.shape and lead.tobytes() == part.tobytes()


def _name(op: Operation) -> str:
    return f"{op.name} {name_of(op)!r}" if name_of(op) else op.name


def _point_text(point: Point) -> str:
    return ",".join(f"{name}={number}" for name, number in point.items())


def _differs(subject: str, expected: str, found: str) -> TilewrightError:
    return TilewrightError("shape", subject, expected, found, "give a narrower range, or a number")
