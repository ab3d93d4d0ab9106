"""GoogLeNet, NASNet-A, RandWire and the Transformer as layer tables.

In the Transformer and GPT heads of attention are parallel branches, a feature map is `tokens` rows of `width` channels;
softmax and layer normalisation are `pointwise`; masks are free.
"""

from random import Random

from ...algebra.dag import Dag
from ..schedule_networks.layers import INPUT, Network, Table

MODULES = (
    ("3a", (64, 96, 128, 16, 32, 32)),
    ("3b", (128, 128, 192, 32, 96, 64)),
    ("4a", (192, 96, 208, 16, 48, 64)),
    ("4b", (160, 112, 224, 24, 64, 64)),
    ("4c", (128, 128, 256, 24, 64, 64)),
    ("4d", (112, 144, 288, 32, 64, 64)),
    ("4e", (256, 160, 320, 32, 128, 128)),
    ("5a", (256, 160, 320, 32, 128, 128)),
    ("5b", (384, 192, 384, 48, 128, 128)),
)
"""Channels of 1x1; 3x3 reduce, 3x3; 5x5 reduce, 5x5; pool projection (Szegedy et al. 2015, table 1)."""


def googlenet(size: int = 224) -> Network:
    """Szegedy et al. (2015), table 1, on `size` x `size` images; without the training heads and the response norms."""
    table = Table("googlenet", (3, size, size))
    x = table.pool("pool1", table.conv("conv1", INPUT, 64, 7, 2), 3, 2)
    x = table.conv("conv2", table.conv("conv2_reduce", x, 64), 192, 3)
    y = (table.pool("pool2", x, 3, 2),)
    for name, channels in MODULES:
        if name in ("4a", "5a"):
            y = (table.pool(f"pool{'3' if name == '4a' else '4'}", y, 3, 2),)
        y = _module(table, f"inception_{name}", y, channels)
    table.fc("fc", table.global_pool("pool5", y), 1000)
    return table.network()


def _module(
    table: Table, name: str, x: tuple[int, ...], channels: tuple[int, int, int, int, int, int]
) -> tuple[int, ...]:
    one = table.conv(f"{name}_1x1", x, channels[0])
    three = table.conv(f"{name}_3x3", table.conv(f"{name}_3x3_reduce", x, channels[1]), channels[2], 3)
    five = table.conv(f"{name}_5x5", table.conv(f"{name}_5x5_reduce", x, channels[3]), channels[4], 5)
    pool = table.conv(f"{name}_proj", table.pool(f"{name}_pool", x, 3, 1), channels[5])
    return one, three, five, pool


Value = tuple[int, ...]
"""Layers whose results, concatenated, are one value."""


def nasnet() -> Network:
    """NASNet-A (6 @ 4032): 331x331 images, two reductions as stem, three times six normal cells of 168, 336, 672."""
    table = Table("nasnet", (3, 331, 331))
    cells = _Cells(table)
    stem = (table.conv("stem", INPUT, 96, 3, 2),)
    before, x = stem, cells.reduction("stem1", stem, stem, 42)
    before, x = x, cells.reduction("stem2", before, x, 84)
    for index, width in enumerate((168, 336, 672)):
        if index:
            x = cells.reduction(f"reduce{index}", before, x, width)
        for cell in range(6):
            before, x = x, cells.normal(f"cell{index}_{cell}", before, x, width)
    table.fc("fc", table.global_pool("pool", x), 1000)
    return table.network()


class _Cells:
    def __init__(self, table: Table) -> None:
        self.table = table

    def normal(self, name: str, before: Value, x: Value, width: int) -> Value:
        """A normal cell of `width` channels per block; its value is six of these, concatenated."""
        table = self.table
        p, h = self.inputs(name, before, x, width)
        blocks = (
            self.sum(f"{name}_1", (self.twice(f"{name}_1a", h, width, 5),), (self.twice(f"{name}_1b", p, width, 3),)),
            self.sum(f"{name}_2", (self.twice(f"{name}_2a", p, width, 5),), (self.twice(f"{name}_2b", p, width, 3),)),
            self.sum(f"{name}_3", (table.pool(f"{name}_3a", h, 3, 1),), p),
            self.sum(f"{name}_4", (table.pool(f"{name}_4a", p, 3, 1),), (table.pool(f"{name}_4b", p, 3, 1),)),
            self.sum(f"{name}_5", (self.twice(f"{name}_5a", h, width, 3),), h),
        )
        return *p, *blocks

    def reduction(self, name: str, before: Value, x: Value, width: int) -> Value:
        """A reduction cell: half the extents; its value is four blocks of `width` channels, concatenated."""
        table = self.table
        p, h = self.inputs(name, before, x, width)
        pooled = table.pool(f"{name}_max", h, 3, 2)
        one = self.sum(
            f"{name}_1", (self.twice(f"{name}_1a", h, width, 5, 2),), (self.twice(f"{name}_1b", p, width, 7, 2),)
        )
        two = self.sum(f"{name}_2", (pooled,), (self.twice(f"{name}_2b", p, width, 7, 2),))
        three = self.sum(f"{name}_3", (table.pool(f"{name}_3a", h, 3, 2),), (self.twice(f"{name}_3b", p, width, 5, 2),))
        four = self.sum(f"{name}_4", (two,), (table.pool(f"{name}_4a", one, 3, 1),))
        five = self.sum(f"{name}_5", (self.twice(f"{name}_5a", (one,), width, 3),), (pooled,))
        return two, three, four, five

    def inputs(self, name: str, before: Value, x: Value, width: int) -> tuple[Value, Value]:
        """Both inputs brought to `width` channels and the extents of the second."""
        table = self.table
        squeezed = (table.conv(f"{name}_h", x, width),)
        if table.shape(before).height == table.shape(x).height:
            return (table.conv(f"{name}_p", before, width),), squeezed
        halves = tuple(table.conv(f"{name}_p{i}", before, width // 2, 1, 2) for i in range(2))
        return halves, squeezed

    def sum(self, name: str, a: Value, b: Value) -> int:
        return self.table.add(name, (*a, *b), operands=2)

    def twice(self, name: str, sources: Value, width: int, kernel: int, stride: int = 1) -> int:
        """A separable convolution, applied twice."""
        first = self.table.separable(f"{name}1", sources, width, kernel, stride)
        return self.table.separable(f"{name}2", first, width, kernel)


NEIGHBOURS = 4
REWIRED = 0.75
"""WS(4, 0.75): the generator that the paper recommends (its section 4.1)."""


def watts_strogatz(nodes: int, neighbours: int, rewired: float, random: Random) -> list[tuple[int, int]]:
    """Edges (lower node, higher node) of a connected ring lattice with rewired edges, sorted.

    Each node starts with edges to its `neighbours / 2` successors on the ring; each edge is rewired, with probability
    `rewired`, to a node drawn evenly.  Graphs that are not connected are drawn again.
    """
    while True:
        edges = {_edge(v, (v + i) % nodes) for i in range(1, neighbours // 2 + 1) for v in range(nodes)}
        for i in range(1, neighbours // 2 + 1):
            for v in range(nodes):
                if random.random() < rewired:
                    free = [w for w in range(nodes) if w != v and _edge(v, w) not in edges]
                    edges.discard(_edge(v, (v + i) % nodes))
                    edges.add(_edge(v, free[random.randrange(len(free))]))
        dag = Dag(tuple(tuple(a for a, b in edges if b == node) for node in range(nodes)))
        if dag.connected(dag.everything):
            return sorted(edges)


def _edge(a: int, b: int) -> tuple[int, int]:
    return min(a, b), max(a, b)


def stage(table: Table, name: str, x: int, nodes: int, channels: int, random: Random) -> int:
    """One random stage: the first nodes have stride 2, the outputs of the last are averaged.

    A node is the weighted sum of what it reads (free where it reads one value), then Relu (free) and a separable
    convolution of 3x3.
    """
    edges = watts_strogatz(nodes, NEIGHBOURS, REWIRED, random)
    made: list[int] = []
    for node in range(nodes):
        given = [made[a] for a, b in edges if b == node]
        source = table.add(f"{name}_{node}_sum", given) if len(given) > 1 else (*given, x)[0]
        made.append(table.separable(f"{name}_{node}", source, channels, 3, 1 if given else 2))
    last = [made[node] for node in range(nodes) if all(a != node for a, _ in edges)]
    return table.add(f"{name}_mean", last) if len(last) > 1 else last[0]


def randwire_a(size: int = 224) -> Network:
    """The small regime of the paper's table 1: 32 nodes a stage, 78 channels, seed 0; `size` x `size` images."""
    random = Random(0)
    table, channels = Table("randwire_a", (3, size, size)), 78
    x = table.conv("conv2", table.conv("conv1", INPUT, channels // 2, 3, 2), channels, 3, 2)
    for index, factor in ((3, 1), (4, 2), (5, 4)):
        x = stage(table, f"conv{index}", x, 32, factor * channels, random)
    return _head(table, x)


def randwire_b() -> Network:
    """The regular regime of the paper's table 1: 16 nodes, then 32 nodes a stage, 109 channels, seed 1."""
    random = Random(1)
    table, channels = Table("randwire_b", (3, 224, 224)), 109
    x = table.conv("conv1", INPUT, channels // 2, 3, 2)
    for index, (nodes, factor) in enumerate(((16, 1), (32, 2), (32, 4), (32, 8)), 2):
        x = stage(table, f"conv{index}", x, nodes, factor * channels, random)
    return _head(table, x)


def _head(table: Table, x: int) -> Network:
    table.fc("fc", table.global_pool("pool", table.conv("classifier", x, 1280)), 1000)
    return table.network()


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
