"""Packages that only some need: each is an extra of the installation."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .errors import TilewrightError


def extra(module: str, name: str, subject: str) -> Any:
    """The module that `subject` needs, of the extra `name`; `TilewrightError` (kind `usage`) where it is missing."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        lever = f"run `pip install 'tilewright[{name}]'`"
        raise TilewrightError("usage", subject, f"the package {package}", str(error), lever) from error
