"""Imports go one way: a part of the sources uses only the parts below it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[3] / "src"

LAYERS = (
    {"errors", "interruption"},
    {"files", "option_fields", "extras", "remembered", "garbage", "names"},
    {"algebra"},
    {"machine"},
    {"zoo"},
    {"costs"},
    {"certificates"},
    {"search"},
    {"dialects"},
    {"arrays"},
    {"resources"},
    {"frontends"},
    {"backends"},
    {"interpreters"},
    {"passes"},
    {"targets", "universe"},
    {"driver"},
    {"mapping"},
    {"cli", "opt"},
    {"__main__"},
    {"__init__"},
)
"""Files and folders of the sources; what stands higher up in this list is lower."""

EXCEPTIONS = {
    ("backends/onnx_backend.py", "driver"),
    ("frontends/mlir/views.py", "interpreters"),
    ("zoo/mapping_layers/tables.py", "costs"),
    ("zoo/mapping_layers/tables.py", "costs"),
}
"""ONNX's backend interface is a front door: it compiles and simulates.  Constants of MLIR text are computed by the
meaning of the layers that they would be.  Layers for mappers are problems as costs define
them, while costs of schedules read the zoo's networks."""

RANKS = {part: rank for rank, layer in enumerate(LAYERS) for part in sorted(layer)}


def used(path: Path) -> Iterator[str]:
    """The part of the sources that each relative import of a file leads to, also inside functions."""
    inside = path.relative_to(SOURCES).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            outer = inside[: len(inside) - node.level + 1]
            module = tuple(filter(None, (node.module or "").split(".")))
            yield from ((*outer, *module, alias.name)[0] for alias in node.names)


def test_every_part_has_a_layer():
    parts = {path.relative_to(SOURCES).parts[0] for path in SOURCES.rglob("*.py")}
    assert {part.removesuffix(".py") for part in parts} == set(RANKS)


@pytest.mark.parametrize("part", RANKS)
def test_parts_use_only_what_is_below_them(part: str):
    files = [*(SOURCES / part).rglob("*.py"), *SOURCES.glob(f"{part}.py")]
    above = {
        (path.relative_to(SOURCES).as_posix(), other)
        for path in files
        for other in used(path)
        if other != part and RANKS[other] >= RANKS[part]
    }
    assert above - EXCEPTIONS == set()
