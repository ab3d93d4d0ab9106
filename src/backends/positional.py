"""Assembly text that gives fields in order, without names: `SET_LOOP_STRIDE LOW, LD, IBUF, 1, 9216`.

Constants that are `hidden`, and the efield that an instruction is `named` by, are left out.  A name that begins with an
underscore and a digit is written without the underscore: `DTYPE_CFG 8FXP, 4, 4, 4`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..errors import TilewrightError
from ..machine import Field, Machine, Mnemonic, Word


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


def parse_positional(machine: Machine, name: str, rest: str) -> tuple[str, dict[str, int]]:
    """Mnemonic and fields of a line; `TilewrightError` (kind `program`) for other names, counts or words."""
    names = names_of(machine)
    if name not in names:
        raise TilewrightError("program", machine.name, f"a mnemonic among {', '.join(names)}", f"`{name[:40]}`")
    mnemonic, fields = names[name]
    words = [word.strip() for word in rest.split(",")] if rest.strip() else []
    items = shown(mnemonic)
    if len(words) != len(items):
        expected = f"{len(items)} fields ({', '.join(item.name for item in items)})"
        raise TilewrightError("program", name, expected, str(len(words)))
    for item, word in zip(items, words, strict=True):
        fields[item.name] = _value(name, item, word)
    return mnemonic.name, fields


def _value(mnemonic: str, item: Field, word: str) -> int:
    codes = {spelled(name): code for name, code in item.enum}
    if word in codes:
        return codes[word]
    if not re.fullmatch(r"-?(0[xX][0-9a-fA-F]{1,16}|\d{1,20})", word):
        expected = f"a number or one of {', '.join(codes)}" if codes else "a number"
        raise TilewrightError("program", f"{mnemonic}.{item.name}", expected, f"`{word[:40]}`")
    return int(word, 0) if "x" in word.lower() else int(word)
