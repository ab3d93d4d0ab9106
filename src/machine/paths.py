"""Paths over edges between named nodes: what they lead to, and a shortest one.

networkx has both, too, but is slow to import, and every command that reads a machine asks these.
"""

from collections.abc import Iterable


def reachable(edges: Iterable[tuple[str, str]], start: Iterable[str]) -> set[str]:
    """The nodes that paths over `edges` lead to from `start`."""
    return set(_previous(edges, start))


def shortest_path(edges: Iterable[tuple[str, str]], src: str, dst: str) -> list[str] | None:
    """The nodes of a path of fewest edges from `src` to `dst`, of several the one of the first edges; None if none."""
    previous = _previous(edges, [src])
    if dst not in previous:
        return None
    path = [dst]
    while path[-1] != src:
        path.append(previous[path[-1]])
    return path[::-1]


def _previous(edges: Iterable[tuple[str, str]], start: Iterable[str]) -> dict[str, str]:
    """Every node that is reached breadth first, with the node before it; those of `start` with themselves."""
    following: dict[str, list[str]] = {}
    for src, dst in edges:
        following.setdefault(src, []).append(dst)
    previous = {node: node for node in start}
    reached = [*previous]
    for node in reached:  # which grows
        for beyond in following.get(node, ()):
            if beyond not in previous:
                previous[beyond] = node
                reached.append(beyond)
    return previous
