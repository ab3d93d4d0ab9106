"""Tables and progress bars for people."""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..driver import Progress
    from ..search.fusion.result import Report

LARGE = ("", "K", "M", "G", "T", "P")
SMALL = ("p", "n", "u", "m", "", "K")
WIDEST = 500
"""Characters in a line of a table that is written to a file or another program, at most."""

BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi")


def number(value: float, unit: str = "", step: int = 1000, prefixes: Sequence[str] = LARGE) -> str:
    """A number with two decimals and a prefix: `number(3_000_000, "B")` is `3.00 MB`."""
    prefix = 0
    while abs(value) >= step and prefix < len(prefixes) - 1:
        value /= step
        prefix += 1
    text = f"{value:.0f}" if prefix == 0 and value == int(value) else f"{value:.2f}"
    return f"{text} {prefixes[prefix]}{unit}".strip()


def size(size_bytes: int) -> str:
    """A size of memory: `size(8388608)` is `8.00 MiB`."""
    return number(size_bytes, "B", 1024, BINARY)


def energy(energy_pj: float | None) -> str:
    """An energy given in pJ: `energy(2e6)` is `2.00 uJ`; of machines whose file has none, None."""
    return "not in the file" if energy_pj is None else number(energy_pj, "J", prefixes=SMALL)


def share(part: float) -> str:
    """A part of a whole: `share(0.125)` is `12.5 %`."""
    return f"{100 * part:.1f} %"


def more(part: float) -> str:
    """A change by a part of what was: `more(0.125)` is `+12.5 %`."""
    return f"{100 * part:+.1f} %"


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on stdout; all columns but the first are right-aligned.  Only terminals make lines shorter."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for index, name in enumerate(header):
        table.add_column(name, justify="right" if index else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console = Console()
    if not console.is_terminal:
        console.width = console.measure(table, options=console.options.update(width=WIDEST)).maximum
    console.print(table)


@contextmanager
def progress_bar() -> Generator[Progress | None, None, None]:
    """A progress bar on stderr where that is a terminal; gives the function that moves it.

    It tells the time that is left, but where nobody knows how much is to be done (a total of 0).
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda what, done, total: bar.update(task, description=what, completed=done, total=total or None)


def search_progress(progress: Progress | None, total: int = 0) -> Report | None:
    """What tells a progress bar the best cost of a search, and the bound, at each of `total` samples."""
    if progress is None:
        return None

    def tell(done: int, best: float, bound: float) -> None:
        gap = f", at most {best / bound - 1:.2%} above the best" if bound > 0 else ""
        progress(f"best {number(best)}{gap}", done, total)

    return tell
