"""Layers of the zoo as modules: their cuts run, weights come from seeds, other names are left to others."""

import numpy as np
import pytest

from tilewright import compile, simulate
from tilewright.dialects.types import dtype_of, element_of, shape_of
from tilewright.driver import load_model, reference
from tilewright.errors import TilewrightError
from tilewright.frontends.input_shapes import InputShapes
from tilewright.frontends.layers import layer_module, named_module, named_network
from tilewright.interpreters.graph import find_function
from tilewright.resources import resources_of
from tilewright.zoo.covenant_layers import LAYERS, covenant_layer


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("network", ["covenant_cut", "covenant_u8_cut"])
def test_cuts_are_small_and_run(network: str, name: str):
    module = load_model(f"{network}:{name}")
    assert covenant_layer(name).cut().macs < 1e6
    program = compile(module, "edge16")
    signed = {"u8": (0, 256), "i8": (-128, 128)}
    rng = np.random.default_rng(1)
    inputs: dict[str, np.ndarray] = {}
    for tensor in program.tensors:
        if tensor.role == "input" and tensor.dtype == "float32":
            inputs[tensor.name] = rng.standard_normal(tensor.shape).astype(np.float32)
        elif tensor.role == "input":
            low, high = signed["u8" if tensor.dtype == "uint8" else "i8"]
            inputs[tensor.name] = rng.integers(low, high, tensor.shape).astype(tensor.dtype)
    found, expected = simulate(program, inputs).outputs["Y"], reference(module, inputs)["Y"]
    assert found.any()
    if found.dtype == np.float32:
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-3)
    else:
        np.testing.assert_array_equal(found, expected)


def test_weights_may_be_constant_and_depend_on_seed_and_layer():
    shape = covenant_layer("dlrm_fc3")
    arrays = [resources_of(layer_module(n, shape, seed=s))["W"] for n, s in (("a", 0), ("a", 0), ("a", 1), ("b", 0))]
    assert arrays[0].dtype == np.int8
    assert (arrays[0].min(), arrays[0].max()) == (-128, 127)
    assert [bool((array == arrays[0]).all()) for array in arrays] == [True, True, False, False]
    assert not resources_of(layer_module("bert_atn2", covenant_layer("bert_atn2").cut(), seed=0))


def test_other_names_are_someone_elses():
    assert named_module("resnet18:conv1") is None
    assert named_module("covenant") is None
    with pytest.raises(TilewrightError, match="bert_gemm9"):
        named_module("covenant:bert_gemm9")


def test_layers_that_mappers_are_compared_on_are_kernels():
    module = load_model("resnet18:conv5_2", InputShapes(batch=2))
    shapes = [shape_of(arg) for arg in find_function(module).body.block.args]
    assert shapes == [(2, 512, 9, 9), (512, 512, 3, 3)]
    assert load_model("resnet18:shifted") is not None
    with pytest.raises(TilewrightError, match="one of resnet18:shifted, the name of a layer, found 'conv9_9'"):
        load_model("resnet18:conv9_9")
    with pytest.raises(TilewrightError, match="one of conv1, conv2"):
        load_model("alexnet:conv9_9")
    with pytest.raises(TilewrightError, match="leave out --dim"):
        load_model("alexnet:conv1", InputShapes(dims={"n": 2}))


def test_networks_have_a_precision_a_batch_and_tokens():
    for name, element in (("gpt2_small_decode", "int8"), ("gpt2_small_decode:f32", "float32")):
        module = named_network(name, InputShapes(batch=2, dims={"tokens": 5}))
        assert module is not None
        shapes = {str(dtype_of(element_of(arg))): shape_of(arg) for arg in find_function(module).body.block.args[1:2]}
        assert shapes == {element: (2, 12, 4, 64)}
    assert named_network("resnet18", InputShapes()) is None
    with pytest.raises(TilewrightError, match="resnet50:f32, the name of a layer, found 'conv1'"):
        named_network("resnet50:conv1", InputShapes())
    with pytest.raises(TilewrightError, match="'tokens'"):
        named_network("gpt", InputShapes(dims={"sequence": 5}))
    with pytest.raises(TilewrightError, match="--shape"):
        named_network("gpt", InputShapes(shapes={"x": (1, 5, 768)}))
