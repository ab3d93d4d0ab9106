"""What codelets become, without their addresses: codelets that differ in nothing else share it.

A codelet is run once with symbols in place of addresses, each of which is far from all others.  What it becomes is kept
as arrays (`Tape`); where it is used the symbols are replaced by addresses, those of all instructions at once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ...algebra.element import Ints
from ...machine import Machine
from .dependences import Spans
from .price import Price, Prices
from .tree import Codelet, Fill, Issue, Loop, Node, Part, Span, Surrogate, Transfer

SYMBOL_BITS = 40
"""Addresses and offsets are below half of 2 to the power of this; symbol n is n times that."""

MOST_TAPED = 1 << 18
"""Instructions of all tapes that are kept of a machine."""


@dataclass(frozen=True)
class Tape:
    """Instructions of a codelet, in the order in which its turns are run.

    `ends` has how many there are up to the end of each turn, `kinds` the number of each one's mnemonic, and `rows`, by
    mnemonic, their fields, of which the columns `addresses` hold addresses.  `prices` are places in `priced`.  `spans`
    are what they touch (`dependences.Spans`), and `steps` the nodes that were run.
    """

    ends: Ints
    kinds: Ints
    rows: Mapping[int, Ints]
    addresses: Mapping[int, Sequence[int]]
    units: Ints
    prices: Ints
    priced: tuple[Price, ...]
    spans: Spans
    steps: int


class Tapes:
    """Tapes of a machine by what they depend on; those of at most `MOST_TAPED` instructions are kept."""

    def __init__(self, machine: Machine) -> None:
        self.prices = Prices(machine)
        self.known: dict[object, Tape] = {}
        self.count = 0

    def keep(self, key: object, tape: Tape) -> None:
        """Keep one more, and none of those before where there would be too many."""
        if self.count + len(tape.kinds) > MOST_TAPED:
            self.known.clear()
            self.count = 0
        self.known[key] = tape
        self.count += len(tape.kinds)


@lru_cache(maxsize=4)
def tapes_of(machine: Machine) -> Tapes:
    """The tapes of a machine, with those that were made before; the last few are kept."""
    return Tapes(machine)


def addresses_of(codelet: Codelet) -> Ints:
    """The address of each symbol: 0, then those of each surrogate's copies."""
    return np.array([0, *(address for one in codelet.surrogates for address in one.addresses)], np.int64)


def symbolic(codelet: Codelet) -> Codelet:
    """The codelet with symbols in place of addresses."""
    number, found = 1, list[Surrogate]()
    for one in codelet.surrogates:
        symbols = range(number, number + len(one.addresses))
        found.append(replace(one, addresses=tuple(symbol << SYMBOL_BITS for symbol in symbols)))
        number += len(one.addresses)
    return replace(codelet, surrogates=tuple(found))


def with_addresses(values: Ints, addresses: Ints) -> Ints:
    """Sums of a symbol and an offset, with the symbol's address instead of it."""
    symbols = (values + (1 << SYMBOL_BITS - 1)) >> SYMBOL_BITS
    found: Ints = values - (symbols << SYMBOL_BITS) + addresses[symbols]
    return found


def form_of(codelet: Codelet) -> tuple[object, ...]:
    """All that a codelet's instructions depend on but addresses: what has names goes by its place."""
    surrogates = tuple(
        (one.memory, one.shape, one.element, len(one.addresses), one.axes, one.constant, one.ring, one.stays, one.rows)
        for one in codelet.surrogates
    )
    return codelet.dims, surrogates, codelet.body, tuple(map(repr, _numbers(codelet.body)))


def _numbers(body: Sequence[Node]) -> Iterator[object]:
    """Values in a body, of which equal ones may differ in type or sign."""
    for node in body:
        match node:
            case Loop() | Part() | Span():
                yield from _numbers(node.body)
            case Transfer():
                yield node.pad
            case Fill():
                yield node.value
            case Issue():
                yield from (value for _, value in node.immediates)
            case _:
                pass
