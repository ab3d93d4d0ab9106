"""Named arrays in and out: files, made inputs, comparison."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import TilewrightError

Array = NDArray[Any]


@dataclass(frozen=True)
class Comparison:
    """How far outputs are from what was expected, over all outputs.

    `max_rel_error` is the largest absolute error of an output over the largest magnitude expected of that output;
    a NaN that was not expected counts as infinite.  `equal` means every value and the element types (NaN equals NaN).
    """

    max_abs_error: float
    max_rel_error: float
    equal: bool


def read_arrays(path: Path, names: Iterable[str] = ()) -> dict[str, Array]:
    """The arrays of an `.npz`, `.npy` or ONNX tensor (`.pb`) file.

    A file of one nameless array gives it the first of `names`.
    """
    if not path.is_file():
        raise TilewrightError("file", str(path), "a file of arrays (.npz, .npy or .pb)", "no such file")
    try:
        if path.suffix == ".pb":
            return {_only(path, names): _read_tensor(path)}
        loaded = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise TilewrightError("file", str(path), "arrays in .npz, .npy or .pb form", str(error)) from error
    if isinstance(loaded, np.ndarray):
        return {_only(path, names): loaded}
    return {name: loaded[name] for name in loaded.files}


def _only(path: Path, names: Iterable[str]) -> str:
    return next(iter(names), path.stem)


def _read_tensor(path: Path) -> Array:
    from google.protobuf.message import DecodeError
    from onnx import TensorProto, numpy_helper

    tensor = TensorProto()
    try:
        tensor.ParseFromString(path.read_bytes())
    except DecodeError as error:
        raise ValueError(str(error)) from error
    return numpy_helper.to_array(tensor)


def write_arrays(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write an `.npz` file, whatever the names are; the same arrays give the same bytes."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, np.asarray(array), allow_pickle=False)


def make_inputs(signature: Mapping[str, tuple[tuple[int, ...], np.dtype[Any]]], seed: int = 0) -> dict[str, Array]:
    """Seeded inputs of the given shapes and types: normal for floats, the whole range for 8 bits, 0..7 otherwise."""
    random = np.random.default_rng(seed)
    return {name: _make_input(random, shape, dtype) for name, (shape, dtype) in signature.items()}


def _make_input(random: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    if dtype.kind == "f":
        return random.standard_normal(shape).astype(dtype)
    if dtype.kind in "iu" and dtype.itemsize == 1:
        info = np.iinfo(dtype)
        return random.integers(info.min, info.max, shape, dtype, endpoint=True)
    return random.integers(0, 2 if dtype.kind == "b" else 8, shape).astype(dtype)


def compare(found: Mapping[str, Array], expected: Mapping[str, Array]) -> Comparison:
    """Compare arrays name by name; raises where a name is missing or a shape differs."""
    errors = [(0.0, 0.0, True), *(_compare_one(name, found, array) for name, array in expected.items())]
    return Comparison(max(e[0] for e in errors), max(e[1] for e in errors), all(e[2] for e in errors))


def _compare_one(name: str, found: Mapping[str, Array], expected: Array) -> tuple[float, float, bool]:
    if name not in found:
        raise TilewrightError("expect", name, f"an output named one of {sorted(found)}", f"'{name}'")
    array = found[name]
    if array.shape != expected.shape:
        raise TilewrightError("expect", name, f"shape {expected.shape}", f"shape {array.shape}")
    a, b = array.astype(np.float64), expected.astype(np.float64)
    same = (array == expected) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        differences = np.where(same, 0.0, np.abs(a - b))
    error = float(np.nan_to_num(differences, nan=np.inf).max(initial=0.0))
    scale = float(np.abs(b[np.isfinite(b)]).max(initial=0.0))
    return error, error / scale if scale else error, bool(same.all()) and array.dtype == expected.dtype
