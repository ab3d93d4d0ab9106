"""Steps of requantisation against `graph.requantize`'s definition, on all sums or where results change."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.algebra.element import Ints
from tilewright.passes.graph_to_codelet.scales import Scale, Step, steps_of

FUNCTIONS = {
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "shift_right": lambda a, b: np.where(b >= 0, a >> np.maximum(b, 0), a << np.maximum(-b, 0)),
}


def run(steps: tuple[Step, ...], sums: Ints) -> Ints:
    """What a machine of 32 bits computes of sums [channels, ...]; no value may leave them."""
    found = {0: sums}
    for step in steps:
        if step.function == "copy":
            found[step.target] = found[step.source]
            continue
        other = found[step.source] if step.values is None else step.values[:, None]
        found[step.target] = FUNCTIONS[step.function](found[step.target], other)
        assert abs(found[step.target]).max() < 1 << 31
    return found[0]


def expected(scale: Scale, sums: Ints) -> Ints:
    wide = sums.astype(object)
    scaled = (wide * scale.multiplier[:, None].astype(object) + scale.half[:, None]) >> scale.shift[:, None].astype(
        object
    )
    return np.clip(scaled + scale.zero, scale.low, scale.high).astype(np.int64)


def drawn(seed: int) -> tuple[Scale, Ints, Ints, Ints]:
    """Scales, biases and ranges of sums as networks have them, one or several channels."""
    random = np.random.default_rng(seed)
    channels = int(random.integers(1, 5))
    multiplier = random.integers(1 << 30, 1 << 31, channels)
    if seed % 5 == 0:
        multiplier = 1 << random.integers(0, 31, channels)
    shift = random.integers(33, 45) + random.integers(0, 2, channels)
    low = int(random.choice([-128, 0, -5]))
    scale = Scale(multiplier, shift, int(random.choice([-128, 0, 3, 127])), low, 127)
    bias = random.integers(-5000, 5000, channels)
    reach = random.integers(100, 1 << int(random.integers(8, 25)), channels)
    return scale, bias, bias - reach, bias + reach


def alone(scale: Scale, channel: int) -> Scale:
    part = slice(channel, channel + 1)
    return Scale(scale.multiplier[part], scale.shift[part], scale.zero, scale.low, scale.high)


def step_alone(step: Step, channel: int) -> Step:
    if step.values is None or len(step.values) == 1:
        return step
    return Step(step.function, step.values[channel : channel + 1], step.target, step.source)


@pytest.mark.parametrize("seed", range(60))
def test_steps_are_exact_in_32_bits(seed: int) -> None:
    scale, bias, least, most = drawn(seed)
    steps = steps_of(scale, bias, least, most)
    assert steps is not None
    random = np.random.default_rng(seed)
    rows = [np.unique(random.integers(a, b + 1, 4000)) for a, b in zip(least, most, strict=True)]
    ends = [[a, b, a + 1, b - 1] for a, b in zip(least, most, strict=True)]
    factor = scale.multiplier / 2.0**scale.shift
    edges = [(np.arange(-256, 256) + 0.5) / one for one in factor]  # where results change
    for channel, (row, end, edge) in enumerate(zip(rows, ends, edges, strict=True)):
        near = np.concatenate([np.floor(edge) + offset for offset in (-1, 0, 1, 2)]).astype(np.int64)
        sums = np.concatenate([row, end, np.clip(near, least[channel], most[channel])])[None]
        one, mine = alone(scale, channel), tuple(step_alone(step, channel) for step in steps)
        assert (run(mine, sums - bias[channel]) == expected(one, sums)).all()


def test_all_sums_of_small_ranges() -> None:
    for multiplier in (1, 3, 5, 77, 1 << 20, 1234567891, (1 << 31) - 1):
        for shift in (0, 1, 5, 20, 30, 31, 38):
            if multiplier >> shift > 400:
                continue
            scale = Scale(np.array([multiplier]), np.array([shift]), 4, -100, 99)
            sums = np.arange(-3000, 3001)[None]
            steps = steps_of(scale, np.zeros(1, np.int64), sums[:, 0], sums[:, -1])
            assert steps is not None
            assert (run(steps, sums) == expected(scale, sums)).all()


def steps_for(multiplier: int, shift: int, most: int) -> tuple[Step, ...] | None:
    ends = np.array([-most]), np.array([most])
    return steps_of(Scale(np.array([multiplier]), np.array([shift])), np.zeros(1, np.int64), *ends)


def test_few_steps_where_few_are_exact() -> None:
    """A byte by a number takes one product; larger sums take a digit more or two."""
    for shift, most, products in ((31, 255, 1), (38, 1 << 18, 2), (41, 1 << 20, 3)):
        steps = steps_for(1234567891, shift, most)
        assert steps is not None
        assert [step.function for step in steps].count("mul") == products


def test_scales_that_need_more_bits_are_none() -> None:
    assert steps_for((1 << 31) - 1, 20, 1 << 30) is None
    assert steps_for((1 << 31) - 1, 62, 1 << 30) is None
