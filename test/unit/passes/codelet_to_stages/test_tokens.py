"""Tokens order what depends on each other, no less: against the order that tokens give, on random programs."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright import load_target
from tilewright.costs.stages.code import Row, read_code
from tilewright.costs.stages.schedule import clocks, run_stages
from tilewright.errors import TilewrightError
from tilewright.machine.encoding import encode
from tilewright.machine.stage_isa import StageIsa, StageWriter
from tilewright.passes.codelet_to_stages.emit import Ordered, with_tokens

MACHINE = load_target("vta")
ISA = StageIsa(MACHINE)


@pytest.mark.parametrize("seed", range(20))
def test_all_that_depends_is_ordered_and_tokens_are_balanced(seed: int) -> None:
    random, writer = np.random.default_rng(seed), StageWriter(ISA)
    units = [ISA.loading, ISA.computing, ISA.storing]
    count = 40
    code = [writer.nothing(units[int(random.integers(3))]) for _ in range(count)]
    before = [
        sorted({int(random.integers(n)) for _ in range(int(random.integers(3)))}) if n else [] for n in range(count)
    ]
    made = with_tokens(writer, Ordered(code, [0] * count, before))
    rows = read_code(MACHINE, b"".join(encode(MACHINE, one.mnemonic.name, one.fields) for one in made.code)).rows
    order = run_stages(read_code(MACHINE, b"".join(encode(MACHINE, o.mnemonic.name, o.fields) for o in made.code)))[2]
    assert len(order) == len(made.code)  # none waits forever
    known = clocks(rows, 3, 4, order)
    place = {id(one): number for number, one in enumerate(made.code)}
    ranks = [int((rows[: number + 1, Row.UNIT] == rows[number, Row.UNIT]).sum()) for number in range(len(rows))]
    for number, others in enumerate(before):
        for other in others:
            first, then = place[id(code[other])], place[id(code[number])]
            assert known[then, rows[first, Row.UNIT]] >= ranks[first]
    for queue in range(4):
        assert (rows[:, Row.POPS] >> queue & 1).sum() == (rows[:, Row.PUSHES] >> queue & 1).sum()


def test_what_is_implied_gets_no_token() -> None:
    writer = StageWriter(ISA)
    load, compute, store = (writer.nothing(unit) for unit in (ISA.loading, ISA.computing, ISA.storing))
    again = writer.nothing(ISA.computing)
    with_tokens(writer, Ordered([load, compute, again, store], [0] * 4, [[], [0], [0], [0, 2]]))
    assert [one.fields for one in (load, compute, again, store)] == [
        {"PUSH_NEXT": 1}, {"POP_PREV": 1}, {"PUSH_NEXT": 1}, {"POP_PREV": 1},
    ]  # fmt: skip


def test_a_stage_between_hands_a_token_on() -> None:
    writer = StageWriter(ISA)
    store, load = writer.nothing(ISA.storing), writer.nothing(ISA.loading)
    made = with_tokens(writer, Ordered([store, load], [3, 4], [[], [0]]))
    assert [one.mnemonic.unit for one in made.code] == [ISA.storing, ISA.computing, ISA.loading]
    assert (made.code[1].fields, made.layers) == ({"POP_NEXT": 1, "PUSH_PREV": 1}, [3, 4, 4])


def test_units_without_a_way_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    writer = StageWriter(ISA)
    monkeypatch.setattr(StageIsa, "token", lambda *_: None)
    given = Ordered([writer.nothing(ISA.storing), writer.nothing(ISA.loading)], [0, 0], [[], [0]])
    with pytest.raises(TilewrightError, match="tokens from store to load, or over a unit"):
        with_tokens(writer, given)
