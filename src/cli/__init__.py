"""The command line `tilewright`."""

import gc
from collections.abc import Sequence

from ..garbage import SELDOM
from ..interruption import as_program


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code (0 done, 1 bad input or infeasible, 2 wrong usage).

    Without `arguments` they are those of the process, which then ends with 130 on SIGINT and with 143 on SIGTERM.
    """

    def run() -> int:
        from .command_line import run

        return run(arguments)

    if arguments is not None:
        return run()
    gc.set_threshold(*SELDOM)
    return as_program(run)
