"""Prime factors and divisors."""

from __future__ import annotations

from collections import Counter
from functools import cache


@cache
def primes_of(number: int) -> tuple[tuple[int, int], ...]:
    """`(prime, multiplicity)` of a positive number, ascending; nothing for 1."""
    found: Counter[int] = Counter()
    prime = 2
    while prime * prime <= number:
        while number % prime == 0:
            found[prime] += 1
            number //= prime
        prime += 1
    if number > 1:
        found[number] += 1
    return tuple(found.items())


@cache
def divisors_of(number: int) -> tuple[int, ...]:
    """All divisors of a positive number, ascending."""
    found = [1]
    for prime, count in primes_of(number):
        found = [d * prime**power for d in found for power in range(count + 1)]
    return tuple(sorted(found))
