"""The ways from the graph to a program, one for each control model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from xdsl.passes import ModulePass, PassPipeline
from xdsl.utils.exceptions import ArgSpecParseError

from ..costs.dram.platform import buffer_of
from ..costs.fusion.of_machine import platform_of
from ..errors import TilewrightError
from ..frontends.acg import load_target
from ..machine import Machine
from ..option_fields import check_fields
from ..passes.graph.graph_pack import buffer_bytes
from ..passes.graph.graph_unfold import WORTH
from ..universe import find_passes
from .watch import Watch

AUTO, SCHEDULE = "auto", "schedule"
"""Instead of a method of `search.fusion`: maps stay on chip where they fit and weights are loaded ahead (`SCHEDULE`);
or that or layer by layer, whichever is faster (`AUTO`)."""

RESERVED = 1 / 8
"""Part of the buffer that searches for schedules of DRAM leave free: for what is between kernels, and fragments."""

ROUNDS = {"ours": 1000}
"""Candidates of a walk where a caller says nothing: seconds, and not the minutes of `tilewright schedule`."""

FINER_SHARE = 1 / 4
"""Part of the memory of weights from which on layers are cut into parts, where finer parts are tried."""

NEAR = 0.01
"""The gap at which `auto` and `schedule` try no other way, where a caller says nothing."""

INTEGER_PART = "graph-normalize,graph-quantize,graph-integers"
"""What leaves the integer part of a quantised network."""


@dataclass(frozen=True)
class CompileOptions:
    """What a caller may choose about a compilation.

    `keep_intermediates` gives every tensor a DRAM address of its own, so that each layer's output can be read after a
    run. `prove` runs the address proofs. `verify_each` verifies the module between passes. `dump` is a folder for the
    IR after each pass. `partition` says what runs together: `schedule` keeps maps on chip from layer to layer and
    loads weights ahead, `auto` is the fastest of that, layer by layer and greedy groups; "" is layer by layer.
    A method of `search.fusion.METHODS` puts layers into groups that run tile by tile, `tile_rows` rows at most,
    searched for `time_limit_s` CPU seconds (0: to the end) from `seed`, or until their cost is at most `gap` above its
    bound (0.1 is 10 %; None: 0).  `auto` and `schedule` try no other way after as long, nor where a program's cycles
    are at most `gap` (None: 0.01) above the bound of all programs.  `best` is the program of fewest predicted cycles of
    all.  On machines of stages each layer's tiles are searched for until they are at most `gap` (None: 0.01, or after a
    few) above what the layer takes in any.  Where full rows do not fit, tiles have `tile_columns` columns at
    most (0: only if a layer does not fit otherwise).

    `schedule` is a method of `search.dram.METHODS`, or a `.mlir` file with a schedule of DRAM: the order and groups of
    layers, their tiles, and what stays on chip are its, and not those that `partition` stands for.  `rounds` candidates
    are tried in each walk of that search (0: 1000 for `ours`, else by the network).

    `extra_passes` are `STAGE: PASS`, separated by semicolons: the pass runs after that pass of the pipeline, each time
    that runs.  It may be any of xDSL's, ours, and those that other packages add (`universe.find_passes`).

    `jobs` processes compile side by side where several ways, or points of a model, do not depend on each other.  The
    program is the same with any number of them, as long as no time limit is reached.
    """

    keep_intermediates: bool = False
    prove: bool = True
    verify_each: bool = False
    dump: Path | None = None
    partition: str = AUTO
    tile_rows: int = 32
    tile_columns: int = 0
    time_limit_s: float = 0
    gap: float | None = None
    seed: int = 0
    schedule: str = ""
    rounds: int = 0
    extra_passes: str = ""
    jobs: int = 1

    def __post_init__(self) -> None:
        check_fields(self, tile_rows=1, tile_columns=0, time_limit_s=0, gap=0, seed=0, rounds=0, jobs=1)
        if self.schedule and self.partition not in (AUTO, SCHEDULE):
            found = f"{self.partition or 'layer by layer'!r} and {self.schedule!r}"
            raise TilewrightError("usage", "partition", "one way to choose groups", found)

    @property
    def near(self) -> float:
        """How far above the bound of all programs a program may be for no other way to be tried."""
        return NEAR if self.gap is None else self.gap


Target = str | Machine
"""A shipped target's name, an `.acg` file's, or a machine, whose `acg.graph` modules have before any pass."""


class Room(NamedTuple):
    """What a schedule may take of the buffer, and the ways in which it runs.

    `share` is the part of the buffer that kept maps, weights and locals may take; with `unpadded` rings, and maps that
    are loaded for a layer, have no room around them. Between neighbours of `cuts` layers run sample by sample, with
    weights that stay, or with `reload` are loaded for each sample. With `rows_first` layers are rather made in pieces
    of rows than of channels, else rows of pieces of channels count as pieces (`rows_inside`) or not. With `heads`
    attention runs head by head (`graph-heads`). `hidden_share` is what a map between two products may take that are
    computed in chunks of it (`graph-split-hidden`; 0: none are); with `split_heads` attention is computed in such
    chunks of one head. With `slack` of 0 or more weights come into holes between maps, with `late` bytes are taken
    again as late as can be, with `holes` all have addresses with loads in time, which then move ahead, and with both
    `holes` and `slack` maps are placed before what is loaded (`codelet-prefetch`). With `unfold` taps lie among the
    channels where these are few (`graph-unfold`), a cycle of copies worth `unfold_worth` of products, with `band`
    depthwise convolutions make several results of a row together (`nest-band`), with `spread` weights also come to the
    memory of maps (`nest-spread-weights`), those of the `last_first` or not, with `split_joins` channelwise layers of
    joined maps wait for the last of these only where they read it (`nest-split-joins`), with `split_sums` dense layers
    of large weights add up what chunks of channels of the convolution before them give (`graph-split-hidden`), with
    `finer_parts` layers are cut whose weights take more than `FINER_SHARE` of their memory, or much of that of maps
    (`nest-split-weights`). With `overlap` more layers run in rows together while an input comes in (`nest-schedule`).
    Where `rows_share` is not 0, it is what a map between two products may take that are computed for some rows of
    tokens after others (`graph-split-rows`).
    """

    share: float = 1.0
    cuts: tuple[int, ...] = ()
    rows_first: bool = True
    rows_inside: bool = True
    heads: bool = False
    hidden_share: float = 0.0
    slack: int = -1
    unfold: bool = False
    split_heads: bool = False
    late: bool = False
    reload: bool = False
    band: bool = False
    spread: bool = False
    last_first: bool = False
    split_joins: bool = False
    split_sums: bool = False
    rows_share: float = 0.0
    finer_parts: bool = False
    unpadded: bool = False
    unfold_worth: int = WORTH
    overlap: bool = False
    holes: bool = False

    @property
    def words(self) -> str:
        """How it runs samples, heads and hidden maps, places weights, and makes pieces, in words."""
        parts = f", {'more ' * (self.unfold_worth < WORTH)}taps as channels" * self.unfold
        parts += ", neighbours together" * self.band
        parts += ", weights beside maps" * self.spread + ", last layers first" * self.last_first
        parts += ", weights in finer parts" * self.finer_parts
        parts += ", joined maps apart" * self.split_joins + ", sums in chunks" * self.split_sums
        parts += ", more in rows while inputs come" * self.overlap
        parts += self._spans
        parts += ", weights loaded for each" * self.reload
        parts += ", heads split" * self.split_heads + ", head by head" * self.heads
        share = f"1/{round(1 / self.hidden_share)}" if self.hidden_share else ""
        parts += f", hidden maps in chunks of {share} of the memory" * bool(share)
        parts += ", hidden maps in rows" * bool(self.rows_share)
        holes = f", weights in holes (slack {self.slack})" if not self.holes else ", maps placed first"
        parts += holes * (self.slack >= 0) + ", bytes taken again late" * self.late
        parts += ", channels before rows" * (not self.rows_first) + " (rows not counted)" * (not self.rows_inside)
        parts += ", loads moved ahead" * self.holes
        return SCHEDULE + parts

    @property
    def _spans(self) -> str:
        """Which layers run sample by sample, in words."""
        if len(self.cuts) != 2:
            return f", sample by sample between {'/'.join(map(str, self.cuts))}" * bool(self.cuts)
        start, stop = self.cuts
        return f", {stop - start} layers sample by sample" + f" after {start}" * bool(start)


def _queues(options: CompileOptions, room: Room) -> Sequence[str]:
    scheduled = options.partition == SCHEDULE
    by_sample, reload = " by_sample=true" * (room.reload or len(room.cuts) > 2), " reload=true" * room.reload
    unpadded = " unpadded=true" * room.unpadded + " overlap=true" * room.overlap
    inside = "" if room.rows_inside else " rows_inside=false"
    parts = f"{{share={_plain(FINER_SHARE)} shared=true}}" if room.finer_parts else ""
    cuts = f" cuts={','.join(map(str, room.cuts))}" if room.cuts else ""
    return (
        "" if scheduled else "graph-fuse",
        f"convert-graph-to-nest{{in_place=true{by_sample}}}" if scheduled else "convert-graph-to-nest",
        "nest-fold-moves" if scheduled else "",
        "nest-split-joins" if room.split_joins else "",
        "nest-band" if room.band else "",
        f"nest-split-weights{parts}" if scheduled and not options.schedule else "",
        f"nest-schedule{{share={_plain(room.share)}{cuts}{reload}{unpadded}}}" if scheduled else "",
        "nest-swap-factors" if scheduled and not options.schedule else "",
        f"nest-spread-weights{'{last_first=true}' * room.last_first}" if room.spread else "",
        "nest-split-reductions" if scheduled and not options.schedule else "",
        "nest-tile" if room.rows_first else f"nest-tile{{rows_first=false{inside}}}",
        "nest-map",
        "convert-nest-to-codelet",
        "codelet-unroll",
        "codelet-parallelize",
        "codelet-pipeline",
        _prefetch(options, room),
        *_placed(options),
        "convert-codelet-to-mnemonic",
    )


def _prefetch(options: CompileOptions, room: Room) -> str:
    """Weights of groups loaded ahead."""
    if not options.partition:
        return ""
    if room.holes:
        return f"codelet-prefetch{{slack={room.slack} late={str(room.late).lower()} holes=true}}"
    if room.late:
        return "codelet-prefetch{late=true}"
    return "codelet-prefetch" if room.slack < 0 else f"codelet-prefetch{{slack={room.slack}}}"


def _placed(options: CompileOptions) -> Sequence[str]:
    """Addresses of codelets, and their proof."""
    return (
        "codelet-allocate{keep_intermediates=true}" if options.keep_intermediates else "codelet-allocate",
        "codelet-verify" if options.prove else "",
    )


def _stages(options: CompileOptions, _: Room) -> Sequence[str]:
    effort = _limits(options) if options.gap is not None else f"time_limit_s={_plain(options.time_limit_s)}"
    return f"convert-graph-to-codelet{{{effort}}}", *_placed(options), "convert-codelet-to-stages"


@dataclass(frozen=True)
class Pipeline:
    """The way to machines of a control model: passes, and what they take.

    Machines without floats run the integer part of a quantised network, and kernels whose factors are of the types
    `products` where the text says none.  With `groups` layers may run in groups, tile by tile.
    """

    stages: Callable[[CompileOptions, Room], Sequence[str]]
    products: tuple[str, str] | None = None
    groups: bool = True


PIPELINES = {
    "queues": Pipeline(_queues),
    "loops": Pipeline(lambda *_: ("graph-fuse", "convert-graph-to-nest", "convert-nest-to-loops"), ("i8", "i8")),
    "stages": Pipeline(_stages, ("i8", "i8"), groups=False),
    "packets": Pipeline(lambda *_: ("convert-graph-to-nest", "convert-nest-to-packets"), ("u8", "i8"), groups=False),
}


def pipeline_of(machine: Machine) -> Pipeline:
    """The way to a machine; `TilewrightError` (kind `target`) for one without instructions."""
    if machine.mnemonics and machine.control == "packets":
        expected = "instructions in packets, or control queues or loops"
        raise TilewrightError("target", machine.name, expected, "control packets, and opcodes")
    if not machine.mnemonics and machine.packets is None:
        lever = "map and run kernels on it (tilewright map, tilewright run), or choose a target with mnemonics"
        raise TilewrightError("target", machine.name, "mnemonics, which programs consist of", "none", lever)
    if machine.control not in PIPELINES:
        expected = f"control {' or '.join(PIPELINES)} to compile for"
        raise TilewrightError("target", machine.name, expected, machine.control, "run programs of others on it")
    return PIPELINES[machine.control]


def pipeline_text(
    target: Target, options: CompileOptions | None = None, global_bytes: int = 0, room: Room = Room()
) -> str:
    """The way from the graph to mnemonics, as `tilewright-opt -p` takes it.

    `global_bytes` is what groups may take of the buffer for maps (0: all of it); `room` is for what
    a schedule keeps there.
    """
    machine, options = load_target(target), options or CompileOptions()
    pipeline = pipeline_of(machine)
    if options.schedule:
        options = replace(options, partition=SCHEDULE)
    if options.partition == AUTO:
        options = replace(options, partition=SCHEDULE if machine.control == "queues" else "")
    if options.partition and not pipeline.groups:
        raise TilewrightError("usage", "partition", f"no groups of layers on {machine.name}", f"`{options.partition}`")
    limits = f"{_limits(options)} global_bytes={global_bytes}"
    tiles = f"rows={options.tile_rows} columns={options.tile_columns}"
    groups = f'graph-partition{{method="{options.partition}" {tiles} seed={options.seed} {limits}}}'
    stages = (
        f'load-target{{target="{target}"}}' if isinstance(target, str) else "",
        "graph-lookups" if options.partition in ("", SCHEDULE) and not options.schedule else "",
        "graph-normalize",
        "graph-quantize",
        "graph-integers" if pipeline.products is not None else "",
        "graph-pack" if options.partition == SCHEDULE and not options.schedule else "",
        _unfold(room),
        _split_rows(machine, room),
        _split(machine, room),
        "graph-heads" if room.heads else "",
        groups if options.partition not in ("", SCHEDULE) else "",
        *_planned(machine, options),
        *pipeline.stages(options, room),
    )
    return ",".join(_with_extra([stage for stage in stages if stage], options.extra_passes))


def _unfold(room: Room) -> str:
    """The pass that puts taps among channels."""
    worth = "" if room.unfold_worth == WORTH else f"{{worth={room.unfold_worth}}}"
    return f"graph-unfold{worth}" if room.unfold else ""


def _split(machine: Machine, room: Room) -> str:
    """The pass that splits hidden maps which take more than their part of the buffer."""
    chunk_bytes = int(buffer_bytes(machine) * room.hidden_share)
    heads = " heads=true" if room.split_heads else ""
    weight_bytes = platform_of(machine).buffers.weight_bytes if room.split_sums else 0
    options = heads + (f" weight_bytes={weight_bytes}" if weight_bytes else "")
    return f"graph-split-hidden{{chunk_bytes={chunk_bytes}{options}}}" if chunk_bytes or options else ""


def _split_rows(machine: Machine, room: Room) -> str:
    """The pass that makes hidden maps which take more than their part of the buffer some rows after others."""
    map_bytes = int(buffer_bytes(machine) * room.rows_share)
    return f"graph-split-rows{{map_bytes={map_bytes}}}" if map_bytes else ""


def _limits(options: CompileOptions) -> str:
    """When a search ends, as options of a pass."""
    return f"time_limit_s={_plain(options.time_limit_s)} gap={_plain(options.gap or 0)}"


def _plain(number: float) -> str:
    """A number as an option of a pass: these have no exponents."""
    return np.format_float_positional(number, trim="0")


def _with_extra(stages: list[str], extra: str) -> list[str]:
    """The stages with passes after those that a caller names."""
    for item in filter(None, (part.strip() for part in extra.split(";"))):
        stage, _, added = (part.strip() for part in item.partition(":"))
        names = [one.partition("{")[0] for one in stages]
        if not added or stage not in names:
            expected = f"`STAGE: PASS` with a stage among {', '.join(names)}"
            raise TilewrightError("usage", "extra_passes", expected, f"`{item[:80]}`")
        try:
            parse_passes(added)
        except (ValueError, ArgSpecParseError) as error:
            lever = "install the package that adds it by an entry point `xdsl.universe`"
            raise TilewrightError("usage", "extra_passes", "a pass that is known", str(error)[:200], lever) from error
        stages.insert(len(names) - names[::-1].index(stage), added)
    return stages


def _planned(machine: Machine, options: CompileOptions) -> Sequence[str]:
    """A schedule of DRAM, searched or as it is in the module, on the layers."""
    if not options.schedule:
        return ()
    if machine.control != "queues":
        raise TilewrightError("usage", "schedule", "a machine of queues", f"{machine.name}, of {machine.control}")
    if is_schedule_file(options.schedule):
        return "dram-verify", "dram-apply"
    reserve = int(buffer_of(machine).capacity_bytes * RESERVED)
    rounds = options.rounds or ROUNDS.get(options.schedule, 0)
    effort = f"rounds={rounds} seed={options.seed} {_limits(options)}"
    search = f'method="{options.schedule}" objective="latency" reserve_bytes={reserve} {effort}'
    return f"dram-schedule{{{search}}}", "dram-apply"


def is_schedule_file(schedule: str) -> bool:
    """Whether `CompileOptions.schedule` names a file, and not a method."""
    return Path(schedule).suffix == ".mlir"


def parse_passes(text: str, callback: Watch | None = None) -> PassPipeline:
    """The passes that `text` names, as `tilewright-opt -p` takes it."""
    return PassPipeline(_passes(text), callback)


@lru_cache(maxsize=512)
def _passes(text: str) -> tuple[ModulePass, ...]:
    """Passes have no state: what other networks are compiled by for the same target is not parsed again."""
    return PassPipeline.parse_spec(find_passes(text), text).passes
