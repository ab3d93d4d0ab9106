"""The program of a schedule: transfers in the channel's order, tiles in order, ordered by counts of what is done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from ...algebra.allocation import BumpAllocator, LiveRange, Parts, align_up, require_bytes, spans_of, with_ends
from ...costs.notation import INPUT, OUTPUT, WEIGHT, Move, Parsed, Region, Tensor, Tile, Timed, Times, times_of
from ...costs.notation.check import slabs_of
from ...costs.notation.times import required
from ...machine import Machine, Memory
from ...machine.layer_table import LayerRecorder, LayerTable
from ...machine.tensor_placement import TensorPlacement
from ...zoo.schedule_networks.meaning import SHIFT, scale_of
from ..codelet_to_queues.binary import pack
from ..codelet_to_queues.emit import Code
from ..codelet_to_queues.isa import Binding
from ..codelet_to_queues.price import Prices
from .blocks import Block, Source, blocks_of, make_source
from .commands import Commands, Place, Step
from .products import product_tile
from .tile import Sums, TileCode
from .vectors import vector_tile

LEAST_SUMS = 1 << 12
"""Bytes of each half of the sums' room, at least."""


@dataclass(frozen=True)
class Lowered:
    """Code and tensors of a schedule, cycles of each tile and transfer on this machine, and the times they give."""

    code: bytes
    tensors: tuple[TensorPlacement, ...]
    timed: Timed
    times: Times
    dram_bytes: int
    energy_pj: float
    instructions: int
    layers: LayerTable


def lower(
    machine: Machine, memories: tuple[Memory, Memory], parsed: Parsed, moves: Sequence[Move], parts: Mapping[int, Parts]
) -> Lowered:
    """Instructions of a legal schedule with addresses; `memories` are DRAM and the buffer.

    What the schedule leaves of the buffer above its highest address takes 32-bit sums.  Raises InfeasibleError where
    that is too little, TilewrightError (kind `target`) where the machine lacks an instruction.
    """
    commands = Commands(machine, memories[1].name, memories[0].name)
    writer = _Writer(commands, parsed, moves, parts, memories[0])
    sums = _sums(parsed, parts, memories[1])
    writer.constants(sums)
    needed = required(parsed, moves)
    cycles: list[int] = []
    for position, tile in enumerate(parsed.tiles):
        writer.transfers(needed[position])
        steps = tile_steps(commands, parsed, position, tile, parts, sums)
        cycles.append(tile_cycles(steps))
        writer.tile(tile.layer, steps, needed[position])
    writer.transfers(len(moves))
    timed = Timed(tuple(cycles), writer.transfer_cycles)
    code = pack(machine, writer.code)
    times = times_of(parsed, moves, timed, writer.filled_cycles)
    placements, prices, layers = tuple(writer.placements.values()), writer.prices, writer.layers.table()
    figures = times, prices.dram_bytes, prices.energy_pj, len(writer.code.order)
    return Lowered(code, placements, timed, *figures, layers)


def _sums(parsed: Parsed, parts: Mapping[int, Parts], buffer: Memory) -> Sums:
    """Room for sums above all tensors."""
    align = max(64, buffer.align_bytes)
    bump = BumpAllocator(align)
    for number, given in parts.items():
        item = LiveRange(0, 1, parsed.tensors[number].size_bytes, slabs_of(parsed, number))
        bump.end = max(bump.end, *(align_up(high, align) for _, high in spans_of(item, given)))
    values = sorted({SHIFT, *(scale_of(parsed.network, number) for number in range(len(parsed.network.layers)))})
    base = bump.take(4 * len(values))
    need = bump.end + 2 * align_up(LEAST_SUMS, align)
    lever = f"schedule with {need - buffer.capacity_bytes} bytes more left free (reserve_bytes)"
    require_bytes("global buffer", need, buffer.capacity_bytes, "tensors and 32-bit sums", lever)
    half = (buffer.capacity_bytes - bump.end) // 2 // align * align
    return Sums(bump.end, half, {value: base + 4 * i for i, value in enumerate(values)})


def tile_steps(
    commands: Commands, parsed: Parsed, position: int, tile: Tile, parts: Mapping[int, Parts], sums: Sums
) -> list[Step]:
    """The instructions of one tile."""
    layer, feeds = parsed.network.layers[tile.layer], parsed.feeds[position]

    def sources(numbers: Iterable[int]) -> tuple[Source, ...]:
        found: list[Source] = []
        for number in numbers:
            tensors = [(parsed.tensors[item], parts[item]) for item in feeds[number]]
            first = found[-1].first_channel + found[-1].channels if found else 0
            found.append(make_source(first, tensors))
        return tuple(found)

    weights = parsed.weights[position]
    code = TileCode(
        commands,
        parsed,
        tile,
        sources([*layer.inputs, *(-1 - i for i in layer.external)]),
        _weight_blocks(parsed, weights, parts) if weights >= 0 else (),
        sources(layer.weights_from),
        blocks_of(parsed.tensors[parsed.results[position]], parts[parsed.results[position]]),
        sums,
    )
    (product_tile if layer.has_macs else vector_tile)(code)
    return code.steps


def _weight_blocks(parsed: Parsed, number: int, parts: Mapping[int, Parts]) -> tuple[Block, ...]:
    """Weights as blocks whose channels are filters."""
    tensor = parsed.tensors[number]
    filters = parsed.network.layers[tensor.layer].shape.channels
    region = parsed.tensors[parsed.results[0]].region
    assert region is not None
    return tuple(Block(region, (part.first, end), part.address) for part, end in with_ends(parts[number], filters))


def tile_cycles(steps: Sequence[Step]) -> int:
    """Cycles of a tile: each unit in order, after what a step waits for."""
    free: dict[int, int] = {}
    ends: list[int] = []
    for step in steps:
        start = max([free.get(step.binding.unit, 0), *(ends[i] for i in step.after)])
        ends.append(start + step.cycles)
        free[step.binding.unit] = ends[-1]
    return max(ends, default=0)


@dataclass
class _Writer:
    """Instructions so far; `done[p]` is the unit and count that tile p is done with."""

    commands: Commands
    parsed: Parsed
    moves: Sequence[Move]
    parts: Mapping[int, Parts]
    offchip: Memory
    code: Code = field(init=False)
    layers: LayerRecorder = field(default_factory=LayerRecorder)
    placements: dict[str, TensorPlacement] = field(init=False)
    counts: list[int] = field(init=False)
    known: list[list[int]] = field(init=False)
    prices: Prices = field(init=False)
    done: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    moved: list[dict[int, int]] = field(default_factory=list[dict[int, int]])
    cycles: dict[int, int] = field(default_factory=dict[int, int])
    filled: dict[int, int] = field(default_factory=dict[int, int])
    filled_cycles: int = 0

    def __post_init__(self) -> None:
        units = len(self.commands.isa.units)
        self.code = Code([], [[] for _ in self.commands.machine.mnemonics])
        self.counts = [0] * units
        self.prices = Prices(self.commands.machine)
        self.known = [[0] * units for _ in range(units)]
        self.placements = place_tensors(self.parsed, self.offchip)

    @property
    def transfer_cycles(self) -> tuple[int, ...]:
        """Cycles of each tensor's transfer."""
        return tuple(self.cycles.get(number, 0) for number in range(len(self.parsed.tensors)))

    def emit(self, layer: int, binding: Binding, row: Sequence[int], waits: Iterable[tuple[int, int]]) -> None:
        """One instruction of a layer that waits for (unit, count) pairs."""
        self.layers.took(self.layers.layer((self.parsed.network.layers[layer].name,)), 1)
        unit = binding.unit
        self.prices.add(binding, row)
        needs: dict[int, int] = {}
        for other, count in waits:
            if other != unit and count > self.known[unit][other]:
                needs[other] = max(needs.get(other, 0), count)
        own = list(row)
        self.commands.isa.set_header(own, unit, sorted(needs.items()))
        for other, count in needs.items():
            self.known[unit][other] = count
        self.counts[unit] += 1
        self.code.order.append(binding.number)
        self.code.rows[binding.number].append(own)

    def constants(self, sums: Sums) -> None:
        """The multipliers and the shift that requantisation reads."""
        binding, first = self.commands.bindings["fill"], self.parsed.tiles[0].layer
        for value, address in sums.constants.items():
            places: dict[str, Place] = {"D": (address, {})}
            step = self.commands.step(binding, ("i32",), {}, places, values={"V": value})
            self.emit(first, binding, step.row, ())
            self.filled_cycles += step.cycles
        self.filled = {binding.unit: self.counts[binding.unit]}

    def transfers(self, upto: int) -> None:
        """Loads and stores until `upto` of the order are written."""
        while len(self.moved) < upto:
            move = self.moves[len(self.moved)]
            tensor = self.parsed.tensors[move.tensor]
            after = tensor.first if tensor.kind == OUTPUT else move.start - 1
            waits = [*(self.moved[-1] if self.moved else self.filled).items()]
            waits += [self.done[after]] if after >= 0 else []
            binding = self.commands.store if tensor.kind == OUTPUT else self.commands.load
            total = 0
            for row, cycles in self._copies(binding, tensor, self.parts[move.tensor]):
                self.emit(tensor.layer, binding, row, waits)
                total += cycles
            self.cycles[move.tensor] = total
            before = self.moved[-1] if self.moved else self.filled
            self.moved.append(before | {binding.unit: self.counts[binding.unit]})

    def tile(self, layer: int, steps: Sequence[Step], needed: int) -> None:
        """The instructions of a tile of a layer after `needed` transfers and the tile before."""
        begin = [*(self.moved[needed - 1] if needed else self.filled).items(), *self.done[-1:]]
        numbers: list[tuple[int, int]] = []
        seen: set[int] = set()
        for step in steps:
            unit = step.binding.unit
            waits = [numbers[i] for i in step.after]
            if unit not in seen and not step.after:
                waits += begin
            seen.add(unit)
            self.emit(layer, step.binding, step.row, waits)
            numbers.append((unit, self.counts[unit]))
        self.done.append(numbers[-1])

    def _copies(self, binding: Binding, tensor: Tensor, parts: Parts) -> Iterable[tuple[list[int], int]]:
        """Rows and cycles of the copies of a tensor's parts."""
        store = tensor.kind == OUTPUT
        for extents, chip, offchip, size in self._pieces(binding, tensor, parts):
            target, source = (offchip, chip) if store else (chip, offchip)
            step = self.commands.step(binding, ("u8", "u8"), extents, {"D": target, "S": source})
            yield step.row, self.commands.transfer_cycles(binding, size, extents)

    def _pieces(
        self, binding: Binding, tensor: Tensor, parts: Parts
    ) -> Iterable[tuple[dict[str, int], Place, Place, int]]:
        """Extents, place on chip, place off chip and bytes of each part."""
        layer = self.parsed.network.layers[tensor.layer]
        if tensor.kind == WEIGHT:
            base = self.placements[f"{layer.name}.weights"].address
            slab = tensor.size_bytes // layer.shape.channels
            for part, after in with_ends(parts, layer.shape.channels):
                size = (after - part.first) * slab
                rows = _rows(size, binding.limit("a"))
                strides = {"a": 1, "b": size // rows}
                at = base + part.first * slab
                yield {"a": size // rows, "b": rows}, (part.address, strides), (at, strides), size
            return
        name = layer.name
        if tensor.kind == INPUT:
            inputs = self.parsed.network.inputs
            name = (
                inputs[-1 - tensor.source][0] if tensor.source < 0 else self.parsed.network.layers[tensor.source].name
            )
        place = self.placements[name]
        whole = Block(_whole(place), (0, place.shape[1]), place.address)
        for block in blocks_of(tensor, parts):
            (s0, _), (r0, _), (c0, _) = block.region.samples, block.region.rows, block.region.columns
            samples, _, rows, columns = block.region.extents
            depth = block.channels[1] - block.channels[0]
            extents = {"a": columns, "b": rows, "c": depth, "d": samples}
            on = (block.address, _strides(block))
            off = (whole.at(s0, block.channels[0], r0, c0), _strides(whole))
            yield extents, on, off, columns * rows * depth * samples


def _whole(place: TensorPlacement) -> Region:
    samples, channels, height, width = place.shape
    return Region((0, samples), channels, (0, height), (0, width))


def _strides(block: Block) -> dict[str, int]:
    per_sample, per_channel, per_row = block.strides
    return {"a": 1, "b": per_row, "c": per_channel, "d": per_sample}


def _rows(size: int, limit: int) -> int:
    """The fewest equal rows of at most `limit` bytes."""
    rows = -(-size // limit)
    while size % rows:
        rows += 1
    return rows


def place_tensors(parsed: Parsed, offchip: Memory) -> dict[str, TensorPlacement]:
    """Network inputs, weights and stored results, one after another in DRAM."""
    network, batch = parsed.network, parsed.choices.batch
    found: dict[str, TensorPlacement] = {}
    bump = BumpAllocator(max(64, offchip.align_bytes))

    def put(name: str, role: str, shape: tuple[int, ...]) -> None:
        found[name] = TensorPlacement(name, role, "int8", shape, offchip.name, bump.take(prod(shape)))

    for name, shape in network.inputs:
        put(name, "input", (batch, *shape))
    stored = {tensor.layer for tensor in parsed.tensors if tensor.kind == OUTPUT and tensor.moves}
    for number, layer in enumerate(network.layers):
        if network.weight_bytes(number):
            channels, _ = network.group_shape(number)
            put(f"{layer.name}.weights", "weight", (layer.shape.channels, channels, *layer.kernel))
        if number in stored:
            put(layer.name, "temp" if network.consumers[number] else "output", (batch, *layer.shape))
    require_bytes(offchip.name, bump.end, offchip.capacity_bytes, network.name)
    return found
