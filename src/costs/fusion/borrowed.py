"""Compiled: arrays that are not counted.

Compiled functions count a reference to each array that they are given, one locked addition at each call: more time than
pricing takes.  A borrowed array has no count; its caller keeps the elements alive.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

from .tables import Ints


@intrinsic
def _borrowed(context: Any, array: Any) -> Any:

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        structure = cgutils.create_struct_proxy(signature.return_type)(target, builder, arguments[0])
        structure.meminfo = cgutils.get_null_value(structure.meminfo.type)
        return impl_ret_borrowed(target, builder, signature.return_type, structure._getvalue())

    return array(array), generate


borrowed = cast(Callable[[Ints], Ints], _borrowed)
"""The same array, uncounted; for compiled code."""
