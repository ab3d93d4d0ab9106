"""Files are written whole or not at all, and folders know when they were altered."""

import errno
import json
import os
from pathlib import Path

import pytest

from tilewright.errors import TilewrightError
from tilewright.files import make_folder, read_table, replacing, replacing_all, sealed_table, write_file


def test_a_file_takes_its_place_at_the_end(tmp_path: Path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with replacing(path) as place:
        place.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("fault", [ValueError, KeyboardInterrupt])
def test_after_an_error_everything_is_as_before(fault: type[BaseException], tmp_path: Path):
    (tmp_path / "a").write_text("old")

    def write_half():
        with replacing_all(tmp_path, ("a", "b")) as places:
            for place in places.values():
                place.write_text("half")
            raise fault

    with pytest.raises(fault):
        write_half()
    assert [(entry.name, entry.read_text()) for entry in tmp_path.iterdir()] == [("a", "old")]


def test_links_stay_links(tmp_path: Path):
    (tmp_path / "link").symlink_to(tmp_path / "there")
    write_file(tmp_path / "link", "text")
    assert (tmp_path / "there").read_text() == "text"
    assert (tmp_path / "link").is_symlink()


def test_devices_are_written_to():
    write_file(os.devnull, "gone")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_no_room_is_told_with_the_name():
    with pytest.raises(TilewrightError, match=r"/dev/full: .* no space left on device; make room"):
        write_file("/dev/full", "text")


def test_no_room_for_one_of_several_is_told_with_their_folder(tmp_path: Path):
    def write() -> None:
        with replacing_all(tmp_path / "out", ("a", "b")) as places:
            places["b"].write_bytes(b"whole")
            with replacing(places["a"]):
                raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(TilewrightError) as caught:
        write()
    assert (caught.value.subject, caught.value.found) == (str(tmp_path / "out"), "no space left on device")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("name", ["missing/a", "file/a", "x" * 300, "a\0b", "folder"])
def test_places_that_cannot_be_written(name: str, tmp_path: Path):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(TilewrightError, match=r"expected a file that can be read or written here"):
        write_file(tmp_path / name, "text")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "folder"]


def test_a_folder_where_a_file_stands(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(TilewrightError, match=r"remove the file"):
        make_folder(tmp_path / "file")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "code").write_bytes(b"code")
    write_file(tmp_path / "table", sealed_table({"a": 1}, {"code": tmp_path / "code"}))
    return tmp_path


def test_a_table_that_nobody_altered(folder: Path):
    assert read_table(folder, "table")["a"] == 1


def test_altered_files_are_named(folder: Path):
    (folder / "code").write_bytes(b"coda")
    with pytest.raises(TilewrightError, match=r"code: .* found other bytes; compile again"):
        read_table(folder, "table")
    (folder / "code").unlink()
    with pytest.raises(TilewrightError, match=r"code: .* found no such file"):
        read_table(folder, "table")


def test_altered_tables_are_told(folder: Path):
    table = json.loads((folder / "table").read_text())
    (folder / "table").write_text(json.dumps(table | {"a": 2}))
    with pytest.raises(TilewrightError, match=r"an altered one"):
        read_table(folder, "table")
    (folder / "table").write_text("{}")
    with pytest.raises(TilewrightError, match=r"hashes"):
        read_table(folder, "table")
