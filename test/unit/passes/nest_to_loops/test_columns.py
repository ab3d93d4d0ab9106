"""Machines whose weights lie in another order than programs that are compiled have them."""

import re
from pathlib import Path

import pytest

from tilewright.driver import run
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import target_files

GEMM = "O[m,n] += A[m,k] * B[k,n]; m=16 n=20 k=24"
CONV = "O[n,k,p,q] += I[n,c,p+r,q+s] * W[k,c,r,s]; n=1 k=16 c=16 p=4 q=4 r=3 s=3"


@pytest.mark.parametrize("kernel", [GEMM, CONV])
def test_products_run_on_a_machine_changed_as_the_error_says(tmp_path: Path, kernel: str) -> None:
    with pytest.raises(TilewrightError, match=r"weights of products as columns of WBUF") as error:
        run(kernel, "genesys16", folder=tmp_path)
    operand, interleave = re.findall(r"`(.*?)`", error.value.lever)
    text = target_files()["genesys16"].read_text(encoding="utf-8")
    changed = re.sub(r"operand W WBUF.*?\}", operand, text)
    changed = re.sub(rf"{interleave} \d+;", "", changed)
    (path := tmp_path / "changed.acg").write_text(changed)
    assert run(kernel, path, folder=tmp_path).agrees
