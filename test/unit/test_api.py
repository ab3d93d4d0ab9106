"""What the package offers: wrong types are told as every other error is."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright
from tilewright.errors import InfeasibleError, TilewrightError
from tilewright.machine.changes import changed

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
    "simulate(program, [])": lambda: ANY.simulate(ANY.compile(KERNEL, "tiny"), []),
    "simulate(program, {A})": lambda: ANY.simulate(ANY.compile(KERNEL, "tiny"), {"A": np.ones((4, 6), np.float32)}),
    "simulate(program, text)": lambda: ANY.simulate(ANY.compile(KERNEL, "tiny"), {"A": "x", "B": None}),
    "simulate(program, {3: A})": lambda: ANY.simulate(ANY.compile(KERNEL, "tiny"), {3: np.ones((4, 6), np.float32)}),
    "program.tensor(zz)": lambda: ANY.compile(KERNEL, "tiny").tensor("zz"),
    "load_target(5)": lambda: ANY.load_target(5),
    "import_onnx(5)": lambda: ANY.import_onnx(5),
    "map_kernel(5)": lambda: ANY.map_kernel(5, "conventional"),
    "map_network(None)": lambda: ANY.map_network(None, "conventional"),
    "map_kernel(options=3)": lambda: ANY.map_kernel(KERNEL, "conventional", 3),
    "map_kernel(target=3)": lambda: ANY.map_kernel(KERNEL, 3),
    "compile(shapes=3)": lambda: ANY.compile(KERNEL, shapes=3),
    "run(folder=3)": lambda: ANY.run(KERNEL, "tiny", folder=3),
    "run(options=3)": lambda: ANY.run(KERNEL, "tiny", folder="unused", options=3),
    "simulate(trace=3)": lambda: ANY.simulate(ANY.compile(KERNEL, "tiny"), trace=3),
    "save(3)": lambda: ANY.compile(KERNEL, "tiny").save(3),
    "CompileOptions(partition=3)": lambda: ANY.CompileOptions(partition=3),
    "CompileOptions(partition=nope)": lambda: ANY.compile(KERNEL, options=ANY.CompileOptions(partition="nope")),
    "CompileOptions(tile_rows=0)": lambda: ANY.CompileOptions(tile_rows=0),
    "RunOptions(seed=-1)": lambda: ANY.RunOptions(seed=-1),
    "RunOptions(seed=True)": lambda: ANY.RunOptions(seed=True),
    "RunOptions(inputs={})": lambda: ANY.RunOptions(inputs={}),
    "RunOptions(tolerance=nan)": lambda: ANY.RunOptions(tolerance=float("nan")),
    "MapOptions(objective=x)": lambda: ANY.MapOptions(objective="x"),
    "MapOptions(factors=odd)": lambda: ANY.MapOptions(factors="odd"),
    "MapOptions(time_limit_s=-1)": lambda: ANY.MapOptions(time_limit_s=-1),
    "MapOptions(gap=-1)": lambda: ANY.MapOptions(gap=-1),
    "MapOptions(types=3)": lambda: ANY.MapOptions(types=3),
    "MapOptions(mapper=best)": lambda: ANY.map_kernel(KERNEL, "tiny", ANY.MapOptions(mapper="best")),
    "MapOptions(jobs=0)": lambda: ANY.MapOptions(jobs=0),
    "InputShapes(batch=x)": lambda: ANY.InputShapes(batch="x"),
    "InputShapes(dims={x: y})": lambda: ANY.InputShapes(dims={"x": "y"}),
}


@pytest.mark.parametrize("call", CALLS)
def test_wrong_types(call: str):
    with pytest.raises(TilewrightError) as caught:
        CALLS[call]()
    assert caught.value.expected
    assert caught.value.found


def test_text_for_a_path_becomes_one():
    assert ANY.RunOptions(inputs="x.npz").inputs == Path("x.npz")
    assert ANY.RunOptions(tolerance=1, seed=np.int64(3)).seed == 3


def test_a_demand_below_its_bound_is_told_as_what_it_is():
    assert "found 80 bytes" in str(InfeasibleError("L1", 80, 64, "bytes", "enlarge it"))
    text = str(InfeasibleError("L1", 8, 64, "bytes", "enlarge it"))
    assert "at most 64" not in text
    assert "8 bytes needed for a part alone" in text


def test_importing_the_package_loads_names_alone():
    code = "import sys; known = set(sys.modules); import tilewright; print(*set(sys.modules) - known)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.split()
    assert len(loaded) < 20
    assert not {"numpy", "xdsl", "numba", "scipy", "onnx", "rich"} & set(loaded)


def test_a_machine_that_breaks_a_rule_is_told():
    machine = changed(tilewright.load_target("edge16"), "GBUF.depth", 1 << 40)
    with pytest.raises(TilewrightError, match="edge16: ") as caught:
        tilewright.compile(KERNEL, machine)
    assert caught.value.kind == "target"


def test_tables_of_machines_without_times_are_told(monkeypatch: pytest.MonkeyPatch):
    program = tilewright.compile(KERNEL, "dnnweaver")
    with pytest.raises(TilewrightError, match="control queues"):
        _ = program.timeline
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(TilewrightError, match=r"tilewright\[pandas\]"):
        program.to_pandas()
