"""Writes `test/data/mlir`: three networks as JAX, torch-mlir and IREE print them.

    cd test; python -m networks.print_mlir

needs jax, flax, torch-mlir and iree-base-compiler (jax 0.10.2, torch-mlir 20261001, IREE 3.13 wrote what is there).
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import flax.linen as nn
import jax
import jax.numpy as jnp
import onnx
from jax import export

from .mlir_networks import FOLDER, NETWORKS


class MlpBlock(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        y = nn.Dense(self.width)(x)
        return nn.Dense(x.shape[-1])(nn.gelu(y, approximate=False))


class Mixer(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Conv(16, (4, 4), strides=(4, 4))(x)
        n, h, w, c = x.shape
        x = x.reshape(n, h * w, c)
        for _ in range(2):
            y = jnp.swapaxes(nn.LayerNorm()(x), 1, 2)
            x = x + jnp.swapaxes(MlpBlock(24)(y), 1, 2)
            x = x + MlpBlock(32)(nn.LayerNorm()(x))
        return nn.Dense(10)(nn.LayerNorm()(x).mean(axis=1))


class Block(nn.Module):
    @nn.compact
    def __call__(self, x):
        n, t, d = x.shape
        heads, size = 4, d // 4
        q, k, v = jnp.split(nn.Dense(3 * d)(nn.LayerNorm()(x)), 3, axis=-1)
        q, k, v = (a.reshape(n, t, heads, size).transpose(0, 2, 1, 3) for a in (q, k, v))
        scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / jnp.sqrt(size)
        scores = jnp.where(jnp.tril(jnp.ones((t, t), bool)), scores, jnp.finfo(scores.dtype).min)
        y = jnp.einsum("bhqk,bhkd->bhqd", nn.softmax(scores), v)
        x = x + nn.Dense(d)(y.transpose(0, 2, 1, 3).reshape(n, t, d))
        y = nn.Dense(4 * d)(nn.LayerNorm()(x))
        return x + nn.Dense(d)(nn.gelu(y))


def norm(x):
    return nn.BatchNorm(use_running_average=True)(x)


class Bottleneck(nn.Module):
    features: int
    stride: int

    @nn.compact
    def __call__(self, x):
        wide = 3 * x.shape[-1]
        y = nn.relu6(norm(nn.Conv(wide, (1, 1), use_bias=False)(x)))
        y = nn.Conv(wide, (3, 3), (self.stride,) * 2, feature_group_count=wide, use_bias=False)(y)
        y = nn.relu6(norm(y))
        y = norm(nn.Conv(self.features, (1, 1), use_bias=False)(y))
        return x + y if y.shape == x.shape else y


class MobileNet(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(norm(nn.Conv(8, (3, 3), (2, 2), use_bias=False)(x)))
        x = nn.max_pool(x, (3, 3), (2, 2), "SAME")
        for features, stride in ((12, 1), (12, 1), (16, 2)):
            x = Bottleneck(features, stride)(x)
        x = nn.avg_pool(x, (2, 2), (2, 2)).mean(axis=(1, 2))
        return nn.softmax(nn.Dense(10)(x))


MODELS = {
    "mixer": (Mixer(), (1, 16, 16, 3)),
    "transformer": (Block(), (1, 12, 32)),
    "mobilenet": (MobileNet(), (1, 32, 32, 3)),
}

TO_LINALG = "torch-onnx-to-torch-backend-pipeline,torch-backend-to-linalg-on-tensors-backend-pipeline"


def print_stablehlo(name: str) -> dict[str, list[int]]:
    """Writes what JAX prints; the shapes of arguments by name."""
    model, shape = MODELS[name]
    x = jnp.zeros(shape, jnp.float32)
    parameters = model.init(jax.random.PRNGKey(0), x)
    (FOLDER / f"{name}.stablehlo.mlir").write_text(jax.jit(model.apply).lower(parameters, x).as_text())
    named = jax.tree_util.tree_flatten_with_path(parameters)[0]
    return {".".join(part.key for part in path): list(v.shape) for path, v in named} | {"x": list(shape)}


def print_symbolic() -> None:
    """Writes the transformer with samples `b` and tokens `t` left open."""
    model, shape = MODELS["transformer"]
    parameters = model.init(jax.random.PRNGKey(0), jnp.zeros(shape))
    shapes = jax.tree.map(lambda array: jax.ShapeDtypeStruct(array.shape, array.dtype), parameters)
    x = jax.ShapeDtypeStruct((*export.symbolic_shape("b, t"), shape[2]), jnp.float32)
    text = export.export(jax.jit(model.apply))(shapes, x).mlir_module()
    text = re.sub(r'"/[^"]*/([^"/]+)"', r'"\1"', text)  # files without their folders
    (FOLDER / "transformer.symbolic.mlir").write_text(text)


def lower(model: onnx.ModelProto, folder: Path, result: str) -> Path:
    """Writes what torch-mlir makes of a model; the model's file."""
    tools, start = Path(sys.executable).parent, folder / "model.onnx"
    onnx.save(onnx.shape_inference.infer_shapes(model), start)
    subprocess.run([tools / "torch-mlir-import-onnx", start, "-o", folder / "torch.mlir"], check=True)
    passes = f"--pass-pipeline=builtin.module({TO_LINALG})"
    subprocess.run([tools / "torch-mlir-opt", folder / "torch.mlir", passes, "-o", FOLDER / result], check=True)
    return start


def print_linalg(name: str, folder: Path) -> None:
    """Writes what torch-mlir prints, also of an open batch of the MobileNet, and IREE of the transformer."""
    tools, start = Path(sys.executable).parent, lower(NETWORKS[name](), folder, f"{name}.linalg.mlir")
    if name == "mobilenet":
        model = NETWORKS[name]()
        model.graph.input[-1].type.tensor_type.shape.dim[0].dim_param = "b"
        lower(model, folder, f"{name}.open.mlir")
    if name == "transformer":
        subprocess.run([tools / "iree-import-onnx", start, "-o", folder / "iree.mlir"], check=True)
        device = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
        result = ["--compile-to=input", "-o", FOLDER / f"{name}.iree.mlir"]
        subprocess.run([tools / "iree-compile", folder / "iree.mlir", *device, *result], check=True)


def main() -> None:
    """Write all files."""
    FOLDER.mkdir(exist_ok=True)
    arguments = {name: print_stablehlo(name) for name in MODELS}
    (FOLDER / "arguments.json").write_text(json.dumps(arguments, indent=1) + "\n")
    with TemporaryDirectory() as folder:
        print_symbolic()
        for name in MODELS:
            print_linalg(name, Path(folder))


if __name__ == "__main__":
    main()
