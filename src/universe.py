"""What tilewright adds to xDSL, by name: dialects, passes and targets, each imported when it is first used.

A pass `a-b` is class `ABPass` of `a_b.py` in its folder of `passes`; a dialect `x` is the `Dialect` object `X` of
`dialects/x`; a target `x` is class `XTarget` of `backends/text.py`.
`TILEWRIGHT_UNIVERSE` is the `xdsl.universe` entry point, so plain `xdsl-opt` sees the same names.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, cast

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import XDSL_UNIVERSE, Universe
from xdsl.utils.arg_spec import parse_pipeline
from xdsl.utils.target import Target

from .extras import plugged, plugged_names

DIALECTS = ("graph", "nest", "acg", "codelet", "dram", "mnemonic", "warp")

PASSES_BY_FOLDER = {
    "": ("load-target",),
    "graph": (
        "graph-fix-extents",
        "graph-lookups",
        "graph-normalize",
        "graph-quantize",
        "graph-integers",
        "graph-pack",
        "graph-unfold",
        "graph-split-hidden",
        "graph-split-rows",
        "graph-heads",
        "graph-fuse",
        "graph-partition",
        "graph-verify",
    ),
    "graph_to_nest": ("convert-graph-to-nest",),
    "nest": (
        "nest-tile",
        "nest-permute",
        "nest-unroll",
        "nest-map",
        "nest-band",
        "nest-fold-moves",
        "nest-split-weights",
        "nest-split-joins",
        "nest-schedule",
        "nest-split-reductions",
        "nest-swap-factors",
        "nest-spread-weights",
        "nest-verify",
    ),
    "nest_to_codelet": ("convert-nest-to-codelet",),
    "dram": ("dram-schedule", "dram-verify", "dram-apply"),
    "codelet": (
        "codelet-unroll",
        "codelet-parallelize",
        "codelet-pipeline",
        "codelet-prefetch",
        "codelet-allocate",
        "codelet-verify",
    ),
    "codelet_to_queues": ("convert-codelet-to-mnemonic",),
    "mnemonic": ("mnemonic-pack",),
    "nest_to_loops": ("convert-nest-to-loops",),
    "graph_to_codelet": ("convert-graph-to-codelet",),
    "codelet_to_stages": ("convert-codelet-to-stages",),
    "nest_to_packets": ("convert-nest-to-packets",),
    "nest_to_gpu": ("convert-nest-to-gpu",),
}
"""Passes by the folder of `passes/` that they are in."""

PASSES = {name: folder for folder, names in PASSES_BY_FOLDER.items() for name in names}
"""The folder of each pass."""

TARGETS = ("acg", "assembly", "dot")


def _attribute(module: str, name: str) -> Any:
    return getattr(import_module(f".{module}", __package__), name)


def _dialect(name: str) -> Callable[[], Dialect]:
    return lambda: cast(Dialect, _attribute(f"dialects.{name}", name.capitalize()))


def _pass(name: str) -> Callable[[], type[ModulePass]]:
    module = ".".join(filter(None, ("passes", PASSES[name], name.replace("-", "_"))))
    class_name = "".join(word.capitalize() for word in name.split("-")) + "Pass"
    return lambda: cast(type[ModulePass], _attribute(module, class_name))


def _target(name: str) -> Callable[[], type[Target]]:
    return lambda: cast(type[Target], _attribute("backends.text", f"{name.capitalize()}Target"))


GROUP = "xdsl.universe"
"""Entry points of packages that add dialects, passes and targets."""

TILEWRIGHT_UNIVERSE = Universe(
    all_dialects={name: _dialect(name) for name in DIALECTS},
    all_passes={name: _pass(name) for name in PASSES},
    all_targets={name: _target(name) for name in TARGETS},
)


def find_passes(text: str) -> dict[str, Callable[[], type[ModulePass]]]:
    """xDSL's passes and ours; where the pipeline `text` names others, those of other packages, too."""
    known = XDSL_UNIVERSE.all_passes | TILEWRIGHT_UNIVERSE.all_passes
    if all(spec.name in known for spec in parse_pipeline(text)):
        return known
    others = [plugged(GROUP, name, "universe")[0] for name in plugged_names(GROUP)]
    added = [universe.all_passes for universe in others if isinstance(universe, Universe)]
    return {name: get for passes in (*added, known) for name, get in passes.items()}
