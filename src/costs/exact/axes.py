"""A tensor's axes made independent of each other, each either plain or a window that slides."""

from dataclasses import dataclass
from functools import lru_cache
from math import gcd, prod

from ..hierarchy.values import Tensor


@dataclass(frozen=True)
class Window:
    """Elements are numbered by `sum(coefficient * index of dim)`, and different indices may name the same one."""

    dims: tuple[int, ...]
    coefficients: tuple[int, ...]


@dataclass(frozen=True)
class Axes:
    """What indexes a tensor: `plain` dimensions, whose indices are elements, and windows; the rest is `unrelated`."""

    plain: tuple[int, ...]
    windows: tuple[Window, ...]
    unrelated: tuple[int, ...]

    @property
    def related(self) -> frozenset[int]:
        """All dimensions that move the tensor's tile."""
        return frozenset(self.plain) | frozenset(dim for window in self.windows for dim in window.dims)


@lru_cache(maxsize=4096)
def axes_of(tensor: Tensor, bounds: tuple[int, ...]) -> Axes:
    """Independent axes of `tensor` for a problem with `bounds`.

    Axes that share a dimension become one.  A sum of two terms `u*i + v*j` names an element twice only if `i` and `j`
    can differ by `v/g` and `u/g` (g their greatest common divisor); if the bounds do not allow that, both are plain.
    """
    plain: list[int] = []
    windows: list[Window] = []
    for terms in _joined(tensor, bounds):
        if _collides(terms, bounds):
            common = gcd(*terms.values())
            windows.append(Window(tuple(terms), tuple(c // common for c in terms.values())))
        else:
            plain += terms
    seen = {*plain, *(dim for window in windows for dim in window.dims)}
    return Axes(tuple(sorted(plain)), tuple(windows), tuple(d for d in range(len(bounds)) if d not in seen))


def _joined(tensor: Tensor, bounds: tuple[int, ...]) -> list[dict[int, int]]:
    """Coefficients by dimension for each axis; axes that share dimensions are numbered as one, row by row."""
    groups: list[dict[int, int]] = []
    for row in tensor.coefficients:
        terms = {dim: c for dim, c in enumerate(row) if c and bounds[dim] > 1}
        if not terms:
            continue
        apart: list[dict[int, int]] = []
        for group in groups:
            if group.keys() & terms.keys():
                terms = _numbered(group, terms, bounds)
            else:
                apart.append(group)
        groups = [*apart, terms]
    return groups


def _numbered(outer: dict[int, int], inner: dict[int, int], bounds: tuple[int, ...]) -> dict[int, int]:
    span = 1 + 2 * sum(abs(c) * (bounds[dim] - 1) for dim, c in inner.items())
    dims = sorted(outer.keys() | inner.keys())
    terms = {dim: span * outer.get(dim, 0) + inner.get(dim, 0) for dim in dims}
    return {dim: c for dim, c in terms.items() if c}


def _collides(terms: dict[int, int], bounds: tuple[int, ...]) -> bool:
    if len(terms) == 1:
        return False
    by_size = sorted(terms.items(), key=lambda term: abs(term[1]))
    reach = 0
    for dim, c in by_size:
        if abs(c) <= reach:
            break
        reach += abs(c) * (bounds[dim] - 1)
    else:
        return False
    if len(terms) > 2:
        return True
    (i, u), (j, v) = by_size
    common = gcd(u, v)
    return bounds[i] > abs(v) // common and bounds[j] > abs(u) // common


def distinct(coefficients: tuple[int, ...], sizes: tuple[int, ...]) -> int:
    """How many values `sum(c * i)` has for indices `0 <= i < size`."""
    terms = [(abs(c), size) for c, size in zip(coefficients, sizes, strict=True) if size > 1]
    if len(terms) <= 1:
        return terms[0][1] if terms else 1
    if len(terms) == 2:
        (u, n), (v, m) = terms
        common = gcd(u, v)
        return n * m - max(0, n - v // common) * max(0, m - u // common)
    return bits_of(tuple(c for c, _ in terms), tuple(size for _, size in terms)).bit_count()


@lru_cache(maxsize=8192)
def bits_of(coefficients: tuple[int, ...], sizes: tuple[int, ...]) -> int:
    """The values `sum(c * i)` as a set of bits, for coefficients of at least 0."""
    bits = 1
    for c, size in zip(coefficients, sizes, strict=True):
        filled = 1
        while filled < size:
            more = min(filled, size - filled)
            bits |= bits << (c * more)
            filled += more
    return bits


def tile_words(axes: Axes, sizes: tuple[int, ...]) -> int:
    """Distinct elements that a tile of `sizes` iterations touches."""
    words = prod(sizes[dim] for dim in axes.plain)
    for window in axes.windows:
        words *= distinct(window.coefficients, tuple(sizes[dim] for dim in window.dims))
    return words
