"""Files that are written: whole or not at all, and known by a hash of their bytes."""

import errno
import hashlib
import itertools
import json
import mmap
import os
import shutil
from collections.abc import Generator, Iterable, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, cast

from .errors import TilewrightError, check_type

LEVERS = {
    errno.ENOENT: "give the path of something that is there",
    errno.EACCES: "change its permissions, or choose another place",
    errno.EPERM: "change its permissions, or choose another place",
    errno.EROFS: "choose a place that can be written",
    errno.ENOSPC: "make room, or choose another place",
    errno.EDQUOT: "make room, or choose another place",
    errno.ENOTDIR: "remove the file that stands where a folder is meant, or choose another name",
    errno.EEXIST: "remove the file that stands where a folder is meant, or choose another name",
    errno.EISDIR: "name a file in that folder",
    errno.ENAMETOOLONG: "choose a shorter name",
}
"""What to change, by what the operating system says."""

FILE, FOLDER = "a file that can be read or written here", "a folder that can be written here"

MODEL_SUFFIXES = (".onnx", ".mlir", ".tflite", ".pt2")
"""How names of models' files end."""

TEMPORARY = ".tilewright-"
"""How names of files begin that are not whole yet."""

_numbers = itertools.count()


def file_error(error: OSError, path: str | Path | None = None, expected: str = FILE) -> TilewrightError:
    """What the operating system said of a file, as an error for people; `path` where `error` does not name it."""
    subject = error.filename if error.filename is not None else path
    found = (error.strerror or str(error) or "an error").lower()
    return TilewrightError(
        "file",
        str(subject) if subject is not None else "a file or stream",
        expected,
        found,
        LEVERS.get(error.errno or 0, "look at the file and the disk that it is on"),
    )


def read_text(path: Path, most_bytes: int | None = None) -> str:
    """The text of a file of at most so many bytes.

    `TilewrightError`: kind `file` where it is longer or the operating system refuses, `parse` where it is no UTF-8.
    """
    try:
        if most_bytes is not None and (size := path.stat().st_size) > most_bytes:
            raise TilewrightError("file", str(path), f"at most {most_bytes} bytes", f"{size} bytes")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise file_error(error, path) from error
    except UnicodeDecodeError as error:
        found, lever = f"other bytes at byte {error.start}", "save it as such text, or name another file"
        raise TilewrightError("parse", str(path), "text in UTF-8", found, lever) from error


def read_bytes(path: str | Path, expected: str, mapped_bytes: int = 0) -> bytes | mmap.mmap:
    """The bytes of a file, mapped into memory where they are so many or more.

    `TilewrightError`: kind `file` where the operating system refuses, `parse` where nothing can be mapped.
    """
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size < mapped_bytes:
                return file.read()
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise file_error(error, path) from error
    except ValueError as error:  # an empty file, or a name that no file can have
        raise TilewrightError("parse", str(path), expected, str(error), "name another file") from error


@contextmanager
def replacing(path: str | Path) -> Generator[Path]:
    """A path beside `path` to write to, which takes the place of `path` at the end, and is removed after an error.

    Devices and pipes are written to directly.  `TilewrightError` (kind `file`) where the operating system refuses.
    """
    try:
        target = Path(path).resolve()
        stream = target.exists() and not target.is_file() and not target.is_dir()
    except (OSError, ValueError, RuntimeError) as error:
        raise file_error(OSError(errno.EINVAL, str(error)), path) from error
    place = target if stream else target.with_name(f"{TEMPORARY}{os.getpid()}-{next(_numbers)}.tmp")
    try:
        yield place
        if not stream:
            os.replace(place, target)
    except OSError as error:
        if target.name.startswith(TEMPORARY):  # whoever made that name tells of its own
            raise
        raise file_error(OSError(error.errno, error.strerror or str(error)), path) from error
    finally:
        if not stream:
            with suppress(OSError):
                place.unlink(missing_ok=True)


@contextmanager
def replacing_all(folder: Path, names: Iterable[str]) -> Generator[dict[str, Path]]:
    """`replacing` for files of one folder, by name: all of them take their places, or none."""
    with ExitStack() as stack:
        places = {name: stack.enter_context(replacing(make_folder(folder) / name)) for name in names}
        try:
            yield places
        except OSError as error:
            raise file_error(OSError(error.errno, error.strerror or str(error)), folder, FOLDER) from error


def link_file(source: Path, place: Path) -> None:
    """Another name for a file, or a copy of it where the file system has one name for each."""
    try:
        os.link(source, place)
    except OSError:
        shutil.copyfile(source, place)


def write_file(path: str | Path, content: str | bytes) -> None:
    """Write a file, whole or not at all; text in UTF-8."""
    with replacing(path) as place:
        place.write_bytes(content.encode() if isinstance(content, str) else content)


def make_folder(path: str | Path) -> Path:
    """The folder, made where it is not there; `TilewrightError` (kind `file`) where that fails."""
    check_type("folder", path, (str, Path), "the path of a folder")
    path = Path(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise file_error(error, path, FOLDER) from error
    except ValueError as error:  # a name that no file can have
        raise file_error(OSError(errno.EINVAL, str(error)), path, FOLDER) from error
    return path


def hash_of(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def sealed_table(table: Mapping[str, Any], files: Mapping[str, Path]) -> str:
    """A folder's table as JSON text, with hashes of the folder's files and of itself: what `read_table` takes."""
    whole = {**table, "files": {name: hash_of(path) for name, path in files.items()}}
    return json.dumps({**whole, "table": _hash_of_table(whole)}, indent=1) + "\n"


def _hash_of_table(table: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(table, sort_keys=True).encode()).hexdigest()


def read_table(folder: Path, name: str) -> dict[str, Any]:
    """The table of a folder; `TilewrightError` (kind `file`) where it or a file it names has changed since."""
    path, lever = folder / name, "compile again"
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise file_error(error, path) from error
    except (ValueError, RecursionError) as error:
        raise TilewrightError("file", str(path), "JSON text, as it was written", str(error)[:200], lever) from error
    if not isinstance(table, dict) or not isinstance(cast(dict[str, Any], table).get("files"), dict):
        raise TilewrightError("file", str(path), "a table with hashes of the folder's files", "none", lever)
    table = cast(dict[str, Any], table)
    if table.pop("table", None) != _hash_of_table(table):
        raise TilewrightError("file", str(path), "the table as it was written", "an altered one", lever)
    for file, expected in table["files"].items():
        try:
            found = hash_of(folder / file)
        except OSError as error:
            raise TilewrightError(
                "file", str(folder / file), "the file that was written here", (error.strerror or "none").lower(), lever
            ) from error
        if found != expected:
            raise TilewrightError("file", str(folder / file), "its bytes as they were written", "other bytes", lever)
    return table
