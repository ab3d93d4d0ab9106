"""What is there already of a sliding window, on the average over any loops further out.

After loops of window dimensions that make `a` steps along one and `c` along another, the next loop along the first
moves the window by its step, less the way back of the other: `step_a - (c - 1) * step_c`, whatever `a` is.  So what
all steps find is a walk through the lattice of such pairs, and the best walk a small dynamic program.  At any pair
loops may come that only let the window fall back; most of the steps are theirs if there are many, so the program may
also end there.
"""

from __future__ import annotations

import numpy as np

from ....costs.compiled import bare
from .model import Ints, Model
from .windows import overlap, present


@bare
def partner(model: Model, t: int, w: int, step: Ints, first: int, free: int) -> int:
    """The other dimension of window `w` that loops further out, -1 if none does, -2 if nothing is known."""
    found = -1
    for d in range(step.shape[0]):
        if model.window[t, d] == w and step[d] < model.bounds[d]:
            if (free >> d) & 1 == 0 or (d != first and found >= 0):
                return -2
            if d != first:
                found = d
    return found


@bare
def stays(model: Model, t: int, w: int, tile: Ints, child: Ints, size: float, shift: int) -> float:
    """Elements at most that a window of `size` elements shares with itself moved by `shift`, for all its children."""
    shift = abs(shift)
    return min(
        size, float(min(overlap(model, t, w, tile, shift, True), present(model, t, w, tile, child, shift, True)))
    )


@bare
def kept_on_average(
    model: Model,
    t: int,
    w: int,
    tile: Ints,
    child: Ints,
    step: Ints,
    first: int,
    bound: int,
    size: float,
    free: int,
    once: bool,
) -> float:
    """Elements at most that a step finds there on the average, where loop `first` of `bound` (0: of any) comes next.

    For perfect factors; inf for others, and for a known bound where loops further out are not understood.  With `once`
    each dimension has a single loop.
    """
    if not model.perfect:
        return np.inf
    other = partner(model, t, w, step, first, free)
    many = model.bounds[first] // step[first]
    pace = step[first] * model.coefficient[t, first]
    if other == -2 or max(model.many[first], model.many[max(other, 0)]) > model.room.shape[0]:
        return np.inf if bound > 1 else (size + stays(model, t, w, tile, child, size, pace)) / 2
    others, slow, most = 1, 0, 1
    if other >= 0:
        others, slow = model.bounds[other] // step[other], step[other] * model.coefficient[t, other]
        most = model.many[other]
    answer, best = 0.0, model.room
    for i in range(model.many[first] - 1, -1, -1):
        a = model.divisors[first, i]
        if many % a:
            continue
        along = stays(model, t, w, tile, child, size, slow - (a - 1) * pace) if other >= 0 else 0.0
        for j in range(most - 1, -1, -1):
            c = model.divisors[other, j] if other >= 0 else 1
            if others % c:
                continue
            found = stays(model, t, w, tile, child, size, (a - 1) * pace + (c - 1) * slow)
            ahead = stays(model, t, w, tile, child, size, pace - (c - 1) * slow)
            for k in range(i + 1, model.many[first]):
                more = model.divisors[first, k]
                if more % a == 0 and many % more == 0 and not (once and (a > 1 or more < many)):
                    if a == 1 and c == 1 and bound > 1 and more != bound:
                        continue
                    found_ahead = ahead + (best[k, j] - ahead) * a / more
                    if a == 1 and c == 1:
                        answer = max(answer, found_ahead)
                    found = max(found, found_ahead)
            for k in range(j + 1, most):
                more = model.divisors[other, k]
                if more % c == 0 and others % more == 0 and not (once and (c > 1 or more < others)):
                    found = max(found, along + (best[i, k] - along) * c / more)
            best[i, j] = found
    return answer
