"""Instructions as actions with the values of their roles."""

from collections.abc import Iterator
from dataclasses import dataclass

from ....errors import TilewrightError
from ....machine import Machine, Mnemonic
from ....machine.encoding import decode
from ....machine.loop_rules import LITERALS
from ...assembler import format_instruction
from ..traps import Trap

NAMED = ("buffer", "engine", "function", "O_space", "A_space", "B_space")


@dataclass(frozen=True)
class Step:
    """One instruction: its number, its text, what it does, numbers and names by role."""

    index: int
    text: str
    mnemonic: Mnemonic
    kind: str
    numbers: dict[str, int]
    names: dict[str, str]

    def trap(self, reason: str, expected: str, found: str) -> Trap:
        """The trap that this instruction causes."""
        return Trap(reason, self.index, self.text, expected, found)

    def number(self, role: str, default: int = 0) -> int:
        """The value of a role, `default` where the instruction has none."""
        return self.numbers.get(role, default)


def steps(machine: Machine, code: bytes) -> Iterator[Step]:
    """The instructions of a program in order; errors of `decode`."""
    mnemonics = {mnemonic.name: mnemonic for mnemonic in machine.mnemonics}
    for index, (name, fields) in enumerate(decode(machine, code)):
        mnemonic = mnemonics[name]
        action = mnemonic.action
        if action is None:
            raise TilewrightError("target", f"mnemonic {name}", "an action", "none")
        numbers: dict[str, int] = {}
        names: dict[str, str] = {}
        for role, word in action.roles:
            if role in NAMED:
                names[role] = _name(mnemonic, word, fields)
            else:
                numbers[role] = _number(role, word, fields)
        yield Step(index, format_instruction(machine, name, fields), mnemonic, action.kind, numbers, names)


def _name(mnemonic: Mnemonic, word: str, fields: dict[str, int]) -> str:
    for item in mnemonic.fields:
        if item.name == word:
            return {code: name for name, code in item.enum}[fields[word]]
    return word


def _number(role: str, word: str, fields: dict[str, int]) -> int:
    if word in fields:
        return fields[word]
    return int(word) if word.isdigit() else LITERALS[role].index(word)
