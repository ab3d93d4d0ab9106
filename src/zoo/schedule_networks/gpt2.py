"""One block of GPT-2 as a layer table: of a whole prompt, or of one new token after a cache of keys and values.

Only keys are projected head by head; softmax, normalisation and GeLU are `pointwise`; the causal mask is not exploited.
"""

from ...errors import TilewrightError
from .layers import INPUT, Network, Table


def key_heads(table: Table, names: tuple[str, str], source: int, heads: int, width: int) -> tuple[int, ...]:
    """Keys of each head of `width` channels, transposed."""
    return tuple(
        table.transpose(f"{names[1]}{head}", table.conv(f"{names[0]}{head}", source, width)) for head in range(heads)
    )


def attention(table: Table, queries: int, keys: int, values: int, heads: int) -> int:
    """Values of each head, mixed by the softmax of its scores."""
    width, seen = table.shape(queries).channels, table.shape(keys).channels
    score = table.product("attention_QK", queries, keys, seen, heads)
    return table.product("attention_QKV", table.pointwise("attention_QK_elt", score), values, width, heads)


def _rest(table: Table, projection: str, queries: int, keys: int, values: int, heads: int) -> Network:
    """Attention proper, its output projection, and the feed-forward part."""
    width, mixed = table.shape(queries).channels, attention(table, queries, keys, values, heads)
    first = table.add("res1", (table.conv(projection, mixed, width), INPUT))
    wide = table.conv("ffn1", table.pointwise("norm2", first), 4 * width)
    table.add("res2", (first, table.conv("ffn2", table.pointwise("GeLU", wide), width)))
    return table.network()


def check_sizes(name: str, width: int, heads: int, tokens: int, least: int) -> None:
    if heads < 1 or width % heads:
        raise TilewrightError("network", name, "a width that the heads divide", f"{width} and {heads} heads")
    if tokens < least:
        raise TilewrightError("network", name, f"at least {least} tokens", str(tokens))


def gpt2_prefill(name: str, width: int, heads: int, tokens: int) -> Network:
    """A block that reads a prompt of `tokens` tokens; `width` channels in `heads` heads."""
    check_sizes(name, width, heads, tokens, 1)
    table = Table(name, (width, tokens, 1), "input_qkv")
    norm = table.pointwise("norm1", INPUT)
    queries = table.conv("attention_Q", norm, width)
    parts = key_heads(table, ("attention_K", "attention_Kt"), norm, heads, width // heads)
    keys = table.pointwise("attention_K", parts)
    values = table.conv("attention_V", norm, width)
    return _rest(table, "attention_FC", queries, keys, values, heads)


def gpt2_decode(name: str, width: int, heads: int, tokens: int) -> Network:
    """A block that makes token number `tokens`, with keys and values of the `tokens - 1` before as network inputs."""
    check_sizes(name, width, heads, tokens, 2)
    table = Table(name, (width, 1, 1), "input_q")
    head = width // heads
    old_keys = table.input("k_cache", ((tokens - 1) * heads, head, 1))
    old_values = table.input("v_cache", (tokens - 1, width, 1))
    norm = table.pointwise("norm1", INPUT)
    queries = table.conv("attention_Q", norm, width)
    parts = key_heads(table, ("attention_newK_head_", "attention_newKt_head_"), norm, heads, head)
    new_keys = table.pointwise("attention_newK", parts)
    new_values = table.conv("attention_newV", norm, width)
    keys = table.pointwise("attention_K", (new_keys, old_keys))
    rows = table.pointwise("attention_Vt_concat", (table.transpose("attention_newVt", new_values), old_values))
    values = table.transpose("attention_V", rows)
    return _rest(table, "attention_Out_proj", queries, keys, values, heads)
