"""linalg as torch-mlir prints it: results are ONNX's of the node tests it comes from; the rest is refused by name."""

import numpy as np
import pytest

from tilewright.errors import TilewrightError
from tilewright.frontends.mlir import import_mlir

from .operations import Array, check, compute, texts

TEXTS = texts("linalg_operations")

REFUSED = {"maxpool_3d_default": "windows are taken as named operations", "matmulinteger": "found i32 by i32"}
"""What the error about a text says."""


@pytest.mark.parametrize("name", [name for name in TEXTS if name not in REFUSED])
def test_operations(name: str):
    check("linalg_operations", name, TEXTS[name])


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str):
    with pytest.raises(TilewrightError) as error:
        import_mlir(TEXTS[name], name)
    assert REFUSED[name] in str(error.value)


@pytest.mark.parametrize("index", ["tensor.extract%8", "0.5", "[1]"])
def test_an_index_that_is_no_number(index: str):
    """What random damage found."""
    text = TEXTS["gather_1"].replace("tensor.extract %arg0[%8", f"tensor.extract %arg0[{index}")
    with pytest.raises(TilewrightError):
        import_mlir(text)


def test_another_search_for_a_place():
    """What is not quite the body of arg min is not taken for it."""
    text = TEXTS["argmin_default_axis_example"]
    for old, new in (
        ("arith.cmpf olt", "arith.cmpf ogt"),
        ("%9 = arith.select %8, %6", "%9 = arith.select %8, %c0_i64"),
    ):
        with pytest.raises(TilewrightError, match="a second result"):
            import_mlir(text.replace(old, new))


def normal(*shape: int) -> Array:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


def typed(shape: tuple[int, ...]) -> str:
    return f"tensor<{''.join(f'{extent}x' for extent in shape)}f32>"


def named(operation: str, x: Array, w: Array, shape: tuple[int, ...], attributes: str = "", start: float = 0) -> Array:
    """A named operation of two operands whose result begins with a number everywhere."""
    a, b, c = typed(x.shape), typed(w.shape), typed(shape)
    text = f"""func.func @f(%a: {a}, %b: {b}) -> {c} {{
      %cst = arith.constant {start:e} : f32
      %0 = tensor.empty() : {c}
      %1 = linalg.fill ins(%cst : f32) outs(%0 : {c}) -> {c}
      %2 = linalg.{operation} {attributes} ins(%a, %b : {a}, {b}) outs(%1 : {c}) -> {c}
      return %2 : {c}
    }}"""
    (result,) = compute(text, [x, w])
    return result


def correlate(x: Array, w: Array, stride: int = 1) -> Array:
    """A convolution of `[n, h, w, c]` with `[h, w, c, f]`, written out."""
    rows, columns = ((x.shape[i] - w.shape[i - 1]) // stride + 1 for i in (1, 2))
    result = np.zeros((x.shape[0], rows, columns, w.shape[3]))
    for p in range(rows):
        for q in range(columns):
            part = x[:, p * stride : p * stride + w.shape[0], q * stride : q * stride + w.shape[1]]
            result[:, p, q] = np.einsum("nrsc,rscf->nf", part, w)
    return result


STEPS = "{dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}"


def test_convolutions_in_all_orders():
    x, w = normal(2, 7, 6, 4), normal(3, 2, 4, 5)
    expected = correlate(x, w, 2)
    shape = expected.shape
    last = named("conv_2d_nhwc_hwcf", x, w, shape, STEPS)
    np.testing.assert_allclose(last, expected, rtol=1e-4, atol=1e-5)
    other = named("conv_2d_nhwc_fhwc", x, w.transpose(3, 0, 1, 2), shape, STEPS, start=2)
    np.testing.assert_allclose(other, expected + 2, rtol=1e-4, atol=1e-5)
    first = shape[0], shape[3], *shape[1:3]
    made = named("conv_2d_nchw_fchw", x.transpose(0, 3, 1, 2), w.transpose(3, 2, 0, 1), first, STEPS)
    np.testing.assert_allclose(made.transpose(0, 2, 3, 1), expected, rtol=1e-4, atol=1e-5)
    line = named("conv_1d_nwc_wcf", x[:, :, 0], w[:, 0], (2, 5, 5), "{strides = dense<1> : vector<1xi64>}")
    alone = correlate(x[:, :, :1], w[:, :1])[:, :, 0]
    np.testing.assert_allclose(line, alone, rtol=1e-4, atol=1e-5)


def test_grouped_and_depthwise_convolutions():
    x, w = normal(2, 7, 6, 4), normal(3, 2, 4)
    parts = [correlate(x[..., c : c + 1], w[..., c : c + 1, None], 2) for c in range(4)]
    expected = np.concatenate(parts, axis=3)
    result = named("depthwise_conv_2d_nhwc_hwc", x, w, expected.shape, STEPS)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)
    twice = np.stack([w, -w], axis=3)
    result = named("depthwise_conv_2d_nhwc_hwcm", x, twice, (*expected.shape, 2), STEPS)
    np.testing.assert_allclose(result, np.stack([expected, -expected], axis=4), rtol=1e-4, atol=1e-5)
    filters = normal(2, 3, 2, 3, 2)  # g f c h w
    groups = x.reshape(2, 7, 6, 2, 2).transpose(0, 3, 4, 1, 2)
    both = [correlate(x[..., 2 * g : 2 * g + 2], filters[g].transpose(2, 3, 1, 0), 2) for g in range(2)]
    expected = np.stack(both, axis=1).transpose(0, 1, 4, 2, 3)
    result = named("conv_2d_ngchw_gfchw", groups, filters, expected.shape, STEPS)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)
    turned = filters.transpose(1, 0, 2, 3, 4)
    result = named("conv_2d_ngchw_fgchw", groups, turned, expected.shape, STEPS)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


def test_poolings_in_all_orders():
    x, window = normal(2, 6, 6, 3), np.zeros((2, 2), np.float32)
    blocks = x.reshape(2, 3, 2, 3, 2, 3)
    for kind, start, expected in (
        ("max", -float(np.finfo(np.float32).max), blocks.max((2, 4))),
        ("min", float(np.finfo(np.float32).max), blocks.min((2, 4))),
        ("sum", 0, blocks.sum((2, 4))),
    ):
        result = named(f"pooling_nhwc_{kind}", x, window, expected.shape, STEPS, start)
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)
        turned = expected.transpose(0, 3, 1, 2)
        result = named(f"pooling_nchw_{kind}", x.transpose(0, 3, 1, 2), window, turned.shape, STEPS, start)
        np.testing.assert_allclose(result, turned, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("matmul", "mk,kn->mn"),
        ("matmul_transpose_a", "km,kn->mn"),
        ("matmul_transpose_b", "mk,nk->mn"),
        ("batch_matmul", "bmk,bkn->bmn"),
        ("batch_matmul_transpose_b", "bmk,bnk->bmn"),
        ("matvec", "mk,k->m"),
        ("vecmat", "k,kn->n"),
        ("dot", "k,k->"),
    ],
)
def test_products(name: str, formula: str):
    extents = {"b": 2, "m": 3, "n": 4, "k": 5}
    left, right = (tuple(extents[axis] for axis in axes) for axes in formula.partition("->")[0].split(","))
    a, b = normal(*left), normal(*right)
    expected = np.einsum(formula, a, b)
    np.testing.assert_allclose(named(name, a, b, expected.shape), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("formula", "kinds"), [("mk,kn->mn", 2), ("abk,cbk->cab", 2), ("bmk,bnk->bnm", 1), ("mk,k->m", 1), ("mk,mk->m", 1)]
)
def test_generic_products(formula: str, kinds: int):
    """Sums of products become matrix products where operands lack dims, else are reduced."""
    sides, _, out = formula.partition("->")
    extents = {"a": 2, "b": 3, "c": 4, "m": 3, "n": 4, "k": 5}
    dims = sorted(set(sides) - {","})
    left, right = sides.split(",")

    def as_map(axes: str) -> str:
        names = ", ".join(f"d{dims.index(axis)}" for axis in axes)
        return f"affine_map<({', '.join(f'd{i}' for i in range(len(dims)))}) -> ({names})>"

    a, b = (normal(*(extents[axis] for axis in axes)) for axes in (left, right))
    expected = np.einsum(formula, a, b)
    iterators = ", ".join('"parallel"' if axis in out else '"reduction"' for axis in dims)
    ta, tb, tc = typed(a.shape), typed(b.shape), typed(expected.shape)
    text = f"""func.func @f(%a: {ta}, %b: {tb}, %c: {tc}) -> {tc} {{
      %0 = linalg.generic {{indexing_maps = [{as_map(left)}, {as_map(right)}, {as_map(out)}],
                           iterator_types = [{iterators}]}}
        ins(%a, %b : {ta}, {tb}) outs(%c : {tc}) {{
      ^bb0(%in: f32, %in_0: f32, %out: f32):
        %1 = arith.mulf %in, %in_0 : f32
        %2 = arith.addf %out, %1 : f32
        linalg.yield %2 : f32
      }} -> {tc}
      return %0 : {tc}
    }}"""
    start = normal(*expected.shape)
    (result,) = compute(text, [a, b, start])
    np.testing.assert_allclose(result, expected + start, rtol=1e-5, atol=1e-5)
    assert ("graph.matmul" in str(import_mlir(text))) == (left != right)


def test_other_operations():
    text = """
    #id = affine_map<(d0, d1) -> (d0, d1)>
    func.func @f(%x: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2x4x3xf32>, tensor<4x5xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = tensor.dim %x, %c1 : tensor<2x3xf32>
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty(%n) : tensor<?x2xf32>
      %t = linalg.transpose ins(%x : tensor<2x3xf32>) outs(%e : tensor<?x2xf32>) permutation = [1, 0]
      %i = tensor.empty() : tensor<2xf32>
      %z = linalg.fill ins(%zero : f32) outs(%i : tensor<2xf32>) -> tensor<2xf32>
      %r = linalg.reduce { arith.addf } ins(%x : tensor<2x3xf32>) outs(%z : tensor<2xf32>) dimensions = [1]
      %w = tensor.empty() : tensor<2x4x3xf32>
      %b = linalg.broadcast ins(%x : tensor<2x3xf32>) outs(%w : tensor<2x4x3xf32>) dimensions = [1]
      %l = arith.constant dense<1.0> : tensor<4x5xf32>
      %s = tensor.insert_slice %x into %l[1, 2] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x5xf32>
      return %t, %r, %b, %s : tensor<3x2xf32>, tensor<2xf32>, tensor<2x4x3xf32>, tensor<4x5xf32>
    }"""
    x = normal(2, 3)
    t, r, b, s = compute(text, [x])
    np.testing.assert_array_equal(t, x.T)
    np.testing.assert_allclose(r, x.sum(1), rtol=1e-6)
    np.testing.assert_array_equal(b, np.broadcast_to(x[:, None], (2, 4, 3)))
    expected = np.ones((4, 5), np.float32)
    expected[1:3, 2:] = x
    np.testing.assert_array_equal(s, expected)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("%0 = linalg.winograd_filter_transform ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>)", "linalg.winograd"),
        ("%0 = linalg.matmul ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>)", "ranks 2 and 2"),
        ("%0 = linalg.conv_2d_nchw_fchw ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>)", "nchw"),
        ("%0 = linalg.fill ins(%x : tensor<4xf32>) -> tensor<4xf32>", "1 operands outs"),
        ("%0 = arith.constant : f32", "a number or dense values"),
        (
            '%0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} '
            "outs(%x : tensor<4xf32>) {\n^bb0(%out: f32):\n %1 = arith.addf %1, %out : f32\n linalg.yield %1 : f32\n}",
            "operands made before, found %1",
        ),
        ("%0 = arith.maxui %x, %x : tensor<4xi32>", "signed integers"),
        ("%0 = memref.alloc() : memref<4xf32>", "memref.alloc"),
        ("%0 = scf.for %i = %c to %d step %e {\n}", "scf.for"),
        ("%0 = tensor.collapse_shape %x [[1]] : tensor<4xf32> into tensor<4xf32>", "all of 1 axes"),
        ("%0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 floordiv 2)>]", "a linear map"),
    ],
)
def test_wrong_text(body: str, told: str):
    with pytest.raises(TilewrightError) as error:
        import_mlir(f"func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {{\n{body}\n return %0 : tensor<4xf32>\n}}")
    assert told in str(error.value)
