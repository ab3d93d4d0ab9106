"""What tilewright adds to xDSL, by name: dialects, passes and targets, each imported when it is first used.

A pass `a-b` is class `ABPass` of `passes/a_b.py`; a dialect `x` is the `Dialect` object `X` of `dialects/x`;
a target `x` is class `XTarget` of `backends/text.py`.
`TILEWRIGHT_UNIVERSE` is the `xdsl.universe` entry point, so plain `xdsl-opt` sees the same names.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, cast

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe
from xdsl.utils.target import Target

DIALECTS = ("graph", "nest", "acg", "codelet", "dram", "mnemonic")

PASSES = (
    "load-target",
    "graph-normalize",
    "graph-quantize",
    "graph-integers",
    "graph-fuse",
    "graph-partition",
    "graph-verify",
    "convert-graph-to-nest",
    "nest-tile",
    "nest-permute",
    "nest-unroll",
    "nest-map",
    "nest-verify",
    "convert-nest-to-codelet",
    "dram-schedule",
    "dram-allocate",
    "dram-verify",
    "codelet-unroll",
    "codelet-parallelize",
    "codelet-pipeline",
    "codelet-allocate",
    "codelet-verify",
    "convert-codelet-to-mnemonic",
    "mnemonic-pack",
    "convert-dram-to-mnemonic",
    "convert-nest-to-loops",
)

TARGETS = ("acg", "assembly")


def _attribute(module: str, name: str) -> Any:
    return getattr(import_module(f".{module}", __package__), name)


def _dialect(name: str) -> Callable[[], Dialect]:
    return lambda: cast(Dialect, _attribute(f"dialects.{name}", name.capitalize()))


def _pass(name: str) -> Callable[[], type[ModulePass]]:
    module = f"passes.{name.replace('-', '_')}"
    class_name = "".join(word.capitalize() for word in name.split("-")) + "Pass"
    return lambda: cast(type[ModulePass], _attribute(module, class_name))


def _target(name: str) -> Callable[[], type[Target]]:
    return lambda: cast(type[Target], _attribute("backends.text", f"{name.capitalize()}Target"))


TILEWRIGHT_UNIVERSE = Universe(
    all_dialects={name: _dialect(name) for name in DIALECTS},
    all_passes={name: _pass(name) for name in PASSES},
    all_targets={name: _target(name) for name in TARGETS},
)
