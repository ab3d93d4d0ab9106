"""A program as groups: what an array engine repeats over tiles, and what a vector engine runs for each finished tile.

A group begins and ends with the action `group`; whatever is configured lasts until the group ends.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .actions import Step
from .permute import Permute, PermuteReader

Key = tuple[str, int, int]
"""Memory, side (0 load, 1 store, 2 read, 3 write), loop."""

MAX_LOOPS = 64


@dataclass(frozen=True)
class Transfer:
    """Rows between DRAM and a memory.

    It runs inside the first `depth` tile loops, once for each point of its own `loops` (iterations, stride in bytes);
    each point moves `size` granules from `base` on (plus what tile loops add), or to it, of elements of `width_bits`
    (0: bytes as they are).  On chip it begins at row `row`.
    """

    step: Step
    memory: str
    store: bool
    base: int
    depth: int
    loops: tuple[tuple[int, int], ...]
    size: int
    walk: tuple[tuple[int, int], ...] = ()  # vector engine: loops over tiles
    width_bits: int = 0
    row: int = 0
    program: bool = False  # of instructions, which nothing but traffic is known of


@dataclass
class ArrayGroup:
    """Loops over tiles and inside them, strides, bases and transfers of an array engine."""

    unit: str
    step: Step
    tile: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    inner: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    strides: dict[Key, int] = field(default_factory=dict[Key, int])
    reductions: set[int] = field(default_factory=set[int])
    transfers: list[Transfer] = field(default_factory=list[Transfer])
    instructions: int = 0

    @property
    def is_fetch(self) -> bool:
        """Whether it only loads instructions."""
        return bool(self.transfers) and not (self.tile or self.inner) and all(t.program for t in self.transfers)


@dataclass(frozen=True)
class Place:
    """An operand of a vector instruction: memory, first row, and the rows that each loop moves on."""

    memory: str
    base: int
    strides: tuple[int, ...]


@dataclass(frozen=True)
class Compute:
    """A vector instruction of a body; `shift` are the fraction bits that a product loses."""

    step: Step
    places: dict[str, Place]
    shift: int


@dataclass(frozen=True)
class Nest:
    """A body of instructions inside loops of so many iterations."""

    extents: tuple[int, ...]
    body: tuple[Compute, ...]


@dataclass(frozen=True)
class Immediate:
    """A scalar that is set."""

    step: Step
    memory: str
    index: int
    value: int


@dataclass(frozen=True)
class Release:
    """The rows that the array engine summed are free again."""


Event = Transfer | Nest | Immediate | Permute | Release


@dataclass
class VectorGroup:
    """What a vector engine does for each tile, in order."""

    unit: str
    step: Step
    events: list[Event] = field(default_factory=list[Event])
    instructions: int = 0


def with_half(old: int, half: int, value: int) -> int:
    """A register of 32 bits with its lower (0) or upper (1) half set."""
    return (old & 0xFFFF) | value << 16 if half else (old & ~0xFFFF) | value


def signed(value: int, bits: int = 32) -> int:
    """The two's complement number of `bits` bits."""
    return value - (1 << bits) if value >= 1 << (bits - 1) else value


class ArrayReader:
    """Takes the instructions of one group of an array engine."""

    def __init__(self, unit: str, step: Step, levels: dict[str, int]) -> None:
        self.group = ArrayGroup(unit, step)
        self.levels = levels
        self.bases: dict[tuple[str, int], int] = {}
        self.raw: dict[Key, int] = {}
        self.pending: list[tuple[int, int]] = []

    def take(self, step: Step) -> None:
        """Another instruction."""
        match step.kind:
            case "loop":
                self._loop(step)
            case "reduction":
                first = self.levels["tile" if step.number("outer") else "inner"]
                self.group.reductions.add(first + step.number("id"))
            case "stride":
                key = step.names["buffer"], step.number("side"), step.number("loop")
                self.raw[key] = with_half(self.raw.get(key, 0), step.number("half"), step.number("value"))
                self.group.strides[key] = signed(self.raw[key])
            case "base":
                place = step.names["buffer"], step.number("program")
                self.bases[place] = with_half(self.bases.get(place, 0), step.number("half"), step.number("value"))
            case "transfer":
                self._transfer(step)
            case "none":
                pass
            case kind:
                raise step.trap("illegal", "an action of an array engine", kind)

    def _loop(self, step: Step) -> None:
        loop = step.number("id"), _iterations(step)
        if loop[0] >= self.levels["transfer"]:
            self.pending.append(loop)
        else:
            loops = self.group.inner if loop[0] >= self.levels["inner"] else self.group.tile
            if any(loop[0] == other for other, _ in (*self.group.tile, *self.group.inner)):
                raise step.trap("illegal", "each loop once in a group", f"loop {loop[0]} twice")
            loops.append(loop)

    def _transfer(self, step: Step) -> None:
        buffer, side, program = step.names["buffer"], step.number("side"), step.number("program")
        own = [(n, self.group.strides.get((buffer, side, loop), 0)) for loop, n in self.pending]
        base = self.bases.get((buffer, program), 0)
        depth = len(self.group.tile)
        transfer = Transfer(
            step, buffer, side == 1, base, depth, tuple(own), step.number("size"), program=bool(program)
        )
        self.group.transfers.append(transfer)
        self.pending = []


class VectorReader:
    """Takes the instructions of one group of a vector engine."""

    def __init__(self, unit: str, step: Step) -> None:
        self.group = VectorGroup(unit, step)
        self.registers: dict[tuple[str, ...], int] = {}
        self.walks: dict[tuple[int, int, str], list[tuple[int, int]]] = {}
        self.loops: list[tuple[int, list[Step]]] = []
        self.body: list[Step] = []
        self.left = 0
        self.nested = True
        self.shift = 0
        self.permutes = PermuteReader()

    def take(self, step: Step) -> None:
        """Another instruction."""
        if self.left and step.kind != "compute":
            raise step.trap("illegal", f"{self.left} more instructions of a body", step.kind)
        if step.kind.startswith("permute"):
            self._permute(step)
            return
        handler = getattr(self, f"_{step.kind}", None)
        if handler is None:
            raise step.trap("illegal", "an action of a vector engine", step.kind)
        handler(step)

    def _none(self, step: Step) -> None:
        pass

    def _permute(self, step: Step) -> None:
        started = self.permutes.take(step)
        if started is not None:
            self.group.events.append(started)

    def _set(self, step: Step, *key: str) -> None:
        self.registers[key] = with_half(self.registers.get(key, 0), step.number("half"), step.number("value"))

    def _base(self, step: Step) -> None:
        self._set(step, "base", *self._where(step))

    def _where(self, step: Step) -> tuple[str, ...]:
        return str(step.number("level")), str(step.number("side")), step.names["buffer"]

    def _loop(self, step: Step) -> None:
        walk = self.walks.setdefault((step.number("level"), step.number("side"), step.names["buffer"]), [])
        loop = step.number("id"), _iterations(step)
        if len(walk) >= MAX_LOOPS:
            raise step.trap("illegal", f"at most {MAX_LOOPS} loops", "another")
        for at, (known, _) in enumerate(walk):
            if known == loop[0]:
                walk[at] = loop
                return
        walk.append(loop)

    def _stride(self, step: Step) -> None:
        self._set(step, "stride", *self._where(step), str(step.number("loop")))

    def _transfer(self, step: Step) -> None:
        side, buffer = step.number("side"), step.names["buffer"]
        base, tile = (self._walk(level, side, buffer) for level in ("base", "tile"))
        levels = {name: str(number) for number, name in enumerate(("tile", "inner", "transfer", "base"))}
        start = self.registers.get(("base", levels["base"], str(side), buffer), 0)
        row = self.registers.get(("base", levels["tile"], str(side), buffer), 0)
        size, width = step.number("size"), step.number("width", 31) + 1
        self.group.events.append(Transfer(step, buffer, side == 1, start, 0, tile, size, base, width, row))
        self.walks.pop((0, side, buffer), None)

    def _walk(self, level: str, side: int, buffer: str) -> tuple[tuple[int, int], ...]:
        number = ("tile", "inner", "transfer", "base").index(level)
        loops = self.walks.get((number, side, buffer), [])
        key = "stride", str(number), str(side), buffer
        return tuple((n, signed(self.registers.get((*key, str(loop)), 0))) for loop, n in loops)

    def _iterator(self, step: Step) -> None:
        key = ("base", "stride")[step.number("what")], "iterator", step.names["buffer"], str(step.number("index"))
        self.registers[key] = _part(self.registers.get(key, 0), step.number("part"), step.number("value"))

    def _immediate(self, step: Step) -> None:
        key = "immediate", step.names["buffer"], str(step.number("index"))
        value = _part(self.registers.get(key, 0), step.number("part"), step.number("value"))
        self.registers[key] = value
        self.group.events.append(Immediate(step, step.names["buffer"], step.number("index"), signed(value)))

    def _scale(self, step: Step) -> None:
        width = 32 >> min(step.number("type"), 2)
        fractions = [width - step.number(role) for role in ("first", "second", "target")]
        self.shift = fractions[0] + fractions[1] - fractions[2]

    def _repeat(self, step: Step) -> None:
        if len(self.loops) >= MAX_LOOPS:
            raise step.trap("illegal", f"at most {MAX_LOOPS} loops", "another")
        self.loops.append((max(1, step.number("iterations")), []))

    def _index(self, step: Step) -> None:
        if not self.loops:
            raise step.trap("illegal", "a loop before its iterators", "none")
        self.loops[-1][1].append(step)

    def _body(self, step: Step) -> None:
        self.left = step.number("count")
        self.nested = bool(step.number("nested", 1))
        if not self.nested and len(self.loops) > 1:
            raise step.trap("illegal", "one loop around a body that is not nested", f"{len(self.loops)}")

    def _compute(self, step: Step) -> None:
        if not self.left:
            raise step.trap("illegal", "a body that this instruction belongs to", "none")
        self.body.append(step)
        self.left -= 1
        if not self.left:
            body = tuple(self._instruction(i, each) for i, each in enumerate(self.body))
            self.group.events.append(Nest(tuple(n for n, _ in self.loops), body))
            self.loops, self.body = [], []

    def _instruction(self, number: int, step: Step) -> Compute:
        """The `number`-th instruction of a body with its rows.

        Each loop moves an operand by the stride of one iterator: in a nested body the one that the loop's `number`-th
        `index` names, whose innermost gives the base; else the instruction's own.
        """
        places: dict[str, Place] = {}
        for role in ("O", "A", "B"):
            space, own = step.names[f"{role}_space"], step.number(role)
            named = [_named(steps, number, role, space) for _, steps in self.loops]
            iterators = named if self.nested else [own for _ in self.loops]
            moves = tuple(0 if i is None else self._register("stride", space, i) for i in iterators)
            base = next((i for i in reversed(iterators) if i is not None), own)
            places[role] = Place(space, self._register("base", space, base), moves)
        return Compute(step, places, self.shift)

    def _register(self, what: str, space: str, index: int) -> int:
        return signed(self.registers.get((what, "iterator", space, str(index)), 0))


def _named(steps: Sequence[Step], number: int, role: str, space: str) -> int | None:
    """The iterator of a memory that a loop's `number`-th `index` names for a role; None where it names none of it."""
    index = steps[number] if number < len(steps) else None
    return index.number(role) if index is not None and index.names[f"{role}_space"] == space else None


def _iterations(step: Step) -> int:
    return step.number("last") + 1 if "last" in step.numbers else max(1, step.number("iterations"))


def _part(old: int, part: int, value: int) -> int:
    """A register of 32 bits with a value of 16 sign-extended, in its low or high half, or zero-extended."""
    return (signed(value, 16) & 0xFFFFFFFF, with_half(old, 0, value), with_half(old, 1, value), value)[part]


Group = ArrayGroup | VectorGroup


def read_groups(steps: Iterable[Step], engines: dict[str, dict[str, int]]) -> list[Group]:
    """The groups of a program; `engines` are the first ids of loops by level, none for a vector engine."""
    groups: list[Group] = []
    reader: ArrayReader | VectorReader | None = None
    for step in steps:
        unit = step.names.get("engine", "")
        if reader is not None:
            reader.group.instructions += 1
        if step.kind == "group" and not step.number("end"):
            if reader is not None:
                raise step.trap("illegal", "the end of a group before the next", f"{reader.group.unit} goes on")
            levels = engines[unit]
            reader = ArrayReader(unit, step, levels) if levels else VectorReader(unit, step)
        elif step.kind == "group":
            if reader is None or reader.group.unit != unit:
                raise step.trap("illegal", f"a group of {unit} that ends", "none")
            if not step.number("part"):
                groups.append(reader.group)
                reader = None
            elif isinstance(reader, VectorReader):
                reader.group.events.append(Release())
        elif step.kind not in ("block", "none") and reader is None:
            raise step.trap("illegal", "a group around the instruction", "none")
        elif reader is not None and step.kind != "block":
            reader.take(step)
    if reader is not None:
        raise reader.group.step.trap("illegal", "an end of the group", "none")
    return groups
