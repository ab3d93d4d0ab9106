"""The answer of `tilewright price-schedule`: every schedule of a file, priced."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from ...errors import TilewrightError
from ...zoo.schedule_networks import schedule_network
from ...zoo.schedule_networks.layers import Network
from ..dram.tables import Model, net_tables
from ..dram.tile_price import energies
from ..json_fields import Json, bad, list_of, object_of, read_json
from ..soma.blocks import splits
from ..soma.hardware import DRAM_PJ, Hardware, hardware
from ..soma.run import BAD_LIFE, LATE_START, PlanColumns, Scratch, TransferColumns, first_bad_life, run
from ..soma.tiling import INPUT, WEIGHT, Fusion
from .values import OUTPUT, Choices, Move, Parsed, Tensor, parse


@dataclass(frozen=True)
class Times:
    """Cycles at which tiles begin, by position, and transfers, in their order."""

    latency_cycles: int
    tile_begin: tuple[int, ...]
    move_begin: tuple[int, ...]


def transfer_cycles(parsed: Parsed, bandwidth: int, latency: int) -> tuple[int, ...]:
    """Cycles of each tensor's transfer at `bandwidth` bytes per cycle after `latency` cycles."""
    return tuple(latency - (-tensor.size_bytes // bandwidth) for tensor in parsed.tensors)


def columns_of(parsed: Parsed, transfers: Sequence[int]) -> PlanColumns:
    """Tiles and tensors as the compiled functions take them, each tensor's transfer taking so many cycles."""
    rows = [(t.layer, t.first, t.first if t.kind == OUTPUT else -1, t.size_bytes) for t in parsed.tensors]
    layer, first, made, size = np.array(rows, np.int64).reshape(-1, 4).T.copy()
    layers, cycles = np.array([tile.layer for tile in parsed.tiles]), np.array(parsed.tile_cycles, np.int64)
    return PlanColumns(cycles, layers, layer, first, made, size, np.array(transfers, np.int64))


def times_of(parsed: Parsed, moves: Sequence[Move], transfers: Sequence[int]) -> Times:
    """The times of a legal schedule (`check_schedule`), each tensor's transfer taking so many cycles."""
    tensors, count = parsed.tensors, len(parsed.tiles)
    order, start, end = np.array(moves, np.int64).reshape(-1, 3).T.copy()
    begins, ends = np.array([[t.first, t.last] for t in tensors], np.int64).T.copy()
    begins[order], ends[order] = start, end
    begin, move_begin, usage = np.zeros(count, np.int64), np.zeros(len(order), np.int64), np.zeros(count + 2, np.int64)
    scratch = Scratch(np.zeros(count + 1, np.int64), usage, begin, move_begin)
    _, latency, _ = run(columns_of(parsed, transfers), TransferColumns(order, begins, ends), scratch)
    return Times(latency, tuple(begin.tolist()), tuple(move_begin.tolist()))


LATE = "a tile waits for a transfer that may begin only after it"


def soma_parsed(network: Network, machine: Hardware, fusion: Fusion, batch: int, exact: int = 0) -> Parsed:
    """`parse` with SoMa's numbers of tensors: layer by layer inputs by source and tile, weights, results.

    Each reader loads for itself, in the exact model, too.

    Raises TilewrightError (kind `schedule`) for a fusion that does not describe a computation of `network`.
    """
    found = parse(network, Choices(fusion, batch), _model(machine, exact), shared=False)
    place = {layer: i for i, layer in enumerate(fusion.order)}

    def key(tensor: Tensor) -> tuple[int, int, bool, int, int]:
        return place[tensor.layer], tensor.kind, tensor.source < 0, abs(tensor.source), tensor.tile

    return replace(found, tensors=tuple(sorted(found.tensors, key=key)))


def _model(machine: Hardware, exact: int = 0) -> Model:
    return Model(machine.array, machine.buffer_bytes, machine.dram_bandwidth, 0, machine.array.read_port, exact)


def moved(parsed: Parsed) -> list[int]:
    """Numbers of the tensors that pass through DRAM."""
    return [number for number, tensor in enumerate(parsed.tensors) if tensor.moves]


def double_buffered(parsed: Parsed) -> TransferColumns:
    """What SoMa's first stage assumes: loads while the tile before runs, stores while the next tile runs."""
    groups = parsed.choices.fusion.fused_groups
    ends = np.zeros(parsed.choices.fusion.layer_group_count, np.int64)
    np.add.at(ends, [group.group for group in groups], [len(group.layers) * group.tiles for group in groups])
    ends = np.cumsum(ends)
    group_of = {layer: group.group for group in groups for layer in group.layers}
    start, end = np.array([(t.first, t.last) for t in parsed.tensors], np.int64).reshape(-1, 2).T.copy()
    for number, tensor in enumerate(parsed.tensors):
        if tensor.kind != OUTPUT:
            start[number] = max(tensor.first - 1, -1)
        elif tensor.moves:
            end[number] = max(tensor.last, min(tensor.first + 2, ends[group_of[tensor.layer]]))
    rank = {WEIGHT: 0, INPUT: 1, OUTPUT: 2}
    kinds = [tensor.kind for tensor in parsed.tensors]

    def turn(number: int) -> tuple[int, bool, int, int]:
        kind = kinds[number]
        return int(start[number]), kind != WEIGHT, int(end[number]), rank[kind]

    return TransferColumns(np.array(sorted(moved(parsed), key=turn), np.int64), start, end)


def price_transfers(parsed: Parsed, transfers: TransferColumns, machine: Hardware) -> Json:
    """The answer of `tilewright price-schedule` for one stage; prices of an illegal schedule are null."""
    cycles = transfer_cycles(parsed, machine.dram_bandwidth, 0)
    columns, count = columns_of(parsed, cycles), len(parsed.tiles)
    begin, usage = np.zeros(count, np.int64), np.zeros(count + 2, np.int64)
    scratch = Scratch(np.zeros(count + 1, np.int64), usage, begin, np.zeros(len(transfers.order), np.int64))
    outcome, latency, peak = run(columns, transfers, scratch)
    violations: list[str] = [LATE] if outcome == LATE_START else []
    if outcome == BAD_LIFE:
        tensor = first_bad_life(columns, transfers)
        life = f"[{transfers.start[tensor]}, {transfers.end[tensor]})"
        violations.append(f"tensor {tensor} lives during {life} but is used at {parsed.tensors[tensor].first}")
    timed = not violations
    if peak > machine.buffer_bytes:
        violations.append(f"{peak} bytes of buffer where there are {machine.buffer_bytes}")
    # As SoMa does, each interval is charged with the use at its end.
    lengths = np.diff(np.concatenate([[0], begin, [latency]]))
    mean = float((lengths * np.append(usage[1:-1], 0)).sum() / latency) if latency else 0.0
    fusion = parsed.choices.fusion
    return {
        "latency_cycles": latency if timed else None,
        "energy_pj": parsed.energy_pj if timed else None,
        "max_buffer_bytes": peak,
        "mean_buffer_bytes": mean if timed else None,
        "dram_tensors": len(transfers.order),
        "dram_bytes": _dram_bytes(parsed),
        "compute_cycles": sum(parsed.tile_cycles),
        "dram_cycles": sum(cycles[number] for number in moved(parsed)),
        "tiles": count,
        "layer_groups": fusion.layer_group_count,
        "fused_groups": len(fusion.fused_groups),
        "valid": not violations,
        "violations": violations,
    }


def _dram_bytes(parsed: Parsed) -> int:
    return sum(tensor.size_bytes for tensor in parsed.tensors if tensor.moves)


def energy_by_place(parsed: Parsed, machine: Hardware) -> dict[str, float]:
    """pJ by place in SoMa's model, whenever transfers happen; DRAM at the same price for loads and stores."""
    net, model, ways = net_tables(parsed.network), _model(machine), splits(machine.array.side)
    found = dict.fromkeys(("buffer", "core", "hops", "arithmetic"), 0.0)
    for group in parsed.choices.fusion.fused_groups:
        for layer in group.layers:
            parts = energies(net, model, ways, layer, parsed.boxes[layer])
            for place, energy in zip(found, parts, strict=True):
                found[place] += energy * group.tiles
    return found | {"dram": DRAM_PJ * _dram_bytes(parsed)}


def parse_fusion(data: object, where: str = "enc") -> Fusion:
    """The fusion in `{layer_order_to_id, layer_group_partition, sub_layer_group_partition, tile_numbers}`.

    The partitions list places in the order where layer groups, and further fused groups, begin; null stands for none.
    """
    encoding = object_of(data, where)
    return Fusion(
        _integers(encoding, "layer_order_to_id", where),
        _integers(encoding, "layer_group_partition", where),
        _integers(encoding, "sub_layer_group_partition", where),
        _integers(encoding, "tile_numbers", where),
    )


def parse_transfers(data: object, parsed: Parsed, where: str = "enc") -> TransferColumns:
    """The transfers in `{tensor_times, tile_tensor_order}` for the tensors of `soma_parsed`."""
    encoding = object_of(data, where)
    rows = list_of(encoding.get("tensor_times"), f"{where}.tensor_times")
    if len(rows) != len(parsed.tensors):
        raise bad(f"{where}.tensor_times", f"{len(parsed.tensors)} lives, one per tensor", f"{len(rows)}")
    positions = len(parsed.tiles)
    times = [_life(row, positions, f"{where}.tensor_times[{i}]") for i, row in enumerate(rows)]
    order = _integers(encoding, "tile_tensor_order", where)
    through = moved(parsed)
    if sorted(order) != through:
        expected = f"each of the {len(through)} tensors that pass through DRAM once"
        raise bad(f"{where}.tile_tensor_order", expected, f"{len(order)} numbers, some missing, repeated or local")
    start, end = np.array(times, np.int64).reshape(-1, 2).T.copy()
    return TransferColumns(np.array(order, np.int64), start, end)


def _life(data: object, positions: int, where: str) -> tuple[int, int]:
    match data:
        case [int(start), int(end)] if -1 <= start < end <= positions:
            return start, end
        case _:
            raise bad(where, f"[start, end] with -1 <= start < end <= {positions}", data)


def _integers(data: Json, key: str, where: str) -> tuple[int, ...]:
    found: list[int] = []
    for i, value in enumerate(list_of(data.get(key) or [], f"{where}.{key}")):
        if isinstance(value, bool) or not isinstance(value, int):
            raise bad(f"{where}.{key}[{i}]", "an integer", value)
        found.append(value)
    return tuple(found)


def parse_request(args: object, order: object, where: str) -> dict[str, float]:
    """SoMa's command line as numbers by name; `order` names the arguments, and later ones may be missing."""
    if not isinstance(args, str) or not isinstance(order, str):
        raise bad(where, "the command line as text", args)
    words = args.split()
    found: dict[str, float] = {}
    for name, word in zip(order.split(), words, strict=False):
        if name == "outdir":
            continue
        try:
            found[name] = float(word)
        except ValueError:
            raise bad(f"{where}: {name}", "a number", word) from None
    missing = [name for name in ("net", "bufMB", "batch", "bwratio", "pedim", "l2bw", "macs") if name not in found]
    if missing:
        raise TilewrightError("parse", where, f"arguments `{order}`", f"no {', '.join(missing)} in `{args[:80]}`")
    return found


T = TypeVar("T")

NETWORK_IDS = {
    2: "resnet50",
    4: "resnet101",
    6: "inception_resnet_v1",
    18: "randwire_small",
    19: "randwire_large",
    107: "gpt2_small_decode",
    108: "gpt2_small_prefill",
    109: "gpt2_xl_decode",
    110: "gpt2_xl_prefill",
}
"""SoMa's numbers of the networks that are known here."""

ARGUMENTS = "net baseline seq nseg bufMB batch bwratio pedim l2bw macs seed outdir"

MAX_BATCH = 1 << 10
MAX_TOKENS = 1 << 16


def price_schedule_file(path: str | Path) -> Json:
    """`{"results": [{"stage1": {...}, "stage2": {...}}]}`, one result per entry of `runs` in the JSON file at `path`.

    An entry has SoMa's command line under `args`, in the file's `arg_order`, a fusion under `stage1.enc`, and, where
    there is a `stage2`, transfers under `stage2.enc`; or a fusion alone under `enc`, priced as stage 1.  A stage's
    answer holds `latency_cycles, energy_pj, max_buffer_bytes, dram_tensors, valid, violations` and more.
    """
    return price_schedule_document(read_json(Path(path)), str(path))


def price_schedule_document(data: object, where: str = "file") -> Json:
    """`price_schedule_file` on the parsed content of a file."""
    document = object_of(data, where)
    order = document.get("arg_order", ARGUMENTS)
    runs = list_of(document.get("runs"), f"{where}: runs")
    results = [_price_run(object_of(run, f"runs[{i}]"), order, f"{where}: runs[{i}]") for i, run in enumerate(runs)]
    return {"model": "soma", "results": results}


def _price_run(run: Json, order: object, where: str) -> Json:
    request = parse_request(run.get("args"), order, f"{where}.args")
    network, machine, batch = setting(request, f"{where}.args")
    first = object_of(run.get("stage1", run), f"{where}.stage1")
    fusion = parse_fusion(first.get("enc"), f"{where}.stage1.enc")
    found = _located(lambda: soma_parsed(network, machine, fusion, batch), where)

    def price(transfers: TransferColumns) -> Json:
        stage = price_transfers(found, transfers, machine)
        places = None if stage["energy_pj"] is None else energy_by_place(found, machine)
        return stage | {"energy_by_place_pj": places}

    answer: Json = {"network": network.name, "batch": batch, "stage1": price(double_buffered(found))}
    if run.get("stage2") is not None:
        second = object_of(run["stage2"], f"{where}.stage2")
        transfers = parse_transfers(second.get("enc"), found, f"{where}.stage2.enc")
        answer["stage2"] = price(transfers)
    return answer


def _located(action: Callable[[], T], where: str) -> T:
    """The result of `action`; its errors are told to be in `where`."""
    try:
        return action()
    except TilewrightError as error:
        raise TilewrightError(
            error.kind, f"{where}: {error.subject}", error.expected, error.found, error.lever
        ) from None


def setting(request: dict[str, float], where: str) -> tuple[Network, Hardware, int]:
    """Network, machine and batch of a request that `parse_request` made; errors are told to be in `where`."""

    def whole(name: str, most: int) -> int:
        value = request[name]
        if not (1 <= value <= most and value.is_integer()):
            raise bad(f"{where}: {name}", f"an integer from 1 to {most}", value)
        return int(value)

    if request.get("nseg", 1) != 1:
        raise bad(f"{where}: nseg", "1, a network in one segment", request["nseg"])
    number = whole("net", 1 << 20)
    if number not in NETWORK_IDS:
        known = ", ".join(f"{key} {name}" for key, name in NETWORK_IDS.items())
        raise bad(f"{where}: net", f"a known network ({known})", number)
    tokens = whole("seq", MAX_TOKENS) if "seq" in request else None
    sizes = [whole(name, 1 << 20) for name in ("pedim", "l2bw", "macs")]
    machine = _located(lambda: hardware(whole("bufMB", 1 << 20), request["bwratio"], *sizes), where)
    network = _located(lambda: schedule_network(NETWORK_IDS[number], tokens), where)
    return network, machine, whole("batch", MAX_BATCH)
