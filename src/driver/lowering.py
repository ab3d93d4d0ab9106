"""A model lowered by several pipelines; what these have in common at their beginning runs once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..backends.program import Program
from ..dialects.acg import GraphOp
from .models import Progress, load_model, make_context, program_of
from .pipelines import CompileOptions, parse_passes
from .watch import Watch

if TYPE_CHECKING:
    from pathlib import Path

    from ..costs.bounds.program import ProgramBound

KEPT_BEFORE = (
    "graph-unfold",
    "graph-split-hidden",
    "graph-heads",
    "convert-graph-to-nest",
    "nest-split-joins",
    "nest-band",
    "nest-schedule",
    "nest-spread-weights",
    "nest-split-reductions",
    "nest-tile",
    "codelet-prefetch",
)
"""Passes before which the module is kept: pipelines for one model differ in these and in what follows."""

RECOGNISED_BEFORE = "nest-map", "codelet-allocate"
"""Passes before which a module is compared with those of other pipelines that go on alike."""

RECOGNISED_OPS = 512
"""Operations of modules that are compared at most: larger ones of different pipelines are hardly ever the same."""

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
    made: dict[object, Program] = field(default_factory=dict[object, "Program"])

    def program(self, text: str, dump: Path | None = None, *, recorded: bool = True) -> Program:
        """The program by the passes of `text`; with `dump`, the IR after each pass that runs is written there.

        Unless it is to be `recorded`, sources of its layers have no codelets, and where other passes led to the same
        module it is their program (`made`).
        """
        passes = parse_passes(text).passes
        steps, met = self._steps(passes, dump, recorded), list[object]()
        program: Program | None = None
        while program is None:
            at, module, watch = next(steps)
            if at == len(passes):
                program = program_of(module, watch)
            elif passes[at].name in RECOGNISED_BEFORE and (form := _form(module)):
                met.append((tuple(left for left in passes[at:] if left.name != "codelet-verify"), form))
                program = None if recorded else self.made.get(met[-1])
        self.made |= dict.fromkeys(met, program)
        return program

    def before(self, name: str, text: str) -> ModuleOp:
        """The module before the first pass `name` of `text`, one of `KEPT_BEFORE`; others read it, too."""
        passes = parse_passes(text).passes
        end = [one.name for one in passes].index(name)
        if passes[:end] not in self.kept:
            next(at for at, _, _ in self._steps(passes) if at == end)
        return self.kept[passes[:end]][0]

    def _steps(
        self, passes: tuple[ModulePass, ...], dump: Path | None = None, recorded: bool = True
    ) -> Iterator[tuple[int, ModuleOp, Watch]]:
        """The number of each pass that is yet to run, the module before it, and the watch between passes; at last how
        many passes there are, and the module after all.
        """
        done = max((at for at in range(len(passes) + 1) if passes[:at] in self.kept), default=0)
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
            yield at, module, watch
            one.apply(context, module)
            watch(one, module, following)
            self.bound = self.bound or watch.bound
        yield len(passes), module, watch


def _form(module: ModuleOp) -> str:
    """A module's text but for the machine; nothing for a large one."""
    parts = [op for op in module.body.ops if not isinstance(op, GraphOp)]
    is_small = sum(1 for part in parts for _ in part.walk()) <= RECOGNISED_OPS
    return "\n".join(map(str, parts)) if is_small else ""
