"""Sums of products on packets: the plan of register tiles, the loops around them, and the tensors' forms in memory."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeVar

from ...algebra.element import Array
from ...errors import InfeasibleError
from ...machine.packet_program import Packing
from ...machine.packet_storage import Storage, Stored
from .correction import Correction, layout_of
from .emit import Emitter
from .regions import Region, Repeat, Straight
from .roles import Contraction
from .scheduling import lowest_of
from .tiles import WORD_BYTES, Multiply, Plan, Pointers, Tile, counts, names, select_multiply

Made = TypeVar("Made")

MOST_ROWS, MOST_VECTORS, STEPS = 16, 8, (2, 4, 8, 1)
MOST_PLANS, MOST_TRIED = 32, 6
"""Plans that are looked at, and those of them that are scheduled to choose by packets."""

POINTERS = 8
"""Scalar registers that tiles need beside operands and loops, at least."""


@dataclass(frozen=True)
class Columns:
    """`count` tiles of columns with one plan for rows: full register tiles, and one for the rows that are left."""

    plan: Plan
    rest: Plan | None
    count: int
    packets: float


def plan_columns(
    emitter: Emitter, contraction: Contraction, multiply: Multiply, vectors: int, unroll: bool, choose: bool = True
) -> Iterator[list[Columns]]:
    """Ways to cover `vectors` vectors of columns, those with fewest packets by resources first.

    Only the smallest tile, the first that is valid, unless it may `choose`; of single rows unless it may `unroll`.
    """
    unroll = unroll and choose
    widths = range(1, min(MOST_VECTORS, vectors) + 1 if choose else 2)
    best = {width: _row_plans(emitter, contraction, multiply, width, unroll) for width in widths}
    found: list[tuple[float, list[Columns]]] = []
    for width in widths:
        for plan, rest, packets in best[width]:
            columns = [Columns(plan, rest, vectors // width, packets * (vectors // width))]
            if left := vectors % width:
                if not best[left]:
                    continue
                last, last_rest, last_packets = best[left][0]
                columns.append(Columns(last, last_rest, 1, last_packets))
            found.append((sum(item.packets for item in columns), columns))
    for _, columns in sorted(found, key=lambda item: item[0]):
        yield columns


def cheapest(
    plans: Iterator[list[Columns]], make: Callable[[list[Columns]], Made], packets: Callable[[Made], int]
) -> Made:
    """What `make` makes of the best of a few plans, those that registers do not suffice for left out.

    Plans come with fewest packets by resources first; none is tried that has more of them than what was made.
    """
    best: Made | None = None
    refusal, tried = InfeasibleError("registers for a tile", 1, 0, "tiles", "fewer lanes"), 0
    for columns in islice(plans, MOST_PLANS):
        expected = sum(item.packets for item in columns)
        if best is not None and (tried == MOST_TRIED or expected >= packets(best)):
            break
        try:
            found = make(columns)
        except InfeasibleError as error:
            refusal = error
            continue
        tried += 1
        if best is None or packets(found) < packets(best):
            best = found
    if best is None:
        raise refusal
    return best


def _row_plans(
    emitter: Emitter, contraction: Contraction, multiply: Multiply, width: int, unroll: bool
) -> list[tuple[Plan, Plan | None, float]]:
    """Tiles of `width` vectors with what is left of the rows, and the packets for all rows; the best few."""
    extent = contraction.rows[-1].extent
    outer = contraction.row_count // extent
    registers = emitter.isa.files[emitter.vectors].count
    scalars = emitter.isa.files[emitter.scalars]
    pointers = POINTERS + 2 * len(contraction.rows) + len(contraction.batch)
    priced: dict[int, tuple[float, Plan]] = {}
    for rows in range(1, min(MOST_ROWS, extent) + 1 if unroll else 2):
        for steps in STEPS if unroll else sorted(STEPS):
            plan = Plan(rows, width, steps)
            if (rows + steps) * width + (not multiply.flip) > registers:
                continue
            if rows * steps * multiply.group + pointers * scalars.width_bytes > scalars.count * scalars.width_bytes:
                continue
            packets = tile_packets(emitter, contraction, multiply, plan)
            if packets is not None and (rows not in priced or (unroll and packets < priced[rows][0])):
                priced[rows] = packets, plan
    plans: list[tuple[Plan, Plan | None, float]] = []
    for rows, (packets, plan) in priced.items():
        tiles, left = divmod(extent, rows)
        if left and left not in priced:
            continue
        rest = priced[left] if left else (0.0, None)
        plans.append((plan, rest[1], outer * (tiles * packets + rest[0])))
    return sorted(plans, key=lambda item: item[2])[:4]


def tile_packets(emitter: Emitter, contraction: Contraction, multiply: Multiply, plan: Plan) -> float | None:
    """Packets of a tile by resources, its ends shared with its neighbours; None where the steps do not fit loads."""
    counted = counts(emitter, contraction, multiply, plan)
    if counted is None:
        return None
    iteration, ends = counted
    trips = contraction.run_bytes / (plan.steps * multiply.group) * len(contraction.segments)
    if trips < 1:
        return None
    interval = lowest_of(emitter.isa, names(iteration))
    latency = 1 + max(emitter.isa.mnemonics[name].latency_packets for name in iteration)
    joined = lowest_of(emitter.isa, names(iteration + ends))
    return trips * max(interval, latency) + joined - interval + 2


@dataclass(frozen=True)
class Addresses:
    """Where a sum's tensors lie already: the scalar operand, the target, and the packed vector operand's elements.

    Without elements the vector operand is an input, packed before the program runs.
    """

    scalar: int
    target: int
    vector: Array | None = None


def scalar_tensor(storage: Storage, c: Contraction, type_name: str) -> Stored:
    """The scalar operand as an input of the program."""
    return storage.tensor(
        c.scalar, "input", type_name, c.scalar_shape, c.scalar_strides, c.scalar_bytes,
        origin_bytes=c.scalar_origin_bytes,
    )  # fmt: skip


class Kernel:
    """All regions of a sum of products; its tensors are the program's own, or lie where `addresses` says."""

    def __init__(
        self,
        emitter: Emitter,
        storage: Storage,
        contraction: Contraction,
        types: Mapping[str, str],
        addresses: Addresses | None = None,
    ) -> None:
        self.emitter, self.storage, self.contraction, self.addresses = emitter, storage, contraction, addresses
        self.types = [types[name] for name in (contraction.target, contraction.scalar, contraction.vector)]
        self.multiply = select_multiply(emitter, self.types[2], self.types[1], self.types[0])

    @property
    def vectors(self) -> int:
        """Vectors of columns."""
        return -(-self.contraction.lanes // self.multiply.lanes)

    def regions(self, columns: list[Columns]) -> list[Region]:
        """The program: for each batch the corrections, then tiles of columns, each over all rows."""
        emitter, c = self.emitter, self.contraction
        self.pitch = self.vectors * emitter.vector_bytes
        self.place(columns)
        take = emitter.pool.take
        self.base, self.tile, self.target = (take(emitter.scalars) for _ in range(3))
        start = [emitter.address(self.base, self.x), emitter.address(self.tile, self.y)]
        start.append(emitter.address(self.target, self.out))
        self.zero = -1
        if not self.multiply.flip:
            self.zero, scalar = take(emitter.vectors), take(emitter.scalars)
            start += [emitter.constant(scalar, 0), emitter.broadcast(self.zero, scalar)]
            emitter.pool.give(emitter.scalars, scalar)
        inside: list[Region] = []
        if self.multiply.flip:
            inside += Correction(emitter, self.storage, c, self.multiply, self.base, self.sums).regions()
        for part in columns:
            inside += [Repeat(part.count, tuple(self.column(part)))]
        after = emitter.add(self.target, self.target, (c.row_count - 1) * self.pitch)
        inside.append(Straight((after,) if c.batches > 1 else ()))
        regions: list[Region] = inside
        for walk in reversed(c.batch):
            step = (emitter.add(self.base, self.base, walk.step_bytes),)
            regions = [Repeat(walk.extent, (*regions, Straight(step)))]
            regions.append(Straight((emitter.add(self.base, self.base, -walk.extent * walk.step_bytes),)))
        return [Straight(tuple(start)), *regions]

    def place(self, columns: list[Columns]) -> None:
        """Addresses of the tensors, in the forms that the kernel reads and writes."""
        c, storage = self.contraction, self.storage
        tiles = tuple(item.plan.vectors for item in columns for _ in range(item.count))
        packing = Packing(
            c.vector_axes, len(c.batch), c.reduced_axes, c.sources, self.multiply.lanes, self.multiply.group, tiles,
            self.multiply.flip,
        )  # fmt: skip
        rows, given = c.row_count * c.batches, self.addresses
        self.words = layout_of(self.emitter, c, self.multiply).pitch_bytes if self.multiply.flip else 0
        self.sums = storage.take(c.row_count // c.rows[-1].extent * self.words) if self.multiply.flip else 0
        if given is not None and given.vector is not None:
            self.y = storage.weight(c.vector, self.types[2], given.vector.reshape(c.vector_shape), packing).address
        else:
            strides, size = (0,) * len(c.vector_shape), packing.size_bytes(c.vector_shape)
            self.y = storage.tensor(c.vector, "input", self.types[2], c.vector_shape, strides, size, packing).address
        if given is not None:
            self.x, self.out = given.scalar, given.target
            return
        self.x = scalar_tensor(storage, c, self.types[1]).address
        self.out = storage.tensor(
            c.target, "output", self.types[0], c.target_shape, self.target_strides(), rows * self.pitch
        ).address

    def target_strides(self) -> tuple[int, ...]:
        """Lanes side by side, then rows, then batches."""
        c = self.contraction
        return c.target_strides(lane=WORD_BYTES, row=self.pitch, batch=self.pitch * c.row_count)

    def column(self, columns: Columns) -> list[Region]:
        """One tile of columns: pointers to the first row, the rows, and on to the next tile."""
        emitter, c = self.emitter, self.contraction
        taken = [emitter.pool.take(emitter.scalars) for _ in range(4)]
        pointers = Pointers(taken[0], self.tile, taken[1], taken[2], taken[3], self.zero)
        start = [emitter.add(pointers.row, self.base, 0), emitter.add(pointers.target, self.target, 0)]
        if self.multiply.flip:
            start.append(emitter.address(pointers.sums, self.sums))
        rows = self.rows(0, columns, pointers)
        step = columns.plan.vectors * emitter.vector_bytes
        end = [emitter.add(self.tile, self.tile, c.reduction_bytes // self.multiply.group * step)]
        end.append(emitter.add(self.target, self.target, step))
        for register in taken:
            emitter.pool.give(emitter.scalars, register)
        return [Straight(tuple(start)), *rows, Straight(tuple(end))]

    def rows(self, level: int, columns: Columns, pointers: Pointers) -> list[Region]:
        """The loops over rows from `level` inward."""
        emitter, walk = self.emitter, self.contraction.rows[level]
        tiles, left = divmod(walk.extent, columns.plan.rows)
        if level < len(self.contraction.rows) - 1:
            inner = emitter.pool.take(emitter.scalars)
            step = (emitter.add(inner, pointers.row, 0), emitter.add(pointers.row, pointers.row, walk.step_bytes))
            items = self.rows(level + 1, columns, replace(pointers, row=inner))
            emitter.pool.give(emitter.scalars, inner)
            return [Repeat(walk.extent, (Straight(step), *items))]
        regions = self.tiles(columns.plan, tiles, pointers)
        regions += self.tiles(columns.rest, 1, pointers) if left and columns.rest is not None else []
        if self.multiply.flip and len(self.contraction.rows) > 1:
            on = emitter.add(pointers.sums, pointers.sums, self.words - WORD_BYTES * walk.extent)
            regions.append(Straight((on,)))
        return regions

    def tiles(self, plan: Plan, count: int, pointers: Pointers) -> list[Region]:
        """`count` register tiles one after another."""
        tile = Tile(self.emitter, self.contraction, self.multiply, plan, self.pitch)
        try:
            items = tuple(tile.regions(pointers))
            return [Repeat(count, items, turned=True, undo=tuple(tile.undo_head()))]
        finally:
            tile.release()
