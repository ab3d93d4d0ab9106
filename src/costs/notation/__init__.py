"""The tensor-centric notation of SoMa, worked out in plain Python: tiles, DRAM tensors, times, rules, addresses.

J. Cai et al., "SoMa", HPCA 2025, section IV.  This is the second witness of `costs/dram`, whose compiled functions
price the same schedules by the million; here every tile and tensor has its own box, from which code is made.
"""

from .allocate import Item, Packing, Part, Parts, pack_items, spans_of
from .check import check_addresses, check_capacity, check_schedule, items_of, slabs_of
from .parse import parse
from .soma import parse_soma
from .times import Times, times_of, transfer_cycles
from .values import INPUT, OUTPUT, WEIGHT, Choices, Move, Parsed, Region, Tensor, Tile, Timed

__all__ = [
    "INPUT",
    "OUTPUT",
    "WEIGHT",
    "Choices",
    "Item",
    "Move",
    "Packing",
    "Parsed",
    "Part",
    "Parts",
    "Region",
    "Tensor",
    "Tile",
    "Timed",
    "Times",
    "check_addresses",
    "check_capacity",
    "check_schedule",
    "items_of",
    "pack_items",
    "parse",
    "parse_soma",
    "slabs_of",
    "spans_of",
    "times_of",
    "transfer_cycles",
]
