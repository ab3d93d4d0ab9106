"""From a tiling to its mapping tree."""

from __future__ import annotations

from collections.abc import Mapping

from ...costs.mapping.problem import Group, touches
from ...costs.mapping.tree import Hold, Leaf, Loop, Node
from .tiling import Tiling


def build(group: Group, tiling: Tiling) -> tuple[Node, ...]:
    """The mapping tree of a tiling: holds at the loops that index them, computes in order."""
    memories, slots = dict(tiling.memories), dict(tiling.slots)
    loops = [d for d, _ in tiling.loops]
    inner = [d for d, _ in tiling.reductions]
    levels: dict[str, list[str]] = {}
    private: dict[str, list[str]] = {}
    for buffer in group.buffers:
        if buffer.name not in memories:
            continue
        uses = touches(group, buffer.name)
        names = {n for use in uses for form in use.forms for n in form.names}
        alone = all(k.name == tiling.anchor or not touches(group, buffer.name, (k,)) for k in group.kernels)
        if alone and any(d in names for d in inner):
            deepest = max(i for i, d in enumerate(inner) if d in names)
            private.setdefault(inner[deepest], []).append(buffer.name)
            continue
        deepest = max((i for i, d in enumerate(loops) if d in names), default=-1)
        levels.setdefault(loops[deepest] if deepest >= 0 else "", []).append(buffer.name)
    computes: list[Node] = []
    for kernel in group.kernels:
        leaf: tuple[Node, ...] = (Leaf(kernel.name),)
        if kernel.name == tiling.anchor:
            leaf = _nest(tiling.reductions, private, memories, slots, leaf)
        computes.extend(leaf)
    body = _nest(tiling.loops, levels, memories, slots, tuple(computes))
    return _held(levels.get("", []), memories, slots, body)


def _nest(
    loops: tuple[tuple[str, int], ...],
    levels: Mapping[str, list[str]],
    memories: Mapping[str, str],
    slots: Mapping[str, int],
    body: tuple[Node, ...],
) -> tuple[Node, ...]:
    for dim, step in reversed(loops):
        body = (Loop(dim, step, _held(levels.get(dim, []), memories, slots, body)),)
    return body


def _held(
    names: list[str], memories: Mapping[str, str], slots: Mapping[str, int], body: tuple[Node, ...]
) -> tuple[Node, ...]:
    kinds = dict.fromkeys((memories[name], slots[name]) for name in names)
    for memory, copies in reversed(kinds):
        here = tuple(n for n in names if (memories[n], slots[n]) == (memory, copies))
        body = (Hold(memory, here, copies, body),)
    return body
