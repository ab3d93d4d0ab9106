"""The networks by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import TypedDict, cast

from ...errors import TilewrightError
from .bert import bert_block
from .gpt2 import gpt2_decode, gpt2_prefill
from .images import mobilenet_v1, mobilenet_v2, resnet, unet, vgg
from .large import GPT_J_6B, LLAMA_2_70B, large_decode, large_prefill
from .layers import Kind, Layer, Network, Shape

TABLES = ("inception_resnet_v1", "randwire_large", "randwire_small")
"""Networks that are kept as data, in `<name>.json` beside this file."""

BLOCKS = {
    "bert_base_block": (bert_block, 768, 12, 512),
    "gpt2_small_decode": (gpt2_decode, 768, 12, 513),
    "gpt2_small_prefill": (gpt2_prefill, 768, 12, 512),
    "gpt2_xl_decode": (gpt2_decode, 1600, 25, 1025),
    "gpt2_xl_prefill": (gpt2_prefill, 1600, 25, 1024),
}
"""Networks that are made: builder, channels, heads, and tokens where the caller says nothing."""

LARGE = {
    "gptj_6b_decode": (large_decode, GPT_J_6B, 513),
    "gptj_6b_prefill": (large_prefill, GPT_J_6B, 512),
    "llama2_70b_decode": (large_decode, LLAMA_2_70B, 513),
    "llama2_70b_prefill": (large_prefill, LLAMA_2_70B, 512),
}
"""Blocks of large language models: builder, block, and tokens where the caller says nothing."""

IMAGES: dict[str, Callable[[], Network]] = {
    "mobilenet_v1": mobilenet_v1,
    "mobilenet_v2": mobilenet_v2,
    "resnet101": lambda: resnet("resnet101", (3, 4, 23, 3)),
    "resnet50": lambda: resnet("resnet50", (3, 4, 6, 3)),
    "unet": unet,
    "vgg19": lambda: vgg("vgg19", (2, 2, 4, 4, 4), "image"),
}
"""Networks of images that are made."""

TRANSFORMERS = (*BLOCKS, *LARGE)
"""Networks whose sequence length may be chosen."""

NAMES = tuple(sorted((*TABLES, *BLOCKS, *LARGE, *IMAGES)))


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
    if name in IMAGES:
        return _image(name)
    if name in LARGE:
        return _large(name, LARGE[name][2] if tokens is None else tokens)
    if name not in BLOCKS:
        raise TilewrightError("network", name, f"one of {', '.join(NAMES)}", "an unknown name")
    return _block(name, BLOCKS[name][3] if tokens is None else tokens)


@cache
def _image(name: str) -> Network:
    return IMAGES[name]()


@cache
def _large(name: str, tokens: int) -> Network:
    builder, block, _ = LARGE[name]
    return builder(name, block, tokens)


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
