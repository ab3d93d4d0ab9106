"""Constant tensors beside the IR: named arrays in one uncompressed `.npz` file, never in the text.

A module points to its file by the attribute `graph.resources`; in memory, the arrays travel with the `ModuleOp` object
(`attach`, `resources_of`).
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp, StringAttr

from .algebra.element import Array, of_type, plain
from .arrays import load_arrays, release_pages
from .errors import TilewrightError
from .files import replacing

if TYPE_CHECKING:
    from .dialects.graph import WeightOp


ATTRIBUTE = "graph.resources"
_SLOT = "_tilewright_resources"
_DATE = (1980, 1, 1, 0, 0, 0)
_ZIP64_BYTES = 1 << 30

CHUNK = 1 << 20
"""Elements of large arrays that are looked at together, so that little is held besides them."""


class Resources(MutableMapping[str, Array]):
    """Named constant arrays, in order of insertion; arrays are read-only, C-contiguous and aligned.

    Those that lie unaligned in a file are kept there; each look at one is a copy.
    """

    def __init__(self, arrays: Mapping[str, Array] | None = None) -> None:
        self._arrays: dict[str, Array] = {}
        kept = arrays._arrays if isinstance(arrays, Resources) else arrays or {}
        for name, array in kept.items():
            self[name] = array

    def __getitem__(self, name: str) -> Array:
        array = self._arrays[name]
        if array.flags.aligned:
            return array
        aligned = array.copy()
        aligned.flags.writeable = False
        release_pages(array)
        return aligned

    def __setitem__(self, name: str, array: Array) -> None:
        view = np.asarray(array, order="C").view()
        view.flags.writeable = False
        self._arrays[name] = view

    def __delitem__(self, name: str) -> None:
        del self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __repr__(self) -> str:
        size = sum(array.nbytes for array in self._arrays.values())
        return f"<Resources: {len(self._arrays)} arrays, {size} bytes>"

    def add(self, name: str, array: Array) -> str:
        """Store `array` as `name`, or as `name.1`, `name.2`, ... where that holds other bytes; returns the name."""
        candidate, number = name, 0
        while candidate in self._arrays and not identical(self._arrays[candidate], array):
            number += 1
            candidate = f"{name}.{number}"
        if candidate not in self._arrays:
            self[candidate] = array
        return candidate

    def as_stored(self, name: str) -> Array:
        """An array where it lies, which may be unaligned."""
        return self._arrays[name]

    def __contains__(self, name: object) -> bool:
        return name in self._arrays

    def only(self, names: Iterable[str]) -> Resources:
        """Some of the arrays, where they lie."""
        return Resources({name: self._arrays[name] for name in names})

    def digest(self) -> str:
        """A hash of names, types, shapes and bytes."""
        state = sha256()
        for name, array in self._arrays.items():
            state.update(f"{name}\0{array.dtype.str}\0{array.shape}\0".encode())
            state.update(_bytes(array).data)
        return state.hexdigest()

    def save(self, path: str | Path) -> None:
        """Write an `.npz` file; same arrays, same bytes."""
        with replacing(path) as place, zipfile.ZipFile(place, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
            for name, array in self._arrays.items():
                entry = zipfile.ZipInfo(f"{_escape(name)}.npy", _DATE)
                entry.external_attr = 0o600 << 16
                with archive.open(entry, "w", force_zip64=array.nbytes >= _ZIP64_BYTES) as stream:
                    np.lib.format.write_array(stream, plain(array), allow_pickle=False)

    @staticmethod
    def load(path: str | Path) -> Resources:
        """Read an `.npz` file; `TilewrightError` (kind `file`) if it is none."""
        return Resources({_unescape(name): array for name, array in load_arrays(path).items()})


def identical(a: Array, b: Array) -> bool:
    """Whether two arrays have the same type, shape and bytes."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    one, other = _bytes(np.asarray(a, order="C")), _bytes(np.asarray(b, order="C"))
    same_place = one.ctypes.data == other.ctypes.data
    return same_place or all(
        np.array_equal(one[start : start + CHUNK], other[start : start + CHUNK]) for start in range(0, one.size, CHUNK)
    )


def _bytes(array: Array) -> NDArray[np.uint8]:
    """The bytes of a C-contiguous array, in its memory."""
    return array.reshape(-1).view(np.uint8)


def _escape(name: str) -> str:
    return name.replace("%", "%25").replace("/", "%2F").replace("\\", "%5C").replace("\0", "%00")


def _unescape(name: str) -> str:
    return name.replace("%00", "\0").replace("%5C", "\\").replace("%2F", "/").replace("%25", "%")


def attach(module: ModuleOp, resources: Resources) -> None:
    """Let `resources` travel with the module object."""
    object.__setattr__(module, _SLOT, resources)


def resources_of(module: ModuleOp, folder: str | Path = ".") -> Resources:
    """The arrays of the module: those attached, else those of the file that `graph.resources` names, else none.

    A relative file name counts from `folder`.  Weights whose values stand in the text are added.  The answer is
    attached, so that what passes add to it stays.
    """
    from .dialects.graph import WeightOp, dense_array

    resources: Resources | None = getattr(module, _SLOT, None)
    if resources is None:
        file = module.attributes.get(ATTRIBUTE)
        resources = Resources.load(Path(folder) / file.data) if isinstance(file, StringAttr) else Resources()
        attach(module, resources)
    for op in module.walk():
        if isinstance(op, WeightOp) and op.value is not None and op.resource not in resources:
            resources[op.resource] = dense_array(op.value)
    return resources


def weight_array(op: WeightOp, resources: Resources) -> Array | None:
    """The array of a weight, from the text or from `resources`; None where neither has it.

    Raises `TilewrightError` (kind `weights`) for an array of another type than the operation's.
    """
    from .dialects.graph import dense_array
    from .dialects.types import dtype_of

    if op.value is not None:
        return dense_array(op.value)
    array, expected = resources.get(op.resource), op.result.type
    array = array if array is None else of_type(array, dtype_of(expected.element_type))
    if array is not None and (array.shape != expected.get_shape() or array.dtype != dtype_of(expected.element_type)):
        found = f"{array.dtype} of shape {list(array.shape)}"
        raise TilewrightError("weights", f"graph.weight @{op.resource}", f"an array of type {expected}", found)
    return array


def one_number(array: Array | None) -> int | None:
    """The element of a known array whose elements are all the same: what `convert-graph-to-nest` puts into kernels."""
    if array is None or array.size == 0 or (array != array.reshape(-1)[0]).any():
        return None
    return int(array.reshape(-1)[0])


def save_module_resources(module: ModuleOp, path: str | Path) -> None:
    """Write the arrays of the module to `path` and point the module to that file (by its name alone)."""
    resources_of(module).save(path)
    module.attributes[ATTRIBUTE] = StringAttr(Path(path).name)
