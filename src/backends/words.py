"""Files that hold a program's words: its bytes, or text with a number a line in bits, hex or decimal digits."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..errors import TilewrightError
from ..machine import Machine
from ..machine.encoding import byte_order, instruction_offsets

MAX_INSTRUCTIONS = 1 << 20
"""What a program of others may hold."""

DIGITS = {"bits": re.compile(r"[01]+"), "hex": re.compile(r"[0-9a-fA-F]+"), "decimal": re.compile(r"[0-9]+")}
PREFIXES = {"bits": "0b", "hex": "0x", "decimal": ""}
BITS_OF_DIGIT = {"bits": 1, "hex": 4}


@dataclass(frozen=True)
class Token:
    """A number in a file of words; line and column from 1."""

    line: int
    column: int
    text: str


def most_bytes(machine: Machine) -> int:
    """The longest program of others that is taken, as bytes."""
    return MAX_INSTRUCTIONS * max((word.bytes for word in machine.words.values()), default=1)


def write_words(machine: Machine, code: bytes, format_name: str) -> bytes:
    """A program as a file: `binary`, or an instruction a line; `decimal` numbers are unsigned."""
    if format_name == "binary":
        return code
    offsets = [*instruction_offsets(machine, code)[0].tolist(), len(code)]
    words = [code[start:end] for start, end in pairwise(offsets)]
    match format_name:
        case "bits":
            lines = [f"{int.from_bytes(word, byte_order(machine)):0{8 * len(word)}b}" for word in words]
        case "hex":
            lines = [f"{int.from_bytes(word, byte_order(machine)):0{2 * len(word)}x}" for word in words]
        case _:
            _fixed_bytes(machine, "decimal")
            lines = [str(int.from_bytes(word, byte_order(machine))) for word in words]
    return "".join(f"{line}\n" for line in lines).encode()


def read_words(machine: Machine, data: bytes, format_name: str = "", source: str = "program") -> tuple[bytes, str]:
    """A program's bytes, and the format of the file that holds it; without a format it is told from the content.

    Text is that whose every line is a number of words of the machine (`#` begins a comment).  Errors are
    `TilewrightError`s (kind `program`) whose subject begins with `source:line:column`.
    """
    if format_name != "binary":
        tokens = _tokens(data)
        name = format_name or (_format_of(machine, tokens) if tokens is not None else "binary")
        if name != "binary":
            if tokens is None:
                raise TilewrightError("program", source, f"text with a number in {name} a line", "other bytes")
            return _joined(machine, tokens, name, source), name
    return data, "binary"


def _joined(machine: Machine, tokens: Sequence[Token], name: str, source: str) -> bytes:
    """The words of a text, each an instruction of the machine."""
    words = [_word(machine, token, name, source) for token in tokens]
    code = b"".join(words)
    try:
        instruction_offsets(machine, code)
    except TilewrightError:
        for token, word in zip(tokens, words, strict=True):
            _check_word(machine, word, f"{source}:{token.line}:{token.column}", token.text)
    return code


def _check_word(machine: Machine, word: bytes, where: str, text: str) -> None:
    try:
        instruction_offsets(machine, word)
    except TilewrightError as error:
        raise TilewrightError("program", where, error.expected, f"`{text[:80]}`") from None


def _tokens(data: bytes) -> list[Token] | None:
    """The numbers of a text, one a line; None where bytes are no text."""
    try:
        text = data.decode("ascii")
    except UnicodeDecodeError:
        return None
    if re.search(r"[^\t\r\n -~]", text):
        return None
    return list(_numbers(text))


def _numbers(text: str) -> Iterator[Token]:
    for number, line in enumerate(text.split("\n"), 1):
        content = line.partition("#")[0].rstrip()
        if content:
            start = len(content) - len(content.lstrip())
            yield Token(number, start + 1, content[start:])


def _format_of(machine: Machine, tokens: Sequence[Token]) -> str:
    """The first format in which every line is as long as a word of the machine; `binary` where none is."""
    lengths = {8 * word.bytes for word in machine.words.values()}
    for name, bits in BITS_OF_DIGIT.items():
        digits = [token.text.removeprefix(PREFIXES[name]) for token in tokens]
        if tokens and all(DIGITS[name].fullmatch(text) and bits * len(text) in lengths for text in digits):
            return name
    decimal = tokens and all(DIGITS["decimal"].fullmatch(token.text) for token in tokens)
    return "decimal" if decimal else "binary"


def _word(machine: Machine, token: Token, name: str, source: str) -> bytes:
    digits = token.text.removeprefix(PREFIXES[name])
    where, found = f"{source}:{token.line}:{token.column}", f"`{token.text[:80]}`"
    if not DIGITS[name].fullmatch(digits):
        raise TilewrightError("program", where, f"a word in {name}", found, "say --format where it is another")
    if name == "decimal":
        size = _fixed_bytes(machine, where)
        if len(digits) > 3 * size or int(digits) >= 1 << (8 * size):
            raise TilewrightError("program", where, f"a number below 2^{8 * size}", found)
        return int(digits).to_bytes(size, byte_order(machine))
    bits = BITS_OF_DIGIT[name] * len(digits)
    lengths = sorted({word.bytes for word in machine.words.values()})
    if bits % 8 or bits // 8 not in lengths:
        sizes = " or ".join(str(8 * size // BITS_OF_DIGIT[name]) for size in lengths)
        raise TilewrightError("program", where, f"{sizes} digits in {name}", f"{len(digits)} digits")
    return int(digits, 2 if name == "bits" else 16).to_bytes(bits // 8, byte_order(machine))


def _fixed_bytes(machine: Machine, where: str) -> int:
    """Bytes of every word; decimal numbers do not tell their length."""
    lengths = {word.bytes for word in machine.words.values()}
    if len(lengths) != 1:
        found = f"words of {', '.join(str(8 * size) for size in sorted(lengths))} bits"
        raise TilewrightError("program", where, "instructions of one length for decimal numbers", found, "use hex")
    return lengths.pop()
