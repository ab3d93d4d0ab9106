"""What a person calls a kernel."""

from dataclasses import replace
from pathlib import Path

import pytest

from tilewright.costs.hierarchy.statement import problem_of_statement, text_of_problem
from tilewright.errors import TilewrightError
from tilewright.frontends.einsum import parse_einsum
from tilewright.frontends.input_shapes import InputShapes
from tilewright.mapping import find_layers
from tilewright.zoo.mapping_layers import NETWORKS, layer, layers

from ...onnx_files.networks import light_folder

SQUEEZENET = f"{light_folder()}/light_squeezenet.onnx"
MLIR = """
func.func @main(%x : tensor<20x4xsi8>, %w : tensor<4x8xsi8>, %b : tensor<8xi32>) -> tensor<20x8xi32> {
  %y = nest.group @fc dims {m = 20, n = 8, k = 4} ins(X = %x, W = %w, B = %b) -> tensor<20x8xi32> {
  ^bb0(%X : tensor<20x4xsi8>, %W : tensor<4x8xsi8>, %B : tensor<8xi32>):
    %0 = nest.kernel @init "Y[m, n] = B[n]" (B = %B) : (tensor<8xi32>) -> tensor<20x8xi32>
    %1 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) into %0
      : (tensor<20x4xsi8>, tensor<4x8xsi8>) -> tensor<20x8xi32>
    nest.yield %1 : tensor<20x8xi32>
  }
  func.return %y : tensor<20x8xi32>
}
"""


def test_einsum_text_with_and_without_types() -> None:
    text = "O[m,n] += A[m,k] * B[k,n]; m=4 n=5 k=6"
    (plain,) = find_layers(text)
    assert (plain.problem.dims, plain.problem.bounds) == (("m", "n", "k"), (4, 5, 6))
    assert [tensor.word_bits for tensor in plain.problem.tensors] == [None] * 3
    (typed,) = find_layers(text, types={"A": "i8", "B": "i8", "O": "i32"})
    assert [tensor.word_bits for tensor in typed.problem.tensors] == [8, 8, 32]


def test_the_zoo() -> None:
    (one,) = find_layers("resnet18:conv2_1", InputShapes(16))
    assert one.problem == layer("resnet18:conv2_1", 16)
    found = find_layers("resnet18")
    assert [(x.problem, x.repeats) for x in found] == [(problem, n) for _, problem, n in layers("resnet18")]


def test_a_kernel_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "fc.mlir"
    path.write_text(MLIR)
    (found,) = find_layers(str(path))
    assert (found.name, found.problem.macs) == ("fc", 20 * 8 * 4)
    assert [(tensor.name, tensor.word_bits) for tensor in found.problem.tensors] == [("X", 8), ("W", 8), ("Y", 32)]


def test_a_model_and_one_of_its_nodes() -> None:
    found = find_layers(SQUEEZENET)
    assert len(found) == 26
    first = found[0].problem
    assert dict(zip(first.dims, first.bounds, strict=True)) == dict(k=64, p=111, q=111, c=3, r=3, s=3)
    (same,) = find_layers(f"{SQUEEZENET}:{found[3].name}")
    assert same == found[3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("O[m] += A[m,k; m=4 k=5", "einsum:1:14: expected `,` or `]`, found the end"),
        ("O[m] += A[m,k]; m=4", "dim k: expected an extent, found none; add `k=...` after the `;`"),
        ("resnet19:conv1", "found none of these; did you mean resnet18?"),
        ("resnet18:conv9", "expected one of conv1, conv2_1"),
        ("missing.onnx", "missing.onnx: expected a model, found no such file"),
        (f"{SQUEEZENET}:fire", "expected a node of the model, such as"),
    ],
)
def test_what_is_no_kernel(text: str, message: str) -> None:
    with pytest.raises(TilewrightError) as error:
        find_layers(text)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("text", "types", "message"),
    [
        ("O[m] += A[m,k]; m=4 k=5", {"A": "i8"}, "types: expected a type for each of O, A, found A"),
        ("O[m] += A[m,k]; m=4 k=5", {"A": "i8", "O": "i32", "B": "i8"}, "for each of O, A, found A, O, B"),
        ("resnet18:conv1", {"I": "i8"}, "types: expected an einsum, whose tensors have none of their own"),
    ],
)
def test_types_that_do_not_belong(text: str, types: dict[str, str], message: str) -> None:
    with pytest.raises(TilewrightError) as error:
        find_layers(text, types=types)
    assert message in str(error.value)


@pytest.mark.parametrize("network", NETWORKS)
def test_every_layer_of_the_zoo_is_an_einsum(network: str) -> None:
    for name, problem, _ in layers(network):
        again = problem_of_statement(*parse_einsum(text_of_problem(problem)), name=problem.name)
        assert (again.dims, again.bounds) == (problem.dims, problem.bounds), name
        assert {tensor.name: tensor for tensor in again.tensors} == {
            tensor.name: replace(tensor, role="") for tensor in problem.tensors
        }


def test_groups_of_a_model_are_a_dimension() -> None:
    found = [layer.problem for layer in find_layers(f"{light_folder()}/light_shufflenet.onnx")]
    grouped = next(problem for problem in found if "g" in problem.dims and "c" in problem.dims)
    axes = {tensor.name: [sum(map(bool, row)) for row in tensor.coefficients] for tensor in grouped.tensors}
    assert axes["W"][0] == axes["W"][1] == 1
    assert all(count == 1 for count in axes["Y"])
