"""Mapping kernels and networks on machines: what a person calls both, the search, and the answer."""

from ..frontends.machine_files import is_map_only
from .answer import LayerMapping
from .compile import compile_threads
from .hand import price_ir
from .kernels import Layer, find_layers
from .machines import find_architecture, runs_mapping, target_of
from .pipeline import MapOptions, NetworkMapping, map_kernel, map_layers, map_network
from .run import MappedRun, run, run_mapped
from .threads import ThreadKernel

__all__ = [
    "Layer",
    "LayerMapping",
    "MapOptions",
    "MappedRun",
    "NetworkMapping",
    "ThreadKernel",
    "compile_threads",
    "find_architecture",
    "find_layers",
    "is_map_only",
    "map_kernel",
    "map_layers",
    "map_network",
    "price_ir",
    "run",
    "run_mapped",
    "runs_mapping",
    "target_of",
]
