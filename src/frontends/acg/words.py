"""The words of the language for numbers of the machine, and lines of canonical text."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from ...machine.attributes import MEMORY_FIELDS

COLUMNS = 120
GLUE = "\0"  # a blank at which a line is not broken

FUSED_WORDS = {"buffering": "buffering", "regions": "regions"}
MEMORY_WORDS = {word: field for word, field in MEMORY_FIELDS.items() if word not in FUSED_WORDS}
LINK_WORDS = {"bandwidth": "bandwidth_bytes_per_cycle", "latency": "latency_cycles"}
ISA_WORDS = {"opcode_bits": "opcode_bits", "align": "instruction_align_bits", "width": "instruction_bits"}
PACKED_WORDS = {"words": "words", "latency": "latency_packets", "align": "align_bytes"}
"""Words of a memory (and those behind its ports), a link, the isa and a packed instruction, with their fields."""


def number_text(value: float) -> str:
    """Whole numbers without a point, others so that they read back exactly."""
    whole = isinstance(value, int) or (value.is_integer() and value < 1e15)
    return str(int(value)) if whole else repr(value)


def number_words(owner: Any, words: Mapping[str, str], /, **usual: float | None) -> list[str]:
    """The words of a dataclass, with their numbers, but for what is as `usual`, or as it is where nothing is said."""
    defaults = {item.name: item.default for item in fields(owner)} | usual
    values = {word: getattr(owner, field) for word, field in words.items()}
    return [f"{word} {number_text(value)};" for word, value in values.items() if value != defaults[words[word]]]


def worded(*items: tuple[str, str]) -> Iterator[str]:
    """Words, each with its text, where there is one."""
    return (f"{word} {text};" for word, text in items if text)


def executed_text(owner: Any) -> str:
    """The node and the capability that an engine or instruction executes; "" without one."""
    return f"{owner.node}.{owner.capability}" if owner.capability else ""


def braced(text: str) -> str:
    """The text in braces."""
    return f"{{ {text} }}" if text else "{ }"


def pairs_text(pairs: Iterable[tuple[str, str]]) -> str:
    """Pairs of a name and a word; no line is broken within one."""
    return ", ".join(f"{name}{GLUE}{word}" for name, word in pairs)


def wrapped(text: str, indent: int) -> Iterator[str]:
    """`text` broken at blanks into lines of at most COLUMNS, continuations indented by four more."""
    if indent + len(text) <= COLUMNS:
        yield " " * indent + text.replace(GLUE, " ")
        return
    line = " " * indent
    for word in text.split(" "):
        word = word.replace(GLUE, " ")
        start = line.strip() == ""
        if not start and len(line) + 1 + len(word) > COLUMNS:
            yield line
            line, start = " " * (indent + 4), True
        line += word if start else f" {word}"
    yield line


def packed(items: Iterable[str], indent: int) -> list[str]:
    """As many items on a line as fit."""
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + 1 + len(item) <= COLUMNS:
            lines[-1] += f" {item.replace(GLUE, ' ')}"
        else:
            lines.extend(wrapped(item, indent))
    return lines
