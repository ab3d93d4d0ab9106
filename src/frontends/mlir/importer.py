"""From the functions of MLIR text to a module in the graph dialect: values by name, calls inlined."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import Rewriter

from ...dialects import graph
from ...dialects.types import element_type_of
from ...errors import TilewrightError
from ...resources import Resources, attach
from ..input_shapes import InputShapes
from ..main_function import main_module
from ..open_shapes import closed_shapes
from .arithmetic import Arithmetic
from .constants import dtype_of
from .source import MAX_DEPTH, Function, Op, Reference, Source, Type
from .views import MAX_ELEMENTS, View, Views

RETURNS = ("return", "func.return", "util.return", "stablehlo.return", "linalg.yield", "tensor.yield")
CALLS = ("call", "func.call", "util.call")
IDENTITIES = ("hal.tensor.export", "hal.tensor.barrier", "util.optimization_barrier", "stablehlo.optimization_barrier")

MAX_INLINED = 30_000
"""How many operations calls may become."""

Convert = Callable[["Importer", Op], Sequence[View] | None]
"""Makes the results of an operation; None for one that is not known."""


@dataclass
class Importer:
    """The conversion of one function; `converters` by the dialect of an operation."""

    source: Source
    make: Arithmetic
    converters: Mapping[str, Convert]
    shapes: InputShapes
    values: dict[str, View] = field(default_factory=dict[str, View])
    inputs: list[str] = field(default_factory=list[str])
    left_out: dict[str, TilewrightError] = field(default_factory=dict[str, TilewrightError])
    depth: int = 0
    made: int = 0
    counts: Counter[str] = field(default_factory=Counter[str])

    @property
    def views(self) -> Views:
        """What makes layers."""
        return self.make.views

    def value(self, op: Op, name: str) -> View:
        """The value called `name`."""
        if name not in self.values:
            if name in self.left_out:
                raise self.left_out[name]
            raise op.error("an operand that is a tensor made before", name, kind="parse")
        return self.values[name]

    def operands(self, op: Op, count: int | None = None) -> list[View]:
        """The operands of an operation."""
        if count is not None and len(op.operands) != count:
            raise op.error(f"{count} operands", str(len(op.operands)), kind="parse")
        return [self.value(op, name) for name in op.operands]

    def operand(self, op: Op, index: int, group: str = "") -> View:
        """An operand by its place, among all or those of a group."""
        names = op.groups.get(group, []) if group else op.operands
        if index >= len(names):
            raise op.error(f"{index + 1} operands {group}".strip(), str(len(names)), kind="parse")
        return self.value(op, names[index])

    def integers(self, op: Op, values: object) -> list[int]:
        """The numbers of a list, in which constants may be operands."""
        if not isinstance(values, list):
            raise op.error("a list of whole numbers", str(values)[:80])
        found: list[int] = []
        for value in values:
            if isinstance(value, Reference):
                found += self.views.indices(self.value(op, value.name), f"value {value.name}")
            elif isinstance(value, int):
                found.append(value)
            else:
                raise op.error("whole numbers", str(value)[:80])
        return found

    def type_shape(self, op: Op, type_: Type) -> tuple[int, ...]:
        """The shape of a static tensor type."""
        if type_.shape is None or any(extent is None for extent in type_.shape):
            raise op.error("a static tensor type", str(type_), "lower the model with static shapes")
        return tuple(extent or 0 for extent in type_.shape)

    def dtype(self, op: Op, element: str) -> np.dtype[Any]:
        """The NumPy type of elements."""
        return dtype_of(element, f"{op.name} (line {op.line})")

    def filled_shape(self, op: Op, names: Sequence[str]) -> list[int]:
        """The shape of the result's type, whose open extents are operands, in order."""
        given = iter(names)
        shape: list[int] = []
        for extent in op.type.shape or ():
            name = next(given, None) if extent is None else None
            if extent is None and name is None:
                raise op.error("an operand for each open extent", str(op.type), kind="parse")
            shape.append(self.integers(op, [Reference(name)])[0] if name is not None else extent or 0)
        if op.type.shape is None or any(extent < 1 for extent in shape):
            raise op.error("a tensor type of extents above 0", str(op.type), kind="shape")
        return shape

    def single(self, op: Op, given: Mapping[str, View]) -> View:
        """The only result of an operation in a body, of given operands."""
        before = self.values
        self.values = {**given}
        name = self.views.name
        (made,) = self.converted(op)
        self.values, self.views.name = before, name
        return made

    def converted(self, op: Op) -> Sequence[View]:
        """The results of an operation that one of the converters knows."""
        convert = self.converters.get(op.name.rpartition(".")[0])
        made = convert(self, op) if convert is not None else None
        if made is None:
            raise self._unknown(op)
        return made

    def run(self, function: Function) -> list[View]:
        """The results of the entry."""
        tensors = {name[1:]: type_ for name, type_ in function.body.arguments if type_.shape is not None}
        names = extent_names(self.source, function)
        declared = {
            name: tuple(
                (names.get((name, axis)) or f"{name}.{axis}") if extent is None else extent
                for axis, extent in enumerate(type_.shape or ())
            )
            for name, type_ in tensors.items()
        }
        for name, shape in closed_shapes(declared, self.shapes).items():
            self._input(f"%{name}", Type(tensors[name].element, shape))
        return self.block(function.body.ops)

    def _input(self, name: str, type_: Type) -> None:
        """A new argument."""
        plain, subject = name[1:], f"input {name[1:]!r}"
        element = element_type_of(dtype_of("ui8" if type_.element == "i1" else type_.element, subject))
        shape = tuple(extent or 0 for extent in type_.shape or ())
        if any(extent < 1 for extent in shape):
            raise TilewrightError("shape", subject, "extents of at least 1", str(type_), "leave the input out")
        if prod(shape) > MAX_ELEMENTS:
            raise TilewrightError("shape", subject, f"at most {MAX_ELEMENTS} elements", str(type_))
        argument = self.views.block.insert_arg(TensorType(element, shape), len(self.views.block.args))
        argument.name_hint = plain if not plain.isdigit() else None
        self.inputs.append(plain)
        view = self.views.of(argument)
        self.values[name] = self.make.truth(view) if type_.element == "i1" else view

    def block(self, ops: Sequence[Op]) -> list[View]:
        """What a block returns; its operations are converted in order."""
        for op in ops:
            if op.name in RETURNS:
                return self.operands(op)
            self._operation(op)
        raise TilewrightError("parse", "a function", "a return at its end", "none", "the text is cut")

    def _operation(self, op: Op) -> None:
        self.made += 1
        if self.made > MAX_INLINED:
            raise op.error(f"at most {MAX_INLINED} operations with those of calls", "more", kind="limit")
        short = op.name.rpartition(".")[2]
        self.views.subject = f"{op.name} (line {op.line})"
        self.counts[short] += 1
        self.views.name = f"{short}.{self.counts[short]}"
        if op.name in CALLS:
            made = self._call(op)
        elif op.name == "hal.tensor.import":
            name = op.operands[-1] if op.operands else "%"
            self._input(name, op.type)
            made = [self.values[name]]
        elif op.name == "cf.assert" or "@shape_assertion" in op.words:
            made = self._assured(op)
        elif op.name in IDENTITIES:
            made = [self.value(op, name) for name in op.operands[: len(op.results)]]
        else:
            made = self.converted(op)
        names = [f"{name}#{i}" if count > 1 else name for name, count in op.results for i in range(count)]
        self.values |= dict(zip(names, made, strict=False))
        lever = "a second result (the place of a maximum) is taken where nothing reads it"
        self.left_out |= dict.fromkeys(names[len(made) :], op.error(f"{len(made)} results", str(len(names)), lever))

    def _assured(self, op: Op) -> list[View]:
        """Nothing, for a condition that is known to hold."""
        holds = self.views.number(self.operands(op)[0])
        if not holds:
            found = "one that does not hold" if holds is not None else "one that depends on data"
            raise op.error("a condition that holds", f"{found}: {' '.join(op.words)[:80]}")
        return []

    def _unknown(self, op: Op) -> TilewrightError:
        called = f" @{op.words[0].strip('@')}" if "custom_call" in op.name and op.words else ""
        lever = "write this part with the operations that are listed in docs/mlir-front-ends.md"
        return op.error("an operation that has a layer", op.name + called, lever)

    def _call(self, op: Op) -> list[View]:
        name = next((word for word in op.words if word.startswith("@")), "@")[1:].strip('"')
        function = self.source.functions.get(name)
        if function is None:
            raise op.error("a function of the file", f"@{name}", kind="parse")
        return self.inlined(op, function.body.arguments, function.body.ops, self.operands(op))

    def inlined(
        self,
        op: Op,
        arguments: Sequence[tuple[str, Type]],
        ops: Sequence[Op],
        given: Sequence[View],
        outer: bool = False,
    ) -> list[View]:
        """What a block returns for given arguments; with `outer` it sees the values around it."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise op.error(f"calls at most {MAX_DEPTH} deep", "more", "a function must not call itself", "limit")
        if len(arguments) != len(given):
            raise op.error(f"{len(arguments)} operands", str(len(given)), kind="parse")
        before = self.values
        own = {name: view for (name, _), view in zip(arguments, given, strict=True)}
        self.values = before | own if outer else own
        results = self.block(ops)
        self.values = before
        self.depth -= 1
        return results


def extent_names(source: Source, entry: Function) -> dict[tuple[str, int], str]:
    """The names of open extents by input and axis: JAX hands them on to a function whose arguments have them."""
    sizes = {op.results[0][0]: op for op in entry.body.ops if op.name.endswith("get_dimension_size") and op.results}
    found: dict[tuple[str, int], str] = {}
    for op in entry.body.ops:
        function = source.functions.get(op.words[0].strip('@"')) if op.name in CALLS and op.words else None
        for name, attributes in zip(op.operands, function.attributes if function is not None else (), strict=False):
            called, size = attributes.get("jax.global_constant"), sizes.get(name)
            if size is not None and size.operands and isinstance(called, str):
                found[size.operands[0][1:], size.integer("dim")] = called
    return found


def entry_of(source: Source) -> Function:
    """The function that is the model: `main`, else IREE's asynchronous one, else the first that is public."""
    functions = source.functions.values()
    started = next((f for f in functions if f.name.endswith("$async")), None)
    public = next((f for f in functions if not f.private), next(iter(functions)))
    return source.functions.get("main") or started or public


def import_source(source: Source, converters: Mapping[str, Convert], shapes: InputShapes) -> ModuleOp:
    """The function `@main` in the graph dialect that computes what the entry of `source` computes."""
    entry, block = entry_of(source), Block()
    resources = Resources()
    holder = ModuleOp([FuncOp("main", ([], []), Region(block))])
    attach(holder, resources)
    importer = Importer(source, Arithmetic(Views(holder, block)), converters, shapes)
    views = importer.views
    results = [views.whole(view) for view in importer.run(entry)]
    names = [
        name or ("result" if len(results) == 1 else f"result{i}")
        for i, name in enumerate(_result_names(entry, results))
    ]
    region = block.parent
    assert region is not None
    region.detach_block(block)
    module = main_module(block, importer.inputs, names, results, resources)
    _drop_unused(block)
    return module


def _result_names(entry: Function, results: Sequence[SSAValue]) -> list[str]:
    """The names that the text gives to results, where each has one of its own."""
    names = entry.result_names
    return names if len(set(names)) == len(results) == len(names) else [""] * len(results)


def _drop_unused(block: Block) -> None:
    for op in reversed(list(block.ops)):
        if isinstance(op, graph.LayerOp) and not any(result.uses for result in op.results):
            Rewriter.erase_op(op)
