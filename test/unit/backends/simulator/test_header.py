"""Fields of the header that mnemonics bind."""

from pathlib import Path

import numpy as np

import tilewright
from tilewright.frontends.acg import target_files


def test_a_field_of_the_header_says_whether_to_accumulate(tmp_path: Path):
    text = target_files()["tiny"].read_text()
    text = text.replace("ifield ACC 1; ", "").replace("header { ifield TAG", "header { ifield ACC 1, TAG")
    (tmp_path / "other.acg").write_text(text.replace("acg tiny", "acg other"))
    program = tilewright.compile("O[m,n] += A[m,k] * B[k,n]; m=4 n=5 k=600", target=tmp_path / "other.acg")
    a = np.arange(2400, dtype=np.float32).reshape(4, 600) % 7
    b = np.arange(3000, dtype=np.float32).reshape(600, 5) % 5
    found = tilewright.simulate(program, {"A": a, "B": b}).outputs["O"]
    np.testing.assert_array_equal(found, a @ b)
