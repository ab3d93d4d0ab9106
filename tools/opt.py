"""`tilewright-opt`: parse, verify, transform and print any level of the compiler."""

import sys

from tilewright.interruption import as_program

__all__ = ["main"]


def main() -> int:
    """Run the tool on the arguments of the process; returns the exit code."""

    def run() -> int:
        from tilewright.opt import main

        return main()

    return as_program(run)


if __name__ == "__main__":
    sys.exit(main())
