"""A step of decoders of GPT-2's and LLaMA's kind, with a cache as input and output, in the simulator."""

import numpy as np
import pytest

from tilewright.backends.simulator import simulate
from tilewright.driver import CompileOptions, compile

from ....bench_scripts import bench

decoders = bench("decoder_models")


@pytest.mark.parametrize("family", [decoders.GPT2, decoders.LLAMA])
def test_a_token_has_the_scores_and_the_keys_of_onnxruntime(family: str) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    sizes = decoders.Sizes(1, 6, "int4", 64, 2, 40, family, shared=1, hidden=96)
    model = decoders.model_of(sizes, 1)
    random = np.random.default_rng(2)
    given = {f"h0.{part}.cache": random.standard_normal(sizes.cache, np.float32) for part in "kv"}
    given |= {"ids": np.array([7]), "start": np.array([3])}
    expected = onnxruntime.InferenceSession(model.SerializeToString()).run(None, given)
    outputs = simulate(compile(model, options=CompileOptions(gap=1000.0)), given, timing=False).outputs
    for value, wanted in zip(model.graph.output, expected, strict=True):
        np.testing.assert_allclose(outputs[value.name], wanted, rtol=1e-4, atol=1e-5)
