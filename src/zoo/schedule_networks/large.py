"""One block of a large language model as a layer table: of a whole prompt, or of one new token after a cache.

Keys are projected head by head, as in the table of GPT-2; where several query heads share a key and value head, those
are repeated; rotary embedding, softmax, normalisation and activation are `pointwise`.
"""

from __future__ import annotations

from typing import NamedTuple

from ...errors import TilewrightError
from .layers import Kind, Layer, Network, Shape


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

SWAP = (1, 0, 2)
"""Channels and height change places."""


class _Table:
    def __init__(self, block: Block, tokens: int) -> None:
        self.block, self.tokens = block, tokens
        self.layers: list[Layer] = []

    def add(self, name: str, kind: Kind, shape: tuple[int, int], inputs: tuple[int, ...] = (), **more: object) -> int:
        """A layer of (channels, rows)."""
        layer = Layer(name, kind, Shape(*shape, 1), inputs)
        values = {name: getattr(layer, name) for name in layer.__dataclass_fields__}
        if kind == "transpose":
            values["permutation"] = SWAP
        self.layers.append(Layer(**(values | more)))  # type: ignore[arg-type]
        return len(self.layers) - 1

    def keys(self, source: int, rows: int) -> int:
        """Keys of all kept heads for the rows at hand, transposed: (rows x heads, width of a head)."""
        width = self.block.width // self.block.heads
        parts: list[int] = []
        for head in range(self.block.kept_heads):
            key = self.add(f"K{head}", "conv", (width, rows), (source,))
            parts.append(self.add(f"Kt{head}", "transpose", (rows, width), (key,)))
        return self.add("K", "pointwise", (rows * self.block.kept_heads, width), tuple(parts))

    def repeated(self, name: str, source: int) -> int:
        """Kept heads once for each of the query heads that share them."""
        times = self.block.heads // self.block.kept_heads
        if times == 1:
            return source
        channels, rows, _ = self.layers[source].shape
        return self.add(name, "pointwise", (channels * times, rows), (source,) * times)

    def rest(self, norm: int, queries: int, keys: int, values: int, seen: int) -> None:
        """Attention proper, its output projection, and the feed-forward part."""
        block, rows = self.block, self.layers[queries].shape.height
        full, heads = (block.width, rows), block.heads
        keys, values = self.repeated("K_repeated", keys), self.repeated("V_repeated", values)
        score = self.add("QK", "group_conv", (seen * heads, rows), (queries,), weights_from=(keys,), groups=heads)
        weight = self.add("softmax", "pointwise", (seen * heads, rows), (score,))
        mixed = self.add("AV", "group_conv", full, (weight,), weights_from=(values,), groups=heads)
        out = self.add("O", "conv", full, (mixed,))
        if block.parallel:
            last = self.feed(norm, rows)
            self.add("sum", "eltwise", full, (out, last), external=(0,), operands=3)
            return
        first = self.add("sum1", "eltwise", full, (out,), external=(0,), operands=2)
        last = self.feed(self.add("norm2", "pointwise", full, (first,)), rows)
        self.add("sum2", "eltwise", full, (first, last), operands=2)

    def feed(self, source: int, rows: int) -> int:
        """The feed-forward part."""
        wide = self.block.hidden, rows
        up = self.add("up", "conv", wide, (source,))
        if self.block.gated:
            gate = self.add("activation", "pointwise", wide, (self.add("gate", "conv", wide, (source,)),))
            up = self.add("product", "eltwise", wide, (gate, up), operands=2)
        else:
            up = self.add("activation", "pointwise", wide, (up,))
        return self.add("down", "conv", (self.block.width, rows), (up,))


def _checked(name: str, tokens: int, least: int) -> None:
    if tokens < least:
        raise TilewrightError("network", name, f"at least {least} tokens", str(tokens))


def _queries(table: _Table, norm: int, rows: int) -> int:
    width = table.block.width
    return table.add("rotary_Q", "pointwise", (width, rows), (table.add("Q", "conv", (width, rows), (norm,)),))


def large_prefill(name: str, block: Block, tokens: int) -> Network:
    """A block that reads a prompt of `tokens` tokens."""
    _checked(name, tokens, 1)
    table = _Table(block, tokens)
    norm = table.add("norm1", "pointwise", (block.width, tokens), external=(0,))
    queries = _queries(table, norm, tokens)
    keys = table.keys(norm, tokens)
    kept = block.width // block.heads * block.kept_heads
    values = table.add("V", "conv", (kept, tokens), (norm,))
    table.rest(norm, queries, keys, values, tokens)
    return Network(name, (("input", Shape(block.width, tokens, 1)),), tuple(table.layers))


def large_decode(name: str, block: Block, tokens: int) -> Network:
    """A block that makes token number `tokens`, with keys and values of those before as network inputs."""
    _checked(name, tokens, 2)
    table = _Table(block, tokens)
    head = block.width // block.heads
    kept = head * block.kept_heads
    norm = table.add("norm1", "pointwise", (block.width, 1), external=(0,))
    queries = _queries(table, norm, 1)
    new = table.keys(norm, 1)
    keys = table.add("K_all", "pointwise", (tokens * block.kept_heads, head), (new,), external=(1,))
    row = table.add("Vt", "transpose", (1, kept), (table.add("V", "conv", (kept, 1), (norm,)),))
    rows = table.add("Vt_all", "pointwise", (tokens, kept), (row,), external=(2,))
    values = table.add("V_all", "transpose", (kept, tokens), (rows,))
    table.rest(norm, queries, keys, values, tokens)
    inputs = (
        ("input", Shape(block.width, 1, 1)),
        ("k_cache", Shape((tokens - 1) * block.kept_heads, head, 1)),
        ("v_cache", Shape(tokens - 1, kept, 1)),
    )
    return Network(name, inputs, tuple(table.layers))
