"""The source files that the machine code of a file's kernels was made of.

numba dates kept code by the file of its function alone, though it holds the code of the functions called, and the
constants and the fields of named tuples that they read, from other files.
"""

import re
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

IMPORT = re.compile(r"^from (\.+)([\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)
"""A relative import at the top level of a file: its dots, the module, and the names."""

DECORATORS = "compiled"
"""Modules of this name have the decorators of kernels; whoever imports one has kernels."""


class Version(NamedTuple):
    """The `newest` time at which one of some files was edited, in ns, and a `digest` of their texts."""

    newest: int
    digest: bytes


class _Source(NamedTuple):
    """A file: its own version, the files that it imports, and whether its code may come from these."""

    version: Version
    imports: frozenset[Path]
    is_followed: bool


def version(path: Path) -> Version:
    """Of a file with kernels and all its `sources`."""
    versions = [_read(file).version for file in sorted(sources(path))]
    digest = blake2b(b"".join(each.digest for each in versions), digest_size=16)
    return Version(max(each.newest for each in versions), digest.digest())


def sources(path: Path) -> set[Path]:
    """A file, what it imports, and, where that has kernels too or is a package, what that imports."""
    found, ahead = {path}, [path]
    while ahead:
        source = _read(ahead.pop())
        new = source.imports - found
        found |= new
        ahead += [file for file in new if _read(file).is_followed]
    return found


@cache
def _read(path: Path) -> _Source:
    text = path.read_text()
    mine = Version(path.stat().st_mtime_ns, blake2b(text.encode(), digest_size=16).digest())
    imports = frozenset(file for file in _imported(path, text) if file.is_file())
    is_followed = path.stem == "__init__" or any(file.stem == DECORATORS for file in (path, *imports))
    return _Source(mine, imports, is_followed)


def _imported(path: Path, text: str) -> list[Path]:
    """Where the modules that a file imports may be: `from .a import b` is `a.py`, `a/__init__.py` or `a/b.py`."""
    files: list[Path] = []
    for dots, module, names in IMPORT.findall(text):
        place = path.parents[len(dots) - 1].joinpath(*filter(None, module.split(".")))
        files += [place.with_suffix(".py"), place / "__init__.py"]
        files += [place / f"{name}.py" for name in re.findall(r"\w+", names)]
    return files
