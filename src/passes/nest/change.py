"""Changing the mapping trees of groups, as passes with explicit options do."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp

from ...costs.mapping.tree import Leaf, Node
from ...dialects import nest
from ...errors import TilewrightError
from .trees import group_of, in_group, region_tree, set_mapping

Nodes = tuple[Node, ...]


def change_groups(
    name: str, op: ModuleOp, only: str, change: Callable[[nest.GroupOp, Nodes], Nodes], unmapped: bool = False
) -> None:
    """Replaces the tree of each group by what `change` makes of it; `only` names one group, empty means all.

    A group without a mapping is an error, or with `unmapped` has its computes in order.  `TilewrightError`s of `change`
    get the group's name.
    """
    groups = [group for group in op.walk() if isinstance(group, nest.GroupOp)]
    chosen = [group for group in groups if not only or group.sym_name.data == only]
    if only and not chosen:
        names = ", ".join(group.sym_name.data for group in groups[:8]) or "none"
        raise TilewrightError("usage", f"{name}: group", f"one of the module's groups ({names})", only)
    for group in chosen:
        try:
            set_mapping(group, change(group, _tree(group, unmapped)))
        except TilewrightError as error:
            raise in_group(error, group.sym_name.data) from error


def _tree(group: nest.GroupOp, unmapped: bool) -> Nodes:
    if group.is_mapped:
        return region_tree(group.mapping, group_of(group), None)
    if not unmapped:
        raise TilewrightError("unsupported", "mapping", "loops to change", "none", "run nest-tile before")
    return tuple(Leaf(kernel.sym_name.data) for kernel in group.kernels)
