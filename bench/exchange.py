"""Functions and methods of a package that are exchanged for others in this process, to see what depends on them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from typing import Any

Function = Callable[..., Any]


def exchange(package: str, of: str, change: Callable[[Function], Function]) -> None:
    """Change a function, `of` module:name in a package, wherever it was imported, or a method, module:Class.name.

    A name that the module imported itself is changed there alone.
    """
    module, name = of.split(":")
    home = import_module(f"{package}.{module}")
    if "." in name:
        kind, method = name.split(".")
        owner, right = getattr(home, kind), vars(getattr(home, kind))[method]
        if isinstance(right, cached_property):
            wrong: Any = cached_property(change(right.func))
            wrong.__set_name__(owner, method)
        else:
            wrong = change(right)
        setattr(owner, method, wrong)
        return
    right = getattr(home, name)
    homes = [home] if right.__module__ != home.__name__ else list(sys.modules.values())
    for found in homes:
        if vars(found).get(name) is right and found.__name__.startswith("tilewright."):
            setattr(found, name, change(right))
