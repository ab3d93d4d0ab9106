"""tilewright compiles deep-learning graphs and tensor algebra to spatial accelerators, on xDSL.

The same reach as the command line:

    import tilewright
    program = tilewright.compile("model.onnx", target="edge16")
    result = tilewright.simulate(program, {"x": array})

Names are imported when they are first used, so that `import tilewright` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .backends.program import Program
    from .backends.simulator import SimulationResult, simulate
    from .backends.timeline import TimelineRow
    from .driver import CompileOptions, RunOptions, RunResult, compile
    from .driver.graph_builder import GraphBuilder
    from .errors import InfeasibleError, TilewrightError
    from .frontends.acg import load_target, parse_target
    from .frontends.input_shapes import InputShapes
    from .frontends.onnx import import_onnx, import_open
    from .machine import Machine
    from .mapping import LayerMapping, MapOptions, MappedRun, NetworkMapping, map_kernel, map_network, run

_HOMES = {
    "CompileOptions": "driver",
    "GraphBuilder": "driver.graph_builder",
    "InfeasibleError": "errors",
    "InputShapes": "frontends.input_shapes",
    "LayerMapping": "mapping",
    "Machine": "machine",
    "MapOptions": "mapping",
    "MappedRun": "mapping",
    "NetworkMapping": "mapping",
    "Program": "backends.program",
    "RunOptions": "driver",
    "RunResult": "driver",
    "SimulationResult": "backends.simulator",
    "TilewrightError": "errors",
    "TimelineRow": "backends.timeline",
    "compile": "driver",
    "import_onnx": "frontends.onnx",
    "import_open": "frontends.onnx",
    "load_target": "frontends.acg",
    "map_kernel": "mapping",
    "map_network": "mapping",
    "parse_target": "frontends.acg",
    "run": "mapping",
    "simulate": "backends.simulator",
}

__all__ = [
    "CompileOptions",
    "GraphBuilder",
    "InfeasibleError",
    "InputShapes",
    "LayerMapping",
    "Machine",
    "MapOptions",
    "MappedRun",
    "NetworkMapping",
    "Program",
    "RunOptions",
    "RunResult",
    "SimulationResult",
    "TilewrightError",
    "TimelineRow",
    "compile",
    "import_onnx",
    "import_open",
    "load_target",
    "map_kernel",
    "map_network",
    "parse_target",
    "run",
    "simulate",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'tilewright' has no attribute '{name}'")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
