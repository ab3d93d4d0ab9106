"""How many words move into a child tile, visit by visit (box differences, in closed form)."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

Shift = tuple[int, ...]


@dataclass(frozen=True)
class Visit:
    """A class of equal visits to the child tile: `weight` of them, each moving `words`.

    `step` is set where the previous visit moved a set of the same shape: a child whose box lies `step` before another
    child's then holds what the other one needs now.
    """

    weight: int
    words: int
    step: Shift | None


def overlap(extents: tuple[int, ...], step: Shift) -> int:
    """Words that a box shares with itself moved by `step`."""
    return prod(max(0, extent - abs(move)) for extent, move in zip(extents, step, strict=True))


def visits(extents: tuple[int, ...], loops: list[tuple[int, Shift]], *, resident: bool) -> list[Visit]:
    """Visits to a tile of `extents` under temporal `loops` (bound, shift per iteration), inner to outer.

    As the tool does, only iterations 0 and 1 of a loop are looked at, and iteration 1 stands for all later ones; a
    change of step forgets the previous box.  Between two steps of any outer loop lies a step of the innermost one, so
    a visit moves either the whole tile, or the tile less its overlap along the innermost loop that moves it, or
    nothing.  Example: extents (4,), loops [(8, (2,))]: 4 words first, then 7 visits of 2 words.
    `resident=False` is the level below the innermost memory: nothing stays, each visit moves one word.
    """
    moving = [(bound, shift) for bound, shift in loops if bound > 1]
    if not resident:
        return _operand_visits(moving, len(extents))
    whole = prod(extents)
    found = [Visit(1, whole, None)]
    inner = next((i for i, (_, shift) in enumerate(moving) if any(shift)), None)
    if inner is None:
        return found
    linked = inner == 0
    moving = moving[inner:]
    steps = _steps(moving)
    fresh = whole - overlap(extents, steps[0])
    words = [fresh] + [0 if not any(step) else fresh if step == steps[0] else whole for step in steps[1:]]
    bounds = [bound for bound, _ in moving]
    outer = prod(bounds[1:])
    found += _inner_visits(bounds, words, steps[0], whole) if linked else [Visit((bounds[0] - 1) * outer, fresh, None)]
    for k in range(1, len(moving)):
        step = steps[k] if linked and words[k] == fresh else None
        found.append(Visit(_weight(bounds, k), words[k], step))
    return [visit for visit in found if visit.words > 0]


def _steps(loops: list[tuple[int, Shift]]) -> list[Shift]:
    """The step when loop k advances and those inside fall back from iteration 1 to 0."""
    steps: list[Shift] = []
    fall = tuple(0 for _ in loops[0][1]) if loops else ()
    for _, shift in loops:
        steps.append(tuple(s - f for s, f in zip(shift, fall, strict=True)))
        fall = tuple(f + s for s, f in zip(shift, fall, strict=True))
    return steps


def _weight(bounds: list[int], k: int) -> int:
    return (bounds[k] - 1) * prod(bounds[k + 1 :])


def _inner_visits(bounds: list[int], words: list[int], step: Shift, whole: int) -> list[Visit]:
    """Steps of the innermost loop, split by what the visit before them moved."""
    fresh = words[0]
    found = [Visit(bounds[0] - 1, fresh, step if whole == fresh else None)]
    for k in range(1, len(bounds)):
        weight = (bounds[0] - 1) * _weight(bounds, k)
        found.append(Visit(weight, fresh, step if words[k] == fresh else None))
    return found


def _operand_visits(loops: list[tuple[int, Shift]], rank: int) -> list[Visit]:
    bounds = [bound for bound, _ in loops]
    steps = _steps(loops)
    return [Visit(1, 1, None), *(Visit(_weight(bounds, k), 1, steps[k]) for k in range(len(loops)))]
