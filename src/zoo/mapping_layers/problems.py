"""Problems from shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...costs.hierarchy import Problem, Tensor

Index = tuple[tuple[str, int], ...]
"""One axis of a tensor: dimensions and their coefficients."""


@dataclass(frozen=True)
class ConvShape:
    """A convolution: `channels` K and `depth` C over all `groups`, output `p` x `q`, kernel `r` x `s`."""

    batch: int
    channels: int
    depth: int
    p: int
    q: int
    r: int
    s: int
    stride: tuple[int, int] = (1, 1)
    groups: int = 1


def convolution(name: str, shape: ConvShape) -> Problem:
    """`O[n,k,p,q] += I[n,c,stride*p+r,stride*q+s] * W[k,c,r,s]`; with groups, axis `g` comes before `k` and `c`."""
    image, kernel, output = _tensors(shape)
    return _problem(name, shape, (("I", image), ("W", kernel)), ("O", output))


def weight_update(name: str, shape: ConvShape) -> Problem:
    """`W[k,c,r,s] += I[n,c,stride*p+r,stride*q+s] * O[n,k,p,q]`: the gradient of a convolution's weights."""
    image, kernel, output = _tensors(shape)
    return _problem(name, shape, (("I", image), ("O", output)), ("W", kernel))


def einsum(name: str, bounds: Mapping[str, int], inputs: Sequence[str], output: str) -> Problem:
    """`output += product of inputs`, tensors given by the letters of their dimensions.

    `einsum(name, bounds, ["IK", "KJ"], "IJ")` is a matrix product.  Inputs are called A, B, ...; the output is Z.
    """
    named = [(chr(ord("A") + i), _plain(letters)) for i, letters in enumerate(inputs)]
    return _build(name, bounds, named, ("Z", _plain(output)))


def _tensors(shape: ConvShape) -> tuple[list[Index], list[Index], list[Index]]:
    group = "G" if shape.groups > 1 else ""
    rows: Index = (("P", shape.stride[0]), ("R", 1))
    columns: Index = (("Q", shape.stride[1]), ("S", 1))
    image = [*_plain(f"N{group}C"), rows, columns]
    return image, _plain(f"{group}KCRS"), _plain(f"N{group}KPQ")


def _problem(
    name: str, shape: ConvShape, inputs: Sequence[tuple[str, list[Index]]], output: tuple[str, list[Index]]
) -> Problem:
    bounds = {"N": shape.batch}
    if shape.groups > 1:
        bounds["G"] = shape.groups
    bounds |= {"K": shape.channels // shape.groups, "C": shape.depth // shape.groups}
    bounds |= {"P": shape.p, "Q": shape.q, "R": shape.r, "S": shape.s}
    return _build(name, bounds, inputs, output)


def _plain(letters: str) -> list[Index]:
    return [((letter, 1),) for letter in letters]


def _build(
    name: str, bounds: Mapping[str, int], inputs: Sequence[tuple[str, list[Index]]], output: tuple[str, list[Index]]
) -> Problem:
    dims = tuple(bounds)
    tensors = tuple(
        Tensor(tensor, tuple(tuple(dict(axis).get(dim, 0) for dim in dims) for axis in axes), is_output)
        for tensor, axes, is_output in (*((t, axes, False) for t, axes in inputs), (*output, True))
    )
    return Problem(name, dims, tuple(bounds.values()), tensors)
