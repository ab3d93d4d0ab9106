from pathlib import Path

import numpy as np
import pytest

from tilewright.arrays import compare, make_inputs, read_arrays, write_arrays
from tilewright.errors import TilewrightError


def test_made_inputs_depend_on_the_seed_only():
    signature = {"x": ((2, 3), np.dtype("f4")), "y": ((4,), np.dtype("u1")), "z": ((2,), np.dtype("i8"))}
    first, second = make_inputs(signature, 1), make_inputs(signature, 1)
    assert all(np.array_equal(first[name], second[name]) for name in signature)
    assert not np.array_equal(first["x"], make_inputs(signature, 2)["x"])
    assert {name: (array.shape, array.dtype) for name, array in first.items()} == signature


def test_comparison_is_relative_to_the_largest_expected_value():
    result = compare({"y": np.array([1.0, 10.5], "f4")}, {"y": np.array([1.0, 10.0], "f4")})
    assert result.max_abs_error == pytest.approx(0.5)
    assert result.max_rel_error == pytest.approx(0.05)
    assert not result.equal


def test_nan_and_infinity_equal_themselves():
    array = np.array([np.nan, np.inf, 1.0], "f4")
    assert compare({"y": array}, {"y": array.copy()}).equal
    assert compare({"y": array}, {"y": array.copy()}).max_abs_error == 0.0


def test_nan_where_a_number_is_expected_is_infinitely_wrong():
    result = compare({"y": np.array([np.nan], "f4")}, {"y": np.array([1.0], "f4")})
    assert not result.equal
    assert result.max_abs_error == float("inf")


def test_empty_arrays_are_equal():
    assert compare({"y": np.zeros((0, 3))}, {"y": np.zeros((0, 3))}).equal


def test_missing_output_and_wrong_shape():
    with pytest.raises(TilewrightError, match="'z'"):
        compare({"y": np.zeros(2)}, {"z": np.zeros(2)})
    with pytest.raises(TilewrightError, match=r"shape \(3,\)"):
        compare({"y": np.zeros(2)}, {"y": np.zeros(3)})


def test_files_round_trip(tmp_path: Path):
    np.savez(tmp_path / "a.npz", x=np.arange(3))
    np.save(tmp_path / "b.npy", np.arange(4))
    assert read_arrays(tmp_path / "a.npz")["x"].tolist() == [0, 1, 2]
    assert read_arrays(tmp_path / "b.npy", ["y"])["y"].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(("name", "content"), [("a.npz", b"PK no zip"), ("b.npy", b""), ("c.pb", b"\xff\xff\xff")])
def test_broken_files_are_told(tmp_path: Path, name: str, content: bytes):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TilewrightError, match=name):
        read_arrays(tmp_path / name)
    with pytest.raises(TilewrightError, match="no such file"):
        read_arrays(tmp_path / f"missing-{name}")


def test_written_arrays_keep_any_name(tmp_path: Path):
    arrays = {"file": np.arange(3), "a/b:0": np.array([[1.5]], "f4"), "allow_pickle": np.array(True)}
    write_arrays(tmp_path / "first.npz", arrays)
    write_arrays(tmp_path / "second.npz", arrays)
    read = read_arrays(tmp_path / "first.npz")
    assert compare(read, arrays).equal
    assert list(read) == list(arrays)
    assert (tmp_path / "first.npz").read_bytes() == (tmp_path / "second.npz").read_bytes()
