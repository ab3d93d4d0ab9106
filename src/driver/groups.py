"""Programs whose layers run in groups, tile by tile on chip, and the choice between them and layer by layer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from ..costs.fusion import platform_of
from ..errors import InfeasibleError, TilewrightError
from ..frontends.acg import load_target
from .models import CompileOptions, Progress, compile_module, load_model, lower, pipeline_text

if TYPE_CHECKING:
    from ..backends.program import Program

BEST = "best"
"""Instead of a method: the program of fewest predicted cycles."""

CANDIDATES = ("ours", "greedy")
"""Methods that are compared with each other and with layer by layer: groups that move less may still run longer."""

GROUP_SHARES = (7 / 8, 3 / 4, 5 / 8, 1 / 2, 1 / 4)
"""Parts of the buffer that the maps of groups may take, tried in order; the rest is for what is between kernels."""


def lower_groups(
    module: ModuleOp, target: str, options: CompileOptions, progress: Progress | None, name: str = "module"
) -> Program:
    """Lower with groups that leave enough of the buffer free; `InfeasibleError` where none of the shares does."""
    room = platform_of(load_target(target)).buffers.global_bytes
    errors: list[InfeasibleError] = []
    for share in GROUP_SHARES:
        try:
            text = pipeline_text(target, options, int(room * share))
            return lower(load_model(module), text, options, progress, name)
        except InfeasibleError as error:
            errors.append(error)
    raise errors[0]


def best_groups(
    module: ModuleOp, target: str, options: CompileOptions, progress: Progress | None, name: str = "module"
) -> Program:
    """The program of fewest predicted cycles, then least energy; only that one is proven and dumped.

    A way that the machine has no room for, or cannot run, is left out; where all are, the error is layer by layer's.
    """
    errors: list[TilewrightError] = []
    found: dict[str, tuple[float, float]] = {}
    for method in ("", *CANDIDATES):
        try:
            tried = replace(options, partition=method, prove=False, dump=None)
            predicted = compile_module(load_model(module), target, tried, progress, name).predicted
        except TilewrightError as error:
            errors.append(error)
        else:
            found[method] = predicted["cycles"], predicted["energy_pj"]
    if not found:
        raise errors[0]
    chosen = min(found, key=lambda method: found[method])
    return compile_module(module, target, replace(options, partition=chosen), progress, name)
