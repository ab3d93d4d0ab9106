"""What the package offers: wrong types are told as every other error is."""

from collections.abc import Callable
from typing import Any

import pytest

import tilewright
from tilewright.errors import InfeasibleError, TilewrightError

KERNEL = "O[m,n] += A[m,k] * B[k,n]; m=4 n=8 k=6"
ANY: Any = tilewright

CALLS: dict[str, Callable[[], object]] = {
    "compile(3)": lambda: ANY.compile(3),
    "compile(None)": lambda: ANY.compile(None),
    "compile(options={})": lambda: ANY.compile(KERNEL, options={}),
    "compile(target=5)": lambda: ANY.compile(KERNEL, target=5),
    "run(3)": lambda: ANY.run(3, folder="unused"),
    "simulate(x)": lambda: ANY.simulate("x"),
    "simulate(program, 3)": lambda: ANY.simulate(ANY.compile(KERNEL, "tiny"), 3),
    "load_target(5)": lambda: ANY.load_target(5),
    "import_onnx(5)": lambda: ANY.import_onnx(5),
    "map_kernel(5)": lambda: ANY.map_kernel(5, "conventional"),
    "map_network(None)": lambda: ANY.map_network(None, "conventional"),
    "map_kernel(options=3)": lambda: ANY.map_kernel(KERNEL, "conventional", 3),
}


@pytest.mark.parametrize("call", CALLS)
def test_wrong_types(call: str):
    with pytest.raises(TilewrightError) as caught:
        CALLS[call]()
    assert caught.value.expected
    assert caught.value.found


def test_a_demand_below_its_bound_is_told_as_what_it_is():
    assert "found 80 bytes" in str(InfeasibleError("L1", 80, 64, "bytes", "enlarge it"))
    text = str(InfeasibleError("L1", 8, 64, "bytes", "enlarge it"))
    assert "at most 64" not in text
    assert "8 bytes needed for a part alone" in text
