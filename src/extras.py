"""Packages that only some need, each an extra of the installation, and what other packages add by entry points."""

from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from .errors import TilewrightError


def extra(module: str, name: str, subject: str) -> Any:
    """The module that `subject` needs, of the extra `name`; `TilewrightError` (kind `usage`) where it is missing."""
    try:
        return import_module(module)
    except (ImportError, OSError) as error:  # a library of the system that the package needs
        package = module.partition(".")[0]
        lever = f"run `pip install 'tilewright[{name}]'`"
        raise TilewrightError("usage", subject, f"the package {package}", str(error), lever) from error


def plugged_names(group: str) -> list[str]:
    """The names that installed packages have in a group of entry points, sorted."""
    return sorted(entry_points(group=group).names)


def plugged(group: str, name: str, kind: str) -> tuple[Any, EntryPoint]:
    """What an installed package has as `name` in a group, a `kind` such as "cost", and its entry point.

    `TilewrightError` (kind `usage`) where there is none, or it cannot be imported.
    """
    found = list(entry_points(group=group, name=name))
    if not found:
        known = ", ".join(plugged_names(group)) or f"none is installed (entry points `{group}`)"
        raise TilewrightError("usage", f"{kind} {name}", f"one of the installed: {known}", "no such name")
    try:
        return found[0].load(), found[0]
    except Exception as error:
        expected, lever = f"a {kind} that can be imported", "mend or remove the package that it is of"
        raise TilewrightError("usage", f"{kind} {name}", expected, f"{found[0].value}: {error}", lever) from error
