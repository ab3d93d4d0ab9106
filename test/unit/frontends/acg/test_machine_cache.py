"""Machines of shipped targets are read once, and again where the text, or what is cached of it, has changed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tilewright.frontends.acg import load, parse_target, target_files
from tilewright.machine import Machine
from tilewright.machine.spreading import idle_axes

FILES = target_files()
TEXT = FILES["tiny"].read_text()


@pytest.fixture
def parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were parsed; machines are cached in an empty folder, by another process each time."""
    monkeypatch.setattr(load, "__file__", str(tmp_path / "frontends/acg/load.py"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (tmp_path / "frontends/acg").mkdir(parents=True)
    return []


def machine(text: str, parsed: list[str]) -> Machine:
    def parse(text: str, file: str) -> Machine:
        parsed.append(text)
        return parse_target(text, file)

    return load.cached_machine("tiny", text, parse)


@pytest.mark.parametrize("name", FILES)
def test_a_cached_machine_is_the_parsed_one(name: str, parsed: list[str]):
    text = FILES[name].read_text()
    first, again = (load.cached_machine(name, text, lambda text, file: parse_target(text, file)) for _ in range(2))
    assert first == again == parse_target(text)


def test_what_is_cached_is_not_parsed_again_until_the_text_changes(parsed: list[str]):
    assert machine(TEXT, parsed) == machine(TEXT, parsed)
    assert parsed == [TEXT]
    edited = TEXT.replace("acg tiny", "acg edited")
    assert machine(edited, parsed).name == "edited"
    assert machine(TEXT, parsed).name == "tiny"
    assert parsed == [TEXT, edited, TEXT]


def test_other_code_parses_again(parsed: list[str], monkeypatch: pytest.MonkeyPatch):
    machine(TEXT, parsed)
    monkeypatch.setattr(load, "_version_of_code", lambda: b"other")
    machine(TEXT, parsed)
    assert parsed == [TEXT, TEXT]


def test_the_version_is_that_of_the_code_that_reads(tmp_path: Path, parsed: list[str]):
    source = tmp_path / "machine/model.py"
    source.parent.mkdir()
    found: set[bytes] = set()
    for text in ("a", "b"):
        source.write_text(text)
        load._version_of_code.cache_clear()  # pyright: ignore[reportPrivateUsage]
        found.add(load._version_of_code())  # pyright: ignore[reportPrivateUsage]
    load._version_of_code.cache_clear()  # pyright: ignore[reportPrivateUsage]
    assert len(found) == 2


@pytest.mark.parametrize("damage", [b"", b"\x80", None])
def test_damaged_files_and_folders_that_cannot_be_written_are_no_obstacle(
    damage: bytes | None, tmp_path: Path, parsed: list[str]
):
    if damage is None:
        (tmp_path / "frontends/acg/__pycache__").write_text("no folder")
    else:
        machine(TEXT, parsed)
        (file,) = (tmp_path / "frontends/acg/__pycache__").iterdir()
        file.write_bytes(file.read_bytes()[:16] + damage)
    assert machine(TEXT, parsed).name == "tiny"
    assert parsed[-1] == TEXT


@pytest.mark.parametrize("name", FILES)
def test_parsing_a_shipped_target_warns_of_nothing(name: str):
    """The warning would come the first time alone."""
    assert not list(idle_axes(parse_target(FILES[name].read_text())))
