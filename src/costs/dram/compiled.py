"""How the code of DRAM schedules is compiled."""

from __future__ import annotations

from ..compiled import FOR_COMPILED_CODE, compile_with

compiled = compile_with(nogil=True)
"""Other Python threads go on while the function runs."""

inner = compile_with(**FOR_COMPILED_CODE, _nrt=False)
"""For functions that only compiled code calls and that make no arrays.

References to arrays are not counted, which takes more time than all else in small functions.
"""
