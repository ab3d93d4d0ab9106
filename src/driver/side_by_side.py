"""Compilations that do not depend on each other, one after another or in processes side by side."""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from ..errors import TilewrightError
from ..search.processes import FORKS, in_processes

Item = TypeVar("Item")
Result = TypeVar("Result")


def outcomes(
    work: Callable[[Item], Result], items: Sequence[Item], jobs: int
) -> Iterator[tuple[Item, Result | TilewrightError]]:
    """Each of `items` with `work(item)`, or the error in its place, in their order.

    `jobs` processes, copies of this one, work side by side.  What was not done when this process was asked to stop is
    left out.
    """
    if min(jobs, len(items)) <= 1 or not FORKS:
        yield from ((item, _outcome(work, item)) for item in items)
        return
    found: dict[int, Result | TilewrightError] = {}
    in_processes(partial(_outcome, work), items, jobs, found.__setitem__, copied=True)
    yield from ((items[place], found[place]) for place in sorted(found))


def _outcome(work: Callable[[Item], Result], item: Item) -> Result | TilewrightError:
    try:
        return work(item)
    except TilewrightError as error:
        return error


def told_here(progress: Callable[[str, int, int], None] | None) -> Callable[[str, int, int], None] | None:
    """The same progress, which copies of this process do not tell: they have no thread that would show it."""
    if progress is None:
        return None
    here = os.getpid()

    def tell(what: str, done: int, total: int) -> None:
        if os.getpid() == here:
            progress(what, done, total)

    return tell
