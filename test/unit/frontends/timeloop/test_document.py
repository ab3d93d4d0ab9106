"""YAML with lines, of bounded size, whatever it holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tilewright.errors import TilewrightError
from tilewright.frontends.timeloop import load_timeloop, parse_timeloop
from tilewright.frontends.timeloop.document import MAX_BYTES, MAX_DEPTH, parse_yaml


def test_values_know_their_lines() -> None:
    item = parse_yaml("word-bits: 8\nlist:\n- !Tag {a: 1.5}\n- ~\n", "x.yaml")
    assert item.need("it", "word_bits").whole("bits") == 8
    first, second = item.need("it", "list").items("list")
    assert (first.tag, first.where) == ("Tag", "x.yaml:3")
    assert first.need("it", "a").number("a") == 1.5
    assert second.is_null


def test_merged_keys_give_way_to_own_ones() -> None:
    item = parse_yaml("base: &b {x: 1, y: 2}\nuse: {<<: *b, y: 3}\n")
    assert {key: value.value for key, value in item.need("it", "use").mapping("use").items()} == {"x": "1", "y": "3"}


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12)
)

HOSTILE = {
    "aliases that multiply": (BOMB, "expected at most 100000 values (aliases count)"),
    "an alias of what it is in": ("&a [*a]", f"nested at most {MAX_DEPTH} deep"),
    "deep nesting": ("[" * 100 + "]" * 100, f"nested at most {MAX_DEPTH} deep"),
    "very deep nesting": ("[" * 50_000, "x.yaml: expected YAML, found"),
    "too long": (" " * (MAX_BYTES + 1), f"expected at most {MAX_BYTES} characters"),
    "a key twice": ("a: 1\nb: 2\na: 3\n", "x.yaml:3: expected a once, found it twice"),
    "a key that is a list": ("[a]: 1\n", "expected keys that are names"),
    "a template": ("a: 1\nb: {{x}}\n", "x.yaml:2: expected plain YAML, found a Jinja template"),
    "not YAML": ("a: [1, 2\nb: 3", "x.yaml:2: expected YAML"),
    "nothing": ("# nothing\n", "expected a document, found nothing"),
    "two documents": ("a: 1\n---\nb: 2\n", "expected YAML"),
    "a control character": ("a: \0", "expected YAML"),
}


@pytest.mark.parametrize(("text", "message"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_text(text: str, message: str) -> None:
    with pytest.raises(TilewrightError) as raised:
        parse_yaml(text, "x.yaml")
    assert message in str(raised.value)


def test_tags_build_nothing(tmp_path: Path) -> None:
    made = tmp_path / "made"
    with pytest.raises(TilewrightError):
        parse_timeloop(f"problem: !!python/object/apply:pathlib.Path.touch ['{made}']\n")
    assert not made.exists()


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path, tmp_path / "nosuch.yaml", binary):
        with pytest.raises(TilewrightError):
            load_timeloop(path)


KEYS = "problem: architecture: arch: mapping: ERT: shape: nodes: storage: name:x instances:4 meshX:0"
WORDS = [*KEYS.split(), *"{ } [ ] !Container &a *a 1e9 [0..3] ~".split(), "- ", "  ", "\n", ": "]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=5), max_size=40).map("".join))
@example("problem: {shape: cnn-layer, R: 0}")
@example("arch: {storage: [], arithmetic: {}}")
@example("architecture: {subtree: [{name: 'PE[9..1]', local: [{name: x}]}]}")
@example("architecture: {nodes: [!Component {name: a, spatial: {meshX: 99999999999}}]}")
def test_any_text(text: str) -> None:
    try:
        parse_timeloop(text)
    except TilewrightError:
        return
