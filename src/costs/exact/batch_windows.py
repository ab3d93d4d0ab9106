"""`windows` in compiled form: elements along a sliding axis that children need and already have."""

import numpy as np

from ..compiled import popcount
from .batch_nest import ALL, count_below, stays
from .compiled import MAX_BITS, MAX_CHILDREN, MAX_SITUATIONS, MAX_TILES, Asked, Ints, Loops, Place, Scratch, Shape, bare

NEEDED, HELD, OWNED = range(3)
"""What to count: the union of children's tiles; what all in need had before; the union over time too."""

NEEDED_BITS, MISSING_BITS, NOW_BITS, BEFORE_BITS, TILE_BITS = range(5)


@bare
def moving_loop(loops: Loops, dim: int, asked: Ints) -> int:
    """The loop of `dim` that advances at the event; -1 if it is another dimension's."""
    if asked[Asked.MODE] == HELD and loops.events[asked[Asked.EVENT], 0] == dim:
        return loops.events[asked[Asked.EVENT], 1]
    return -1


@bare
def children_of(loops: Loops, dim: int, base: int, limit: int, row: int, work: Scratch) -> int:
    """Fill row `row` of `work.children` with (offset, size) now and before of each child that has work.

    Answers how many, or -1 beyond the limits.
    """
    asked, out = work.asked, work.children[row]
    tile, moving = loops.tiles[asked[Asked.CHILD] + 1, dim], moving_loop(loops, dim, work.asked)
    count, span, top = 1, 0, loops.counts[dim]
    out[0, 0] = 0
    for i in range(top):
        place = loops.places[dim, i]
        if place[Place.LEVEL] <= asked[Asked.CHILD] or stays(place, asked):
            continue
        bound, pitch = place[Place.BOUND], place[Place.PITCH]
        if place[Place.ORDER] >= 0 and asked[Asked.MODE] != OWNED:
            span += (bound - 1) * pitch
            continue
        if count * bound > MAX_CHILDREN:
            return -1
        for j in range(count, count * bound):
            out[j, 0] = out[j - count, 0] + pitch
        count *= bound
    used = 0
    for j in range(count):
        offset = out[j, 0]
        start = base + offset
        if start >= limit:
            continue
        last = span
        if moving >= 0:
            last = span - loops.places[dim, moving, Place.PITCH]
        elif start + span >= limit:
            last = 0
            for i in range(top - 1, -1, -1):
                place = loops.places[dim, i]
                if place[Place.LEVEL] > asked[Asked.CHILD] and place[Place.ORDER] >= 0 and not stays(place, asked):
                    last += (
                        min(place[Place.BOUND] - 1, (limit - 1 - start - last) // place[Place.PITCH])
                        * place[Place.PITCH]
                    )
        out[used, 0] = offset
        out[used, 1] = min(tile, limit - start)
        out[used, 2] = offset + last
        out[used, 3] = min(tile, limit - start - last)
        used += 1
    return used


@bare
def situations_of(loops: Loops, dim: int, row: int, work: Scratch) -> int:
    """Fill row `row` of `work.situations`: where the loops that stay are (-1: far from the end), and how often.

    Answers how many, or -1 beyond the limits.
    """
    asked = work.asked
    limit, tile, moving = (
        loops.limits[dim],
        loops.tiles[asked[Asked.CHILD] + 1, dim],
        moving_loop(loops, dim, work.asked),
    )
    slots, first = work.digits[0], work.digits[2]
    reach, rest, stay = tile, 0, 0
    for i in range(loops.counts[dim]):
        place = loops.places[dim, i]
        if place[Place.LEVEL] <= asked[Asked.CHILD]:
            continue
        if stays(place, asked):
            slots[stay] = i
            first[stay] = 1 if i == moving else 0
            stay += 1
            rest += (place[Place.BOUND] - 1) * place[Place.PITCH]
        else:
            reach += (place[Place.BOUND] - 1) * place[Place.PITCH]
    least = max(0, limit - reach + 1)
    asked[Asked.SKIPPED] = -2
    full = count_below(loops, dim, limit - reach + 1, asked)
    if moving >= 0:
        asked[Asked.SKIPPED] = asked[Asked.EVENT]
        full -= count_below(loops, dim, limit - reach + 1, asked)
    count = 0
    if full > 0:
        work.situations[row, 0, 0] = -1
        work.situations[row, 0, 1] = full
        count = 1
    base = _first_base(loops, dim, stay, rest, least, work)
    return count if base < 0 else _ragged(loops, dim, row, base, stay, count, work)


@bare
def _first_base(loops: Loops, dim: int, stay: int, rest: int, least: int, work: Scratch) -> int:
    """The first position from `least` on of the loops that stay, `rest` the last; -1 if there is none."""
    slots, digits, first = work.digits[0], work.digits[1], work.digits[2]
    base = 0
    for i in range(stay - 1, -1, -1):
        place = loops.places[dim, slots[i]]
        rest -= (place[Place.BOUND] - 1) * place[Place.PITCH]
        digits[i] = max(first[i], -((base + rest - least) // place[Place.PITCH]))
        if digits[i] >= place[Place.BOUND]:
            return -1
        base += digits[i] * place[Place.PITCH]
    return base if base >= least else -1


@bare
def _ragged(loops: Loops, dim: int, row: int, base: int, stay: int, count: int, work: Scratch) -> int:
    """Add situations from position `base` on, where equal ones follow each other; how many, or -1."""
    limit = loops.limits[dim]
    slots, digits, first = work.digits[0], work.digits[1], work.digits[2]
    seen, left = -1, MAX_TILES
    while base < limit:
        found = children_of(loops, dim, base, limit, row, work)
        left -= found
        if found < 0 or left < 0:
            return -1
        same = found == seen
        for j in range(found):
            for k in range(4):
                same = same and work.previous[j, k] == work.children[row, j, k]
        if same:
            work.situations[row, count - 1, 1] += 1
        elif found > 0:
            if count >= MAX_SITUATIONS:
                return -1
            work.situations[row, count, 0] = base
            work.situations[row, count, 1] = 1
            count += 1
            seen = found
            for j in range(found):
                for k in range(4):
                    work.previous[j, k] = work.children[row, j, k]
        i = 0
        while i < stay and digits[i] == loops.places[dim, slots[i], Place.BOUND] - 1:
            base -= (digits[i] - first[i]) * loops.places[dim, slots[i], Place.PITCH]
            digits[i] = first[i]
            i += 1
        if i == stay:
            break
        digits[i] += 1
        base += loops.places[dim, slots[i], Place.PITCH]
    return count


@bare
def window_words(loops: Loops, shape: Shape, window: int, work: Scratch) -> int:
    """`windows.union` or `windows.held` of one window, summed over the loops that stay; -1 beyond the limits."""
    size = shape.sizes[window]
    counts, at = work.sizes[0], work.sizes[1]
    for k in range(size):
        counts[k] = situations_of(loops, shape.windows[window, k, 0], k, work)
        if counts[k] <= 0:
            return counts[k]
        at[k] = 0
    total = 0
    while True:
        times = 1
        for k in range(size):
            times *= work.situations[k, at[k], 1]
        found = combined(loops, shape, window, work)
        if found < 0:
            return -1
        total += times * found
        if not advance(counts, at, size):
            return total


@bare
def advance(counts: Ints, at: Ints, size: int) -> bool:
    """The next digits `at` below `counts`; False after the last, when all are 0 again."""
    for k in range(size):
        at[k] += 1
        if at[k] < counts[k]:
            return True
        at[k] = 0
    return False


@bare
def combined(loops: Loops, shape: Shape, window: int, work: Scratch) -> int:
    """Elements that count in the situation `work.sizes[1]` of each dimension; -1 beyond the limits."""
    size = shape.sizes[window]
    at, members, which = work.sizes[1], work.sizes[2], work.sizes[3]
    everyone, most = 1, 0
    for k in range(size):
        dim = shape.windows[window, k, 0]
        base = int(work.situations[k, at[k], 0])
        limit = int(loops.limits[dim])
        if base < 0:
            base, limit = 0, ALL
        members[k] = children_of(loops, dim, base, limit, k, work)
        if members[k] < 0:
            return -1
        everyone *= members[k]
        most += abs(shape.windows[window, k, 1]) * loops.tiles[work.asked[Asked.CHILD] + 1, dim]
        which[k] = 0
    if everyone > MAX_CHILDREN:
        return -1
    least, far, apart = ALL, -ALL, work.asked[Asked.MODE] == HELD
    for n in range(everyone):
        for time in range(2):
            start = 0
            for k in range(size):
                c, child = shape.windows[window, k, 1], work.children[k, which[k]]
                start += c * (child[2 * time] + (child[2 * time + 1] - 1 if c < 0 else 0))
            work.starts[n, time] = start
            least, far = min(least, start), max(far, start)
        apart = apart and abs(work.starts[n, 0] - work.starts[n, 1]) >= most
        advance(members, which, size)
    if apart:
        return 0
    if far - least + most + 64 >= MAX_BITS:
        return -1
    return _counted(shape, window, everyone, least, (far - least + most) // 64 + 1, work)


@bare
def _counted(shape: Shape, window: int, everyone: int, least: int, words: int, work: Scratch) -> int:
    """Place the tiles of `everyone` in sets of `words`, the element `least` first, and count."""
    held = work.asked[Asked.MODE] == HELD
    bits, which, size = work.bits, work.sizes[3], shape.sizes[window]
    for i in range(words):
        bits[NEEDED_BITS, i] = 0
        bits[MISSING_BITS, i] = 0
    for n in range(everyone):
        for time in range(2 if held else 1):
            for i in range(words):
                bits[NOW_BITS + time, i] = 0
            _place(shape, window, work, 2 * time, work.starts[n, time] - least)
        for i in range(words):
            bits[NEEDED_BITS, i] |= bits[NOW_BITS, i]
            if held:
                bits[MISSING_BITS, i] |= bits[NOW_BITS, i] & ~bits[BEFORE_BITS, i]
        advance(work.sizes[2], which, size)
    total = 0
    for i in range(words):
        total += popcount(bits[NEEDED_BITS, i] & ~bits[MISSING_BITS, i])
    return total


@bare
def _place(shape: Shape, window: int, work: Scratch, column: int, start: int) -> None:
    """Set the elements of one tile, whose sizes are in `column + 1` of its children's reaches.

    With terms by growing coefficient: as long as one is at most the run so far, the elements are consecutive.
    """
    size, which = shape.sizes[window], work.sizes[3]
    run, done = 1, 0
    for _ in range(size):
        best, least = 0, ALL
        for k in range(size):
            c = abs(shape.windows[window, k, 1])
            if not (done >> k) & 1 and c < least:
                best, least = k, c
        done |= 1 << best
        count = work.children[best, which[best], column + 1]
        if count > 1:
            if least > run:
                run = -ALL
            run += least * (count - 1)
    out = NOW_BITS + column // 2
    if run > 0:
        _fill(work, out, start, run)
        return
    length = 1
    for k in range(size):
        length += abs(shape.windows[window, k, 1]) * (work.children[k, which[k], column + 1] - 1)
    words = length // 64 + 1
    for i in range(words + 1):
        work.bits[TILE_BITS, i] = 1 if i == 0 else 0
    for k in range(size):
        c = abs(shape.windows[window, k, 1])
        count, filled = work.children[k, which[k], column + 1], 1
        while filled < count:
            more = min(filled, count - filled)
            _or_shifted(work, TILE_BITS, words, c * more)
            filled += more
    _or_shifted(work, out, words + start // 64 + 1, start)


@bare
def _fill(work: Scratch, out: int, start: int, count: int) -> None:
    """Set `count` bits of a table from `start`."""
    ones = np.uint64(0xFFFFFFFFFFFFFFFF)
    first, last = start >> 6, (start + count - 1) >> 6
    low = ones << np.uint64(start & 63)
    high = ones >> np.uint64(63 - ((start + count - 1) & 63))
    if first == last:
        work.bits[out, first] |= low & high
        return
    work.bits[out, first] |= low
    for i in range(first + 1, last):
        work.bits[out, i] = ones
    work.bits[out, last] |= high


@bare
def _or_shifted(work: Scratch, out: int, words: int, shift: int) -> None:
    """Add the tile to the first `words` of a table, `shift` further; from the top, so it may be the tile's own."""
    step, part = shift >> 6, np.uint64(shift & 63)
    for i in range(words - 1, step - 1, -1):
        moved = work.bits[TILE_BITS, i - step] << part
        if part > 0 and i > step:
            moved |= work.bits[TILE_BITS, i - step - 1] >> (np.uint64(64) - part)
        work.bits[out, i] |= moved
