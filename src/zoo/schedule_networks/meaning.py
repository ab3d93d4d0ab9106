"""What layers of a table compute, so that schedules can be executed: integers of 8 bits, sums of 32.

A table has shapes only.  Here products are summed, shifted right by `shift_of` bits with halves rounded up, and clipped
to 8 bits; a pool takes the maximum of its window; an `eltwise` sums its operands, shifts by `sum_shift` and clips; a
`pointwise` layer takes the maximum with 0; the others move bytes.  What windows reach outside of a map counts as
nothing.
"""

from __future__ import annotations

from .layers import Network

LOWEST, HIGHEST = -128, 127


def shift_of(network: Network, number: int) -> int:
    """Bits by which sums of a multiply-accumulate layer are shifted, so that results of random bytes fill 8 bits."""
    kernel = network.layers[number].kernel
    terms = network.group_shape(number)[0] * kernel[0] * kernel[1]
    return 6 + (terms.bit_length() + 1) // 2


def sum_shift(operands: int) -> int:
    """Bits by which a sum of `operands` is shifted."""
    return (operands - 1).bit_length()
