"""Transformers of the zoo as graph modules: attention, normalisation and feed-forward layers on [N, tokens, width].

Of the large language models it is one block, of a whole prompt (with a causal mask) or of one new token after a cache
of keys and values, which are inputs; the new rows of both are outputs.
"""

from dataclasses import dataclass
from math import e, sqrt
from typing import Literal, NamedTuple

import numpy as np
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import SSAValue

from ...dialects import graph
from ...dialects.types import shape_of, si8
from .maker import Maker

ROTARY_BASE = 10_000
MASKED = -128
"""Added to scores of tokens that come later: exp(-128) is 0 beside any other term."""

ATTENTION_RMS = sqrt(e)
"""Root mean square of softmax over its mean, of many independent normal scores."""


class BlockShape(NamedTuple):
    """Sizes of a block: width, query heads, key and value heads that they share, width of the feed-forward part.

    `norm` is layer normalisation or its root-mean-square form (B. Zhang and R. Sennrich, NeurIPS 2019).  `rotary`
    elements of each head are rotated by the token's place (J. Su et al., 2021).  `gated` has a gate beside the first
    feed-forward layer; in a `parallel` block that part reads the same normalised input as attention.
    """

    width: int
    heads: int
    kept_heads: int
    hidden: int
    norm: Literal["layer", "rms"] = "layer"
    rotary: int = 0
    gated: bool = False
    parallel: bool = False

    @property
    def head(self) -> int:
        """Width of a head."""
        return self.width // self.heads


def decoder_block(shape: BlockShape, maker: Maker, batch: int, tokens: int, cached: bool) -> ModuleOp:
    """A block that reads a prompt of `tokens` tokens, or (`cached`) makes token number `tokens`."""
    rows = 1 if cached else tokens
    x = maker.input("x", (batch, rows, shape.width))
    block = _Block(shape, maker, "")
    cache = None
    if cached:
        kept = batch, shape.kept_heads, tokens - 1, shape.head
        cache = maker.input("k_cache", kept), maker.input("v_cache", kept)
    norm = block.norm("norm1", x)
    attention = block.attention(norm, norm, tokens, causal=not cached, cache=cache)
    if shape.parallel:
        both = block.sum("sum", attention.mixed, block.feed_forward(norm))
        y = block.sum("y", both, x)
    else:
        first = block.sum("sum1", attention.mixed, x)
        y = block.sum("y", first, block.feed_forward(block.norm("norm2", first)))
    news = {"k_new": attention.keys, "v_new": attention.values} if cached else {}
    return maker.module({"y": y, **news})


def stack(shape: BlockShape, maker: Maker, batch: int, tokens: int, count: int, *, causal: bool) -> ModuleOp:
    """`count` blocks normalised after each part: decoders where `causal` (Radford et al. 2018, section 4.1), else
    encoders (Devlin et al. 2019, section 3).
    """
    x = maker.input("x", (batch, tokens, shape.width))
    for index in range(count):
        block = _Block(shape, maker, f"block{index}.")
        x = block.after_norm(x, x, tokens, causal=causal)
    return maker.module({"y": x})


def encoder_decoder(shape: BlockShape, maker: Maker, batch: int, tokens: int, count: int) -> ModuleOp:
    """`count` encoders of a source and as many decoders of a target of as many tokens (Vaswani et al. 2017, fig. 1)."""
    memory = maker.input("source", (batch, tokens, shape.width))
    for index in range(count):
        memory = _Block(shape, maker, f"encoder{index}.").after_norm(memory, memory, tokens, causal=False)
    x = maker.input("target", (batch, tokens, shape.width))
    for index in range(count):
        block = _Block(shape, maker, f"decoder{index}.")
        own = block.attention(x, x, tokens, causal=True)
        x = block.norm("norm0", block.sum("sum0", own.mixed, x))
        x = _Block(shape, maker, f"decoder{index}.cross.").after_norm(x, memory, tokens, causal=False)
    return maker.module({"y": x})


class Attended(NamedTuple):
    """What attention makes: its projected output, and the keys and values of the rows at hand."""

    mixed: SSAValue
    keys: SSAValue
    values: SSAValue


@dataclass
class _Block:
    shape: BlockShape
    maker: Maker
    prefix: str

    def after_norm(self, x: SSAValue, memory: SSAValue, tokens: int, *, causal: bool) -> SSAValue:
        """Attention of `x` to `memory` and the feed-forward part, each added to its input and normalised."""
        attended = self.attention(x, memory, tokens, causal=causal)
        middle = self.norm("norm1", self.sum("sum1", attended.mixed, x))
        return self.norm("norm2", self.sum("sum2", middle, self.feed_forward(middle)))

    def attention(
        self,
        x: SSAValue,
        memory: SSAValue,
        tokens: int,
        *,
        causal: bool,
        cache: tuple[SSAValue, SSAValue] | None = None,
    ) -> Attended:
        """Rows of `x` attend to those of `memory`, after those of a cache; `tokens` rows in all are attended to."""
        shape, maker = self.shape, self.maker
        kept = shape.kept_heads * shape.head
        queries = self.rotated("q", self.heads("q", self.linear("q", x, shape.width), shape.heads), tokens)
        keys = new_keys = self.rotated("k", self.heads("k", self.linear("k", memory, kept), shape.kept_heads), tokens)
        values = new_values = self.heads("v", self.linear("v", memory, kept), shape.kept_heads)
        if cache is not None:
            keys, values = (self.joined(f"{n}_all", c, v) for n, c, v in zip("kv", cache, (keys, values), strict=True))
        batch, _, rows, _ = shape_of(queries)
        shared = shape.heads // shape.kept_heads * rows
        if shared != rows:  # query heads that share keys stand below each other
            queries = self.reshaped("q.shared", queries, (batch, shape.kept_heads, shared, shape.head))
        turned = maker.add(graph.TransposeOp(keys, perm=[0, 1, 3, 2]), self.name("k.turned"))
        rms = maker.rms[queries] * maker.rms[keys] * sqrt(shape.head)
        scores = maker.add(graph.MatmulOp(queries, turned), self.name("scores"), rms)
        scores = maker.stored(self.name("scores"), scores, scaled=shape.head**-0.5)
        if causal:
            scores = self.masked(scores, rows, shared)
        share = ATTENTION_RMS / (tokens / 2 if causal else tokens)
        weights = maker.add(graph.SoftmaxOp(scores, axis=3), self.name("softmax"), min(2 * share, 1 / 4))
        weights = maker.stored(self.name("softmax"), weights)
        rms = maker.rms[values] * min(1.0, share * sqrt(tokens))
        mixed = maker.add(graph.MatmulOp(weights, values), self.name("mixed"), rms)
        mixed = maker.stored(self.name("mixed"), mixed)
        if shared != rows:
            mixed = self.reshaped("mixed.apart", mixed, (batch, shape.heads, rows, shape.head))
        back = maker.add(graph.TransposeOp(mixed, perm=[0, 2, 1, 3]), self.name("back"))
        flat = self.reshaped("flat", back, (batch, rows, shape.width))
        return Attended(self.linear("o", flat, shape.width), new_keys, new_values)

    def masked(self, scores: SSAValue, rows: int, shared: int) -> SSAValue:
        """Scores, lowered where a key comes after the query."""
        maker, seen = self.maker, shape_of(scores)[-1]
        later = np.triu(np.full((rows, seen), MASKED, np.int8), seen - rows + 1)
        later = np.tile(later, (shared // rows, 1))
        name = self.name("mask")
        if maker.precision == "f32":
            mask = maker.constant(name, later.astype(np.float32), f32)
        else:
            stored = maker.constant(name, later, si8)
            mask = maker.add(graph.DequantizeOp(stored, maker.number(1.0)), f"{name}.dq", 1.0)
        return maker.binary(self.name("masked"), "add", scores, mask)

    def rotated(self, name: str, x: SSAValue, tokens: int) -> SSAValue:
        """The first `rotary` elements of each head, turned by angles that grow with the token's place."""
        maker, turned = self.maker, self.shape.rotary
        if not turned:
            return x
        batch, heads, rows, head = shape_of(x)
        half = turned // 2
        places = np.arange(tokens - rows, tokens)[:, None] * ROTARY_BASE ** (-np.arange(half) / half)[None]
        cosines, sines = (
            maker.constant(self.name(f"{name}.{part}"), np.tile(values, 2).astype(np.float32), f32)
            for part, values in (("cos", np.cos(places)), ("sin", np.sin(places)))
        )

        def part(what: str, first: int, size: int) -> SSAValue:
            op = graph.SliceOp(x, starts=[0, 0, 0, first], steps=[1] * 4, sizes=[batch, heads, rows, size])
            return maker.add(op, self.name(f"{name}.{what}"))

        low, high = part("low", 0, half), part("high", half, half)
        minus = maker.add(graph.UnaryOp("neg", high), self.name(f"{name}.minus"))
        across = maker.add(graph.ConcatOp([minus, low], axis=3), self.name(f"{name}.across"))
        along = x if turned == head else part("along", 0, turned)
        turned_x = maker.binary(
            self.name(f"{name}.rotated"),
            "add",
            maker.binary(self.name(f"{name}.times_cos"), "mul", along, cosines),
            maker.binary(self.name(f"{name}.times_sin"), "mul", across, sines),
            maker.rms[x],
        )
        if turned < head:
            rest = part("rest", turned, head - turned)
            turned_x = maker.add(graph.ConcatOp([turned_x, rest], axis=3), self.name(f"{name}.whole"))
        return maker.stored(self.name(f"{name}.rotated"), turned_x)

    def feed_forward(self, x: SSAValue) -> SSAValue:
        """Two linear layers and what is between them: GELU, or a gate that passes x sigmoid(x)."""
        maker = self.maker
        if not self.shape.gated:
            wide = self.linear("up", x, self.shape.hidden)
            active = maker.add(graph.UnaryOp("gelu_tanh", wide), self.name("gelu"), maker.rms[wide] * 0.6)
            return self.linear("down", maker.stored(self.name("gelu"), active), self.shape.width)
        gate, up = self.linear("gate", x, self.shape.hidden), self.linear("up", x, self.shape.hidden)
        share = maker.add(graph.UnaryOp("sigmoid", gate), self.name("sigmoid"), 0.5)
        passed = maker.binary(self.name("silu"), "mul", gate, share, maker.rms[gate] * 0.6)
        product = maker.binary(self.name("gated"), "mul", passed, up, maker.rms[passed] * maker.rms[up])
        return self.linear("down", maker.stored(self.name("gated"), product), self.shape.width)

    def norm(self, name: str, x: SSAValue) -> SSAValue:
        """Rows brought to a variance (or mean square) of 1, times learned factors."""
        maker, axis, width = self.maker, len(shape_of(x)) - 1, shape_of(x)[-1]
        name = self.name(name)
        scale = maker.spread(f"{name}.scale", (width,), 1.0, 0.2)
        if self.shape.norm == "layer":
            made = graph.LayerNormOp(x, scale, maker.spread(f"{name}.bias", (width,), 0.0, 0.1), axis=axis)
            return maker.stored(name, maker.add(made, name, 1.0))
        squares = maker.binary(f"{name}.squares", "mul", x, x, maker.rms[x] ** 2)
        mean = maker.add(graph.ReduceOp("mean", squares, axes=[axis], keepdims=True), f"{name}.mean", 1.0)
        root = maker.add(
            graph.UnaryOp("sqrt", maker.binary(f"{name}.above", "add", mean, maker.number(1e-5))), f"{name}.root", 1.0
        )
        normal = maker.binary(f"{name}.normal", "div", x, root, 1.0)
        return maker.stored(name, maker.binary(name, "mul", normal, scale, 1.0))

    def sum(self, name: str, a: SSAValue, b: SSAValue) -> SSAValue:
        """Two tensors added up."""
        rms = sqrt(self.maker.rms[a] ** 2 + self.maker.rms[b] ** 2)
        return self.maker.stored(self.name(name), self.maker.binary(self.name(name), "add", a, b, rms))

    def linear(self, name: str, x: SSAValue, columns: int) -> SSAValue:
        """Rows by weights."""
        return self.maker.linear(self.name(name), x, columns)

    def heads(self, name: str, x: SSAValue, heads: int) -> SSAValue:
        """[N, rows, heads * head] as [N, heads, rows, head]."""
        batch, rows, width = shape_of(x)
        cut = self.reshaped(f"{name}.cut", x, (batch, rows, heads, width // heads))
        turn = graph.TransposeOp(cut, perm=[0, 2, 1, 3])
        return self.maker.add(turn, self.name(f"{name}.heads"))

    def joined(self, name: str, old: SSAValue, new: SSAValue) -> SSAValue:
        """Rows of a cache and the new one after them."""
        made = self.maker.add(graph.ConcatOp([old, new], axis=2), self.name(name))
        return self.maker.stored(self.name(name), made)

    def reshaped(self, name: str, x: SSAValue, shape: tuple[int, ...]) -> SSAValue:
        """The same elements under another shape."""
        return self.maker.add(graph.ReshapeOp(x, shape), self.name(name))

    def name(self, name: str) -> str:
        """A name within the network."""
        return f"{self.prefix}{name}"
