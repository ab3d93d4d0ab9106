"""One block of GPT-2 as a layer table: of a whole prompt, or of one new token after a cache of keys and values.

Only keys are projected head by head; softmax, normalisation and GeLU are `pointwise`; the causal mask is not exploited.
"""

from __future__ import annotations

from ...errors import TilewrightError
from .layers import Kind, Layer, Network, Shape

SWAP = (1, 0, 2)
"""Channels and height change places."""


class _Table:
    def __init__(self) -> None:
        self.layers: list[Layer] = []

    def add(
        self,
        name: str,
        kind: Kind,
        shape: tuple[int, int],
        inputs: tuple[int, ...] = (),
        *,
        external: tuple[int, ...] = (),
        weights_from: tuple[int, ...] = (),
        groups: int = 1,
        operands: int = 1,
    ) -> int:
        permutation = SWAP if kind == "transpose" else (0, 1, 2)
        self.layers.append(
            Layer(
                name,
                kind,
                Shape(*shape, 1),
                inputs,
                external,
                weights_from,
                groups=groups,
                operands=operands,
                permutation=permutation,
            )
        )
        return len(self.layers) - 1

    def key_heads(self, names: tuple[str, str], source: int, heads: int, width: int, tokens: int) -> tuple[int, ...]:
        """Keys of each head, transposed."""
        found: list[int] = []
        for head in range(heads):
            keys = self.add(f"{names[0]}{head}", "conv", (width // heads, tokens), (source,))
            found.append(self.add(f"{names[1]}{head}", "transpose", (tokens, width // heads), (keys,)))
        return tuple(found)

    def rest(self, projection: str, queries: int, keys: int, values: int, sizes: tuple[int, int, int, int]) -> None:
        """Attention proper, its output projection, and the feed-forward part."""
        heads, width, tokens, seen = sizes
        full = width, tokens
        score = self.add(
            "attention_QK", "group_conv", (seen * heads, tokens), (queries,), weights_from=(keys,), groups=heads
        )
        weight = self.add("attention_QK_elt", "pointwise", (seen * heads, tokens), (score,))
        mixed = self.add("attention_QKV", "group_conv", full, (weight,), weights_from=(values,), groups=heads)
        out = self.add(projection, "conv", full, (mixed,))
        first = self.add("res1", "eltwise", full, (out,), external=(0,), operands=2)
        norm = self.add("norm2", "pointwise", full, (first,))
        wide = self.add("ffn1", "conv", (4 * width, tokens), (norm,))
        active = self.add("GeLU", "pointwise", (4 * width, tokens), (wide,))
        narrow = self.add("ffn2", "conv", full, (active,))
        self.add("res2", "eltwise", full, (first, narrow), operands=2)


def _checked(name: str, width: int, heads: int, tokens: int, least: int) -> None:
    if heads < 1 or width % heads:
        raise TilewrightError("network", name, "a width that the heads divide", f"{width} and {heads} heads")
    if tokens < least:
        raise TilewrightError("network", name, f"at least {least} tokens", str(tokens))


def gpt2_prefill(name: str, width: int, heads: int, tokens: int) -> Network:
    """A block that reads a prompt of `tokens` tokens; `width` channels in `heads` heads."""
    _checked(name, width, heads, tokens, 1)
    table = _Table()
    norm = table.add("norm1", "pointwise", (width, tokens), external=(0,))
    queries = table.add("attention_Q", "conv", (width, tokens), (norm,))
    parts = table.key_heads(("attention_K", "attention_Kt"), norm, heads, width, tokens)
    keys = table.add("attention_K", "pointwise", (tokens * heads, width // heads), parts)
    values = table.add("attention_V", "conv", (width, tokens), (norm,))
    table.rest("attention_FC", queries, keys, values, (heads, width, tokens, tokens))
    return Network(name, (("input_qkv", Shape(width, tokens, 1)),), tuple(table.layers))


def gpt2_decode(name: str, width: int, heads: int, tokens: int) -> Network:
    """A block that makes token number `tokens`, with keys and values of the `tokens - 1` before as network inputs."""
    _checked(name, width, heads, tokens, 2)
    table = _Table()
    head = width // heads
    norm = table.add("norm1", "pointwise", (width, 1), external=(0,))
    queries = table.add("attention_Q", "conv", (width, 1), (norm,))
    parts = table.key_heads(("attention_newK_head_", "attention_newKt_head_"), norm, heads, width, 1)
    new_keys = table.add("attention_newK", "pointwise", (heads, head), parts)
    new_values = table.add("attention_newV", "conv", (width, 1), (norm,))
    keys = table.add("attention_K", "pointwise", (tokens * heads, head), (new_keys,), external=(1,))
    new_row = table.add("attention_newVt", "transpose", (1, width), (new_values,))
    rows = table.add("attention_Vt_concat", "pointwise", (tokens, width), (new_row,), external=(2,))
    values = table.add("attention_V", "transpose", (width, tokens), (rows,))
    table.rest("attention_Out_proj", queries, keys, values, (heads, width, 1, tokens))
    inputs = (
        ("input_q", Shape(width, 1, 1)),
        ("k_cache", Shape((tokens - 1) * heads, head, 1)),
        ("v_cache", Shape(tokens - 1, width, 1)),
    )
    return Network(name, inputs, tuple(table.layers))
