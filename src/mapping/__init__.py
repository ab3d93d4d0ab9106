"""Mapping kernels and networks on machines: what a person calls both, the search, and the answer."""

from .answer import LayerMapping
from .hand import price_ir
from .kernels import Layer, find_layers
from .machines import find_architecture
from .pipeline import MapOptions, NetworkMapping, map_kernel, map_layers, map_network

__all__ = [
    "Layer",
    "LayerMapping",
    "MapOptions",
    "NetworkMapping",
    "find_architecture",
    "find_layers",
    "map_kernel",
    "map_layers",
    "map_network",
    "price_ir",
]
