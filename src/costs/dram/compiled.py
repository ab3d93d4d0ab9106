"""How the code of DRAM schedules is compiled."""

from __future__ import annotations

from ..compiled import bare, compile_with

compiled = compile_with(nogil=True, _nrt=False)
"""Other Python threads go on while the function runs, which makes no arrays."""

inner = bare
"""For functions that only compiled code calls and that make no arrays."""

part = compile_with(_nrt=False, inline="always")
"""Like `inner`, for a short function above a long chain of calls: it becomes part of its callers.  Numba optimises all
that a function calls together with it once more, so each link of a chain takes as long as all below it."""
