"""A mapping as plain data: loops, holds, spatial splits and computes, as the `nest` dialect has them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...algebra.affine import Affine
from .matching import Match
from .problem import Group, Kernel, touches


@dataclass(frozen=True)
class Loop:
    """Runs over the current range of `dim` in pieces of `step`."""

    dim: str
    step: int
    body: "tuple[Node, ...]"


@dataclass(frozen=True)
class Hold:
    """Keeps `buffers` in `memory`, in `slots` copies used in turns."""

    memory: str
    buffers: tuple[str, ...]
    slots: int
    body: "tuple[Node, ...]"


@dataclass(frozen=True)
class Spatial:
    """Spreads `dim` over `ways` instances of `node` along `axis`; each takes `step` iterations if that is given."""

    dim: str
    ways: int
    node: str
    axis: str
    body: "tuple[Node, ...]"
    step: int | None = None


@dataclass(frozen=True)
class Leaf:
    """Runs a kernel, as one capability once `match` is chosen; `dims` binds capability dims to kernel dims."""

    kernel: str
    match: Match | None = None
    dims: tuple[tuple[str, str], ...] = ()


Node = Loop | Hold | Spatial | Leaf


@dataclass(frozen=True)
class BufferUse:
    """How the kernels below a hold use a buffer: all accesses, the writes, and whether it is loaded and stored."""

    touched: tuple[tuple[Affine, ...], ...]
    written: tuple[tuple[Affine, ...], ...]
    loaded: bool
    stored: bool


def buffer_use(group: Group, buffer: str, inside: frozenset[str]) -> BufferUse:
    """The use of a buffer by the kernels named in `inside`.

    It is loaded if the first of them to touch it reads it, and stored if one of them writes it and it is a result or
    touched by a kernel outside.
    """
    kernels = tuple(k for k in group.kernels if k.name in inside)
    first = next((k for k in kernels if touches(group, buffer, (k,))), None)
    loaded = first is not None and _reads(first, buffer)
    written = tuple(k.target.forms for k in kernels if k.target.buffer == buffer)
    others = any(touches(group, buffer, (k,)) for k in group.kernels if k.name not in inside)
    stored = bool(written) and (group.by_name[buffer].is_result or others)
    return BufferUse(tuple(use.forms for use in touches(group, buffer, kernels)), written, loaded, stored)


def _reads(kernel: Kernel, buffer: str) -> bool:
    if any(use.buffer == buffer for use in kernel.uses[1:]):
        return True
    return kernel.target.buffer == buffer and kernel.reads_target


def leaves(nodes: tuple[Node, ...]) -> Iterator[Leaf]:
    """The computes below, in order."""
    for node in nodes:
        if isinstance(node, Leaf):
            yield node
        else:
            yield from leaves(node.body)


def kernels_below(nodes: tuple[Node, ...]) -> frozenset[str]:
    """Names of the kernels that are computed below."""
    return frozenset(leaf.kernel for leaf in leaves(nodes))


def full_tiles(extents: Mapping[str, int], dim: str, step: int) -> dict[str, int]:
    """The full tile inside of a loop."""
    return {**extents, dim: min(step, extents[dim])}
