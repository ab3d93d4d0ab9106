"""Named arrays in and out: files, made inputs, comparison."""

import mmap
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .algebra.element import Array, is_float, limits, plain
from .errors import TilewrightError
from .files import file_error, replacing

NPY, ZIP = b"\x93NUMPY", b"PK"
"""How NumPy's files of one array, and of several, begin."""

ARRAY_FILE = "a file of arrays (.npz, .npy or .pb)"


TOLERANCES = {2: 1e-2, 4: 1e-3, 8: 1e-3}
"""Relative errors that floats of so many bytes may have; integers agree when they are equal."""


@dataclass(frozen=True)
class Worst:
    """The element with the largest error: where it stands, what was found and what was expected."""

    name: str
    index: tuple[int, ...]
    found: float | int
    expected: float | int


@dataclass(frozen=True)
class Comparison:
    """How far outputs are from what was expected, over all outputs.

    `max_rel_error` is the largest absolute error of an output over the largest magnitude expected of that output;
    a NaN that was not expected counts as infinite.  `equal` means every value and the element types (NaN equals NaN);
    `agrees` that the relative error of each output is within `tolerance`, or that of its element type (`TOLERANCES`)
    where none was given.  `worst` is None where every value is equal.
    """

    max_abs_error: float
    max_rel_error: float
    equal: bool
    agrees: bool
    worst: Worst | None = None


def verdict(comparison: Comparison | None) -> dict[str, Any]:
    """A comparison in the answers of commands; None everywhere where nothing was compared."""
    if comparison is None:
        return dict.fromkeys(("max_abs_error", "max_rel_error", "equal", "agrees", "worst"))
    return asdict(comparison)


def read_arrays(path: Path, names: Iterable[str] = ()) -> dict[str, Array]:
    """The arrays of numbers of an `.npz`, `.npy` or ONNX tensor (`.pb`) file.

    A file of one nameless array gives it the first of `names`.  `TilewrightError` (kind `file`) for other files.
    """
    if not path.is_file():
        raise TilewrightError("file", str(path), ARRAY_FILE, "no such file", "check the name")
    if path.suffix == ".pb":
        arrays = {_only(path, names): _read_tensor(path)}
    else:
        arrays = load_arrays(path, _only(path, names))
    if not arrays:
        raise TilewrightError("file", str(path), "at least one array", "none", "write it anew")
    for name, array in arrays.items():
        if array.dtype.kind not in "fiub":
            found = f"elements of type {array.dtype}"[:80]
            raise TilewrightError("file", f"{path}: {name}", "numbers", found, "save it as numbers")
    return arrays


def load_arrays(path: str | Path, name: str = "") -> dict[str, Array]:
    """The arrays of a NumPy file; `name` is that of a nameless one.  `TilewrightError` (kind `file`) if it is none."""
    lever = "write it anew with numpy.savez or numpy.save"
    try:
        with Path(path).open("rb") as stream:
            start = stream.read(len(NPY))
        if start != NPY and not start.startswith(ZIP):
            found = "an empty file" if not start else "a file of another form"
            raise TilewrightError("file", str(path), "arrays in .npz or .npy form", found, lever)
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {name: loaded}
        with loaded:
            return {key: _member(loaded, key) for key in loaded.files}
    except (TilewrightError, MemoryError):
        raise
    except OSError as error:
        if error.strerror is not None:
            raise file_error(error, path) from error
        raise TilewrightError("file", str(path), "a whole file of arrays", said(error), lever) from error
    except Exception as error:  # whatever NumPy, zlib and zipfile say about bytes that nobody can trust
        raise TilewrightError("file", str(path), "a whole file of arrays of numbers", said(error), lever) from error


def _member(archive: Mapping[str, Any], key: str) -> Array:
    array = archive[key]
    if not isinstance(array, np.ndarray):  # a member that is no array is given as its bytes
        raise ValueError(f"a member '{key}' that is no array")
    return array


def said(error: Exception) -> str:
    """What NumPy says of a damaged file, in one short line and without its advice to trust the file."""
    if "allow_pickle" in str(error):
        return "Python objects"
    return f"damaged bytes ({' '.join(str(error).split())[:100] or type(error).__name__})"


def _only(path: Path, names: Iterable[str]) -> str:
    return next(iter(names), path.stem)


def _read_tensor(path: Path) -> Array:
    from google.protobuf.message import DecodeError
    from onnx import TensorProto, numpy_helper

    tensor = TensorProto()
    try:
        tensor.ParseFromString(path.read_bytes())
        return numpy_helper.to_array(tensor)
    except OSError as error:
        raise file_error(error, path) from error
    except (DecodeError, ValueError, TypeError, KeyError, AttributeError) as error:
        found = f"other bytes ({' '.join(str(error).split())[:100]})"
        raise TilewrightError("file", str(path), "an ONNX tensor", found, "write it anew") from error


def write_arrays(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write an `.npz` file, whatever the names are; the same arrays give the same bytes."""
    with replacing(path) as place, zipfile.ZipFile(place, "w") as archive:
        for name, array in arrays.items():
            if "\0" in name:
                raise TilewrightError("file", str(path), "names without zero bytes", repr(name), "rename the array")
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, plain(np.asarray(array)), allow_pickle=False)


def undefined(dtype: np.dtype[Any]) -> float | int:
    """What stands where nothing was written: NaN, or the largest integer."""
    return np.nan if is_float(dtype) else limits(dtype)[1]


def make_inputs(signature: Mapping[str, tuple[tuple[int, ...], np.dtype[Any]]], seed: int = 0) -> dict[str, Array]:
    """Seeded inputs of the given shapes and types: normal for floats, the whole range for 8 bits, 0..7 otherwise."""
    random = np.random.default_rng(seed)
    return {name: _make_input(random, shape, dtype) for name, (shape, dtype) in signature.items()}


def _make_input(random: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    if is_float(dtype):
        return random.standard_normal(shape).astype(dtype)
    if dtype.kind != "b" and dtype.itemsize == 1:
        return random.integers(*limits(dtype), shape, np.int64, endpoint=True).astype(dtype)
    return random.integers(0, 2 if dtype.kind == "b" else 8, shape).astype(dtype)


def compare(found: Mapping[str, Array], expected: Mapping[str, Array], tolerance: float | None = None) -> Comparison:
    """Compare arrays name by name; raises where a name is missing or a shape differs."""
    check_shapes({name: array.shape for name, array in found.items()}, expected)
    parts = [_compare_one(name, found[name], array, tolerance) for name, array in expected.items()]
    if not parts:
        return Comparison(0.0, 0.0, True, True)
    worst = max(parts, key=lambda part: (part.max_rel_error, part.worst is not None))
    return Comparison(
        max(part.max_abs_error for part in parts),
        worst.max_rel_error,
        all(part.equal for part in parts),
        all(part.agrees for part in parts),
        worst.worst,
    )


def check_shapes(shapes: Mapping[str, tuple[int, ...]], expected: Mapping[str, Array]) -> None:
    """Raise `TilewrightError` (kind `expect`) for expected arrays that no output has the name or the shape of."""
    for name, array in expected.items():
        if name not in shapes:
            raise TilewrightError(
                "expect",
                name or "a nameless array",
                f"an output named one of {', '.join(shapes)}",
                f"'{name}'",
                "rename it",
            )
        if array.shape != shapes[name]:
            told = f"shape {shapes[name]}, as the output has it"
            raise TilewrightError("expect", name, told, f"shape {array.shape}", "give an array of that shape")


COMPARED = 1 << 20
"""Elements that are compared at a time, so that large outputs need little memory beside their own."""


def _compare_one(name: str, array: Array, expected: Array, tolerance: float | None) -> Comparison:
    found, wanted = array.reshape(-1), expected.reshape(-1)
    error = scale = 0.0
    same, at = True, -1
    for start in range(0, found.size, COMPARED):
        a, b = found[start : start + COMPARED], wanted[start : start + COMPARED]
        equal = (a == b) | ((a != a) & (b != b))
        scale = max(scale, float(np.abs(b[np.isfinite(b)].astype(np.float64)).max(initial=0.0)))
        if equal.all():
            continue
        differences = np.where(equal, -1.0, _differences(a, b))
        place = int(differences.argmax())
        if same or differences[place] > error:
            error, at = float(differences[place]), start + place
        same = False
    relative = error / scale if scale else error
    own = TOLERANCES.get(array.itemsize, 0.0) if is_float(array.dtype) else 0.0
    bound = own if tolerance is None else tolerance
    worst = None
    if not same:
        index = tuple(int(i) for i in np.unravel_index(at, array.shape))
        worst = Worst(name, index, found[at].item(), wanted[at].item())
    agrees = same or (bound > 0 and relative <= bound)
    return Comparison(error, relative, same and array.dtype == expected.dtype, agrees, worst)


def _differences(found: Array, expected: Array) -> Array:
    """Absolute errors; infinite where one is NaN and the other not."""
    with np.errstate(invalid="ignore"):
        differences = np.abs(found.astype(np.float64) - expected.astype(np.float64))
    return np.nan_to_num(differences, nan=np.inf, posinf=np.inf)


def release_pages(array: Array) -> None:
    """Let go of the memory that a file's values take which are mapped; they are read again when they are asked for."""
    base: Any = array
    while isinstance(base, np.ndarray | memoryview):
        base = base.base if isinstance(base, np.ndarray) else base.obj
    if isinstance(base, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED") and memoryview(base).readonly:
        base.madvise(mmap.MADV_DONTNEED)
