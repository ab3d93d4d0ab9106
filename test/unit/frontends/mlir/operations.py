"""Small texts of other compilers in `test/data/mlir`, with inputs and results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.frontends.mlir import import_mlir
from tilewright.interpreters.graph import argument_names, find_function, run_graph

Array = NDArray[Any]

FOLDER = Path(__file__).parents[3] / "data" / "mlir"


def texts(file: str) -> dict[str, str]:
    """The texts of a file by name."""
    return json.loads((FOLDER / f"{file}.json").read_text())


def arrays(file: str, name: str, kind: str) -> list[Array]:
    """Inputs (`in`) or results (`out`) of a text."""
    with np.load(FOLDER / f"{file}.npz") as held:
        return [held[key] for key in sorted(held) if key.startswith(f"{name}/{kind}")]


def bytes_of_truth(array: Array) -> Array:
    """False and true as 0 and 1."""
    return array.astype(np.uint8) if array.dtype == np.bool_ else array


def compute(text: str, inputs: list[Array]) -> list[Array]:
    """What the layers of a text give."""
    module = import_mlir(text)
    module.verify()
    names = argument_names(find_function(module))
    given = dict(zip(names, map(bytes_of_truth, inputs), strict=True))
    return list(run_graph(module, given).values())


def check(file: str, name: str, text: str) -> None:
    """Compute what a text says and compare it with what its compiler computes."""
    results, expected = compute(text, arrays(file, name, "in")), arrays(file, name, "out")
    assert len(results) == len(expected) > 0
    for result, one in zip(results, map(bytes_of_truth, expected), strict=True):
        assert (result.shape, result.dtype) == (one.shape, one.dtype)
        rtol = 2e-3 if one.dtype == np.float16 else 2e-5
        np.testing.assert_allclose(result, one, rtol=rtol, atol=1e-5)
