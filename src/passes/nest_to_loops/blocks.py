"""A program in blocks, each as long as the memory of instructions allows: a block's last group loads the next."""

from collections.abc import Iterator, Sequence

from ...errors import InfeasibleError
from ...machine.loop_rules import instruction_memory
from .emitter import LOAD, Emitter, Target, Word

TAIL = 6
"""Instructions that end a block: a group of a base in two halves and a transfer, and the end."""


def in_blocks(target: Target, words: Sequence[Word], cuts: Sequence[int]) -> tuple[list[Word], int, int]:
    """All instructions with the ends of blocks, which begin at some of `cuts`; and what loading the others costs.

    Cycles and bytes are those of transfers behind the first block, which is there when the program starts.
    """
    machine = target.machine
    memory = instruction_memory(machine)
    size = machine.instruction_bits // 8
    most = memory.capacity_bytes // size if memory is not None and size else len(words) + 1
    if len(words) + 1 <= most or memory is None:
        return [*words, *_end(target, last=True)], 0, 0
    pieces = _pieces(len(words), cuts, most - TAIL, memory.name)
    made: list[Word] = []
    cycles = moved = 0
    for number, (first, last) in enumerate(pieces):
        made += words[first:last]
        if last == len(words):
            break
        start, following = len(made) + TAIL, pieces[number + 1]
        length = following[1] - following[0] + (1 if following[1] == len(words) else TAIL)
        granules = -(-length * size // target.granule(memory.name))
        made += _fetch(target, start * size, granules)
        made += _end(target, last=False)
        loaded = granules * target.granule(memory.name)
        cycles += -(-loaded // int(target.bandwidth[0])) + target.bandwidth[1]
        moved += loaded
    return [*made, *_end(target, last=True)], cycles, moved


def layers_in_blocks(words: Sequence[Word], layers: Sequence[int], made: Sequence[Word]) -> Iterator[int]:
    """The layer of each instruction that `in_blocks` made of `words`: what ends a block is of the layer before it."""
    known = {id(fields): layer for (_, fields), layer in zip(words, layers, strict=True)}
    last = 0
    for _, fields in made:
        last = known.get(id(fields), last)
        yield last


def _pieces(length: int, cuts: Sequence[int], most: int, memory: str) -> list[tuple[int, int]]:
    """Ranges of at most so many instructions between cuts."""
    pieces: list[tuple[int, int]] = []
    first = 0
    for cut, following in zip(cuts, [*cuts[1:], length], strict=True):
        if following - cut > most:
            lever = "enlarge the memory, or split what follows a sum"
            raise InfeasibleError(memory, following - cut, most, "instructions of a group", lever)
        if following - first > most:
            pieces.append((first, cut))
            first = cut
    return [*pieces, (first, length)]


def _fetch(target: Target, address: int, granules: int) -> list[Word]:
    """A group that loads instructions from a place behind the program's first."""
    emitter = Emitter(target.machine)
    unit, engine = target.array
    buffer = target.roles["input"]
    loop = int(dict(engine.levels)["transfer"])
    emitter.begin(unit.name)
    emitter.emit("base", buffer=buffer, program=1, value=address)
    emitter.emit("transfer", side=LOAD, program=1, buffer=buffer, loop=loop, size=granules)
    emitter.end()
    return emitter.words


def _end(target: Target, last: bool) -> list[Word]:
    emitter = Emitter(target.machine)
    emitter.emit("block", last=int(last))
    return emitter.words
