"""Networks as layer tables: convolutions in a chain, with shortcuts, or down and up again; a block of GPT-2."""

from ...errors import TilewrightError
from .layers import INPUT, Network, Table

MOBILENET_BLOCKS = (
    (16, 1, 1, 1),
    (24, 6, 2, 2),
    (32, 6, 3, 2),
    (64, 6, 4, 2),
    (96, 6, 3, 1),
    (160, 6, 3, 2),
    (320, 6, 1, 1),
)
"""MobileNetV2's bottlenecks: channels, expansion, repeats, first stride (Sandler et al., 2018, table 2)."""


def vgg(name: str, counts: tuple[int, int, int, int, int], given: str = "input") -> Network:
    """Simonyan and Zisserman (2015), table 1, with `counts` convolutions a stage, on 224x224 images."""
    table = Table(name, (3, 224, 224), given)
    x = INPUT
    for stage, (count, channels) in enumerate(zip(counts, (64, 128, 256, 512, 512), strict=True), 1):
        for index in range(1, count + 1):
            x = table.conv(f"conv{stage}_{index}", x, channels, 3)
        x = table.pool(f"pool{stage}", x, 2, 2)
    for index, channels in ((6, 4096), (7, 4096), (8, 1000)):
        x = table.fc(f"fc{index}", x, channels)
    return table.network()


def resnet(name: str, blocks: tuple[int, int, int, int], size: int = 224) -> Network:
    """He et al. (2016), table 1, bottlenecks with the stride on the first 1x1 convolution, `size` squared images."""
    table = Table(name, (3, size, size))
    x = table.pool("pool1", table.conv("conv1", INPUT, 64, 7, 2), 3, 2)
    for stage, count in enumerate(blocks, 2):
        width = 32 << (stage - 1)
        for block in range(count):
            stride = 2 if stage > 2 and block == 0 else 1
            y = table.conv(f"conv_{stage}_{block}_a", x, width, 1, stride)
            y = table.conv(f"conv_{stage}_{block}_b", y, width, 3)
            y = table.conv(f"conv_{stage}_{block}_c", y, 4 * width)
            parts = [x, y] if block else [y, table.conv(f"conv_{stage}_br", x, 4 * width, 1, stride)]
            x = table.add(f"conv_{stage}_{block}_res", parts)
    table.fc("fc", table.global_pool("pool5", x), 1000)
    return table.network()


def mobilenet_v1() -> Network:
    """Howard et al. (2017), table 1: separable convolutions, on 224x224 images."""
    table = Table("mobilenet_v1", (3, 224, 224), "image")
    x = table.conv("conv1", INPUT, 32, 3, 2)
    stages = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1))
    for number, (channels, stride) in enumerate(stages, 2):
        x = table.separable(f"conv{number}", x, channels, 3, stride)
    table.fc("fc", table.global_pool("pool", x), 1000)
    return table.network()


def mobilenet_v2() -> Network:
    """Sandler et al. (2018), table 2: inverted bottlenecks, on 224x224 images."""
    table = Table("mobilenet_v2", (3, 224, 224), "image")
    x = table.conv("conv1", INPUT, 32, 3, 2)
    for stage, (channels, expansion, count, first) in enumerate(MOBILENET_BLOCKS, 1):
        for block in range(count):
            x = _inverted(table, f"block{stage}_{block}", x, channels, expansion, 1 if block else first)
    table.fc("fc", table.global_pool("pool", table.conv("conv2", x, 1280)), 1000)
    return table.network()


def _inverted(table: Table, name: str, x: int, channels: int, expansion: int, stride: int) -> int:
    given = table.shape(x).channels
    wide = x if expansion == 1 else table.conv(f"{name}_expand", x, expansion * given)
    y = table.separable(name, wide, channels, 3, stride)
    return table.add(f"{name}_sum", (x, y)) if stride == 1 and given == channels else y


def unet() -> Network:
    """Ronneberger et al. (2015), figure 1, on 512x512 images with padded convolutions; 2x2 ones after repeated pixels
    bring a level up.
    """
    table = Table("unet", (1, 512, 512), "image")
    x, kept = INPUT, list[int]()
    for level, channels in enumerate((64, 128, 256, 512), 1):
        x = table.conv(f"down{level}_b", table.conv(f"down{level}_a", x, channels, 3), channels, 3)
        kept.append(x)
        x = table.pool(f"pool{level}", x, 2, 2)
    x = table.conv("bottom_b", table.conv("bottom_a", x, 1024, 3), 1024, 3)
    for level, channels in ((4, 512), (3, 256), (2, 128), (1, 64)):
        x = table.conv(f"up{level}_half", table.upsample(f"up{level}", x, 2), channels, 2)
        x = table.conv(f"up{level}_a", (kept[level - 1], x), channels, 3)
        x = table.conv(f"up{level}_b", x, channels, 3)
    table.conv("classes", x, 2)
    return table.network()


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
