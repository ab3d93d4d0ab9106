"""The answer of `tilewright price-schedule`: every schedule of a file, priced."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

from ...errors import TilewrightError
from ...zoo.schedule_networks import Network, schedule_network
from ..json_fields import Json, bad, list_of, object_of, read_json
from ..soma.fusion import Fusion
from ..soma.hardware import Hardware, hardware
from .transfers import Transfers, double_buffered, energy_by_place, moved, price_transfers, soma_parsed
from .values import Parsed


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


def parse_transfers(data: object, parsed: Parsed, where: str = "enc") -> Transfers:
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
    return Transfers(np.array(order, np.int64), start, end)


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

    def price(transfers: Transfers) -> Json:
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
