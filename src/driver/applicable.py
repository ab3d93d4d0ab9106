"""What of a way to run a schedule applies to a network, read from its IR before the pass that would do it."""

from __future__ import annotations

from functools import cached_property

from xdsl.dialects.builtin import ModuleOp

from ..costs.fusion.of_machine import platform_of
from ..costs.mapping.binding import pricer_of
from ..dialects import nest
from ..dialects.types import shape_of
from ..frontends.acg import load_target
from ..interpreters.constants import Constants
from ..passes.codelet.codelet_prefetch import has_holes
from ..passes.functions import functions_of
from ..passes.graph.graph_heads import has_heads
from ..passes.graph.graph_pack import buffer_bytes
from ..passes.graph.graph_split_hidden import Hidden, hidden_parts
from ..passes.graph.graph_unfold import Unfolding, unfoldable
from ..passes.nest.nest_band import bands
from ..passes.nest.nest_schedule import Reader
from ..passes.nest.nest_split_joins import split_joins
from ..passes.nest.nest_split_weights import split_weights
from ..passes.nest.nest_spread_weights import spread
from ..passes.nest.program_bound import weight_cycles
from ..passes.nest_to_codelet.fused_marks import BY_SAMPLE
from ..search.residency import plan
from .lowering import Lowering
from .pipelines import FINER_SHARE, Room, Target, pipeline_text

HIDDEN_SHARES = 1 / 16, 1 / 32, 1 / 8
"""Parts of the buffer that a chunk of a map between two products takes at most, as they are tried."""

LARGE_SHARE = 1 / 2
"""Part of the buffer that such a map takes to be computed in chunks, or, in rows, that a chunk takes at most."""

HEAD_SHARE = 1 / 4
"""Part of the buffer that the largest map of one head, and the sum of all, take at most where heads are split."""

MOST_HEADS = 64
"""Heads that attention is split into at most, each of which is a dozen groups of its own."""


class Applicable:
    """Of the network that `lowering` compiles for a target."""

    def __init__(self, lowering: Lowering, target: Target) -> None:
        self.lowering = lowering
        self.target = target
        self.machine = load_target(target)
        self.buffers = platform_of(self.machine).buffers
        self.weight_buffer_bytes = self.buffers.weight_bytes
        """Of the memory that weights have of their own."""

    @cached_property
    def samples(self) -> int:
        """Samples of the first input."""
        functions = functions_of(self.lowering.module)
        shapes = (shape_of(function.body.block.args[0]) for function in functions if function.args)
        return next((shape[0] for shape in shapes if shape), 1)

    @cached_property
    def weight_cycles(self) -> float:
        """What loads of weights take in any way."""
        return weight_cycles(self._before("nest-schedule", Room()), self.machine)

    def reader(self, room: Room) -> Reader:
        """The layers of a way before it is decided which run together."""
        return Reader(self.machine, functions_of(self._before("nest-schedule", room))[0])

    def unfoldable(self, room: Room) -> list[Unfolding]:
        """Convolutions whose taps fill lanes that channels leave idle."""
        module = self._before("graph-unfold", room)
        return list(unfoldable(module, self.machine, Constants.of(module), room.unfold_worth))

    def saved_by_bands(self) -> float:
        """Cycles of products that are saved where several results of depthwise convolutions are made together."""
        module = self._before("nest-band", Room(band=True))
        return sum(each.saved_cycles for each in bands(module, pricer_of(self.machine), Constants.of(module)))

    def splits_joins(self, room: Room) -> bool:
        """Whether there are channelwise layers of joined maps to cut."""
        module = self._before("nest-split-joins", room)
        return any(split_joins(module, Constants.of(module)))

    def splits_sums(self, room: Room) -> bool:
        """Whether the memory of weights has no room for a dense layer that can be computed in chunks."""
        if not self.weight_buffer_bytes:
            return False
        module = self._before("graph-split-hidden", room)
        return any(hidden_parts(module, Constants.of(module), 0, weight_bytes=self.weight_buffer_bytes))

    def splits_finer(self, room: Room) -> bool:
        """Whether there are layers of large weights to cut in finer parts."""
        module = self._before("nest-schedule", room)
        return any(split_weights(module, self.buffers, FINER_SHARE, Constants.of(module)))

    def spreads_weights(self, room: Room) -> bool:
        """Whether some weights come earlier, by estimate, where they come to the memory of maps."""
        if self.weight_buffer_bytes is None:
            return False
        module, pricer = self._before("nest-spread-weights", room._replace(spread=True)), pricer_of(self.machine)
        last_first = room.last_first
        return any(spread(function, pricer, last_first=last_first) for function in functions_of(module))

    def has_holes(self, room: Room, slack: int) -> bool:
        """Whether there is room for weights in holes between maps."""
        return has_holes(self._before("codelet-prefetch", room), slack)

    def overlaps(self, room: Room) -> bool:
        """Whether more layers of a way run in rows where an input comes in than do else."""
        reader = self.reader(room)
        alone, more = (reader.network(room.share, overlap=overlap) for overlap in (False, True))
        return plan(alone, reader.rows_of).steps != plan(more, reader.rows_of).steps

    def span(self, room: Room, most: int = 0) -> int:
        """How many of the first layers there is room for sample by sample, of at most so many (0: of all)."""
        layers = self._before("nest-schedule", room).walk()
        most = most or sum(isinstance(op, nest.GroupOp) for op in layers)
        module = self._before("nest-tile", room._replace(cuts=(0, most)))
        return sum(BY_SAMPLE in op.attributes for op in module.walk())

    def has_hidden(self, apart: int = 1) -> bool:
        """Whether a map between two products, which can be computed in chunks of it, takes much of the buffer.

        Of several samples that run `apart` it is that of one, and the weights, which come for each, count, too.
        """
        buffer = buffer_bytes(self.machine)
        tried = (self._hidden(Room(hidden_share=s), int(apart * buffer * s)) for s in sorted(HIDDEN_SHARES))
        parts = next(filter(None, tried), [])
        sizes = (part.map_bytes // apart + (part.weight_bytes if apart > 1 else 0) for part in parts)
        return any(size > buffer * LARGE_SHARE for size in sizes)

    def attention(self, room: Room, apart: int = 1) -> list[Room]:
        """Attention split into heads, where each has room as a whole and there are few, and head by head; of so many
        samples that run `apart` one is there.
        """
        split = room._replace(split_heads=True)
        limit_bytes = apart * int(buffer_bytes(self.machine) * HEAD_SHARE)
        parts = self._hidden(split, 0)
        few = 0 < sum(len(part.ranges(0)) for part in parts) <= MOST_HEADS
        splits = few and all(part.head_bytes <= limit_bytes for part in parts)
        return [split] * splits + [room._replace(heads=True)] * has_heads(self.lowering.module)

    def _hidden(self, room: Room, chunk_bytes: int) -> list[Hidden]:
        """What `graph-split-hidden` splits."""
        if "graph-split-hidden" not in self._pipeline(room):
            return []
        module = self._before("graph-split-hidden", room)
        return list(hidden_parts(module, Constants.of(module), chunk_bytes, heads=room.split_heads))

    def _before(self, name: str, room: Room) -> ModuleOp:
        """The module before a pass of a way."""
        return self.lowering.before(name, self._pipeline(room))

    def _pipeline(self, room: Room) -> str:
        return pipeline_text(self.target, self.lowering.options, room=room)
