"""What `acg` means: a capability runs its statement; everything else describes and does nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls

from ..algebra.evaluate import run_strided
from ..algebra.statement import access_dims, accesses
from ..dialects import acg
from ..errors import TilewrightError
from ..machine import Capability

Array = NDArray[Any]


@register_impls
class AcgFunctions(InterpreterFunctions):
    """Semantics of `acg.graph`: a description, which does nothing."""

    @impl(acg.GraphOp)
    def run_graph(self, interpreter: Interpreter, op: acg.GraphOp, args: PythonValues) -> PythonValues:
        return ()


def run_capability(
    capability: Capability,
    old: Array,
    operands: Sequence[Array],
    functions: Mapping[str, str] | None = None,
    immediates: Mapping[str, Any] | None = None,
    accumulate: bool = True,
) -> Array:
    """The target after one issue of a capability, from its old value and the other operands.

    Arrays have one axis per dim of their access.  `functions` chooses for the function variables (the first choice
    where nothing is said), `immediates` gives the scalars; without `accumulate` a reduction starts from its identity.
    """
    views = dict(zip(capability.operands, (old.copy(), *operands), strict=True))
    extents: dict[str, int] = {}
    for access in accesses(capability.statement):
        extents |= dict(zip(access_dims(access), views[access.tensor].shape, strict=True))
    for dim in capability.dims:
        if extents[dim.name] > dim.limit:
            raise TilewrightError("shape", dim.name, f"at most {dim.limit} iterations", f"{extents[dim.name]}")
    choices = {variable: names[0] for variable, names in capability.functions} | dict(functions or {})
    run_strided(capability.statement, views, extents, immediates, choices, accumulate)
    return np.asarray(views[capability.operands[0]])
