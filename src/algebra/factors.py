"""Prime factors and divisors."""

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


@cache
def chains_of(number: int, most: int) -> tuple[tuple[int, int, int], ...]:
    """The first, the last and the sum of all chains of divisors below a number, each of which divides the next.

    Nothing if there are more than `most`.
    """
    divisors = divisors_of(number)[:-1]
    found = [(one, one, one) for one in divisors]
    for first, last, total in found:  # which grows meanwhile
        if len(found) > most:
            return ()
        found += [(first, one, total + one) for one in divisors if one > last and one % last == 0]
    return tuple(found)


@cache
def distinct_tiles(bound: int) -> tuple[int, ...]:
    """The smallest tile for every number of tiles that may cover `bound`."""
    found = [bound]
    while found[-1] > 1:
        times = -(-bound // (found[-1] - 1))
        found.append(-(-bound // times))
    return tuple(reversed(found))
