"""`tilewright-opt`: parse, verify, transform and print any level of the compiler."""

import sys

from tilewright.opt import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
