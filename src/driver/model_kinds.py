"""Which files are models."""

from pathlib import Path

from ..errors import TilewrightError
from ..files import MODEL_SUFFIXES, file_error

MODEL_KINDS = "an .onnx, .tflite or .mlir file, einsum text with bounds, or the name of a network or layer"


def check_kind(path: Path) -> None:
    """Raise `TilewrightError` (kind `model`) for a path that names no file, or one that is no model."""
    try:
        found = "a folder" if path.is_dir() else "no such file or name" if not path.exists() else ""
    except OSError as error:
        raise file_error(error, path) from error
    if not found and path.suffix not in MODEL_SUFFIXES:
        with path.open("rb") as stream:
            start = stream.read(512)
        found = "a file of text" if all(32 <= byte < 127 or byte in b"\t\n\r" for byte in start) else ""
    if found:
        lever = "check the name; `tilewright networks` lists those of networks"
        raise TilewrightError("model", str(path)[:200], MODEL_KINDS, found, lever)
