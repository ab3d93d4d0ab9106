"""Addresses of the locals of a codelet, and the positions between which each is in use."""

from collections.abc import Sequence

from ...algebra.allocation import BumpAllocator, LiveRange, align_up, allocate
from .tree import Around, Codelet, Define, Fill, Issue, Surrogate, Transfer, Visit, visits


def touched(node: object) -> tuple[int, ...]:
    """The surrogates that a node uses."""
    match node:
        case Define(local):
            return (local,)
        case Transfer(source, destination):
            return (source, destination)
        case Fill(target):
            return (target,)
        case Issue():
            return node.tensors
        case _:
            return ()


def lifetimes(codelet: Codelet) -> dict[int, tuple[int, int]]:
    """Local -> first and last position (of `visits`) between which its copies are in use.

    A use inside a loop that the definition is outside of lasts to the end of that loop.  Where there are several
    copies, one is filled while another is used: they live as long as the loop around the definition.
    """
    every = list(visits(codelet))
    spans = _loop_spans(every)
    defined: dict[int, Visit] = {}
    found: dict[int, tuple[int, int]] = {}
    for visit in every:
        for local in touched(visit.node):
            if codelet.surrogates[local].axes is None:
                continue
            if isinstance(visit.node, Define):
                defined[local] = visit
                first = last = visit.position
                if len(codelet.surrogates[local].addresses) > 1 and visit.loops:
                    first, last = spans[id(visit.loops[-1])]
                found[local] = first, last
            else:
                first, last = found[local]
                outside = visit.loops[len(defined[local].loops) :]
                end = spans[id(outside[0])][1] if outside else visit.position
                found[local] = first, max(last, end)
    return found


def _loop_spans(every: Sequence[Visit]) -> dict[int, tuple[int, int]]:
    spans = {id(v.node): (v.position, v.position) for v in every if isinstance(v.node, Around)}
    for visit in every:
        for loop in visit.loops:
            spans[id(loop)] = spans[id(loop)][0], visit.position
    return spans


def copies_bytes(surrogate: Surrogate, alignment: int) -> int:
    """Bytes of all copies of a local, each beginning at a multiple of `alignment`."""
    count = len(surrogate.addresses)
    return (count - 1) * align_up(surrogate.size_bytes, alignment) + surrogate.size_bytes


def place_locals(codelet: Codelet, memory: str, capacity: int, alignment: int) -> dict[int, tuple[int, ...]] | int:
    """Addresses of the copies of each local in `memory`; the bytes they would take where that is too much.

    Locals get bytes of their own if that fits (nothing then waits for another's end), else lifetimes decide.
    """
    live = lifetimes(codelet)
    locals_ = {i: s for i, s in enumerate(codelet.surrogates) if s.axes is not None and s.memory == memory}
    sizes = {i: copies_bytes(s, alignment) for i, s in locals_.items()}
    bump = BumpAllocator(alignment)
    addresses = tuple(bump.take(size) for size in sizes.values())
    if bump.end > capacity:
        spans = {i: live.get(i, (0, 0)) for i in sizes}
        found = allocate([LiveRange(a, b + 1, sizes[i]) for i, (a, b) in spans.items()], capacity, alignment)
        if found.missing_bytes:
            return found.top_bytes
        addresses = found.addresses
    result: dict[int, tuple[int, ...]] = {}
    for (index, surrogate), address in zip(locals_.items(), addresses, strict=True):
        step = align_up(surrogate.size_bytes, alignment)
        result[index] = tuple(address + copy * step for copy in range(len(surrogate.addresses)))
    return result
