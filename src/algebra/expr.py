"""Scalar expressions and tensor statements: the one language in which tilewright says what is computed.

The same text form is used for einsum input, for the bodies of `nest.kernel`, for capabilities and mnemonics in `.acg`
files and for their cost formulas:

    O[n,k,p,q] += X[n, c, 2*p + r, 2*q + s] * W[k,c,r,s]        accesses with affine indices
    O{g,k,p,q} += X{g,p,q,c,r,s} * W{g,k,c,r,s}                 accesses with free strides (capabilities)
    ceildiv(k, 32 * k_ways) * r * s                             plain formulas

Values: integers are exact and wrap to the target's type when stored; floats are computed in f32; an integer met by a
float is converted to f32 first.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Num:
    """A literal: int, or float (f32; `inf` and `-inf` are written so)."""

    value: int | float


@dataclass(frozen=True)
class Name:
    """A dim, a field, an immediate or another named scalar."""

    id: str


@dataclass(frozen=True)
class Call:
    """`fn(args...)`; operators are calls too (`add`, `sub`, `mul`, `div`, `floordiv`, `mod`, `neg`, `eq`, `lt`...)."""

    fn: str
    args: tuple[Expr, ...]


@dataclass(frozen=True)
class Access:
    """`tensor[index, ...]`: one element, each index an expression affine in the dims (and constants)."""

    tensor: str
    indices: tuple[Expr, ...]


@dataclass(frozen=True)
class Strided:
    """`tensor{dim, ...}`: an element at base + sum of dim * stride, the strides being free parameters (0 allowed)."""

    tensor: str
    dims: tuple[str, ...]


Expr = Num | Name | Call | Access | Strided


@dataclass(frozen=True)
class Statement:
    """`target reduce value`, run for every point of its iteration space.

    `reduce` is `=`, `+=`, `max=` or `min=`.  Dims that the target does not index are reduced over (never with `=`).
    Dims are all names that index an access, in order of first appearance: target first, then value.
    """

    target: Access | Strided
    reduce: str
    value: Expr
