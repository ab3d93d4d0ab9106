"""One block of a large language model as a layer table: of a whole prompt, or of one new token after a cache.

Keys are projected head by head, as in the table of GPT-2; where several query heads share a key and value head, those
are repeated; rotary embedding, softmax, normalisation and activation are `pointwise`.
"""

from __future__ import annotations

from typing import NamedTuple

from ...errors import TilewrightError
from .gpt2 import key_heads
from .layers import Network
from .table import INPUT, Table


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
