"""What layers of a table compute, so that schedules can be executed: integers of 8 bits, sums of 32.

A table has shapes only.  Here sums of products are multiplied by `scale_of`, rounded with halves up, and clipped to 8
bits; a pool takes the maximum of its window; an `eltwise` adds its operands and scales and clips the sum; a `pointwise`
layer takes the maximum with 0; the others move bytes.  What windows reach outside of a map counts as nothing.
"""

from __future__ import annotations

from math import isqrt

from .layers import Network

LOWEST, HIGHEST = -128, 127

SHIFT = 24
"""Scales are integers over 2^24."""


def scale_of(network: Network, number: int) -> int:
    """The multiplier of a layer's sums: random bytes in give results that fill 8 bits, one in seven clipped.

    Bytes deviate by 74; so a sum of n products of such with weights deviates by 74 sqrt(n) times what goes in.
    """
    layer = network.layers[number]
    if not layer.has_macs:
        return (11 << SHIFT + 8) // (10 * isqrt(layer.operands << 16))
    terms = network.group_shape(number)[0] * layer.kernel[0] * layer.kernel[1]
    return (5 << SHIFT + 8) // (4 * 74 * isqrt(terms << 16))
