from pathlib import Path

import numpy as np
import pytest

from tilewright import arrays
from tilewright.arrays import Array, Worst, compare, make_inputs, read_arrays, release_pages, verdict, write_arrays
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


@pytest.mark.parametrize(
    ("found", "expected", "tolerance", "agrees"),
    [
        (np.array([1.0, 10.0], "f4"), np.array([1.009, 10.0], "f4"), None, True),
        (np.array([1.0, 10.0], "f4"), np.array([1.011, 10.0], "f4"), None, False),
        (np.array([1.0, 10.0], "f4"), np.array([1.011, 10.0], "f4"), 0.01, True),
        (np.array([1.0, 10.0], "f4"), np.array([1.001, 10.0], "f4"), 0.0, False),
        (np.array([1.0, 10.0], "f2"), np.array([1.09, 10.0], "f4"), None, True),
        (np.array([2, 100], "i1"), np.array([1, 100], "i1"), None, False),
        (np.array([2, 100], "i1"), np.array([2, 100], "f8"), None, True),
        (np.array([2, 100], "i1"), np.array([1, 100], "i1"), 0.01, True),
        (np.array([1 << 60], "i8"), np.array([(1 << 60) + 1], "i8"), None, False),
        (np.array([np.nan, 1], "f4"), np.array([1, 1], "f4"), 10.0, False),
        (np.array([np.nan, np.inf], "f4"), np.array([np.nan, np.inf], "f4"), None, True),
    ],
)
def test_verdicts(found: Array, expected: Array, tolerance: float | None, agrees: bool):
    assert compare({"y": found}, {"y": expected}, tolerance).agrees is agrees


def test_the_worst_element_is_told():
    found = {"a": np.array([[1, 2], [3, 4.5]], "f4"), "b": np.array([100, 202], "f4")}
    expected = {"a": np.array([[1, 2], [3, 4]], "f4"), "b": np.array([100, 200], "f4")}
    result = compare(found, expected)
    assert result.worst == Worst("a", (1, 1), 4.5, 4.0)
    assert not result.agrees
    assert verdict(result)["worst"] == {"name": "a", "index": (1, 1), "found": 4.5, "expected": 4.0}
    assert set(verdict(result)) == set(verdict(None))
    assert compare(expected, expected).worst is None


def test_large_arrays_are_compared_piece_by_piece(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(arrays, "COMPARED", 4)
    expected = np.arange(10, dtype=np.float32).reshape(2, 5)
    found = expected.copy()
    found[0, 1] += 1
    found[1, 3] -= 2
    result = compare({"y": found}, {"y": expected})
    assert (result.max_abs_error, result.max_rel_error, result.equal) == (2.0, 2.0 / 9.0, False)
    assert result.worst is not None
    assert (result.worst.index, result.worst.found, result.worst.expected) == ((1, 3), 6.0, 8.0)


@pytest.mark.parametrize("array", [np.array([{}]), np.array(["x"]), np.array([1j]), np.zeros(2, "i4,f4")])
def test_arrays_of_other_things_are_refused(array: Array, tmp_path: Path):
    np.savez(tmp_path / "x.npz", x=array)
    np.save(tmp_path / "x.npy", array)
    for name in ("x.npz", "x.npy"):
        with pytest.raises(TilewrightError, match=name) as caught:
            read_arrays(tmp_path / name)
        assert "allow_pickle" not in str(caught.value)


@pytest.mark.parametrize("name", ["x.npz", "z.npz", "x.npy"])
def test_damaged_arrays_are_told(name: str, tmp_path: Path):
    """Every byte of a file inverted, and every length of it: an error of ours, or arrays."""
    path = tmp_path / name
    write = {"x.npz": np.savez, "z.npz": np.savez_compressed, "x.npy": np.save}[name]
    write(path, np.arange(5, dtype=np.float32))
    whole = path.read_bytes()
    damaged = [whole[:i] for i in range(0, len(whole), 7)]
    damaged += [whole[:i] + bytes([whole[i] ^ 0xFF]) + whole[i + 1 :] for i in range(len(whole))]
    errors: list[TilewrightError] = []
    for content in damaged:
        path.write_bytes(content)
        try:
            read_arrays(path)
        except TilewrightError as error:
            errors.append(error)
    assert len(errors) > len(damaged) / 4
    assert all(name in error.subject and len(str(error)) < 500 + len(str(path)) for error in errors)


@pytest.mark.parametrize(("name", "content"), [("a.npz", b"PK no zip"), ("b.npy", b""), ("c.pb", b"\xff\xff\xff")])
def test_broken_files_are_told(tmp_path: Path, name: str, content: bytes):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TilewrightError, match=name):
        read_arrays(tmp_path / name)
    with pytest.raises(TilewrightError, match="no such file"):
        read_arrays(tmp_path / f"missing-{name}")


def test_written_arrays_with_names_that_would_be_cut(tmp_path: Path):
    with pytest.raises(TilewrightError, match="without zero bytes"):
        write_arrays(tmp_path / "x.npz", {"a\0b": np.zeros(3)})
    assert not list(tmp_path.iterdir())


def test_written_arrays_keep_any_name(tmp_path: Path):
    arrays = {"file": np.arange(3), "a/b:0": np.array([[1.5]], "f4"), "allow_pickle": np.array(True)}
    write_arrays(tmp_path / "first.npz", arrays)
    write_arrays(tmp_path / "second.npz", arrays)
    read = read_arrays(tmp_path / "first.npz")
    assert compare(read, arrays).equal
    assert list(read) == list(arrays)
    assert (tmp_path / "first.npz").read_bytes() == (tmp_path / "second.npz").read_bytes()


def resident_file_bytes() -> int:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("RssFile"))
    return int(line.split()[1]) << 10


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks at this process in /proc")
def test_pages_of_mapped_values_are_let_go_and_read_again(tmp_path: Path):
    values = np.arange(4 << 20, dtype=np.float32)
    values.tofile(tmp_path / "w.bin")
    mapped = np.broadcast_to(np.memmap(tmp_path / "w.bin", np.float32, "r").view(np.ndarray), values.shape)
    assert (mapped == values).all()
    before = resident_file_bytes()
    release_pages(mapped)
    assert before - resident_file_bytes() > values.nbytes // 2
    assert (mapped == values).all()


def test_what_was_written_to_a_mapping_is_kept(tmp_path: Path):
    np.zeros(8192, np.float32).tofile(tmp_path / "w.bin")
    changed = np.memmap(tmp_path / "w.bin", np.float32, "c")
    changed[0] = 1
    release_pages(changed)
    assert changed[0] == 1
