"""Addresses for buffers with lifetimes: greedy, largest first, each at the lowest place that is free all the time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .tree import Codelet, Define, Fill, Issue, Loop, Part, Surrogate, Transfer, Visit, visits


@dataclass(frozen=True)
class Request:
    """`size` bytes needed from time `first` to time `last`, both included."""

    size: int
    first: int
    last: int


@dataclass(frozen=True)
class Placement:
    """An address per request, and the bytes up to the highest end."""

    addresses: tuple[int, ...]
    size: int


def align_up(value: int, alignment: int) -> int:
    """The next multiple of `alignment`."""
    return -(-value // alignment) * alignment


def stack(requests: Sequence[Request], alignment: int) -> Placement:
    """One after another, whatever the lifetimes."""
    addresses: list[int] = []
    end = 0
    for request in requests:
        addresses.append(end)
        end = align_up(end + request.size, alignment)
    return Placement(tuple(addresses), end)


def share(requests: Sequence[Request], alignment: int) -> Placement:
    """Requests whose lifetimes do not meet may have the same bytes."""
    order = sorted(range(len(requests)), key=lambda i: (-requests[i].size, i))
    addresses = [0] * len(requests)
    placed: list[int] = []
    for index in order:
        request = requests[index]
        at = 0
        for other in sorted(placed, key=lambda i: addresses[i]):
            meets = requests[other].first <= request.last and request.first <= requests[other].last
            if meets and addresses[other] < at + request.size:
                at = max(at, align_up(addresses[other] + requests[other].size, alignment))
        addresses[index] = at
        placed.append(index)
    ends = [align_up(a + r.size, alignment) for a, r in zip(addresses, requests, strict=True)]
    return Placement(tuple(addresses), max(ends, default=0))


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
    spans = {id(v.node): (v.position, v.position) for v in every if isinstance(v.node, Loop | Part)}
    for visit in every:
        for loop in visit.loops:
            spans[id(loop)] = spans[id(loop)][0], visit.position
    return spans


def copies_bytes(surrogate: Surrogate, alignment: int) -> int:
    """Bytes of all copies of a local, each beginning at a multiple of `alignment`."""
    count = len(surrogate.addresses)
    return (count - 1) * align_up(surrogate.size_bytes, alignment) + surrogate.size_bytes


def place_locals(
    codelet: Codelet, memory: str, capacity: int, alignment: int
) -> dict[int, tuple[int, ...]] | Placement:
    """Addresses of the copies of each local in `memory`; a too large `Placement` where they do not fit.

    Locals get bytes of their own if that fits (nothing then waits for another's end), else lifetimes decide.
    """
    live = lifetimes(codelet)
    locals_ = [i for i, s in enumerate(codelet.surrogates) if s.axes is not None and s.memory == memory]
    requests = [Request(copies_bytes(codelet.surrogates[i], alignment), *live.get(i, (0, 0))) for i in locals_]
    placement = stack(requests, alignment)
    if placement.size > capacity:
        placement = share(requests, alignment)
    if placement.size > capacity:
        return placement
    result: dict[int, tuple[int, ...]] = {}
    for index, address in zip(locals_, placement.addresses, strict=True):
        surrogate = codelet.surrogates[index]
        step = align_up(surrogate.size_bytes, alignment)
        result[index] = tuple(address + copy * step for copy in range(len(surrogate.addresses)))
    return result
