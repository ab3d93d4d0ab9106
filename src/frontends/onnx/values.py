"""The values of tensors as NumPy arrays: from the message, the model's file, or files of external data beside it."""

import os
import stat
from dataclasses import dataclass
from math import prod
from pathlib import Path, PurePosixPath, PureWindowsPath

import numpy as np
from onnx import TensorProto, numpy_helper

from ...algebra.element import Array
from ...errors import TilewrightError
from .load import BITS, INSIDE, NUMPY_TYPES, TYPE_LEVER, check_size, type_name

MAPPED_BYTES = 1 << 16
"""Values of this size and more are mapped into memory where they lie, aligned or not; smaller ones are read."""


DAMAGED = "the file is cut or damaged: export it anew"


@dataclass(frozen=True)
class Values:
    """Where the values of a model's tensors lie: in its `file` or beside that, or in its bytes, `data`.

    Both are None for a model that is an object: all its values are in it.
    """

    file: Path | None = None
    data: bytes | None = None

    def array(self, tensor: TensorProto, subject: str) -> Array:
        """The values of a tensor, read-only; `subject` names it in errors."""
        dtype = NUMPY_TYPES.get(tensor.data_type)
        if dtype is None:
            accepted = ", ".join(sorted(type_name(t) for t in NUMPY_TYPES))
            found = type_name(tensor.data_type)
            raise TilewrightError("unsupported", subject, f"an element type of {accepted}", found, TYPE_LEVER)
        check_size(subject, tensor.dims, dtype.itemsize)
        if tensor.data_location == TensorProto.EXTERNAL or tensor.external_data:
            return self._elsewhere(tensor, subject, dtype)
        try:
            array = numpy_helper.to_array(tensor)
        except (ValueError, TypeError) as error:
            found = f"shape {list(tensor.dims)} with other data ({error})"
            raise TilewrightError("parse", subject, "as many values as the shape says", found, DAMAGED) from error
        return _read_only(array)

    def _elsewhere(self, tensor: TensorProto, subject: str, dtype: np.dtype[np.generic]) -> Array:
        bits, count = BITS.get(tensor.data_type, 0), prod(tensor.dims)
        if not bits:
            return self._read(tensor, subject, tuple(tensor.dims), dtype)
        packed = self._read(tensor, subject, (-(-count * bits // 8),), np.dtype(np.uint8))
        return _read_only(unpacked(packed, bits)[:count].view(dtype).reshape(tuple(tensor.dims)))

    def _read(self, tensor: TensorProto, subject: str, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> Array:
        entries = {entry.key: entry.value for entry in tensor.external_data}
        offset, length = _bytes_at(entries, "offset", subject), _bytes_at(entries, "length", subject)
        size_bytes = prod(shape) * dtype.itemsize
        if length is not None and length != size_bytes:
            expected = f"{size_bytes} bytes for shape {list(shape)} of {dtype.name}"
            raise TilewrightError("parse", subject, expected, f"{length} bytes", DAMAGED)
        location, first = entries.get("location", ""), offset or 0
        if location == INSIDE and self.data is not None:
            array = np.frombuffer(self.data, dtype, prod(shape), first).reshape(shape)
            return _read_only(array if array.flags.aligned or array.nbytes >= MAPPED_BYTES else array.copy())
        path = self.file if location == INSIDE and self.file is not None else self._beside(location, subject)
        try:
            found_bytes = path.stat().st_size
            if first + size_bytes <= found_bytes:
                return _from_file(path, first, shape, dtype)
        except OSError as error:
            raise TilewrightError("file", subject, f"values in {path.name}", str(error.strerror)) from error
        expected = f"{size_bytes} bytes from {first} on in {path.name}"
        lever = "the file is cut, or another model's"
        raise TilewrightError("file", subject, expected, f"a file of {found_bytes} bytes", lever)

    def _beside(self, location: str, subject: str) -> Path:
        """The file of external data at `location`; only regular files in the model's folder are read."""
        what = f"external data in {location!r}"
        if self.file is None:
            lever = "give the model as the path of its file, or save it in one file with onnx.save"
            raise TilewrightError("file", subject, "values inside the model", what, lever)
        inside = "a file inside the model's folder"
        lever = "move external data into the model's folder, or save the model in one file with onnx.save"
        if not _stays_inside(location):
            raise TilewrightError("file", subject, inside, what, lever)
        folder = os.path.realpath(self.file.parent)
        path = os.path.realpath(os.path.join(folder, location))
        if os.path.commonpath((folder, path)) != folder:
            raise TilewrightError("file", subject, inside, f"{what}, a link out of it", lever)
        try:
            regular = stat.S_ISREG(os.stat(path).st_mode)
        except OSError as error:
            raise TilewrightError("file", subject, what, str(error.strerror).lower(), lever) from error
        if not regular:
            raise TilewrightError("file", subject, what, "something that is no file", lever)
        return Path(path)


def unpacked(packed: Array, bits: int) -> Array:
    """The numbers of `bits` bits in bytes along the last axis, the lowest bits first."""
    parts = [(packed >> shift) & ((1 << bits) - 1) for shift in range(0, 8, bits)]
    return np.stack(parts, -1).reshape(*packed.shape[:-1], -1)


def _stays_inside(location: str) -> bool:
    """Whether a location is a relative path that does not go up, however it is written."""
    parts = location.replace("\\", "/").split("/")
    anchored = PurePosixPath(location).is_absolute() or PureWindowsPath(location).anchor != ""
    return bool(location) and not anchored and ".." not in parts and "\0" not in location


def _bytes_at(entries: dict[str, str], key: str, subject: str) -> int | None:
    """The number of bytes that entry `key` of external data says, if there is one."""
    text = entries.get(key)
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 20:
        raise TilewrightError("parse", subject, f"a number of bytes as {key} of its external data", repr(text), DAMAGED)
    return int(text)


def _from_file(path: Path, offset: int, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> Array:
    count = prod(shape)
    if count * dtype.itemsize < MAPPED_BYTES:
        return _read_only(np.fromfile(path, dtype, count, offset=offset).reshape(shape))
    return _read_only(np.memmap(path, dtype, "r", offset, shape).view(np.ndarray))


def _read_only(array: Array) -> Array:
    return np.broadcast_to(array, array.shape)
