"""The arrays of a run: what it is given, or made, and its outputs against what is expected."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue

from ..algebra.element import Array
from ..algebra.lookup import lookup_of
from ..arrays import Comparison, check_shapes, compare, make_inputs, read_arrays
from ..dialects import graph
from ..dialects.types import dtype_of, element_of, shape_of
from ..errors import TilewrightError
from ..interpreters.graph import argument_names, result_names
from ..passes.functions import functions_of
from .run_options import RunOptions

if TYPE_CHECKING:
    from ..backends.program import Program


SAME = (graph.CastOp, graph.ReshapeOp, graph.TransposeOp, graph.ExpandOp, graph.SliceOp)
"""Layers whose numbers are those that they are given."""


Signature = Mapping[str, tuple[tuple[int, ...], np.dtype[Any]]]
"""Shapes and types by name."""


def signature_of(function: FuncOp, role: str = "input") -> Signature:
    """Shapes and types of a function's inputs or outputs by name."""
    last = function.body.block.last_op
    assert isinstance(last, ReturnOp)
    inputs = zip(argument_names(function), function.body.block.args, strict=True)
    named = inputs if role == "input" else zip(result_names(function), last.arguments, strict=True)
    return {name: (shape_of(x), np.dtype(dtype_of(element_of(x)))) for name, x in named}


def check_given(module: ModuleOp, options: RunOptions) -> None:
    """Raise the error of an inputs file that a network does not take, before it is compiled."""
    if options.inputs is not None:
        _given([name for op in functions_of(module) for name in argument_names(op)], options.inputs)


def choose_inputs(signature: Signature, options: RunOptions, rows: Mapping[str, int] | None = None) -> dict[str, Array]:
    """Inputs of these shapes and types, from the file of `options` and its seed.

    Made integers of an input that `rows` has are below that.
    """
    made = make_inputs(signature, options.seed)
    made |= {name: made[name] % np.asarray(most, made[name].dtype) for name, most in (rows or {}).items()}
    return made | (_given(signature.keys(), options.inputs) if options.inputs is not None else {})


def _given(names: Collection[str], path: Path) -> dict[str, Array]:
    """The arrays in a file, of which each is one of these inputs."""
    given = read_arrays(path, names)
    unknown = [name for name in given if name not in names]
    if unknown:
        raise TilewrightError("inputs", str(path), f"inputs named {', '.join(names)}", f"'{unknown[0]}'")
    return given


def rows_of_inputs(module: ModuleOp) -> dict[str, int]:
    """Inputs of a network that are indices of tables -> the rows of the smallest one."""
    found: dict[str, int] = {}
    for function in functions_of(module):
        for name, value in zip(argument_names(function), function.body.block.args, strict=True):
            rows = _rows_of(value)
            found |= {name: min(rows)} if rows else {}
    return found


def _rows_of(value: SSAValue) -> list[int]:
    """The rows of the tables that a value, or what is the same numbers, is an index of."""
    found: list[int] = []
    for use in value.uses:
        if isinstance(use.operation, graph.LookupOp) and use.index == 1:
            found.append(shape_of(use.operation.table)[0])
        elif isinstance(use.operation, SAME):
            found += _rows_of(use.operation.results[0])
    return found


def rows_of_program(program: Program) -> dict[str, int]:
    """Inputs that instructions of a program read as indices of a table -> the rows of the smallest one."""
    from ..backends.simulator.stream import make_stream

    machine = program.machine
    named = {(x.name, c.name) for x in machine.links for c in x.capabilities if lookup_of(c.statement)}
    numbers = [number for number, one in enumerate(machine.mnemonics) if (one.node, one.capability) in named]
    if machine.control != "queues" or not np.isin(program.decoded[1], numbers).any():
        return {}
    stream, found = make_stream(machine, program.code), dict[str, int]()
    inputs = [tensor for tensor in program.tensors if tensor.role == "input"]
    for plan, addresses in zip(stream.plans, stream.addresses, strict=True):
        lookup = lookup_of(plan.bound.capability.statement) if plan.bound is not None else None
        if plan.bound is None or lookup is None:
            continue
        places = {binding.operand: at for binding, at in zip(plan.bound.mnemonic.operands, addresses, strict=True)}
        at, rows = places[lookup.index.tensor], int(plan.bound.scalars[lookup.count])
        for tensor in inputs:
            if tensor.address <= at < tensor.address + tensor.size_bytes:
                found[tensor.name] = min(found.get(tensor.name, rows), rows)
    return found


def read_expected(options: RunOptions, shapes: Mapping[str, tuple[int, ...]]) -> Mapping[str, Array] | None:
    """Outputs of these names and shapes from the file of `options`, where it names one; read before a run."""
    given = read_arrays(options.expect, shapes) if options.expect is not None else None
    check_shapes(shapes, given or {})
    return given


class Judged(NamedTuple):
    """What outputs were compared with, where that comes from, and how they compare; None where nothing was expected."""

    compared_with: str
    expected: Mapping[str, Array] | None
    comparison: Comparison | None


def judge(
    outputs: Mapping[str, Array],
    module: ModuleOp | None,
    inputs: Mapping[str, Array],
    given: Mapping[str, Array] | None,
    options: RunOptions,
) -> Judged:
    """The outputs against what a file has (`given`), else against the layers of a module by NumPy."""
    if given is None and (module is None or not options.check):
        return Judged("", None, None)
    from .models import reference

    expected = given if given is not None or module is None else reference(module, inputs)
    source = "NumPy" if given is None else str(options.expect)
    assert expected is not None
    return Judged(source, expected, compare(outputs, expected, options.tolerance))
