"""Methods that work out each answer once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

Self = TypeVar("Self")
Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")


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
