"""A model lowered by several pipelines; what these have in common at their beginning runs once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from .models import Progress, load_model, make_context, program_of
from .pipelines import CompileOptions, parse_passes
from .watch import Watch

if TYPE_CHECKING:
    from pathlib import Path

    from ..backends.program import Program
    from ..costs.bounds.program import ProgramBound

KEPT_BEFORE = (
    "graph-unfold",
    "graph-split-hidden",
    "graph-heads",
    "convert-graph-to-nest",
    "nest-split-joins",
    "nest-band",
    "nest-schedule",
    "nest-split-reductions",
    "nest-tile",
    "codelet-prefetch",
)
"""Passes before which the module is kept: pipelines for one model differ in these and in what follows."""

Kept = dict[tuple[ModulePass, ...], tuple[ModuleOp, Watch]]


@dataclass
class Lowering:
    """A module, which errors call `name`, and what the first passes of pipelines have made of it (`kept`).

    The `bound` of all its programs is that of the first pipeline; without `is_bounded` it is not asked for.
    """

    module: ModuleOp
    options: CompileOptions
    progress: Progress | None
    name: str
    is_bounded: bool = True
    bound: ProgramBound | None = None
    kept: Kept = field(default_factory=Kept)

    def program(self, text: str, dump: Path | None = None, *, recorded: bool = True) -> Program:
        """The program by the passes of `text`; with `dump`, the IR after each pass that runs is written there.

        Unless it is to be `recorded`, sources of its layers have no codelets.
        """
        passes = parse_passes(text).passes
        module, watch = self._run(passes, len(passes), dump, recorded)
        return program_of(module, watch)

    def before(self, name: str, text: str) -> ModuleOp:
        """The module before the first pass `name` of `text`, one of `KEPT_BEFORE`; others read it, too."""
        passes = parse_passes(text).passes
        end = [one.name for one in passes].index(name)
        if passes[:end] not in self.kept:
            self._run(passes, end, None)
        return self.kept[passes[:end]][0]

    def _run(
        self, passes: tuple[ModulePass, ...], end: int, dump: Path | None, recorded: bool = True
    ) -> tuple[ModuleOp, Watch]:
        """The module before pass `end`, and the watch between its passes."""
        done = max((at for at in range(end + 1) if passes[:at] in self.kept), default=0)
        if done:
            module, watch = self.kept[passes[:done]]
            module, watch = load_model(module), watch.resumed(dump)
        else:
            module = load_model(self.module)
            watch = Watch(self.name, replace(self.options, dump=dump), len(passes), self.progress)
            watch(None, module, passes[0])
        watch.is_bounded, watch.is_recorded = self.is_bounded, recorded
        watch.bound = watch.bound or self.bound
        context = make_context()
        for at, (one, following) in enumerate(zip(passes[done:], (*passes[done + 1 :], None), strict=True), done):
            if one.name in KEPT_BEFORE and at > done:
                self.kept[passes[:at]] = load_model(module), watch.resumed(None)
            if at == end:
                break
            one.apply(context, module)
            watch(one, module, following)
        self.bound = self.bound or watch.bound
        return module, watch
