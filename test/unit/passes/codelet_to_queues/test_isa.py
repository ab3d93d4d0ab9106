"""Instructions whose extents are numbers: 1 is a dim less, other numbers are left to programs written by hand."""

from pathlib import Path

import numpy as np
import pytest

from tilewright import compile, simulate
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import target_files
from tilewright.frontends.einsum import einsum_module

TINY = target_files()["tiny"].read_text()
KERNEL = "O[j] = relu(A[j]); j=30"


def _compile(folder: Path, extent: str):
    head, tail = TINY.split("mnemonic UNARY", 1)
    target = folder / f"tiny_{extent}.acg"
    target.write_text(head + "mnemonic UNARY" + tail.replace("extents a NA", f"extents a {extent}", 1))
    return compile(einsum_module(KERNEL, {"O": "i32", "A": "i32"}), str(target))


def test_an_extent_of_one_is_a_dim_less(tmp_path: Path):
    program, plain = _compile(tmp_path, "1"), _compile(tmp_path, "NA")
    assert len(program.code) == len(plain.code)
    a = np.arange(-15, 15, dtype=np.int32)
    np.testing.assert_array_equal(simulate(program, {"A": a}).outputs["O"], np.maximum(a, 0))


def test_other_numbers_are_no_choice_of_the_compiler(tmp_path: Path):
    with pytest.raises(TilewrightError, match="mnemonic for capability unary"):
        _compile(tmp_path, "2")
