"""Inputs of a run, and its outputs against what is expected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from ..arrays import Array, Comparison, check_shapes, compare, make_inputs, read_arrays
from ..errors import TilewrightError
from .run_options import RunOptions


def choose_inputs(
    signature: Mapping[str, tuple[tuple[int, ...], np.dtype[Any]]], options: RunOptions
) -> dict[str, Array]:
    """Inputs of these shapes and types, from the file of `options` and its seed."""
    made = make_inputs(signature, options.seed)
    given = read_arrays(options.inputs, signature) if options.inputs is not None else {}
    unknown = [name for name in given if name not in signature]
    if unknown:
        raise TilewrightError("inputs", str(options.inputs), f"inputs named {', '.join(signature)}", f"'{unknown[0]}'")
    return made | given


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
