"""Mapping kernels and networks on machines: what a person calls both, the search, and the answer."""

from ..frontends.machine_files import is_map_only
from .answer import LayerMapping
from .hand import price_ir
from .kernels import Layer, find_layers
from .machines import find_architecture
from .pipeline import MapOptions, NetworkMapping, map_kernel, map_layers, map_network
from .run import MappedRun, run, run_mapped

__all__ = [
    "Layer",
    "LayerMapping",
    "MapOptions",
    "MappedRun",
    "NetworkMapping",
    "find_architecture",
    "find_layers",
    "is_map_only",
    "map_kernel",
    "map_layers",
    "map_network",
    "price_ir",
    "run",
    "run_mapped",
]
