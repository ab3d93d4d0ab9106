"""The cost model of SoMa, quirks included: latency, energy and buffer use of fused, tiled, prefetched schedules.

The tool: J. Cai et al., "SoMa: Identifying, Exploring, and Understanding the DRAM Communication Scheduling Space for
DNN Accelerators", HPCA 2025, its public code at commit 6e80836 of 2025.  Known quirks kept here: every tile is taken
for the top left one of its map (interior halos are missing), cores read a layer's input as if its stride were 1, vector
layers cause no traffic in the buffer, groups too wide for a core's MACs are never limited by the buffer's read port,
and a producer's tile spans all channels of the concatenation that its reader in the same fused group makes.
"""

from .encoding import fusion_as_json, parse_fusion, parse_transfers, transfers_as_json
from .evaluate import Price, evaluate
from .fusion import FusedGroup, Fusion
from .hardware import CoreArray, Hardware, hardware
from .plan import Plan, Stage, Tensors, Tiling
from .planner import Planner, plan
from .price_file import price_schedule_document, price_schedule_file
from .tile_cost import TileCost
from .timeline import Timeline, plan_columns, timeline
from .transfers import Transfers, double_buffered

__all__ = [
    "CoreArray",
    "FusedGroup",
    "Fusion",
    "Hardware",
    "Plan",
    "Planner",
    "Price",
    "Stage",
    "Tensors",
    "TileCost",
    "Tiling",
    "Timeline",
    "Transfers",
    "double_buffered",
    "evaluate",
    "fusion_as_json",
    "hardware",
    "parse_fusion",
    "parse_transfers",
    "plan",
    "plan_columns",
    "price_schedule_document",
    "price_schedule_file",
    "timeline",
    "transfers_as_json",
]
