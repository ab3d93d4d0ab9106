"""SoMa's encodings of a schedule, in the form of its result files."""

from __future__ import annotations

import numpy as np

from ...errors import TilewrightError
from ..json_fields import Json, bad, list_of, object_of
from ..soma.fusion import Fusion
from .transfers import Transfers, moved
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
