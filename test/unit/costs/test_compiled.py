"""What LLVM makes of functions."""

from __future__ import annotations

import gc
import pickle
import re
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numba import njit
from numba.core.caching import IndexDataCacheFile

from tilewright.costs import compiled
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
def test_garbage_is_looked_for_as_ever_once_code_is_made():
    usual, seen = gc.get_threshold(), list[object]()
    with compiled.event.install_listener("numba:compiler_lock", _Notes(seen)):
        njit(lambda x: x + 2)(1)
    assert compiled.COMPILING in seen
    assert gc.get_threshold() == usual


class _Notes(compiled.event.Listener):
    """Notes how seldom garbage is looked for when the compiler begins."""

    def __init__(self, seen: list[object]) -> None:
        self.seen = seen

    def on_start(self, event: compiled.event.Event) -> None:
        """The compiler begins."""
        self.seen.append(gc.get_threshold())

    def on_end(self, event: compiled.event.Event) -> None:
        """It is done."""
