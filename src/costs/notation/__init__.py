"""The tensor-centric notation of SoMa, worked out in plain Python: tiles, DRAM tensors, times, rules, addresses.

J. Cai et al., "SoMa", HPCA 2025, section IV.  This is the second witness of `costs/dram`, whose compiled functions
price the same schedules by the million; here every tile and tensor has its own box, from which code is made.
"""

from .check import check_addresses, check_capacity, check_schedule, live_ranges, slabs_of
from .parse import parse
from .soma import parse_soma
from .times import Times, times_of, transfer_cycles
from .values import INPUT, OUTPUT, WEIGHT, Choices, Move, Parsed, Region, Tensor, Tile, Timed

__all__ = [
    "INPUT",
    "OUTPUT",
    "WEIGHT",
    "Choices",
    "Move",
    "Parsed",
    "Region",
    "Tensor",
    "Tile",
    "Timed",
    "Times",
    "check_addresses",
    "check_capacity",
    "check_schedule",
    "live_ranges",
    "parse",
    "parse_soma",
    "slabs_of",
    "times_of",
    "transfer_cycles",
]
