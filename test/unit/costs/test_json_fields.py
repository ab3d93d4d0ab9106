"""JSON files that cannot be read, told in a paragraph."""

from pathlib import Path

import pytest

from tilewright.costs.json_fields import read_json
from tilewright.errors import TilewrightError


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_json(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(TilewrightError, match=r"JSON|UTF-8"):
        read_json(path)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(TilewrightError, match="no such file"):
        read_json(tmp_path / "x.json")
