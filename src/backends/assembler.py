"""Programs as assembly text, an instruction a line.

Assembly text that gives fields in order, without names: `SET_LOOP_STRIDE LOW, LD, IBUF, 1, 9216`.

Constants that are `hidden`, and the efield that an instruction is `named` by, are left out.  A name that begins with an
underscore and a digit is written without the underscore: `DTYPE_CFG 8FXP, 4, 4, 4`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from ..errors import TilewrightError
from ..machine import Field, Machine, Mnemonic, Word
from ..machine.encoding import decode, encode, word_of

NUMBER = re.compile(r"[+-]?(0[xX][0-9a-fA-F]{1,16}|0[bB][01]{1,64}|[0-9]{1,20})")


class AssemblyError(TilewrightError):
    """A mistake in a line of assembly text, in `column` (the first is 0)."""

    def __init__(self, column: int, subject: str, expected: str, found: str, lever: str = "") -> None:
        self.column = column
        super().__init__("program", subject, expected, found, lever)

    @staticmethod
    def unknown(column: int, machine: Machine, names: Iterable[str], found: str) -> AssemblyError:
        """A line that begins with none of the machine's mnemonics."""
        known = list(names)
        near = get_close_matches(found, known, 3)
        lever = f"perhaps {' or '.join(near)}" if near else ""
        expected = f"a mnemonic among {', '.join(known) or 'none at all'}"
        return AssemblyError(column, machine.name, expected, f"`{found[:40]}`", lever)


@dataclass(frozen=True)
class Parsed:
    """An instruction of assembly text: its fields, and the column in which each stands."""

    mnemonic: str
    fields: dict[str, int] = field(default_factory=dict[str, int])
    columns: dict[str, int] = field(default_factory=dict[str, int])


def split_items(text: str, start: int) -> list[tuple[int, str]]:
    """What commas separate, with the column in which it begins; `text` itself begins in column `start`."""
    found: list[tuple[int, str]] = []
    for item in text.split(",") if text.strip() else ():
        found.append((start + len(item) - len(item.lstrip()), item.strip()))
        start += len(item) + 1
    return found


def field_value(column: int, subject: str, word: str, codes: Mapping[str, int]) -> int:
    """A field's number: one of `codes` by name, or spelt with digits."""
    if word in codes:
        return codes[word]
    if not NUMBER.fullmatch(word):
        expected = f"a number or one of {', '.join(codes)}" if codes else "a number"
        raise AssemblyError(column, subject, expected, f"`{word[:40]}`")
    return int(word, 0) if not word.lstrip("+-").isdigit() else int(word)


def spelled(name: str) -> str:
    """How a name of the target file is written in assembly text."""
    return re.sub(r"^_(?=\d)", "", name)


def shown(mnemonic: Mnemonic) -> list[Field]:
    """The fields that assembly text gives, in order."""
    return [item for item in mnemonic.fields if not item.hidden and item.name != mnemonic.named]


def format_positional(word: Word, fields: Mapping[str, int]) -> str:
    """The text of one instruction; fields that are not given are 0, or their constant."""
    mnemonic, texts = word.mnemonic, []
    for item in shown(mnemonic):
        value = fields.get(item.name, item.constant or 0)
        names = {code: spelled(name) for name, code in item.enum}
        texts.append(names.get(value, str(value)))
    name = mnemonic.name
    if mnemonic.named:
        item = next(item for item in mnemonic.fields if item.name == mnemonic.named)
        codes = {code: name for name, code in item.enum}
        name = codes.get(fields.get(item.name, 0), name)
    return f"{spelled(name)} {', '.join(texts)}".strip()


def names_of(machine: Machine) -> dict[str, tuple[Mnemonic, dict[str, int]]]:
    """What may begin a line -> the mnemonic and the field that the name gives."""
    found: dict[str, tuple[Mnemonic, dict[str, int]]] = {}
    for mnemonic in machine.mnemonics:
        named = [item for item in mnemonic.fields if item.name == mnemonic.named]
        if not named:
            found[spelled(mnemonic.name)] = mnemonic, {}
        for name, code in named[0].enum if named else ():
            found[spelled(name)] = mnemonic, {mnemonic.named: code}
    return found


def parse_positional(machine: Machine, name: str, start: int, items: Sequence[tuple[int, str]]) -> Parsed:
    """Mnemonic and fields of a line that begins with `name` in column `start`; `AssemblyError` where it is none."""
    names = names_of(machine)
    if name not in names:
        raise AssemblyError.unknown(start, machine, names, name)
    mnemonic, fields = names[name]
    parsed = Parsed(mnemonic.name, dict(fields))
    expected = shown(mnemonic)
    if len(items) != len(expected):
        text = f"{len(expected)} fields ({', '.join(item.name for item in expected)})"
        raise AssemblyError(start, name, text, str(len(items)))
    for item, (column, word) in zip(expected, items, strict=True):
        codes = {spelled(key): code for key, code in item.enum}
        parsed.fields[item.name] = field_value(column, f"{name}.{item.name}", word, codes)
        parsed.columns[item.name] = column
    return parsed


def disassemble(machine: Machine, program: bytes) -> str:
    """One line per instruction, e.g. `LOAD TAG=1, DST=0x40, RUN=64`; fields that are 0 are left out."""
    return "".join(f"{format_instruction(machine, *item)}\n" for item in decode(machine, program))


def format_instruction(machine: Machine, mnemonic: str, fields: Mapping[str, int]) -> str:
    """The text of one instruction: efields by name, addresses and immediates in hexadecimal."""
    word = word_of(machine, mnemonic)
    if machine.positional:
        return format_positional(word, fields)
    hexadecimal = {operand.address for operand in word.mnemonic.operands}
    hexadecimal |= {name for _, name in word.mnemonic.immediates}
    enums = _enums(machine, word)
    texts: list[str] = []
    hidden = {item.name for item in word.mnemonic.fields if item.hidden}
    for name in (name for name in word.by_name if name not in hidden):
        value = fields.get(name, 0)
        if name in enums:
            names = {code: text for text, code in enums[name].enum}
            texts += [f"{name}={names.get(value, value)}"] if value else []
        elif value:
            texts.append(f"{name}={value:#x}" if name in hexadecimal else f"{name}={value}")
    return f"{mnemonic} {', '.join(texts)}".strip()


def _enums(machine: Machine, word: Word) -> dict[str, Field]:
    return {item.name: item for item in (*machine.header, *word.mnemonic.fields) if item.enum}


def assemble(machine: Machine, text: str, source: str = "program") -> bytes:
    """The program that lines of text spell, as `disassemble` writes them; `#` begins a comment.

    Errors are `TilewrightError`s whose subject begins with `source:line:column`.
    """
    words: list[bytes] = []
    for number, line in enumerate(text.split("\n"), 1):
        content = line.partition("#")[0].rstrip()
        if content:
            try:
                words.append(_assembled(machine, content))
            except AssemblyError as error:
                subject = f"{source}:{number}:{error.column + 1} ({error.subject})"
                raise TilewrightError(error.kind, subject, error.expected, error.found, error.lever) from None
    return b"".join(words)


def _assembled(machine: Machine, text: str) -> bytes:
    parsed = parse_instruction(machine, text)
    try:
        return encode(machine, parsed.mnemonic, parsed.fields)
    except TilewrightError as error:
        column = parsed.columns[error.subject.rpartition(".")[2]]
        raise AssemblyError(column, error.subject, error.expected, error.found) from None


def parse_instruction(machine: Machine, text: str) -> Parsed:
    """Mnemonic and fields of one line of assembly text, with the columns where fields stand."""
    start = len(text) - len(text.lstrip())
    mnemonic = text[start:].split(maxsplit=1)[0]
    end = start + len(mnemonic)
    items = split_items(text[end:], end)
    if machine.positional:
        return parse_positional(machine, mnemonic, start, items)
    if mnemonic not in machine.words:
        raise AssemblyError.unknown(start, machine, machine.words, mnemonic)
    word = machine.words[mnemonic]
    enums = _enums(machine, word)
    parsed = Parsed(mnemonic)
    for column, item in items:
        name, equals, value = (part.strip() for part in item.partition("="))
        if not equals or name in parsed.fields:
            raise AssemblyError(column, mnemonic, "fields like NAME=VALUE, each once", f"`{item[:40]}`")
        if name not in word.by_name:
            raise AssemblyError(column, mnemonic, f"a field among {', '.join(word.by_name)}", f"`{name[:40]}`")
        parsed.fields[name] = field_value(
            column, f"{mnemonic}.{name}", value, dict(getattr(enums.get(name), "enum", ()))
        )
        parsed.columns[name] = column
    return parsed
