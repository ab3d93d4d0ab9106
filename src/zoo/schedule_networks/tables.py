"""The networks by name."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import TypedDict, cast

from ...errors import TilewrightError
from .gpt2 import gpt2_decode, gpt2_prefill
from .layers import Kind, Layer, Network, Shape

TABLES = ("inception_resnet_v1", "randwire_large", "randwire_small", "resnet101", "resnet50")
"""Networks that are kept as data, in `<name>.json` beside this file."""

BLOCKS = {
    "gpt2_small_decode": (gpt2_decode, 768, 12, 513),
    "gpt2_small_prefill": (gpt2_prefill, 768, 12, 512),
    "gpt2_xl_decode": (gpt2_decode, 1600, 25, 1025),
    "gpt2_xl_prefill": (gpt2_prefill, 1600, 25, 1024),
}
"""Networks that are made: builder, channels, heads, and tokens where the caller says nothing."""

NAMES = tuple(sorted((*TABLES, *BLOCKS)))


class _Row(TypedDict, total=False):
    """A layer as a file has it; `from` holds layer numbers and names of network inputs."""

    name: str
    kind: Kind
    shape: list[int]
    kernel: list[int]
    stride: list[int]
    groups: int
    operands: int


class _File(TypedDict):
    inputs: dict[str, list[int]]
    layers: list[_Row]


def schedule_network(name: str, tokens: int | None = None) -> Network:
    """The network called `name`, one of `NAMES`; `tokens` is the sequence length of a transformer block."""
    if name in TABLES:
        return _table(name)
    if name not in BLOCKS:
        raise TilewrightError("network", name, f"one of {', '.join(NAMES)}", "an unknown name")
    return _block(name, BLOCKS[name][3] if tokens is None else tokens)


@cache
def _block(name: str, tokens: int) -> Network:
    builder, width, heads, _ = BLOCKS[name]
    return builder(name, width, heads, tokens)


@cache
def _table(name: str) -> Network:
    text = resources.files(__package__ or __name__).joinpath(f"{name}.json").read_text(encoding="utf-8")
    data = cast(_File, json.loads(text))
    return Network(
        name,
        tuple((key, Shape(*shape)) for key, shape in data["inputs"].items()),
        tuple(_layer(row, list(data["inputs"])) for row in data["layers"]),
    )


def _layer(row: _Row, inputs: list[str]) -> Layer:
    sources = cast(list[int | str], row.get("from", []))
    return Layer(
        row.get("name", ""),
        row.get("kind", "conv"),
        Shape(*row.get("shape", [])),
        tuple(source for source in sources if isinstance(source, int)),
        tuple(inputs.index(source) for source in sources if isinstance(source, str)),
        kernel=_pair(row.get("kernel", [1, 1])),
        stride=_pair(row.get("stride", [1, 1])),
        groups=row.get("groups", 1),
        operands=row.get("operands", 1),
    )


def _pair(values: list[int]) -> tuple[int, int]:
    height, width = values
    return height, width
