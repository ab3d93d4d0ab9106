"""The pass `graph-fix-extents`, and what it does: an open graph at one point of its named extents."""

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    SymbolRefAttr,
    TensorType,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from ...algebra.element import Array
from ...dialects import graph
from ...dialects.graph.extents import DIMS, OPEN, ExtentsAttr, dims_of
from ...dialects.types import shape_of, tensor
from ...errors import TilewrightError
from ...resources import Resources, attach, resources_of


@dataclass(frozen=True)
class GraphFixExtentsPass(ModulePass):
    """Give the named extents of an open graph a number each; what follows from them becomes static.

    Constants are cut to the part that the point needs.  All operations are verified at that point.

        func @main(%x : tensor<?x4xf32, #graph.extents<[n, 4]>>) ...   n=2 ->   func @main(%x : tensor<2x4xf32>) ...

    `names` are extents of `graph.dims`, `numbers` theirs.
    """

    name = "graph-fix-extents"
    names: tuple[str, ...]
    numbers: tuple[int, ...]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if len(self.names) != len(self.numbers):
            expected = f"a number for each of {len(self.names)} names"
            raise TilewrightError("usage", self.name, expected, f"{len(self.numbers)} numbers")
        fix_extents(op, dict(zip(self.names, self.numbers, strict=True)))


def fix_extents(module: ModuleOp, point: Mapping[str, int]) -> None:
    """Make the open graph of `module` static; raises `TilewrightError` (kind `shape`) where it does not hold."""
    resources, kept = resources_of(module), Resources()
    for function in [op for op in module.body.ops if isinstance(op, FuncOp)]:
        try:
            _check_point(dims_of(function), point)
            for argument in function.body.block.args:
                _fix_value(argument, point)
            for op in function.body.block.ops:
                _fix_op(op, point)
                if isinstance(op, graph.WeightOp) and op.resource in resources:
                    array = _leading(resources.as_stored(op.resource), shape_of(op.result))
                    op.symbol = SymbolRefAttr(kept.add(op.resource, array))
            function.update_function_type()
            function.attributes.pop(DIMS, None)
            module.verify()
        except VerifyException as error:
            told = ",".join(f"{name}={number}" for name, number in point.items())
            raise TilewrightError("shape", told, "a point that the graph holds for", str(error)) from error
    attach(module, kept)


def _check_point(dims: Mapping[str, range], point: Mapping[str, int]) -> None:
    for name in point:
        if name not in dims:
            raise TilewrightError("shape", name, f"an open extent: {', '.join(dims) or 'none'}", "another name")
    for name, r in dims.items():
        if point.get(name) not in r:
            step = f" in steps of {r.step}" if r.step > 1 else ""
            found = str(point.get(name, "no number"))
            raise TilewrightError("shape", f"extent {name}", f"{r[0]} to {r[-1]}{step}", found, "give it such a number")


def _fix_value(value: SSAValue, point: Mapping[str, int]) -> None:
    type_ = value.type
    if isinstance(type_, TensorType) and isinstance(type_.encoding, ExtentsAttr):
        Rewriter.replace_value_with_new_type(value, tensor(type_.encoding.at(point), type_.element_type))


def _fix_op(op: Operation, point: Mapping[str, int]) -> None:
    for result in op.results:
        _fix_value(result, point)
    opened = op.attributes.pop(OPEN, DictionaryAttr({}))
    if not isinstance(opened, DictionaryAttr):
        raise VerifyException(f"{OPEN}: expected a dictionary, found {opened}")
    for name, extents in opened.data.items():
        if not isinstance(extents, ExtentsAttr) or name not in op.properties:
            raise VerifyException(f"{OPEN}: expected a property with #graph.extents, found {name} = {extents}")
        op.properties[name] = _fixed(op.properties[name], extents.at(point))


def _fixed(value: Attribute, numbers: list[int]) -> Attribute:
    """A property with other integers, or the leading part of an array."""
    match value:
        case DenseArrayBase():
            return DenseArrayBase.from_list(i64, numbers)
        case DenseIntOrFPElementsAttr():
            return graph.dense(_leading(graph.dense_array(value), numbers))
        case IntegerAttr():
            return IntegerAttr(numbers[0], i64)
        case _:
            raise VerifyException(f"{OPEN}: expected integers, found {value}")


def _leading(array: Array, shape: list[int] | tuple[int, ...]) -> Array:
    if len(shape) != array.ndim or any(part > extent for part, extent in zip(shape, array.shape, strict=True)):
        raise VerifyException(f"expected a constant of at least {list(shape)}, found {list(array.shape)}")
    return array if tuple(shape) == array.shape else array[tuple(slice(0, extent) for extent in shape)]
