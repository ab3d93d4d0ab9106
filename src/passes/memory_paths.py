"""Shortest ways of data through the memories of a machine."""

from __future__ import annotations

from ..errors import TilewrightError
from ..machine import Machine


def memory_path(machine: Machine, source: str, destination: str) -> list[str]:
    """The memories from `source` to `destination` over the fewest links, both ends included.

    Raises `TilewrightError` (kind `target`) where no links lead there.
    """
    memories = {memory.name for memory in machine.memories}
    paths = [[source]]
    seen = {source}
    while paths:
        path = paths.pop(0)
        if path[-1] == destination:
            return path
        for link in machine.links:
            if link.src == path[-1] and link.dst in memories and link.dst not in seen:
                seen.add(link.dst)
                paths.append([*path, link.dst])
    raise TilewrightError(
        "target", f"machine {machine.name}", f"links from {source} to {destination}", "none", "add a link"
    )
