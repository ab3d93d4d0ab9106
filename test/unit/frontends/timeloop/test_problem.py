"""Problems from YAML."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilewright.costs.hierarchy import Problem, Tensor
from tilewright.errors import TilewrightError
from tilewright.frontends.timeloop import load_problem, parse_timeloop

WINDOW = """problem:
  version: 0.4
  shape:
    name: window
    dimensions: [P, R]
    coefficients:
    - {name: stride, default: 3}
    data-spaces:
    - {name: I, projection: [[[P, stride], [R]]]}
    - {name: W, projection: [[[R]]]}
    - {name: O, projection: [[[P]]], read-write: true}
  instance: {P: 8, R: 3, stride: 2, Wpad: 1, densities: {}}
"""


def problem_of(text: str) -> Problem:
    problem = parse_timeloop(text).problem
    assert problem is not None
    return problem


def test_a_shape_and_an_instance() -> None:
    tensors = (Tensor("I", ((2, 1),)), Tensor("W", ((0, 1),)), Tensor("O", ((1, 0),), True))
    assert problem_of(WINDOW) == Problem("window", ("P", "R"), (8, 3), tensors)
    assert problem_of(WINDOW.replace(", stride: 2", "")).tensor("I").coefficients == ((3, 1),)


def test_the_layer_by_its_name() -> None:
    """The old form: bounds beside the shape, strides of one where nothing is said."""
    problem = problem_of("problem: {shape: cnn-layer, R: 3, S: 1, P: 5, Q: 6, C: 7, K: 8, N: 2, Wstride: 2}")
    assert dict(zip(problem.dims, problem.bounds, strict=True)) == dict(R=3, S=1, P=5, Q=6, C=7, K=8, N=2)
    assert [(t.name, t.role, t.is_output) for t in problem.tensors] == [
        ("Weights", "W", False),
        ("Inputs", "I", False),
        ("Outputs", "O", True),
    ]
    assert problem.tensor("Inputs").extents(problem.bounds) == (2, 7, 3 + 2 * 4, 6)


WRONG = {
    "no bound": ("P: 8, ", "", "yaml 1:12: expected a bound for the dimension P, found none"),
    "no shape": ("shape:", "form:", "yaml 1:2: expected a problem: shape, found none"),
    "unknown shape": (
        WINDOW,
        "problem: {shape: lattice}",
        "or the name of one of cnn_layer, gemm_abz, found `lattice`",
    ),
    "unknown dimension": ("[R]]]}\n    - {name: W", "[T]]]}\n    - {name: W", "with a dimension of P, R"),
    "no output": (", read-write: true", "", "exactly one tensor with write: true"),
    "flattened": ("    name: window", "    flattened_dimensions: [1]", "expected a shape without flattened_dimensions"),
    "sparse": ("densities: {}", "densities: {I: 0.5}", "expected dense operands: no densities"),
    "bound of zero": ("P: 8", "P: 0", "expected an integer from 1 to"),
    "no default": ("default: 3", "default: x", "yaml 1:7: expected the default of stride: a number of at least 0"),
}


@pytest.mark.parametrize(("old", "new", "message"), WRONG.values(), ids=WRONG)
def test_what_is_wrong(old: str, new: str, message: str) -> None:
    assert WINDOW.count(old) == 1
    with pytest.raises(TilewrightError) as raised:
        problem_of(WINDOW.replace(old, new))
    assert message in str(raised.value)


def test_a_file_without_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "other.yaml"
    path.write_text("mapper: {}\n")
    with pytest.raises(TilewrightError, match="expected a Timeloop problem"):
        load_problem(path)
