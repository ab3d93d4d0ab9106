"""Regions to packets: straight code, loops that are pipelined, and repetitions around them.

What a pipeline needs before and after its steady state joins the straight code beside it, so that the end of one loop
overlaps the beginning of the next.  A repetition that says so is turned: its first straight code, with the beginning
of its first pipeline, is done once before it and then at the end of each round, for the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...errors import InfeasibleError
from ...machine.packet_program import Instruction, Isa, Loop, Packet
from .emit import constant
from .scheduling import schedule_loop, schedule_straight


@dataclass(frozen=True)
class Straight:
    """Instructions one after another."""

    body: tuple[Instruction, ...]


@dataclass(frozen=True)
class Pipelined:
    """A body, `trips` times, iterations overlapped."""

    trips: int
    body: tuple[Instruction, ...]


@dataclass(frozen=True)
class Repeat:
    """`items`, `trips` times.

    `turned`: the first straight code may run once more than it is used, ahead of time; `undo` takes that once back.
    """

    trips: int
    items: tuple[Region, ...]
    turned: bool = False
    undo: tuple[Instruction, ...] = ()


Region = Straight | Pipelined | Repeat


@dataclass(frozen=True)
class Options:
    """What a schedule may use: instructions beside each other, iterations over each other."""

    pack: bool = True
    pipeline: bool = True


@dataclass
class Lowering:
    """Turns regions into code; `spare` are registers (of the base's file) for counters, taken from its end."""

    isa: Isa
    spare: list[int]
    options: Options = field(default_factory=Options)
    labels: int = 0

    def code(self, regions: Sequence[Region]) -> tuple[Packet | Loop, ...]:
        """The packets of the regions, one after another."""
        return self.packed(self.flat(regions))

    def packed(self, parts: Sequence[Straight | Loop]) -> tuple[Packet | Loop, ...]:
        """Straight parts scheduled, neighbours together."""
        code: list[Packet | Loop] = []
        for part in _joined(parts):
            code += [part] if isinstance(part, Loop) else self.straight(part.body)
        return tuple(code)

    def straight(self, body: Sequence[Instruction]) -> list[Packet]:
        if self.options.pack:
            return schedule_straight(self.isa, body)
        return [(instruction,) for instruction in body]

    def flat(self, regions: Sequence[Region]) -> list[Straight | Loop]:
        """Regions as straight code and finished loops."""
        parts: list[Straight | Loop] = []
        for region in regions:
            match region:
                case Straight():
                    parts.append(region)
                case Pipelined():
                    parts += self.pipelined(region)
                case Repeat():
                    parts += self.repeated(region)
        return parts

    def pipelined(self, region: Pipelined) -> list[Straight | Loop]:
        """The beginning with the loop's start, the steady state, the end."""
        if region.trips <= 1:
            return [Straight(region.body * region.trips)]
        pipeline = schedule_loop(self.isa, region.body) if self.options.pack and self.options.pipeline else None
        if pipeline is None:
            return self.loop(region.trips, self.straight(region.body), Straight(()), Straight(()))
        if region.trips < pipeline.stages:
            return [Straight(region.body * region.trips)]
        before, after = pipeline.ends(region.trips)
        rounds = region.trips - pipeline.stages + 1
        if rounds == 1:
            return [Straight(region.body * region.trips)]
        return self.loop(rounds, pipeline.kernel(), Straight(tuple(before)), Straight(tuple(after)))

    def repeated(self, region: Repeat) -> list[Straight | Loop]:
        parts = _joined(self.flat(region.items))
        if region.trips == 1:
            return list(parts)
        if region.turned and len(parts) > 1 and isinstance(parts[0], Straight):
            head, rest = parts[0], [*parts[1:], parts[0]]
            return self.loop(region.trips, self.packed(rest), head, Straight(region.undo))
        return self.loop(region.trips, self.packed(parts), Straight(()), Straight(()))

    def loop(
        self, trips: int, body: Sequence[Packet | Loop], before: Straight, after: Straight
    ) -> list[Straight | Loop]:
        """A loop of the lowest free level with its start in the code before it; counted where no level is left."""
        self.labels += 1
        label, level = self.labels, 1 + max((self.level(item) for item in body if isinstance(item, Loop)), default=-1)
        starts = [m for m in self.isa.packets.mnemonics if m.loop is not None and m.loop.level == level]
        for start in starts:
            assert start.loop is not None
            made = Loop(label, trips, _filled(body), start.loop.suffix)
            number = next((f for f in start.fields if f.name == start.loop.trips), None)
            if number is not None and trips <= number.highest:
                setup = Instruction(start.name, ((start.loop.trips, trips),), label=label)
                return [Straight((*before.body, setup)), made, after]
            if number is None and self.spare:
                register = self.spare.pop()
                setup = Instruction(start.name, ((start.loop.trips, register),), label=label)
                return [Straight((*before.body, constant(self.isa, register, trips), setup)), made, after]
        return self.counted(trips, body, before, after, label)

    def counted(
        self, trips: int, body: Sequence[Packet | Loop], before: Straight, after: Straight, label: int
    ) -> list[Straight | Loop]:
        found = [m for m in self.isa.packets.mnemonics if m.loop is not None and m.loop.level < 0]
        end = self.isa.choose("a loop that counts", found)
        if not self.spare:
            raise InfeasibleError("registers for counters of loops", 1, 0, "registers", "smaller tiles")
        counter = self.spare.pop()
        assert end.loop is not None
        setup = constant(self.isa, counter, trips)
        stop = Instruction(end.name, ((end.loop.trips, counter),), label=label)
        return [Straight((*before.body, setup)), Loop(label, trips, tuple(body), end=stop), after]

    def level(self, loop: Loop) -> int:
        """The hardware level of a loop; counted loops are above all of them."""
        if not loop.suffix:
            return 1 << 20
        starts = (m.loop for m in self.isa.packets.mnemonics if m.loop is not None)
        return next(start.level for start in starts if start.suffix == loop.suffix)


def _filled(body: Sequence[Packet | Loop]) -> tuple[Packet | Loop, ...]:
    """A body that ends with a packet, for the suffix to stand on."""
    return (*body,) if body and not isinstance(body[-1], Loop) else (*body, ())


def _joined(parts: Sequence[Straight | Loop]) -> list[Straight | Loop]:
    joined: list[Straight | Loop] = []
    for part in parts:
        if isinstance(part, Straight) and joined and isinstance(joined[-1], Straight):
            joined[-1] = Straight((*joined[-1].body, *part.body))
        elif isinstance(part, Loop) or part.body:
            joined.append(part)
    return joined
