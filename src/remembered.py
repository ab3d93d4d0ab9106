"""Methods that work out each answer once, and tables that are kept as long as there is room."""

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

Self = TypeVar("Self")
Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")
Scalar = TypeVar("Scalar", bound=np.generic)

KEY_CELLS = 64
"""What it takes to keep one more table, in cells."""


def remembered(method: Callable[Concatenate[Self, Asked], Answer]) -> Callable[Concatenate[Self, Asked], Answer]:
    """A method whose object keeps its answers, by what is asked."""
    name = f"_remembered_{method.__name__}"

    @wraps(method)
    def known(self: Self, *asked: Asked.args, **named: Asked.kwargs) -> Answer:
        answers: dict[Hashable, Any] = vars(self).setdefault(name, {})
        key = (asked, *named.items())
        if key not in answers:
            answers[key] = method(self, *asked, **named)
        return answers[key]

    return known


class Store(Generic[Scalar]):
    """Tables that may be asked for again, of so many cells at most: one more, and all are dropped."""

    def __init__(self, cells: int) -> None:
        self._most, self._cells = cells, 0
        self._found: dict[object, NDArray[Scalar]] = {}

    def get(self, key: object) -> NDArray[Scalar] | None:
        """The table, if it is there."""
        return self._found.get(key)

    def put(self, key: object, table: NDArray[Scalar]) -> None:
        """Keep a table."""
        self._cells += table.size + KEY_CELLS
        if self._cells > self._most:
            self._found, self._cells = {}, table.size + KEY_CELLS
        self._found[key] = table
