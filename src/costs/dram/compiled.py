"""How the code of DRAM schedules is compiled."""

from __future__ import annotations

from ..compiled import bare, compile_with

compiled = compile_with(nogil=True, _nrt=False)
"""Other Python threads go on while the function runs, which makes no arrays."""

inner = bare
"""For functions that only compiled code calls and that make no arrays."""
