"""One encoder block of BERT as a layer table: GPT-2's with normalisation after each sum, and no mask."""

from __future__ import annotations

from .gpt2 import attention, check_sizes, key_heads
from .layers import Network
from .table import INPUT, Table


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
