"""Macro-mnemonics: which instructions, filled how, carry out one operation (Covenant, section 3.3)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Emission:
    """One instruction of a macro: each field has a number, one of its own names, or a fact of the operation.

    Facts are those of the capability: an operand `A` is its address, `A.i` its byte stride over dim i, a dim its
    extent, a function variable its function, an immediate its bits; `keep` is 1 where a reduction goes on.
    """

    mnemonic: str
    values: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Macro:
    """A rule: `capability` of `node` on operands in these places and of these types becomes the emissions, in order."""

    name: str
    node: str
    capability: str
    places: tuple[tuple[str, str, str], ...]  # (operand, memory, element type)
    emissions: tuple[Emission, ...]
