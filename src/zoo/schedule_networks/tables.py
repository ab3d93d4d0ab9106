"""The networks by name.

One block of a large language model as a layer table: of a whole prompt, or of one new token after a cache.

Keys are projected head by head, as in the table of GPT-2; where several query heads share a key and value head, those
are repeated; rotary embedding, softmax, normalisation and activation are `pointwise`.
"""

import json
from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import NamedTuple, TypedDict, cast

from ...errors import TilewrightError
from .images import (
    attention,
    check_sizes,
    gpt2_decode,
    gpt2_prefill,
    key_heads,
    mobilenet_v1,
    mobilenet_v2,
    resnet,
    unet,
    vgg,
)
from .layers import INPUT, Kind, Layer, Network, Shape, Table


class Block(NamedTuple):
    """`gated` has a gate beside the first feed-forward layer; in a `parallel` block that part reads the same
    normalised input as attention.
    """

    width: int
    heads: int
    kept_heads: int
    hidden: int
    gated: bool
    parallel: bool


GPT_J_6B = Block(4096, 16, 16, 16384, gated=False, parallel=True)
"""B. Wang and A. Komatsuzaki, "GPT-J-6B", 2021: 28 such blocks."""

LLAMA_2_70B = Block(8192, 64, 8, 28672, gated=True, parallel=False)
"""H. Touvron et al., "Llama 2", 2023: 80 such blocks."""


def _keys(table: Table, block: Block, source: int) -> int:
    """Keys of all kept heads for the rows at hand, transposed: (rows x heads, width of a head)."""
    return table.pointwise("K", key_heads(table, ("K", "Kt"), source, block.kept_heads, block.width // block.heads))


def _repeated(table: Table, block: Block, name: str, source: int) -> int:
    """Kept heads once for each of the query heads that share them."""
    times = block.heads // block.kept_heads
    return source if times == 1 else table.pointwise(name, (source,) * times)


def _rest(table: Table, block: Block, norm: int, queries: int, keys: int, values: int) -> Network:
    """Attention proper, its output projection, and the feed-forward part."""
    width, heads = block.width, block.heads
    keys, values = _repeated(table, block, "K_repeated", keys), _repeated(table, block, "V_repeated", values)
    score = table.product("QK", queries, keys, table.shape(keys).channels, heads)
    mixed = table.product("AV", table.pointwise("softmax", score), values, width, heads)
    out = table.conv("O", mixed, width)
    if block.parallel:
        table.add("sum", (out, _feed(table, block, norm), INPUT))
    else:
        first = table.add("sum1", (out, INPUT))
        table.add("sum2", (first, _feed(table, block, table.pointwise("norm2", first))))
    return table.network()


def _feed(table: Table, block: Block, source: int) -> int:
    """The feed-forward part."""
    up = table.conv("up", source, block.hidden)
    if block.gated:
        gate = table.pointwise("activation", table.conv("gate", source, block.hidden))
        up = table.add("product", (gate, up))
    else:
        up = table.pointwise("activation", up)
    return table.conv("down", up, block.width)


def _checked(name: str, tokens: int, least: int) -> None:
    if tokens < least:
        raise TilewrightError("network", name, f"at least {least} tokens", str(tokens))


def large_prefill(name: str, block: Block, tokens: int) -> Network:
    """A block that reads a prompt of `tokens` tokens."""
    _checked(name, tokens, 1)
    table = Table(name, (block.width, tokens, 1))
    norm = table.pointwise("norm1", INPUT)
    queries = table.pointwise("rotary_Q", table.conv("Q", norm, block.width))
    keys = _keys(table, block, norm)
    values = table.conv("V", norm, block.width // block.heads * block.kept_heads)
    return _rest(table, block, norm, queries, keys, values)


def large_decode(name: str, block: Block, tokens: int) -> Network:
    """A block that makes token number `tokens`, with keys and values of those before as network inputs."""
    _checked(name, tokens, 2)
    table = Table(name, (block.width, 1, 1))
    head = block.width // block.heads
    kept = head * block.kept_heads
    old_keys = table.input("k_cache", ((tokens - 1) * block.kept_heads, head, 1))
    old_values = table.input("v_cache", (tokens - 1, kept, 1))
    norm = table.pointwise("norm1", INPUT)
    queries = table.pointwise("rotary_Q", table.conv("Q", norm, block.width))
    keys = table.pointwise("K_all", (_keys(table, block, norm), old_keys))
    row = table.transpose("Vt", table.conv("V", norm, kept))
    values = table.transpose("V_all", table.pointwise("Vt_all", (row, old_values)))
    return _rest(table, block, norm, queries, keys, values)


def bert_block(name: str, width: int, heads: int, tokens: int) -> Network:
    """A block that reads `tokens` tokens; `width` channels in `heads` heads (Devlin et al., 2019, section 3)."""
    check_sizes(name, width, heads, tokens, 1)
    table = Table(name, (width, tokens, 1))
    queries = table.conv("attention_Q", INPUT, width)
    parts = key_heads(table, ("attention_K", "attention_Kt"), INPUT, heads, width // heads)
    keys = table.pointwise("attention_K", parts)
    mixed = attention(table, queries, keys, table.conv("attention_V", INPUT, width), heads)
    first = table.pointwise("norm1", table.add("res1", (table.conv("attention_FC", mixed, width), INPUT)))
    wide = table.pointwise("GeLU", table.conv("ffn1", first, 4 * width))
    table.pointwise("norm2", table.add("res2", (first, table.conv("ffn2", wide, width))))
    return table.network()


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
    data = cast("_File", json.loads(text))
    return Network(
        name,
        tuple((key, Shape(*shape)) for key, shape in data["inputs"].items()),
        tuple(_layer(row, list(data["inputs"])) for row in data["layers"]),
    )


def _layer(row: _Row, inputs: list[str]) -> Layer:
    sources = cast("list[int | str]", row.get("from", []))
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
