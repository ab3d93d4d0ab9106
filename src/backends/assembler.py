"""Programs as assembly text, an instruction a line."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import TilewrightError
from ..machine import Field, Machine, Word
from ..machine.encoding import decode, encode, word_of
from .positional import AssemblyError, Parsed, field_value, format_positional, parse_positional, split_items


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
