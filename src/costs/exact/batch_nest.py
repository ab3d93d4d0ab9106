"""`nest` in compiled form: the loops of one mapping, and counts of iterations that are not empty."""

from .compiled import Asked, Ints, Loops, Place, Shape, bare

ALL = 1 << 40
"""Beyond every level and every loop's order."""


@bare
def set_loops(
    shape: Shape, loops: Loops, n: int, factors: tuple[Ints, Ints, Ints], orders: tuple[Ints, Ints, Ints]
) -> None:
    """Fill `loops` with mapping `n` of arrays (N, L, D): loops along X, along Y, and in time."""
    levels, dims = factors[0].shape[1:]
    for dim in range(dims):
        loops.counts[dim] = 0
        loops.tiles[0, dim] = 1
    loops.counts[dims] = 0
    for level in range(levels):
        for dim in range(dims):
            loops.tiles[level + 1, dim] = loops.tiles[level, dim]
        for kind in range(3):
            for i in range(dims):
                dim = orders[kind][n, level, i]
                bound = factors[kind][n, level, dim]
                if bound > 1:
                    at = loops.counts[dim]
                    place = loops.places[dim, at]
                    place[Place.LEVEL], place[Place.BOUND], place[Place.PITCH], place[Place.ORDER] = (
                        level,
                        bound,
                        loops.tiles[level + 1, dim],
                        -1,
                    )
                    place[Place.WHOLE] = bound
                    if kind == 2:
                        event = loops.counts[dims]
                        place[Place.ORDER] = event
                        loops.events[event, 0], loops.events[event, 1] = dim, at
                        loops.counts[dims] = event + 1
                    loops.counts[dim] = at + 1
                    loops.tiles[level + 1, dim] *= bound
    for dim in range(dims):
        loops.limits[dim] = min(shape.bounds[dim], loops.tiles[levels, dim])
        loops.iterations[dim] = loops.limits[dim]


@bare
def even(loops: Loops, level: int) -> bool:
    """`nest.Nest.even`."""
    last = len(loops.tiles) - 1
    for dim in range(len(loops.limits)):
        if loops.limits[dim] < loops.tiles[last, dim]:
            for i in range(loops.counts[dim]):
                if loops.places[dim, i, Place.ORDER] < 0 and loops.places[dim, i, Place.LEVEL] > level:
                    return False
    return True


@bare
def leave_out(loops: Loops, level: int) -> None:
    """Leave out the loops that spread work over other instances of `level` than the first; of all levels, none."""
    for dim in range(len(loops.limits)):
        product = 1
        for i in range(loops.counts[dim]):
            place = loops.places[dim, i]
            place[Place.BOUND] = 1 if place[Place.ORDER] < 0 and place[Place.LEVEL] > level else place[Place.WHOLE]
            product *= place[Place.BOUND]
        total, rest = 0, loops.limits[dim]
        for i in range(loops.counts[dim] - 1, -1, -1):
            place = loops.places[dim, i]
            product //= place[Place.BOUND]
            digit = rest // place[Place.PITCH]
            if digit >= place[Place.BOUND]:
                total += place[Place.BOUND] * product
                rest = 0
                break
            total += digit * product
            rest -= digit * place[Place.PITCH]
        loops.iterations[dim] = total + (1 if rest > 0 else 0)


@bare
def stays(place: Ints, asked: Ints) -> bool:
    """Whether a loop neither spreads children nor runs inside the event."""
    if place[Place.ORDER] < 0:
        return place[Place.LEVEL] > asked[Asked.FAN]
    return place[Place.ORDER] >= asked[Asked.EVENT]


@bare
def count_below(loops: Loops, dim: int, limit: int, asked: Ints) -> int:
    """Positions below `limit` of those loops of `dim` outside the child that stay; others, and a skipped one, are 0."""
    if limit <= 0:
        return 0
    product, low, top = 1, 0, loops.counts[dim]
    for i in range(top):
        place = loops.places[dim, i]
        if place[Place.LEVEL] <= asked[Asked.CHILD]:
            low = i + 1
        elif stays(place, asked) and place[Place.ORDER] != asked[Asked.SKIPPED]:
            product *= place[Place.BOUND]
    total, rest = 0, limit
    for i in range(top - 1, low - 1, -1):
        place = loops.places[dim, i]
        digit = rest // place[Place.PITCH]
        if digit >= place[Place.BOUND]:
            return total + product
        if stays(place, asked) and place[Place.ORDER] != asked[Asked.SKIPPED]:
            product //= place[Place.BOUND]
            total += digit * product
        elif digit > 0:
            return total + product
        rest -= digit * place[Place.PITCH]
    return total + (1 if rest > 0 else 0)


@bare
def count_spread(loops: Loops, dim: int, limit: int, asked: Ints) -> int:
    """Positions below `limit` of the loops of `dim` that spread children, all others at 0."""
    if limit <= 0:
        return 0
    product = 1
    for i in range(loops.counts[dim]):
        place = loops.places[dim, i]
        if place[Place.ORDER] < 0 and asked[Asked.CHILD] < place[Place.LEVEL] <= asked[Asked.FAN]:
            product *= place[Place.BOUND]
    total, rest = 0, limit
    for i in range(loops.counts[dim] - 1, -1, -1):
        place = loops.places[dim, i]
        if place[Place.LEVEL] <= asked[Asked.CHILD]:
            break
        digit = rest // place[Place.PITCH]
        if digit >= place[Place.BOUND]:
            return total + product
        if place[Place.ORDER] < 0 and place[Place.LEVEL] <= asked[Asked.FAN]:
            product //= place[Place.BOUND]
            total += digit * product
        elif digit > 0:
            return total + product
        rest -= digit * place[Place.PITCH]
    return total + (1 if rest > 0 else 0)
