"""Networks and schedules between the `dram` dialect and the values that searches work on, both ways."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import VerifyException

from ...costs.dram import Model
from ...costs.dram.platform import buffer_of, model_of
from ...costs.notation import INPUT, OUTPUT, WEIGHT, Choices, Move, Parsed, parse
from ...costs.soma.hardware import MIB, hardware
from ...costs.soma.tiling import Fusion
from ...dialects import dram
from ...dialects.dram_syntax import LOAD, STORE, WEIGHTS, MachineNumbers, Row, ints
from ...errors import InfeasibleError, TilewrightError
from ...machine import Machine
from ...zoo.schedule_networks import KINDS, Kind, Layer, Network, Shape
from ..functions import functions_of
from ..graph.schedule_layers import unique

KIND_OF_ROW = {LOAD: INPUT, WEIGHTS: WEIGHT, STORE: OUTPUT}
ROW_OF_KIND = {INPUT: LOAD, WEIGHT: WEIGHTS, OUTPUT: STORE}


@dataclass(frozen=True)
class Schedule:
    """A schedule as values: what is computed in which tiles, the order and lives of DRAM tensors."""

    name: str
    machine: MachineNumbers
    parsed: Parsed
    moves: tuple[Move, ...]


def network_op(network: Network, name: str = "") -> dram.NetworkOp:
    """`network` as IR; layers of one name are numbered."""
    layers = unique([layer.name for layer in network.layers])
    inputs = unique([given for given, _ in network.inputs])
    clash = set(layers)
    inputs = unique([*layers, *(f"{given}" if given not in clash else f"{given}.in" for given in inputs)])[
        len(layers) :
    ]
    body: list[dram.InputOp | dram.LayerOp] = [
        dram.InputOp(given, shape) for given, (_, shape) in zip(inputs, network.inputs, strict=True)
    ]
    for own, layer in zip(layers, network.layers, strict=True):
        reads = [*(layers[i] for i in layer.inputs), *(inputs[i] for i in layer.external)]
        body.append(
            dram.LayerOp(
                own,
                layer.kind,
                layer.shape,
                inputs=reads,
                weights=[layers[i] for i in layer.weights_from],
                kernel=layer.kernel,
                stride=layer.stride,
                groups=layer.groups,
                operands_count=layer.operands,
                permutation=layer.permutation,
            )
        )
    return dram.NetworkOp(name or network.name, body)


def network_value(op: dram.NetworkOp) -> Network:
    """IR as a network; TilewrightError (kind `network`) where shapes do not fit.

    What a layer reads are layers first and then network inputs, in which order they are concatenated.
    """
    layers = {layer.sym_name.data: number for number, layer in enumerate(op.layers)}
    inputs = {given.sym_name.data: number for number, given in enumerate(op.inputs)}
    found: list[Layer] = []
    for layer in op.layers:
        names = [name.data for name in layer.inputs]
        kinds = [name in layers for name in names]
        if kinds != sorted(kinds, reverse=True):
            expected = "layers, then network inputs, in what it reads"
            raise TilewrightError("network", f"layer {layer.sym_name.data!r}", expected, ", ".join(names))
        found.append(
            Layer(
                layer.sym_name.data,
                _kind(layer),
                Shape(*ints(layer.shape)),
                tuple(layers[name] for name in names if name in layers),
                tuple(inputs[name] for name in names if name not in layers),
                tuple(layers[name.data] for name in layer.weights),
                cast(tuple[int, int], ints(layer.kernel)),
                cast(tuple[int, int], ints(layer.stride)),
                layer.groups.value.data,
                layer.operands_count.value.data,
                cast(tuple[int, int, int], ints(layer.permutation)),
            )
        )
    given = tuple((item.sym_name.data, Shape(*ints(item.shape))) for item in op.inputs)
    return Network(op.sym_name.data, given, tuple(found))


def _kind(layer: dram.LayerOp) -> Kind:
    for kind in KINDS:
        if kind == layer.kind.data:
            return kind
    expected = f"a kind of {', '.join(KINDS)}"
    raise TilewrightError("network", f"layer {layer.sym_name.data!r}", expected, layer.kind.data)


def schedule_op(
    name: str, network: dram.NetworkOp, machine: MachineNumbers, parsed: Parsed, moves: Sequence[Move]
) -> dram.ScheduleOp:
    """A schedule of `network` as IR."""
    layers = [layer.sym_name.data for layer in network.layers]
    inputs = [given.sym_name.data for given in network.inputs]
    rows = [_row(parsed, move) for move in moves]
    body = [*_groups(parsed.choices, layers), dram.TransfersOp(layers, inputs, rows)]
    return dram.ScheduleOp(name, network.sym_name.data, parsed.choices.batch, machine, body)


def _groups(choices: Choices, layers: list[str]) -> list[dram.LayerGroupOp]:
    found: list[list[dram.FusedGroupOp]] = []
    for number, group in enumerate(choices.fusion.fused_groups):
        if group.group == len(found):
            found.append([])
        streamed, reused = choices.flags(number)
        names = [layers[layer] for layer in group.layers]
        found[-1].append(dram.FusedGroupOp(group.tiles, names, streaming=streamed, reused=reused))
    return [dram.LayerGroupOp(groups) for groups in found]


def _row(parsed: Parsed, move: Move) -> Row:
    tensor = parsed.tensors[move.tensor]
    return Row(ROW_OF_KIND[tensor.kind], tensor.layer, tensor.tile, tensor.source, move.start, move.end)


def choices_of(op: dram.ScheduleOp) -> Choices:
    """The layer-fusion attributes of a schedule."""
    numbers = {layer.sym_name.data: number for number, layer in enumerate(op.scheduled.layers)}
    order: list[int] = []
    groups: list[int] = []
    cuts: list[int] = []
    fused: list[dram.FusedGroupOp] = []
    for outer in op.layer_groups:
        for place, group in enumerate(outer.fused_groups):
            (cuts if place else groups).append(len(order))
            order += [numbers[name.data] for name in group.layers]
            fused.append(group)
    fusion = Fusion(tuple(order), tuple(groups), tuple(cuts), tuple(group.tiles.value.data for group in fused))
    streamed = tuple(group.streaming is not None for group in fused)
    return Choices(fusion, op.batch.value.data, streamed, tuple(group.reused is not None for group in fused))


def parsed_of(op: dram.ScheduleOp) -> Parsed:
    """Tiles and tensors of a schedule, in the model of its machine."""
    return parsed_for(network_value(op.scheduled), choices_of(op), op.machine.data)


def parsed_for(network: Network, choices: Choices, machine: MachineNumbers) -> Parsed:
    """Tiles and tensors of `choices` in the model of `machine`."""
    return parse(network, choices, model_of_numbers(machine))


def numbers_of(
    machine: Machine, reserve_bytes: int = 0, *, exact: bool = True, element_bytes: int = 1
) -> MachineNumbers:
    """The model of `machine` as the dialect has it, with `reserve_bytes` of the buffer left free.

    An element of a schedule is a byte: of larger ones the buffer holds, and DRAM moves, as many fewer.
    """
    model, align_bytes = model_of(machine, exact=exact), buffer_of(machine).align_bytes
    array = model.array
    buffer = (model.buffer_bytes - reserve_bytes) // element_bytes
    if buffer < 1:
        raise InfeasibleError("global buffer", reserve_bytes, model.buffer_bytes, "bytes", "keep less of it free")
    macs, capacity, ports = array.vector * array.lanes, model.buffer_bytes, (array.read_port, model.write_port)
    bandwidth, latency = max(1, model.bandwidth // element_bytes), model.latency
    return MachineNumbers(array.side, macs, capacity, buffer, *ports, bandwidth, latency, align_bytes, model.exact)


def model_of_numbers(numbers: MachineNumbers) -> Model:
    """What prices a schedule; TilewrightError (kind `hardware`) where no array is known with such numbers."""
    capacity = max(1, numbers.capacity // MIB)
    array = hardware(capacity, 1.0, numbers.side, numbers.read, numbers.macs).array
    return Model(array, numbers.buffer, numbers.bandwidth, numbers.latency, numbers.write, int(numbers.exact > 0))


def schedule_value(op: dram.ScheduleOp) -> Schedule:
    """IR as a schedule; TilewrightError (kind `schedule`) where its rows are no tensors of it."""
    parsed = parsed_of(op)
    moves: list[Move] = []
    for row, key in _keys(op, op.transfers) if op.transfers is not None else ():
        number = parsed.number.get(key)
        if number is None or not parsed.tensors[number].moves:
            raise _unknown(op.transfers, row)
        moves.append(Move(number, row.start, row.end))
    return Schedule(op.sym_name.data, op.machine.data, parsed, tuple(moves))


def _keys(op: dram.ScheduleOp, tensors: dram.TransfersOp) -> list[tuple[Row, tuple[int, int, int, int]]]:
    layers = {layer.sym_name.data: number for number, layer in enumerate(op.scheduled.layers)}
    inputs = {given.sym_name.data: number for number, given in enumerate(op.scheduled.inputs)}
    own = [layers[name.data] for name in tensors.layer_names]
    given = [inputs[name.data] for name in tensors.input_names]
    found: list[tuple[Row, tuple[int, int, int, int]]] = []
    for row in tensors.rows:
        source = -1
        if row.kind == LOAD:
            source = own[row.source] if row.source >= 0 else -1 - given[-1 - row.source]
        found.append((row, (KIND_OF_ROW[row.kind], own[row.layer], row.tile, source)))
    return found


def _unknown(tensors: dram.TransfersOp | None, row: Row) -> TilewrightError:
    assert tensors is not None
    name = tensors.layer_names.data[row.layer].data
    what = {LOAD: "a load of input", WEIGHTS: "a load of weights", STORE: "a store"}
    return TilewrightError(
        "schedule",
        f"layer {name!r}, tile {row.tile}",
        f"{what[row.kind]} that the groups ask for",
        "a row that they do not",
        "see docs/dram.md for which tensors there are",
    )


def schedule_of(module: ModuleOp) -> dram.ScheduleOp:
    """The one schedule of a module; TilewrightError (kind `schedule`) where there is none, or more."""
    found = [op for op in module.body.ops if isinstance(op, dram.ScheduleOp)]
    if len(found) != 1:
        raise TilewrightError("schedule", "module", "one dram.schedule", str(len(found)))
    return found[0]


def network_in(module: ModuleOp) -> dram.NetworkOp | None:
    """The network of a module, if it has one; VerifyException where there are more."""
    found = [op for op in module.body.ops if isinstance(op, dram.NetworkOp)]
    if len(found) > 1:
        raise VerifyException(f"expected one dram.network, found {len(found)}")
    return found[0] if found else None


def function_in(module: ModuleOp) -> FuncOp:
    """The one function of a module; TilewrightError (kind `schedule`) where there is none, or more."""
    found = functions_of(module)
    if len(found) != 1:
        raise TilewrightError("schedule", "module", "one dram.network, or one function", str(len(found)))
    return found[0]
