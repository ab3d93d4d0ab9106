from math import sqrt

import numpy as np
import pytest

from tilewright import CompileOptions, compile, simulate
from tilewright.driver.models import reference
from tilewright.frontends.networks.language import BlockShape, decoder_block, encoder_decoder, stack
from tilewright.frontends.networks.maker import Maker

PLAIN = BlockShape(16, 4, 4, 24)
GROUPED = BlockShape(16, 4, 2, 24, norm="rms", rotary=4, gated=True)
PARALLEL = BlockShape(16, 2, 2, 24, rotary=4, parallel=True)
SHAPES = {"plain": PLAIN, "grouped": GROUPED, "parallel": PARALLEL}
TOKENS = 6


def inputs(shape: BlockShape, cached: bool) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    rows = 1 if cached else TOKENS
    made = {"x": (1, rows, shape.width)}
    if cached:
        made |= {name: (1, shape.kept_heads, TOKENS - 1, shape.head) for name in ("k_cache", "v_cache")}
    return {n: np.clip(np.rint(rng.standard_normal(s) * 32), -128, 127).astype(np.int8) for n, s in made.items()}


class Model:
    """The block in NumPy, head by head and row by row, from the weights of a maker in f32."""

    def __init__(self, shape: BlockShape, weights: Maker):
        self.shape, self.weights = shape, weights.resources

    def norm(self, x: np.ndarray, name: str) -> np.ndarray:
        if self.shape.norm == "rms":
            return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) * self.weights[f"{name}.scale"]
        centred = x - x.mean(-1, keepdims=True)
        normal = centred / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
        return normal * self.weights[f"{name}.scale"] + self.weights[f"{name}.bias"]

    def linear(self, name: str, x: np.ndarray) -> np.ndarray:
        return x @ self.weights[f"{name}.weight"]

    def rotate(self, row: np.ndarray, place: int) -> np.ndarray:
        half = self.shape.rotary // 2
        turned = row.astype(np.complex128).copy()
        for i in range(half):
            z = (row[i] + 1j * row[half + i]) * np.exp(1j * place * 10_000.0 ** (-i / half))
            turned[i], turned[half + i] = z.real, z.imag
        return turned.real

    def block(self, x: np.ndarray, cache: list[np.ndarray] | None) -> np.ndarray:
        shape = self.shape
        norm = self.norm(x, "norm1")
        first = 0 if cache is None else TOKENS - 1
        q, k, v = (self.linear(name, norm).reshape(len(x), -1, shape.head) for name in "qkv")
        q, k = (np.array([[self.rotate(h, first + t) for h in row] for t, row in enumerate(y)]) for y in (q, k))
        if cache is not None:
            k, v = (np.concatenate([old.swapaxes(0, 1), new]) for old, new in zip(cache, (k, v), strict=True))
        mixed = np.zeros((len(x), shape.heads, shape.head))
        for t in range(len(x)):
            for h in range(shape.heads):
                kept = h // (shape.heads // shape.kept_heads)
                scores = k[: first + t + 1, kept] @ q[t, h] / sqrt(shape.head)
                weights = np.exp(scores - scores.max())
                mixed[t, h] = weights / weights.sum() @ v[: first + t + 1, kept]
        out = self.linear("o", mixed.reshape(len(x), -1))
        if shape.parallel:
            return out + self.feed(norm) + x
        middle = out + x
        return middle + self.feed(self.norm(middle, "norm2"))

    def feed(self, x: np.ndarray) -> np.ndarray:
        up = self.linear("up", x)
        if self.shape.gated:
            gate = self.linear("gate", x)
            return self.linear("down", gate / (1 + np.exp(-gate)) * up)
        return self.linear("down", up / 2 * (1 + np.tanh(sqrt(2 / np.pi) * (up + 0.044715 * up**3))))


@pytest.mark.parametrize("cached", [False, True], ids=["prefill", "decode"])
@pytest.mark.parametrize("name", SHAPES)
def test_blocks_compute_what_their_papers_say(name: str, cached: bool):
    shape, maker = SHAPES[name], Maker("f32")
    module = decoder_block(shape, maker, 1, TOKENS, cached)
    given = {name: x.astype(np.float32) / 32 for name, x in inputs(shape, cached).items()}
    cache = [given["k_cache"][0], given["v_cache"][0]] if cached else None
    expected = Model(shape, maker).block(given["x"][0], cache)
    assert np.allclose(reference(module, given)["y"][0], expected, atol=1e-3)


@pytest.mark.parametrize("cached", [False, True], ids=["prefill", "decode"])
def test_integer_blocks_are_near_the_floats_and_run_bit_exact(cached: bool):
    given = inputs(GROUPED, cached)
    module = decoder_block(GROUPED, Maker("i8"), 1, TOKENS, cached)
    expected = reference(module, given)
    options = CompileOptions(gap=None if cached else 1000.0)  # one program of many, or the first
    result = simulate(compile(module, "edge16", options=options), given)
    for name, array in expected.items():
        assert array.dtype == np.int8
        assert np.array_equal(result.outputs[name], array)
    floats = reference(
        decoder_block(GROUPED, Maker("f32"), 1, TOKENS, cached),
        {name: x.astype(np.float32) / 32 for name, x in given.items()},
    )
    assert np.corrcoef(expected["y"].ravel(), floats["y"].ravel())[0, 1] > 0.95


def test_a_prompt_of_several_samples_keeps_them_apart():
    given = np.random.default_rng(0).integers(-64, 64, (2, 4, 16)).astype(np.int8)
    both = reference(stack(PLAIN, Maker("i8"), 2, 4, 2, causal=True), {"x": given})["y"]
    for sample in range(2):
        one = reference(stack(PLAIN, Maker("i8"), 1, 4, 2, causal=True), {"x": given[sample : sample + 1]})["y"]
        assert np.array_equal(one[0], both[sample])


def test_later_tokens_change_nothing_before_them_in_a_decoder():
    given = np.random.default_rng(0).integers(-64, 64, (1, 5, 16)).astype(np.int8)
    changed = given.copy()
    changed[0, 3:] += 9
    for causal in (True, False):
        module = stack(PLAIN, Maker("i8"), 1, 5, 1, causal=causal)
        one, two = (reference(module, {"x": x})["y"][0] for x in (given, changed))
        assert np.array_equal(one[:3], two[:3]) == causal
        assert not np.array_equal(one[3:], two[3:])


def test_a_decoder_reads_its_source():
    module = encoder_decoder(PLAIN, Maker("i8"), 1, 4, 1)
    rng = np.random.default_rng(0)
    source, target = (rng.integers(-64, 64, (1, 4, 16)).astype(np.int8) for _ in range(2))
    one = reference(module, {"source": source, "target": target})["y"]
    two = reference(module, {"source": -source, "target": target})["y"]
    assert not np.array_equal(one, two)
