"""Mapping trees cut, reordered and spread by hand; what is computed stays the same."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ...errors import TilewrightError
from .tree import Hold, Leaf, Loop, Node, Spatial

Nodes = tuple[Node, ...]
Change = Callable[[list[Loop], Nodes], Nodes]
"""Loops from the outermost, and what is inside of them -> what stands in their place."""


def tile(nodes: Nodes, sizes: Sequence[tuple[str, int]], hold: Hold | None = None) -> Nodes:
    """Loops over pieces of dims (outermost first), and a hold below them, around what is innermost.

    rewrite:  {... compute}  ->  {... for m step 32 { for n step 64 { hold { compute } } }}
    """
    if len(nodes) == 1 and not isinstance(nodes[0], Leaf):
        return (replace(nodes[0], body=tile(nodes[0].body, sizes, hold)),)
    inner = nodes if hold is None else (replace(hold, body=nodes),)
    for dim, step in reversed(sizes):
        inner = (Loop(dim, step, inner),)
    return inner


def permute(nodes: Nodes, memory: str, order: Sequence[str]) -> Nodes:
    """The loops directly inside of the hold in `memory` (empty: the outermost loops) in another order, outermost first.

    rewrite:  hold @GBUF { for m { for n { ... } } }  ->  hold @GBUF { for n { for m { ... } } }
    """

    def reorder(band: list[Loop], inside: Nodes) -> Nodes:
        dims = [loop.dim for loop in band]
        if sorted(dims) != sorted(order) or len(set(dims)) < len(dims):
            here = f"loops {', '.join(dims) or '(none)'} {_place(memory)}"
            raise TilewrightError("unsupported", "order", f"each of the {here} once", ", ".join(order) or "none")
        by_dim = {loop.dim: loop for loop in band}
        return _wrapped([by_dim[dim] for dim in order], inside)

    return _at_band(nodes, memory, reorder)


def unroll(nodes: Nodes, memory: str, spatial: Spatial, extents: Mapping[str, int]) -> Nodes:
    """The loop over a dim at `memory` spread over instances: `ways` of its iterations at once.

    rewrite:  for k step 8 { body }  ->  for k step 32 { spatial k = 4 step 8 on @PE x { body } }

    The loop that is left goes over what one round of instances does not cover; where one round is enough, there is
    none.  Instances stand below all loops of that memory.  `extents` are those of the dims.
    """
    dim, ways = spatial.dim, spatial.ways

    def spread(band: list[Loop], inside: Nodes) -> Nodes:
        found = [i for i, loop in enumerate(band) if loop.dim == dim]
        if not found:
            dims = ", ".join(loop.dim for loop in band) or "(none)"
            raise TilewrightError("unsupported", f"loop over {dim}", f"one of the loops {dims} {_place(memory)}", dim)
        index = found[-1]
        step = band[index].step
        outside = [loop.step for loop in band[:index] if loop.dim == dim]
        whole = outside[-1] if outside else _range(nodes, band[index], extents[dim])
        below = (replace(spatial, body=inside, step=step),)
        left = [*band[:index], *([replace(band[index], step=step * ways)] if step * ways < whole else []),
                *band[index + 1 :]]  # fmt: skip
        return _wrapped(left, below)

    return _at_band(nodes, memory, spread)


def _range(nodes: Nodes, until: Loop, extent: int) -> int:
    """How many iterations of a dim are left where a loop over it begins."""
    node: Node | None = nodes[0] if len(nodes) == 1 else None
    while node is not None and node is not until:
        if isinstance(node, Loop | Spatial) and node.dim == until.dim and node.step is not None:
            extent = min(extent, node.step)
        node = node.body[0] if not isinstance(node, Leaf) and len(node.body) == 1 else None
    return extent


def _at_band(nodes: Nodes, memory: str, change: Change) -> Nodes:
    """`change` applied to the loops directly below the hold in `memory`, or to the outermost ones."""
    if not memory:
        return _changed(nodes, change)
    if len(nodes) == 1 and not isinstance(nodes[0], Leaf):
        node = nodes[0]
        if isinstance(node, Hold) and node.memory == memory and not _holds_same(node):
            return (replace(node, body=_changed(node.body, change)),)
        return (replace(node, body=_at_band(node.body, memory, change)),)
    raise TilewrightError("unsupported", f"memory {memory}", "a memory with a nest.hold around one node", "none")


def _holds_same(node: Hold) -> bool:
    return len(node.body) == 1 and isinstance(node.body[0], Hold) and node.body[0].memory == node.memory


def _changed(nodes: Nodes, change: Change) -> Nodes:
    band: list[Loop] = []
    while len(nodes) == 1 and isinstance(nodes[0], Loop):
        band.append(nodes[0])
        nodes = nodes[0].body
    return change(band, nodes)


def _wrapped(band: Sequence[Loop], inside: Nodes) -> Nodes:
    for loop in reversed(band):
        inside = (replace(loop, body=inside),)
    return inside


def _place(memory: str) -> str:
    return f"inside of the hold in {memory}" if memory else "outside of all holds"
