"""Programs whose layers run in groups, tile by tile on chip, and the choice between them and layer by layer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ..backends.program import Candidate
from ..costs.clock import Limit
from ..costs.fusion import platform_of
from ..dialects import dram, graph, nest
from ..dialects.acg import machine_of
from ..dialects.types import shape_of
from ..errors import InfeasibleError, TilewrightError
from ..interpreters.constants import Constants
from ..interruption import requested, stop_unless, stoppable
from ..passes.graph.graph_fuse import OUTSIDE
from ..passes.graph.graph_heads import has_heads
from ..passes.graph.graph_pack import buffer_bytes
from ..passes.graph.graph_split_hidden import Hidden, hidden_parts
from ..passes.graph.graph_unfold import unfoldable
from ..search.lengths import least_price
from .choice import GREEDY, LAYER_BY_LAYER, Choice
from .lowering import Lowering
from .models import Progress, compile_module, load_model
from .pipelines import (
    AUTO,
    SCHEDULE,
    CompileOptions,
    Room,
    Target,
    is_schedule_file,
    machine_for,
    pipeline_of,
    pipeline_text,
)

if TYPE_CHECKING:
    from ..backends.program import Program

BEST = "best"
"""Instead of a method: the program of fewest predicted cycles."""

CANDIDATES = (SCHEDULE, "ours", GREEDY)
"""Methods that are compared with each other and with layer by layer: groups that move less may still run longer."""

GROUP_SHARES = (7 / 8, 3 / 4, 5 / 8, 1 / 2, 1 / 4)
"""Parts of the buffer that the maps of groups may take, tried in order; the rest is for what is between kernels."""

HIDDEN_SHARE = 1 / 16
"""Part of the buffer that a chunk of a map between two products takes at most."""

LARGE_SHARE = 1 / 2
"""Part of the buffer that such a map takes to be computed in chunks."""

HEAD_SHARE = 1 / 4
"""Part of the buffer that the largest map of one head, and the sum of all, take at most where heads are split."""

MOST_HEADS = 64
"""Heads that attention is split into at most, each of which is a dozen groups of its own."""

UNFOLD_SHARE = 1 / 100
"""Part of the bound that taps as channels must save for a try."""

SHORT = 4096
"""Instructions of a program that is compiled within seconds: groups are then tried in any case."""

CLOSE = 0.05
"""A schedule so near to the bound of all programs is not made in other pieces."""

LATE_GAIN = 0.02
"""Where bytes taken again late save so much of a program's cycles, weights in holes are not tried."""

SLACKS = 1, 0
"""Groups for which bytes of maps stay unused after them, as they are tried with weights in holes between maps, until
one gains."""


def default_program(
    module: ModuleOp, target: Target, options: CompileOptions, progress: Progress | None, name: str = "module"
) -> Program:
    """The program with maps that stay on chip, or that of groups or layer by layer where that is faster.

    Other ways are tried where the first is farther than `options.near` from the bound of all programs and there is time
    left, groups only where they may save work or traffic (`_is_worth_groups`).  One layer, machines of other control
    models, and intermediate tensors that are to be kept go layer by layer.
    """
    alone = replace(options, partition="")
    machine, limit = machine_for(target), Limit(options.time_limit_s or None)
    several = _has_layers(module)
    if options.keep_intermediates or machine.control != "queues" or not several:
        program = compile_module(module, target, alone, progress, name)
        why = f"{LAYER_BY_LAYER}: machines of {machine.control} have no groups"
        return replace(program, why=why) if several and not pipeline_of(machine).groups else program
    choice, tried = Choice(), replace(options, partition=SCHEDULE)
    choice.compare(SCHEDULE, lambda: compile_module(load_model(module), target, tried, progress, name))
    scheduled, refused = choice.best, _why(choice.errors)
    if scheduled is not None and _is_near(scheduled, options.near):
        return choice.told(scheduled, _nearness(scheduled, options.near))
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
    lowering = Lowering(module, options, progress, name)
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

    Of `schedule`, the program that ends first: with taps as channels or not, with all samples together, some of the
    first layers sample by sample, with attention split into heads or head by head, each also with hidden maps in
    chunks, and, where heads are not split, the best of these with bytes taken again late or with weights in holes
    between maps, and in other pieces.
    All are compared with the bound of the module as it is given.
    """
    lowering, limit = Lowering(module, options, progress, name), Limit(options.time_limit_s or None)
    if options.partition != SCHEDULE:
        check_method(options.partition)
        return _first(lowering, _texts(target, options), options.dump)

    best = Room()
    found = {best: _first(lowering, _texts(target, options, best), options.dump)}

    def compare(room: Room) -> Room:
        with suppress(TilewrightError):
            if room not in found:
                found[room] = _bounded_by(found[Room()], _first(lowering, _texts(target, options, room)))
        return min(found, key=lambda room: found[room].predicted["cycles"])

    if options.schedule:
        return found[best]

    def is_worth_more(gap: float) -> bool:
        return not (_is_near(found[best], gap) or limit.late)

    worth_cycles = UNFOLD_SHARE * found[best].lower_bound.get("cycles", 0.0)
    if is_worth_more(options.near) and _unfolding_saves(lowering, target) > worth_cycles:
        best = compare(Room(unfold=True))
    plain = best

    def cycles(room: Room, length: int) -> float:
        """Of the program whose first layers run sample by sample; infinite where there is no room or time for it."""
        nonlocal best
        room = room._replace(span=_span(lowering, target, room, length))
        if room.span and room not in found and is_worth_more(options.near):
            best = compare(room)
        return found[room].predicted["cycles"] if room in found and room.span else inf

    longest = _span(lowering, target, plain) if _samples(module) > 1 and is_worth_more(options.near) else 0
    if longest:
        middle = 1 << (longest.bit_length() + 1) // 2
        ways = sorted((plain, plain._replace(slack=SLACKS[0])), key=lambda room: cycles(room, middle))
        span = least_price(partial(cycles, ways[0]), 2, longest)
        if cycles(ways[1], span) < cycles(ways[0], span):
            least_price(partial(cycles, ways[1]), max(2, span // 2), min(2 * span, longest))
    attention = _attention(lowering, target, plain) if is_worth_more(options.near) else []
    hidden = is_worth_more(options.near) and _has_hidden(lowering, target)
    for way in attention or [best]:
        for room in (way, way._replace(hidden_share=HIDDEN_SHARE)) if hidden else (way,):
            if room not in found and is_worth_more(options.near):
                best = compare(room)
    if not best.split_heads and is_worth_more(min(options.near, CLOSE)):
        base = best
        best = compare(base._replace(late=True, slack=-1))
        limit_cycles = (1 - LATE_GAIN) * found[base].predicted["cycles"]
        for slack in () if base.span or found[best].predicted["cycles"] <= limit_cycles else SLACKS:
            best = compare(base._replace(slack=slack))
            if best.slack >= 0:
                break
        alone = best.span or best == Room(slack=best.slack, late=best.late)
        for room in (best,) if alone else (Room(), best):
            best = compare(room._replace(rows_first=False))
    program = found[best]
    if best != Room() and options.dump is not None:
        dumped = _first(Lowering(module, options, progress, name), _texts(target, options, best), options.dump)
        program = _bounded_by(program, dumped)
    tried = (Candidate(_way(room), *_cost(one), chosen=room == best) for room, one in found.items())
    return replace(program, candidates=tuple(tried) if len(found) > 1 else ())


def _bounded_by(other: Program, program: Program) -> Program:
    """A program with the bound of another of the same network."""
    return replace(program, lower_bound=other.lower_bound, bound_by=other.bound_by)


def _cost(program: Program) -> tuple[float, float]:
    """Predicted cycles and energy."""
    return program.predicted["cycles"], program.predicted["energy_pj"]


def _way(room: Room) -> str:
    """A schedule's way to run samples, heads and hidden maps, to place weights, and to make pieces, in words."""
    parts = ", taps as channels" * room.unfold
    parts += f", {room.span} layers sample by sample" if room.span else ""
    parts += ", heads split" * room.split_heads + ", head by head" * room.heads
    parts += ", hidden maps in chunks" * (room.hidden_share > 0)
    holes = f", weights in holes (slack {room.slack})" if room.slack >= 0 else ""
    parts += holes + ", bytes taken again late" * room.late
    return SCHEDULE + parts + ", channels before rows" * (not room.rows_first)


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
    capacity = platform_of(machine_for(target)).buffers.global_bytes
    return [pipeline_text(target, options, int(capacity * share)) for share in GROUP_SHARES]


def _span(lowering: Lowering, target: Target, room: Room, most: int = 0) -> int:
    """How many of the first layers there is room for sample by sample, of at most so many (0: of all)."""
    from ..passes.nest_to_codelet.fused_marks import BY_SAMPLE

    layers = lowering.before("nest-schedule", _texts(target, lowering.options, room)[0]).walk()
    most = most or sum(isinstance(op, nest.GroupOp) for op in layers)
    module = lowering.before("nest-tile", _texts(target, lowering.options, room._replace(span=most))[0])
    return sum(BY_SAMPLE in op.attributes for op in module.walk())


def _unfolding_saves(lowering: Lowering, target: Target) -> float:
    """Cycles of products that are saved where taps fill lanes that channels leave idle."""
    module = lowering.before("graph-unfold", _texts(target, lowering.options, Room(unfold=True))[0])
    return sum(each.saved_cycles for each in unfoldable(module, machine_for(target), Constants.of(module)))


def _has_hidden(lowering: Lowering, target: Target) -> bool:
    """Whether a map between two products, which can be computed in chunks of it, takes much of the buffer."""
    limit_bytes = int(buffer_bytes(machine_for(target)) * LARGE_SHARE)
    parts = _hidden(lowering, target, Room(hidden_share=HIDDEN_SHARE), limit_bytes)
    return any(part.map_bytes > limit_bytes for part in parts)


def _attention(lowering: Lowering, target: Target, room: Room) -> list[Room]:
    """Ways to run attention: split into heads, where each has room as a whole and there are few, and head by head."""
    split = room._replace(split_heads=True)
    limit_bytes = int(buffer_bytes(machine_for(target)) * HEAD_SHARE)
    parts = _hidden(lowering, target, split, 0)
    few = 0 < sum(len(part.ranges(0)) for part in parts) <= MOST_HEADS
    splits = few and all(part.head_bytes <= limit_bytes for part in parts)
    return [split] * splits + [room._replace(heads=True)] * has_heads(lowering.module)


def _hidden(lowering: Lowering, target: Target, room: Room, chunk_bytes: int) -> list[Hidden]:
    """What `graph-split-hidden` splits."""
    text = _texts(target, lowering.options, room)[0]
    if "graph-split-hidden" not in text:
        return []
    module = lowering.before("graph-split-hidden", text)
    return list(hidden_parts(module, Constants.of(module), chunk_bytes, heads=room.split_heads))


def _first(lowering: Lowering, texts: Sequence[str], dump: Path | None = None) -> Program:
    """The program of the first of some pipelines that finds room."""
    errors: list[InfeasibleError] = []
    for text in texts:
        try:
            return replace(lowering.program(text, dump), refused=_why(errors))
        except InfeasibleError as error:
            errors.append(error)
    raise errors[0]


def _samples(module: ModuleOp) -> int:
    """Samples of the first input."""
    for function in module.body.ops:
        if isinstance(function, FuncOp) and function.body.blocks and function.body.block.args:
            shape = shape_of(function.body.block.args[0])
            return shape[0] if shape else 1
    return 1


def _is_near(program: Program, gap: float) -> bool:
    """Whether a program is as near to the bound of all as makes other ways not worth a try."""
    return bool(program.lower_bound) and program.predicted["cycles"] <= (1 + gap) * program.lower_bound["cycles"]


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
    with stoppable():
        for method in ("", *CANDIDATES):
            tell = None if progress is None else partial(_named, progress, method or LAYER_BY_LAYER)
            tried = replace(options, partition=method, prove=False, dump=None)
            choice.compare(method, partial(compile_module, load_model(module), target, tried, tell, name))
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
