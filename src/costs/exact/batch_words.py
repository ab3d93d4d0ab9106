"""`words` in compiled form: words of one tensor that cross a boundary of the hierarchy.

The functions take what is asked from `work.asked`, `CHILD` and `FAN` set by the caller; -1 is beyond the limits.
"""

from .batch_nest import ALL, count_below, count_spread
from .batch_windows import HELD, NEEDED, OWNED, combined, window_words
from .compiled import PLAIN, UNRELATED, Asked, Loops, Place, Scratch, Shape, bare


@bare
def words_moved(loops: Loops, shape: Shape, tensor: int, work: Scratch) -> int:
    """`words.words_moved`: the first round counts whole tiles, later ones what is kept when each loop advances."""
    total, asked = 0, work.asked
    rounds = 1 + (loops.counts[len(shape.bounds)] if asked[Asked.CHILD] >= 0 else 0)
    for event in range(-1, rounds - 1):
        moving = -1
        asked[Asked.EVENT], asked[Asked.MODE] = 0, NEEDED
        if event >= 0:
            asked[Asked.EVENT], asked[Asked.MODE] = event, HELD
            moving = loops.events[event, 0]
            inside = loops.places[moving, loops.events[event, 1], Place.LEVEL] <= asked[Asked.CHILD]
            if inside or shape.kinds[tensor, moving] == PLAIN:
                continue
        found = 1
        for dim in range(len(shape.bounds)):
            if shape.kinds[tensor, dim] == PLAIN and found > 0:
                found *= resting(loops, dim, work) if event >= 0 else loops.iterations[dim]
        for dim in range(len(shape.bounds)):
            if shape.kinds[tensor, dim] == UNRELATED and found > 0:
                asked[Asked.SKIPPED] = -2
                steps = count_below(loops, dim, loops.limits[dim], asked)
                if dim == moving:
                    asked[Asked.SKIPPED] = event
                    steps -= count_below(loops, dim, loops.limits[dim], asked)
                found *= steps
        for window in range(shape.first[tensor], shape.first[tensor + 1]):
            if found > 0:
                words = window_words(loops, shape, window, work)
                if words < 0:
                    return -1
                found *= words
        total += found if event < 0 else -found
    return total


@bare
def resting(loops: Loops, dim: int, work: Scratch) -> int:
    """`words._resting`."""
    limit, asked = loops.iterations[dim], work.asked
    block, pitch = 0, 1
    for i in range(loops.counts[dim]):
        place = loops.places[dim, i]
        if block == 0 and place[Place.LEVEL] > asked[Asked.CHILD] and 0 <= place[Place.ORDER] < asked[Asked.EVENT]:
            block = pitch
        pitch *= place[Place.BOUND]
    if block == 0:
        return limit
    last = -(-limit // block) - 1
    rest = limit - last * block
    at_last, at_next = True, last > 0
    pitch = 1
    for i in range(loops.counts[dim]):
        place = loops.places[dim, i]
        if place[Place.LEVEL] > asked[Asked.CHILD] and 0 <= place[Place.ORDER] < asked[Asked.EVENT]:
            at_last = at_last and last * block // pitch % place[Place.BOUND] == 0
            at_next = at_next and (last - 1) * block // pitch % place[Place.BOUND] == 0
        pitch *= place[Place.BOUND]
    tile = loops.tiles[asked[Asked.CHILD] + 1, dim]
    found = 0
    if at_last:
        found += rest
    if at_next:
        found += block - tile * -(-rest // tile)
    return found


@bare
def words_owned(loops: Loops, shape: Shape, tensor: int, work: Scratch) -> int:
    """`words.words_owned` of level `CHILD`."""
    total, asked = 1, work.asked
    asked[Asked.FAN], asked[Asked.EVENT], asked[Asked.MODE], asked[Asked.SKIPPED] = asked[Asked.CHILD], ALL, OWNED, -2
    for dim in range(len(shape.bounds)):
        if shape.kinds[tensor, dim] == PLAIN:
            total *= loops.iterations[dim]
        elif shape.kinds[tensor, dim] == UNRELATED:
            total *= count_below(loops, dim, loops.limits[dim], asked)
    for window in range(shape.first[tensor], shape.first[tensor + 1]):
        found = _whole_window(loops, shape, window, work)
        if found == 0:
            found = window_words(loops, shape, window, work)
        if found < 0:
            return -1
        total *= found
    return total


@bare
def _whole_window(loops: Loops, shape: Shape, window: int, work: Scratch) -> int:
    """Elements of a window of two dimensions that is not spread over instances of `CHILD`; 0 for any other."""
    if shape.sizes[window] != 2:
        return 0
    for k in range(2):
        dim = shape.windows[window, k, 0]
        for i in range(loops.counts[dim]):
            if loops.places[dim, i, Place.ORDER] < 0 and loops.places[dim, i, Place.LEVEL] > work.asked[Asked.CHILD]:
                return 0
    n = int(loops.limits[shape.windows[window, 0, 0]])
    m = int(loops.limits[shape.windows[window, 1, 0]])
    u = int(abs(shape.windows[window, 0, 1]))
    v = int(abs(shape.windows[window, 1, 1]))
    return n * m - max(0, n - v) * max(0, m - u)


@bare
def first_words(loops: Loops, shape: Shape, tensor: int, work: Scratch) -> int:
    """`words.first_words`; with `FAN` as `CHILD` the words of one tile."""
    total, asked = 1, work.asked
    asked[Asked.EVENT], asked[Asked.MODE], asked[Asked.SKIPPED] = 0, NEEDED, -2
    for dim in range(len(shape.bounds)):
        if shape.kinds[tensor, dim] == PLAIN:
            tile, limit = loops.tiles[asked[Asked.CHILD] + 1, dim], loops.limits[dim]
            whole = count_spread(loops, dim, limit - tile + 1, asked)
            total *= whole * tile + (count_spread(loops, dim, limit, asked) - whole) * (limit % tile)
    for window in range(shape.first[tensor], shape.first[tensor + 1]):
        for k in range(shape.sizes[window]):
            work.situations[k, 0, 0] = 0
            work.sizes[1, k] = 0
        found = combined(loops, shape, window, work)
        if found < 0:
            return -1
        total *= found
    return total
