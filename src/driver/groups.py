"""Programs whose layers run in groups, tile by tile on chip, and the choice between them and layer by layer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from ..costs.clock import Limit
from ..costs.fusion import platform_of
from ..dialects import dram, graph
from ..dialects.acg import machine_of
from ..errors import InfeasibleError, TilewrightError
from ..frontends.acg import load_target
from ..interruption import requested, stop_unless, stoppable
from ..passes.graph.graph_fuse import OUTSIDE
from .choice import GREEDY, LAYER_BY_LAYER, Choice, is_near
from .lowering import Lowering
from .models import Progress, compile_module, load_model
from .pipelines import AUTO, SCHEDULE, CompileOptions, Room, Target, is_schedule_file, pipeline_of, pipeline_text
from .schedule_ways import fastest_schedule
from .side_by_side import outcomes

if TYPE_CHECKING:
    from ..backends.program import Program

BEST = "best"
"""Instead of a method: the program of fewest predicted cycles."""

CANDIDATES = (SCHEDULE, "ours", GREEDY)
"""Methods that are compared with each other and with layer by layer: groups that move less may still run longer."""

GROUP_SHARES = (7 / 8, 3 / 4, 5 / 8, 1 / 2, 1 / 4)
"""Parts of the buffer that the maps of groups may take, tried in order; the rest is for what is between kernels."""

SHORT = 4096
"""Instructions of a program that is compiled within seconds: groups are then tried in any case."""


def default_program(
    module: ModuleOp, target: Target, options: CompileOptions, progress: Progress | None, name: str = "module"
) -> Program:
    """The program with maps that stay on chip, or that of groups or layer by layer where that is faster.

    Other ways are tried where the first is farther than `options.near` from the bound of all programs and there is time
    left, groups only where they may save work or traffic (`_is_worth_groups`).  One layer, machines of other control
    models, and intermediate tensors that are to be kept go layer by layer.
    """
    alone = replace(options, partition="")
    machine, limit = load_target(target), Limit(options.time_limit_s or None)
    several = _has_layers(module)
    if options.keep_intermediates or machine.control != "queues" or not several:
        program = compile_module(module, target, alone, progress, name)
        why = f"{LAYER_BY_LAYER}: machines of {machine.control} have no groups"
        return replace(program, why=why) if several and not pipeline_of(machine).groups else program
    choice, tried = Choice(), replace(options, partition=SCHEDULE)
    choice.compare(SCHEDULE, lambda: compile_module(load_model(module), target, tried, progress, name))
    scheduled, refused = choice.best, _why(choice.errors)
    if scheduled is not None and is_near(scheduled, options.near):
        return choice.told(scheduled, _nearness(scheduled, options.near))
    if scheduled is not None and scheduled.why:
        return choice.told(scheduled, scheduled.why)
    reason = ""
    for other in (GREEDY, "") if scheduled is None or _is_worth_groups(scheduled, options.near) else ("",):
        if limit.late:
            reason = "the fastest when the time was over (--time-limit)"
            break
        tried = replace(options, partition=other, prove=False, dump=None)
        try:
            predicted = _predicted(module, target, tried, progress, name, choice.least[0])
        except TilewrightError as error:
            choice.refuse(other, error)
            continue
        if predicted:
            choice.take(other, predicted)
        else:
            choice.leave_out(other, "DRAM traffic alone takes as many cycles as the fastest")
    if scheduled is not None and choice.method == SCHEDULE:
        return choice.told(scheduled, reason)
    program = compile_module(module, target, replace(options, partition=choice.method), progress, name)
    return choice.told(replace(program, refused=refused or program.refused), reason)


def _nearness(program: Program, gap: float) -> str:
    """Why no other way was tried."""
    above = program.predicted["cycles"] / program.lower_bound["cycles"] - 1
    return f"{100 * above:.1f} % above the least of any program; other ways are tried above {100 * gap:g} % (--gap)"


def _predicted(
    module: ModuleOp, target: Target, options: CompileOptions, progress: Progress | None, name: str, least: float
) -> Mapping[str, float]:
    """What is predicted of a program; nothing where it is sure to take `least` cycles or more.

    It is not lowered where the traffic of its groups takes as long, but for passes of the caller's: they may change it.
    """
    from ..passes.nest.program_bound import cycles_apart

    if options.extra_passes:
        return compile_module(load_model(module), target, options, progress, name).predicted
    lowering = Lowering(module, options, progress, name, is_bounded=False)
    texts = _texts(target, options)
    apart = lowering.before("nest-tile", texts[0])
    if cycles_apart(apart, machine_of(apart)) >= least:
        return {}
    return _first(lowering, texts).predicted


def _is_worth_groups(program: Program, gap: float) -> bool:
    """Whether groups may save much: a unit or the memory off chip is busy for longer than the bound and the gap.

    Of short programs it is not asked, as a try costs little.
    """
    if program.instruction_count <= SHORT:
        return True
    busy = Counter[str]()
    for layer in program.layers:
        busy.update(layer.busy_cycles)
    return max(busy.values(), default=0) > (1 + gap) * program.lower_bound.get("cycles", 0)


def scheduled_program(
    module: ModuleOp, target: Target, options: CompileOptions, progress: Progress | None, name: str = "module"
) -> Program:
    """The program of a schedule of DRAM, which a search finds or a file has."""
    if is_schedule_file(options.schedule):
        given = load_model(Path(options.schedule))
        for op in [op for op in given.body.ops if isinstance(op, dram.NetworkOp | dram.ScheduleOp)]:
            op.detach()
            module.body.block.add_op(op)
    return lower_groups(module, target, replace(options, partition=SCHEDULE), progress, name)


def _has_layers(module: ModuleOp) -> bool:
    """Whether there are several layers."""
    layers = (op for op in module.walk() if isinstance(op, graph.LayerOp) and not isinstance(op, OUTSIDE))
    return sum(1 for _ in islice(layers, 2)) == 2


def lower_groups(
    module: ModuleOp, target: Target, options: CompileOptions, progress: Progress | None, name: str = "module"
) -> Program:
    """Lower with groups that leave enough of the buffer free; `InfeasibleError` where none of the shares does.

    Of `schedule`, the program of the way that ends first (`schedule_ways`).
    """
    lowering = Lowering(module, options, progress, name)
    if options.partition != SCHEDULE:
        check_method(options.partition)
        return _first(lowering, _texts(target, options), options.dump)

    def scheduled(room: Room, dump: Path | None = None, *, tried: bool = False) -> Program:
        own = lowering if dump is None else replace(lowering, kept={})  # which writes each pass
        asked = replace(options, prove=False) if tried else options

        def first(room: Room, dump: Path | None = None) -> Program:
            return _first(own, _texts(target, asked, room), dump, recorded=not tried)

        return first(room, dump) if options.schedule else with_or_without_padding(first, room, dump)

    return scheduled(Room(), options.dump) if options.schedule else fastest_schedule(lowering, target, scheduled)


def with_or_without_padding(first: Callable[[Room, Path | None], Program], room: Room, dump: Path | None) -> Program:
    """The program of a way, of maps with room around them; where not all of it fits, without that if it ends sooner."""
    unpadded = room._replace(unpadded=True)
    try:
        program = first(room, dump)
    except InfeasibleError:
        return first(unpadded, dump)
    with suppress(InfeasibleError):
        if program.refused and (other := first(unpadded, None)).predicted["cycles"] < program.predicted["cycles"]:
            return other if dump is None else first(unpadded, dump)
    return program


def check_method(partition: str) -> None:
    """Raise `TilewrightError` (kind `usage`) for a `partition` that is none of the methods of a search."""
    from ..search.fusion import METHODS

    if partition not in METHODS:
        known = ", ".join((AUTO, SCHEDULE, BEST, *METHODS))
        lever = "give one of those, or '' for layer by layer"
        raise TilewrightError("usage", "CompileOptions.partition", f"one of {known}", repr(partition), lever)


def _texts(target: Target, options: CompileOptions, room: Room = Room()) -> list[str]:
    """Pipelines that leave ever more of the buffer free: what kept maps take of it, or groups of a method."""
    if options.partition == SCHEDULE:
        shares = [room._replace(share=share) for share in (1.0, *GROUP_SHARES)]
        return [pipeline_text(target, options, room=one) for one in shares]
    if not options.partition:
        return [pipeline_text(target, options)]
    capacity = platform_of(load_target(target)).buffers.global_bytes
    return [pipeline_text(target, options, int(capacity * share)) for share in GROUP_SHARES]


def _first(lowering: Lowering, texts: Sequence[str], dump: Path | None = None, *, recorded: bool = True) -> Program:
    """The program of the first of some pipelines that finds room."""
    errors: list[InfeasibleError] = []
    for text in texts:
        try:
            return replace(lowering.program(text, dump, recorded=recorded), refused=_why(errors))
        except InfeasibleError as error:
            errors.append(error)
    raise errors[0]


def _why(errors: Iterable[TilewrightError]) -> tuple[str, ...]:
    """What errors lacked, each once."""
    return tuple(dict.fromkeys(error.paragraph() for error in errors))


def best_groups(
    module: ModuleOp, target: Target, options: CompileOptions, progress: Progress | None, name: str = "module"
) -> Program:
    """The program of fewest predicted cycles, then least energy; only that one is proven and dumped.

    A way that the machine has no room for, or cannot run, is left out; where all are, the error is layer by layer's.
    The program's `candidates` tell of each.  A request to stop ends it with the best so far, which is not proven.
    """
    choice = Choice()

    def compiled(method: str) -> Program:
        tell = None if progress is None else partial(_named, progress, method or LAYER_BY_LAYER)
        tried = replace(options, partition=method, prove=False, dump=None, jobs=1)
        return compile_module(load_model(module), target, tried, tell, name)

    with stoppable():
        for method, made in outcomes(compiled, ("", *CANDIDATES), options.jobs):
            if isinstance(made, TilewrightError):
                choice.refuse(method, made)
            else:
                choice.take(method, made.predicted, made)
    stop_unless(choice.best)
    if choice.best is None:
        raise choice.errors[0]
    program = choice.best
    with stoppable():
        if not requested():
            program = compile_module(module, target, replace(options, partition=choice.method), progress, name)
    return choice.told(program)


def _named(progress: Progress, name: str, what: str, done: int, total: int) -> None:
    progress(f"{name}: {what}", done, total)
