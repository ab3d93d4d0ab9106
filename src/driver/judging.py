"""Outputs of a run against what is expected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp

from ..arrays import Array, Comparison, check_shapes, compare, read_arrays
from .run_options import RunOptions


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
