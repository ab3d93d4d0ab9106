"""What LLVM makes of functions."""

from __future__ import annotations

import gc
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numba import njit
from numba.core.caching import IndexDataCacheFile
from numba.core.typing.templates import AbstractTemplate

from tilewright.costs import compiled
from tilewright.garbage import SELDOM
from tilewright.search.mapping.exact.bounds.delays import Worth, weigh


@pytest.mark.skipif(compiled.INTERPRETED, reason="functions are not compiled")
def test_what_an_entry_calls_is_optimised_with_it():
    """`cycles_with` and its `max` are part of the function that calls them, whose code has no call of them."""
    entry, out = cast(Any, njit(cast(Any, weigh).py_func)), np.empty(2)
    energies, ports, waiting = np.array([[3.0, 2.0]]), np.array([[10.0, 20.0]]), np.array([1.0, 2.0])
    entry(energies, ports, waiting, np.array([True, True]), (5.0, 7.0), Worth(0.0, 1.0, 11.0), out)
    assert out.tolist() == [3.0, 2.0 + (22.0 / 11.0 - 1.0)]
    (text,) = entry.inspect_llvm().values()
    assert re.search(r"call [^\n]*(cycles_with|max)", text) is None


@pytest.mark.skipif(compiled.INTERPRETED, reason="functions are not compiled")
def test_kept_code_of_classes_that_are_gone_counts_as_none(tmp_path: Path):
    kept = cast(Any, IndexDataCacheFile(str(tmp_path), "kernel", 1.0))
    names_a_module = b"cno_such_module\nModel\n."  # what pickle looks up when it reads this
    Path(kept._index_path).write_bytes(pickle.dumps(kept._version, protocol=-1) + names_a_module)
    assert kept.load("key") is None


@pytest.mark.skipif(compiled.INTERPRETED, reason="functions are not compiled")
def test_kept_code_is_made_anew_after_an_edit_of_what_it_calls(tmp_path: Path):
    """Code of `entry` holds that of `step` and the number that it adds, from other files."""
    package = tmp_path / "package"
    package.mkdir()
    kernel = "from .compiled import compiled, part\n"
    files = {
        "__init__": "",
        "compiled": "from tilewright.costs.compiled import compiled, inner as part\n",
        "number": "ADDED = 1\n",
        "step": f"{kernel}from .number import ADDED\n\n@part\ndef step(x):\n    return x + ADDED\n",
        "entry": f"{kernel}from .step import step\n\n@compiled\ndef entry(x):\n    return 10 * step(x)\n",
    }
    for name, text in files.items():
        (package / f"{name}.py").write_text(text)

    def answer() -> tuple[int, ...]:
        call = "from package.entry import entry; print(entry(1), sum(entry.stats.cache_hits.values()))"
        command = [sys.executable, "-B", "-c", call]  # Python tells files of one second and one size not apart
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        return tuple(map(int, done.stdout.split()))

    assert answer() == (20, 0)
    assert answer() == (20, 1)
    (package / "number.py").write_text("ADDED = 2\n")
    assert answer() == (30, 0)
    (package / "step.py").write_text(files["step"].replace("x +", "3 * x +"))
    assert answer() == (50, 0)


@pytest.mark.skipif(compiled.INTERPRETED, reason="functions are not compiled")
def test_garbage_is_looked_for_as_ever_once_code_is_made():
    before, usual, seen = gc.get_threshold(), (700, 10, 10), list[object]()
    gc.set_threshold(*usual)
    try:
        with compiled.event.install_listener("numba:compiler_lock", _Notes(seen)):
            njit(lambda x: x + 2)(1)
        assert SELDOM in seen
        assert gc.get_threshold() == usual
    finally:
        gc.set_threshold(*before)


@pytest.mark.skipif(compiled.INTERPRETED, reason="functions are not compiled")
def test_operators_are_looked_up_once_for_operands_of_the_same_types(monkeypatch: pytest.MonkeyPatch):
    """An index is looked up once for four uses; a `min`, which is compiled itself, at each use."""
    looked_up: list[str] = []
    apply = cast(Any, AbstractTemplate).apply

    def note(template: Any, args: Any, kws: Any) -> Any:
        signature = apply(template, args, kws)
        if signature is not None:
            looked_up.append(f"{template.key.__name__} {signature}")
        return signature

    monkeypatch.setattr(AbstractTemplate, "apply", note)

    def sums(x: Any, i: int, y: float) -> tuple[int, float, float, int]:
        return x[i] + x[i] + x[i], y + y, x[i] + y, min(i, i) + min(i, i + 0)

    assert njit(sums)(np.arange(5), 3, 0.5) == (9, 1.0, 3.5, 6)
    assert sum(told.startswith("getitem") for told in looked_up) == 1
    assert sum(told.startswith("min") for told in looked_up) >= 2
    assert not vars(compiled)["_signatures"]


class _Notes(compiled.event.Listener):
    """Notes how seldom garbage is looked for when the compiler begins."""

    def __init__(self, seen: list[object]) -> None:
        self.seen = seen

    def on_start(self, event: compiled.event.Event) -> None:
        """The compiler begins."""
        self.seen.append(gc.get_threshold())

    def on_end(self, event: compiled.event.Event) -> None:
        """It is done."""


BLAS = """
import sys
import numpy as np
from numba import njit
from tilewright.algebra.allocation import LiveRange, allocate
from tilewright.costs import compiled
from tilewright.garbage import SELDOM

allocate([LiveRange(0, 2, 10)], 100, 4)
print("scipy.linalg" in sys.modules)
print(njit(lambda a: np.dot(a, a))(np.array([1.0, 2.0])))
"""


@pytest.mark.skipif(compiled.INTERPRETED, reason="functions are not compiled")
def test_blas_is_there_for_those_who_call_it():
    told = subprocess.run([sys.executable, "-c", BLAS], capture_output=True, text=True, check=True).stdout
    assert told == "False\n5.0\n"
