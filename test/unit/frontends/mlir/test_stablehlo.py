"""StableHLO as JAX prints it: what is computed is what JAX computes, and what has no layers is refused by name."""

import numpy as np
import pytest

from tilewright import CompileOptions, compile, simulate
from tilewright.errors import TilewrightError
from tilewright.frontends.mlir import import_mlir, is_foreign

from .operations import arrays, check, compute, texts

TEXTS = texts("jax_operations")

REFUSED = {
    "upd": "stablehlo.scatter (line 7)",
    "sort": "stablehlo.sort",
    "topk": "chlo.top_k",
    "bf16": "lower the model with f32",
    "cond": "choose with jnp.where",
    "rand": "stablehlo.shift_right_logical",
}
"""What the error about a function says."""


@pytest.mark.parametrize("name", [name for name in TEXTS if name not in REFUSED])
def test_operations(name: str):
    check("jax_operations", name, TEXTS[name])


@pytest.mark.parametrize("name", ["mha", "argmax", "rtake", "f16", "i8dot", "scan"])
def test_operations_on_a_machine(name: str):
    program = compile(import_mlir(TEXTS[name], name), "edge16", options=CompileOptions(prove=False, partition=""))
    given = {f"arg{i}": array for i, array in enumerate(arrays("jax_operations", name, "in"))}
    results = simulate(program, given).outputs.values()
    for result, one in zip(results, arrays("jax_operations", name, "out"), strict=True):
        np.testing.assert_allclose(result, one, rtol=2e-3 if one.dtype == np.float16 else 2e-5, atol=1e-5)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str):
    with pytest.raises(TilewrightError) as error:
        import_mlir(TEXTS[name], name)
    assert error.value.kind == "unsupported"
    assert REFUSED[name] in str(error.value)


def function(body: str, arguments: str = "%arg0: tensor<2x3xf32>", result: str = "tensor<2x3xf32>") -> str:
    return f"module {{\n func.func public @main({arguments}) -> {result} {{\n{body}\n }}\n}}"


def test_constants_are_read_by_their_bits():
    body = """
    %c = stablehlo.constant dense<"0x0000803F00000040000000C00000000000007FC1000080FF"> : tensor<2x3xf32>
    %d = stablehlo.constant dense<[[1.0, 0xFF800000, -2.5e-1], [0.0, 3.0, 0x7F800000]]> : tensor<2x3xf32>
    %e = stablehlo.constant dense_resource<blob> : tensor<2x3xf32>
    return %c, %d, %e : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>"""
    text = function(body, "", "(tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>)")
    digits = "04000000" + np.arange(6, dtype="<f4").tobytes().hex()
    text += f'\n{{-#\n  dialect_resources: {{ builtin: {{ blob: "0x{digits}" }} }}\n#-}}\n'
    c, d, e = compute(text, [])
    np.testing.assert_array_equal(c, [[1, 2, -2], [0, -15.9375, -np.inf]])
    np.testing.assert_array_equal(d, [[1, -np.inf, -0.25], [0, 3, np.inf]])
    np.testing.assert_array_equal(e, [[0, 1, 2], [3, 4, 5]])


def test_names_of_arguments_and_results():
    body = "  return %x, %x : tensor<2xf32>, tensor<2xf32>"
    named = '(tensor<2xf32> {jax.result_info = "out.a"}, tensor<2xf32> {jax.result_info = "out.b"})'
    module = import_mlir(function(body, "%x: tensor<2xf32>", named))
    assert 'graph.inputs = ["x"], graph.outputs = ["out.a", "out.b"]' in str(module)


def test_layers_are_named_by_their_operations():
    module = import_mlir(function("  %0 = stablehlo.tanh %arg0 : tensor<2x3xf32>\n  return %0 : tensor<2x3xf32>"))
    assert 'name = "tanh.1"' in str(module)


def test_what_is_repeated_is_not_made():
    """A bias and a number stay as small as they are."""
    body = """
    %c = stablehlo.constant dense<2.0> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<512x512x512xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<512xf32>) -> tensor<512x512x512xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<512x512x512xf32>
    %3 = stablehlo.slice %2 [0:1, 0:512, 0:1] : (tensor<512x512x512xf32>) -> tensor<1x512x1xf32>
    %4 = stablehlo.reshape %3 : (tensor<1x512x1xf32>) -> tensor<512xf32>
    return %4 : tensor<512xf32>"""
    text = function(body, "%arg0: tensor<512xf32>", "tensor<512xf32>")
    (result,) = compute(text, [np.arange(512, dtype=np.float32)])
    np.testing.assert_array_equal(result, 2 * np.arange(512))
    assert "512x512" not in str(import_mlir(text))


def test_another_search_for_a_place():
    """What is not quite the body of arg max is not taken for it."""
    text = TEXTS["argmax"]
    with pytest.raises(TilewrightError, match="the place of a maximum or minimum is taken"):
        import_mlir(text.replace("stablehlo.compare LT, %arg2, %arg4", "stablehlo.compare GT, %arg2, %arg4"))
    with pytest.raises(TilewrightError, match="the place of a maximum or minimum is taken"):
        import_mlir(text.replace("iota dim = 1", "iota dim = 0"))


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("%0 = stablehlo.custom_call @lapack_sgetrf(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>", "@lapack_sgetrf"),
        ("%0 = call @nothing(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>", "a function of the file, found @nothing"),
        ("%0 = call @main(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>", "must not call itself"),
        ("%0 = stablehlo.add %arg0, %1 : tensor<2x3xf32>", "line 3"),
        ("%0 = stablehlo.add %arg0 : tensor<2x3xf32>", "expected 2 operands, found 1"),
        ("%0 = stablehlo.transpose %arg0, dims = [0, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>", "an order of 2 axes"),
        ("%0 = stablehlo.slice %arg0 [0:2, 0:9] : (tensor<2x3xf32>) -> tensor<2x9xf32>", "inside of the tensor"),
        ("%0 = stablehlo.reshape %arg0 : (tensor<2x3xf32>) -> tensor<7xf32>", "6 elements"),
        ("%0 = stablehlo.iota dim = 3 : tensor<2x3xf32>", "axis 3"),
        ("%0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2x3xf32>", "6 elements of f32"),
        ("%0 = stablehlo.constant dense<300> : tensor<ui8>", "elements of ui8"),
        ("%0 = stablehlo.constant dense<1.0> : tensor<4294967296x4294967296xf32>", "at most 1099511627776 elements"),
        ("%0 = stablehlo.reshape %arg0 : (tensor<2x3xf32>) -> tensor<?xf32>", "lower the model with static shapes"),
        ('%0 = stablehlo.tanh %arg0 : tensor<2x3xf32> "', "a closed string"),
        ("%0 = stablehlo.tanh %arg0 : tensor<2x3x", "a ranked tensor type"),
    ],
)
def test_wrong_text(body: str, told: str):
    with pytest.raises(TilewrightError) as error:
        import_mlir(function(f"{body}\n  return %0 : tensor<2x3xf32>"), "wrong.mlir")
    assert told in str(error.value)


@pytest.mark.parametrize(
    "body",
    [
        "%0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [5] x [7] : (tensor<2x3xf32>) -> tensor<2x3xf32>",
        "%0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [inf] x [0] : (tensor<2x3xf32>) -> tensor<f32>",
        "%0 = stablehlo.dot_general %arg0, %arg0, batching_dims = [0] x [0], contracting_dims = [0.5] x [1] : "
        "(tensor<2x3xf32>) -> tensor<2x3xf32>",
        "%0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [0] x [A] : (tensor<2x3xf32>) -> tensor<f32>",
        "%0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = 3 : (tensor<2x3xf32>) -> tensor<f32>",
        '%0 = "stablehlo.dot_general"(%arg0, %arg0) <{dot_dimension_numbers = 3}> : (tensor<2x3xf32>) -> tensor<f32>',
        "%0 = stablehlo.broadcast_in_dim %arg0, dims = [0, x] : (tensor<2x3xf32>) -> tensor<2x3xf32>",
        "%0 = stablehlo.convolution(%arg0, %arg0) dim_numbers = [b, f]x[o, i]->[b, f], window = {reverse = [inf]} : "
        "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>",
        "%0 = stablehlo.broadcast_in_dim dims = [0] : tensor<2x3xf32>",
        "%0:99999999999 = stablehlo.tanh %arg0 : tensor<2x3xf32>",
        "%0 = stablehlo.slice %arg0 [- 2:3] : tensor<2x3xf32>",
        "%c = stablehlo.constant dense<1e999> : tensor<2xf32>\n%0 = stablehlo.dynamic_iota %c, dim = 0 : tensor<?xf32>",
        '%0 = "stablehlo.reverse"(%arg0) <{dimensions = array<i64: - 2>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>',
        '%0 = "stablehlo.gather"(%arg0, %arg0) <{dimension_numbers = #stablehlo.gather<offset_dims = [9], '
        "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 3>}> : "
        "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3x3xf32>",
    ],
)
def test_damaged_text(body: str):
    """What random damage found."""
    with pytest.raises(TilewrightError):
        import_mlir(function(f"{body}\n  return %0 : tensor<2x3xf32>"))


def test_nesting_is_bounded():
    deep = function(f"  %0 = stablehlo.add {'[' * 10_000}")
    with pytest.raises(TilewrightError, match="at most 50 levels"):
        import_mlir(deep)
    calls = "\n".join(
        f"func.func private @f{i}(%x: tensor<f32>) -> tensor<f32> {{\n %0 = call @f{i + 1}(%x) : (tensor<f32>) -> "
        f"tensor<f32>\n %1 = call @f{i + 1}(%0) : (tensor<f32>) -> tensor<f32>\n return %1 : tensor<f32>\n}}"
        for i in range(40)
    )
    last = "func.func private @f40(%x: tensor<f32>) -> tensor<f32> {\n %0 = stablehlo.tanh %x : tensor<f32>\n return %0"
    main = (
        "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n %0 = call @f0(%x) : (tensor<f32>) -> tensor<f32>\n return"
    )
    with pytest.raises(TilewrightError, match="at most 30000 operations"):
        import_mlir(f"{calls}\n{last} : tensor<f32>\n}}\n{main} %0 : tensor<f32>\n}}")


def test_texts_are_recognised():
    assert is_foreign(TEXTS["dot_mm"])
    assert is_foreign('func.func @f(%a: tensor<f32>) {\n  %0 = "stablehlo.add"(%a, %a) : () -> ()\n}')
    assert not is_foreign('// linalg.matmul\nfunc.func @f() {\n  %0 = graph.weight @w {name = "linalg.x"}\n}')
