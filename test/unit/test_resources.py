"""Constant tensors beside the IR."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr, f32

from tilewright.dialects import graph
from tilewright.dialects.types import tensor
from tilewright.errors import TilewrightError
from tilewright.resources import Resources, attach, resources_of, save_module_resources


def sample() -> Resources:
    return Resources({"a/b %2F\\c": np.arange(6, dtype=np.int8).reshape(2, 3), "s": np.array(1.5, np.float32)})


def test_saved_and_loaded(tmp_path: Path):
    sample().save(tmp_path / "w.npz")
    loaded = Resources.load(tmp_path / "w.npz")
    assert list(loaded) == list(sample())
    assert loaded.digest() == sample().digest()
    assert loaded["s"].shape == ()


def test_same_arrays_same_bytes(tmp_path: Path):
    for name in ("1.npz", "2.npz"):
        sample().save(tmp_path / name)
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()


def test_names_are_never_taken_twice():
    resources = Resources()
    assert resources.add("w", np.zeros(2)) == "w"
    assert resources.add("w", np.zeros(2)) == "w"
    assert resources.add("w", np.ones(2)) == "w.1"
    assert resources.add("w", np.ones(2)) == "w.1"
    assert resources.add("w", np.zeros(2, np.float32)) == "w.2"


def test_unaligned_arrays_are_kept_where_they_lie_and_looked_at_aligned():
    data = bytes(1) + np.arange(5, dtype=np.int32).tobytes()
    unaligned = np.frombuffer(data, np.int32, 5, 1)
    first = Resources({"w": unaligned})
    for resources in (first, Resources(first), first.only(["w"])):
        assert resources.as_stored("w").ctypes.data == unaligned.ctypes.data
        assert resources["w"].flags.aligned
        assert not resources["w"].flags.writeable
        assert resources["w"].tolist() == [0, 1, 2, 3, 4]
    assert "v" not in first.only(["w"])


def test_arrays_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        sample()["s"][...] = 2


@pytest.mark.parametrize("content", [None, b"", b"PK\x03\x04 cut", b"nothing"])
def test_unreadable_files(tmp_path: Path, content: bytes | None):
    path = tmp_path / "w.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(TilewrightError, match=r"w\.npz: expected"):
        Resources.load(path)


def test_objects_are_refused(tmp_path: Path):
    np.savez(tmp_path / "w.npz", a=np.array([{}], dtype=object))
    with pytest.raises(TilewrightError, match="Python objects"):
        Resources.load(tmp_path / "w.npz")


def test_travel_with_the_module(tmp_path: Path):
    inline = graph.WeightOp("inline", tensor((), f32), np.array(2.0, np.float32))
    module = ModuleOp([inline, graph.WeightOp("s", tensor((), f32))])
    assert list(resources_of(module)) == ["inline"]
    attach(module, sample())
    assert list(resources_of(module)) == [*sample(), "inline"]
    save_module_resources(module, tmp_path / "w.npz")
    assert module.attributes["graph.resources"] == StringAttr("w.npz")
    copy = module.clone()
    assert resources_of(copy, tmp_path).digest() == resources_of(module).digest()


def test_no_copies_are_made_of_large_arrays(tmp_path: Path):
    """Neither saving, nor hashing, nor a second name for the same bytes."""
    array = np.arange(12 << 20, dtype=np.float32)
    other = array.copy()
    resources = Resources({"w": array})
    tracemalloc.start()
    try:
        assert resources.add("w", other) == "w"
        resources.digest()
        assert tracemalloc.get_traced_memory()[1] < array.nbytes / 8
        resources.save(tmp_path / "w.npz")
        assert tracemalloc.get_traced_memory()[1] < array.nbytes * 0.8  # NumPy writes 16 MiB at once
    finally:
        tracemalloc.stop()
    with np.load(tmp_path / "w.npz") as saved:
        assert (saved["w"] == array).all()
