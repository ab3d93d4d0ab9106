"""The Transformer and GPT, the heads of attention as parallel branches.

A feature map of `tokens` rows and `width` channels; softmax and layer normalisation are `pointwise`; masks are free.
"""

from __future__ import annotations

from ..schedule_networks.layers import Network
from ..schedule_networks.table import INPUT, Table


def transformer(tokens: int = 128) -> Network:
    """The base model of Vaswani et al. (2017), table 3: 6 encoders and 6 decoders, width 512, 8 heads, 2048 hidden.

    The network's input is both sentences' embedded tokens (the same count of each).
    """
    table = Table("transformer", (512, tokens, 1))
    memory = INPUT
    for index in range(6):
        memory = _attention(table, f"encoder{index}_self", memory, memory, 8)
        memory = _feed_forward(table, f"encoder{index}", memory, 2048)
    x = INPUT
    for index in range(6):
        x = _attention(table, f"decoder{index}_self", x, x, 8)
        x = _attention(table, f"decoder{index}_cross", x, memory, 8)
        x = _feed_forward(table, f"decoder{index}", x, 2048)
    return table.network()


def gpt(tokens: int = 512) -> Network:
    """The model of Radford et al. (2018), section 4.1: 12 decoders, width 768, 12 heads, 3072 hidden, 512 tokens."""
    table = Table("gpt", (768, tokens, 1))
    x = INPUT
    for index in range(12):
        x = _attention(table, f"block{index}", x, x, 12)
        x = _feed_forward(table, f"block{index}", x, 3072)
    return table.network()


def _attention(table: Table, name: str, x: int, memory: int, heads: int) -> int:
    shape = table.shape(x)
    tokens, depth = shape.height, shape.channels // heads
    mixed: list[int] = []
    for head in range(heads):
        keys = table.conv(f"{name}_k{head}", memory, depth)
        values = table.conv(f"{name}_v{head}", memory, depth)
        queries = table.conv(f"{name}_q{head}", x, depth)
        scores = table.product(f"{name}_qk{head}", queries, keys, tokens)
        weights = table.pointwise(f"{name}_softmax{head}", scores)
        mixed.append(table.product(f"{name}_av{head}", weights, values, depth))
    out = table.conv(f"{name}_out", mixed, shape.channels)
    return table.pointwise(f"{name}_norm", table.add(f"{name}_add", [x, out]))


def _feed_forward(table: Table, name: str, x: int, hidden: int) -> int:
    width = table.shape(x).channels
    wide = table.pointwise(f"{name}_act", table.conv(f"{name}_up", x, hidden))
    out = table.conv(f"{name}_down", wide, width)
    return table.pointwise(f"{name}_norm2", table.add(f"{name}_add2", [x, out]))
