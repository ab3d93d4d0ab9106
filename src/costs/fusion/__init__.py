"""What it costs to run groups of layers tile by tile on chip.

The scheme and the cost model: Z. Tan, Z. Zhu and K. Ma, "Cocco: Hardware-Mapping Co-Exploration towards Memory
Capacity-Communication Optimization", ASPLOS 2024, sections 3, 4.1 and 5.
"""

from .graph import POINT, WHOLE, Edge, Input, Layer, LayerGraph, Shape, Window, layer_graph
from .of_machine import platform_of
from .pricer import SubgraphPricer
from .schedule import scheme_of
from .scheme import Axis, Held, Region, RegionManager, RingPadding, Scheme
from .values import Buffers, Metric, Platform, SubgraphCost

__all__ = [
    "POINT",
    "WHOLE",
    "Axis",
    "Buffers",
    "Edge",
    "Held",
    "Input",
    "Layer",
    "LayerGraph",
    "Metric",
    "Platform",
    "Region",
    "RegionManager",
    "RingPadding",
    "Scheme",
    "Shape",
    "SubgraphCost",
    "SubgraphPricer",
    "Window",
    "layer_graph",
    "platform_of",
    "scheme_of",
]
