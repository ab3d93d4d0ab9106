"""Refusals with the layer that is at fault, and what to change."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from xdsl.dialects.builtin import AnyFloat
from xdsl.dialects.func import FuncOp

from ..algebra.expr import print_statement
from ..dialects import nest
from ..dialects.types import element_of
from ..errors import TilewrightError
from .nest.trees import in_group

OTHERWISE = "write the layer so, or leave it to a machine without this limit"
"""What can be done about a layer that a machine cannot run, where nothing better is known."""

CONVERSIONS = "dequantize", "quantize"
"""Kernels that only stand between integers and floats."""

ROUND = "write it with integers, as QDQ nodes around it or QLinear operators do, or leave it to a machine with floats"
NO_FORM = "it has no form on integers here (docs/onnx.md): put one that has in its place, or take a machine with floats"


def check_integers(function: FuncOp, machine: str) -> None:
    """Raise `TilewrightError` (kind `unsupported`) for the first group that computes floats, and names its kernel.

    Of several kernels it names one that computes, rather than one that only turns integers into floats or back.
    """
    groups = [group for group in function.walk() if isinstance(group, nest.GroupOp)]
    floats = [(group, kernel) for group in groups for kernel in group.kernels if _is_float(kernel)]
    if not floats:
        return
    is_quantised = any(kernel.sym_name.data.startswith(CONVERSIONS) for _, kernel in floats)
    group, kernel = next((pair for pair in floats if not pair[1].sym_name.data.startswith(CONVERSIONS)), floats[0])
    found = f"{element_of(kernel.result)} in `{print_statement(kernel.statement.data)}`"
    expected, lever = f"integers: {machine} has no floats", NO_FORM if is_quantised else ROUND
    raise in_group(TilewrightError("unsupported", f"kernel @{kernel.sym_name.data}", expected, found, lever), group)


def _is_float(kernel: nest.KernelOp) -> bool:
    values = kernel.result, *kernel.operands_by_name.values()
    return any(isinstance(element_of(value), AnyFloat) for value in values)


@contextmanager
def of_group(group: nest.GroupOp) -> Generator[None]:
    """Errors that come of a group, with its layer in their subjects."""
    try:
        yield
    except TilewrightError as error:
        if "group @" in error.subject:
            raise
        lever = error.lever or (OTHERWISE if error.kind == "unsupported" else "")
        if lever != error.lever:
            error = TilewrightError(error.kind, error.subject, error.expected, error.found, lever)
        raise in_group(error, group) from error
