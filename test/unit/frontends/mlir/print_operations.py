"""Writes `test/data/mlir/jax_operations.*`: small functions as JAX prints them, with inputs and what JAX computes.

    python print_operations.py

needs jax (0.10.2 wrote what is there).
"""

# pyright: basic, reportMissingImports=false, reportArgumentType=false

import json
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

FOLDER = Path(__file__).parents[3] / "data" / "mlir"

rng = np.random.default_rng(0)
cases = {}


def f(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def i(*shape):
    return rng.integers(-5, 9, shape).astype(np.int32)


def c(name, function, *inputs):
    cases[name] = function, inputs


c("dot_mm", lambda a, b: a @ b, f(3, 4), f(4, 5))
c("dot_vec", lambda a, b: a @ b, f(4), f(4, 5))
c("dot_vv", lambda a, b: jnp.dot(a, b), f(4), f(4))
c("einsum", lambda a, b: jnp.einsum("abcd,ebd->eca", a, b), f(2, 3, 4, 5), f(6, 3, 5))
c("einsum2", lambda a, b: jnp.einsum("abc,adc->abd", a, b), f(2, 3, 4), f(2, 5, 4))
c("outer", lambda a, b: jnp.outer(a, b), f(3), f(4))
c("conv_nchw", lambda x, w: lax.conv(x, w, (2, 1), "SAME"), f(2, 3, 9, 8), f(4, 3, 3, 3))
c(
    "conv_nhwc",
    lambda x, w: lax.conv_general_dilated(
        x, w, (1, 1), [(1, 2), (0, 1)], rhs_dilation=(2, 1), dimension_numbers=("NHWC", "HWIO", "NHWC")
    ),
    f(1, 9, 8, 3),
    f(3, 3, 3, 4),
)
c(
    "conv_group",
    lambda x, w: lax.conv_general_dilated(
        x, w, (1, 1), "VALID", feature_group_count=2, dimension_numbers=("NHWC", "HWIO", "NCHW")
    ),
    f(1, 5, 5, 4),
    f(3, 3, 2, 6),
)
c("conv_t", lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME"), f(1, 4, 4, 3), f(3, 3, 3, 2))
c(
    "conv_1d",
    lambda x, w: lax.conv_general_dilated(x, w, (1,), [(-1, 1)], dimension_numbers=("NWC", "WIO", "NWC")),
    f(1, 7, 3),
    f(3, 3, 4),
)
c(
    "conv_3d",
    lambda x, w: lax.conv_general_dilated(x, w, (1, 1, 1), "SAME", dimension_numbers=("NDHWC", "DHWIO", "NDHWC")),
    f(1, 4, 4, 4, 2),
    f(2, 2, 2, 2, 3),
)
c("maxpool", lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"), f(1, 7, 7, 3))
c("minpool", lambda x: lax.reduce_window(x, jnp.inf, lax.min, (1, 1, 2, 2), (1, 1, 2, 2), "VALID"), f(1, 3, 6, 6))
c("sumpool", lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 2), (1, 1), "SAME"), f(5, 6))
c("cumsum", lambda x: jnp.cumsum(x, axis=1), f(3, 5))
c("cummax", lambda x: lax.cummax(x, axis=0), f(4, 5))
c("arith", lambda x, y: (x + y) * x - y / (x * x + 1), f(3, 4), f(3, 4))
c("bcast", lambda x, y: x + y[:, None] * 2, f(3, 4), f(3))
c(
    "unary",
    lambda x: jnp.exp(x) + jnp.tanh(x) + jax.nn.sigmoid(x) + lax.rsqrt(jnp.abs(x) + 1) + jnp.sqrt(jnp.abs(x)) - x,
    f(3, 4),
)
c(
    "unary2",
    lambda x: (
        jnp.log(jnp.abs(x) + 1)
        + jnp.floor(x)
        + jnp.ceil(x)
        + jnp.round(x)
        + jnp.sign(x)
        + jnp.sin(x)
        + jnp.cos(x)
        + jnp.tan(x)
    ),
    f(3, 4),
)
c(
    "unary3",
    lambda x: jnp.log1p(jnp.abs(x)) + jnp.expm1(x) + jnp.cbrt(x) + lax.erf(x) + lax.erfc(x) + jnp.square(x),
    f(3, 4),
)
c("softmax", lambda x: jax.nn.softmax(x, axis=1), f(3, 5, 2))
c("logsoftmax", lambda x: jax.nn.log_softmax(x), f(3, 5))
c("gelu", lambda x: jax.nn.gelu(x), f(3, 5))
c("gelu2", lambda x: jax.nn.gelu(x, approximate=False), f(3, 5))
c(
    "acts",
    lambda x: (
        jax.nn.relu(x)
        + jax.nn.relu6(x)
        + jax.nn.silu(x)
        + jax.nn.elu(x)
        + jax.nn.leaky_relu(x)
        + jax.nn.hard_swish(x)
        + jax.nn.selu(x)
        + jax.nn.softplus(x)
        + jax.nn.celu(x)
        + jax.nn.mish(x)
    ),
    f(3, 5),
)
c("clamp", lambda x: jnp.clip(x, -0.5, 0.5), f(3, 5))
c("clamp2", lambda x, a: lax.clamp(a, x, a + 1), f(3, 5), f(3, 5))
c("where", lambda x, y: jnp.where(x > y, x * 2, y), f(3, 5), f(3, 5))
c("cmp", lambda x, y: (x >= y) & (x < 2) | ~(y != 0), i(3, 5), i(3, 5))
c("ints", lambda x, y: x * y - x // 3 + y % 4, i(3, 5), i(3, 5))
c("cast", lambda x: x.astype(jnp.int32).astype(jnp.float32) + (x > 0).astype(jnp.float32), f(3, 5))
c("bool_in", lambda m, x: jnp.where(m, x, 0), rng.random((3, 5)) > 0.5, f(3, 5))
c("any", lambda x: jnp.any(x > 1, axis=1), f(3, 5))
c("all", lambda x: jnp.all(x > -1, axis=0), f(3, 5))
c("pow", lambda x: x**2 + x**3 + jnp.abs(x) ** 1.5 + jnp.abs(x) ** 0.5, f(3, 5))
c("pow2", lambda x, y: jnp.power(jnp.abs(x), y), f(3, 5), f(3, 5))
c("reduce", lambda x: x.sum(1) + x.max(1) - x.min(1) + x.mean(1), f(3, 5, 2))
c("prod", lambda x: x.prod(axis=1), f(3, 5, 2))
c("redint", lambda x: x.sum(0) + x.max(0), i(3, 5))
c("var", lambda x: x.var(axis=(0, 2)), f(3, 5, 2))
c("argmaxless", lambda x: x.max(axis=(0, 1)), f(3, 5, 2))
c("slice", lambda x: x[1:3, ::2, -1], f(4, 5, 3))
c("slice_bcast", lambda x: jnp.broadcast_to(x[:, None], (4, 5))[1:3, 2:4] * jnp.ones((2, 2)), f(4))
c("flip", lambda x: x[:, ::-1], f(3, 4))
c("concat", lambda x, y: jnp.concatenate([x, y.T, x], axis=1), f(3, 4), f(2, 3))
c("stack", lambda x, y: jnp.stack([x, y], axis=1), f(3, 4), f(3, 4))
c("pad", lambda x: jnp.pad(x, ((1, 2), (0, 1)), constant_values=3.0), f(3, 4))
c("padint", lambda x: lax.pad(x, 0.0, ((1, -1, 2), (-1, 2, 0))), f(3, 4))
c("padedge", lambda x: jnp.pad(x, ((1, 1), (0, 1)), mode="edge"), f(3, 4))
c("iota", lambda x: x + jnp.arange(4) + lax.broadcasted_iota(jnp.float32, (3, 4), 0), f(3, 4))
c("tri", lambda x: jnp.tril(x) + jnp.triu(x, 1) * 2, f(4, 4))
c("take", lambda x: x[jnp.array([2, 0, 1])], f(3, 4))
c("take1", lambda x: jnp.take(x, jnp.array([[2, 0], [1, 3]]), axis=1), f(3, 4, 2))
c("onehot", lambda t, x: jax.nn.one_hot(t, 5) @ x, np.array([1, 4, 0], np.int32), f(5, 3))
c("reshape", lambda x: x.reshape(2, 6, 1).transpose(1, 2, 0).reshape(3, 4), f(3, 4))
c("transpose", lambda x: jnp.moveaxis(x, 0, 2)[..., None] * 2, f(2, 3, 4))
c("ln", lambda x, s: (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * s, f(3, 8), f(8))
c("rms", lambda x, s: x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * s, f(2, 3, 8), f(8))
c(
    "rope",
    lambda x: jnp.concatenate(
        [x[..., :4] * jnp.cos(jnp.arange(4.0)) - x[..., 4:] * jnp.sin(jnp.arange(4.0)), x[..., 4:]], -1
    ),
    f(2, 3, 8),
)
c("mha", lambda x: jax.nn.dot_product_attention(x, x, x, is_causal=True), f(1, 5, 2, 4))
c("f16", lambda x, w: jax.nn.relu(x @ w).sum(1), f(3, 4).astype(np.float16), f(4, 5).astype(np.float16))
c(
    "i8dot",
    lambda x, w: lax.dot_general(x, w, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32),
    rng.integers(-128, 127, (3, 4)).astype(np.int8),
    rng.integers(-128, 127, (4, 5)).astype(np.int8),
)
c("many", lambda x: (x + 1, x * 2), f(3))
c("noop", lambda x: x, f(3))
c("const", lambda x: x @ jnp.asarray(f(4, 4)), f(3, 4))
c("scalar", lambda x: x * 2 + 1, np.float32(3))
c("jit_in", lambda x: jax.jit(lambda y: jax.jit(jnp.sin)(y) + 1)(x) * jax.jit(lambda y: y * y)(x), f(3))
c("batchmm", lambda a, b: jax.vmap(jnp.matmul)(a, b), f(2, 3, 4), f(2, 4, 5))
c("split", lambda x: sum(jnp.split(x, 3, axis=1)), f(2, 6))
c("roll", lambda x: jnp.roll(x, 1, axis=1), f(2, 6))
c("dyn_const", lambda x: lax.dynamic_slice(x, (1, 2), (2, 2)), f(4, 5))
c("sq", lambda x: x.squeeze(1)[None], f(2, 1, 3))
c("rep", lambda x: jnp.repeat(x, 3, axis=1) + jnp.tile(x, (1, 3)), f(2, 4))
c("inf", lambda x: jnp.where(x > 0, x, -jnp.inf).max(1), f(2, 4))
c("upd", lambda x: x.at[:, 1:3].set(0.0), f(3, 5))
c("updd", lambda x, y: lax.dynamic_update_slice(x, y, (0, 1)), f(3, 5), f(2, 2))
c("isfin", lambda x: jnp.isfinite(x), f(3, 5))
c("argmax", lambda x: jnp.argmax(x, 1), f(3, 5))
c("sort", lambda x: jnp.sort(x, 1), f(3, 5))
c("topk", lambda x: lax.top_k(x, 2), f(3, 5))
c("while", lambda x: lax.fori_loop(0, 3, lambda i, y: y * 2, x), f(3, 5))
c("scan", lambda x: lax.scan(lambda c, y: (c + y, c), x[0], x)[0], f(3, 5))
c("rtake", lambda x, i: x[i], f(3, 5), np.array([0, 2], np.int32))
c("bf16", lambda x: x * 2, jnp.ones((3,), jnp.bfloat16))
c("cond", lambda x: lax.cond(x.sum() > 0, lambda y: y, lambda y: -y, x), f(3))
c("rand", lambda x: x + jax.random.normal(jax.random.PRNGKey(0), (3,)), f(3))

texts, arrays = {}, {}
for name, (function, inputs) in cases.items():
    texts[name] = jax.jit(function).lower(*inputs).as_text()
    if name == "bf16":  # which NumPy has not
        continue
    results = jax.tree.leaves(jax.jit(function)(*inputs))
    for kind, values in (("in", inputs), ("out", results)):
        arrays |= {f"{name}/{kind}{k}": np.asarray(value) for k, value in enumerate(values)}
(FOLDER / "jax_operations.json").write_text(json.dumps(texts, indent=0) + "\n")
np.savez_compressed(FOLDER / "jax_operations.npz", **arrays)
