"""Codelets that differ in addresses alone share what they become: programs are those that share nothing."""

from dataclasses import replace

import numpy as np
import pytest

from tilewright import compile, load_target
from tilewright.driver import CompileOptions
from tilewright.passes.codelet_to_queues import emit, tapes
from tilewright.passes.codelet_to_queues.tapes import SYMBOL_BITS, form_of, symbolic, with_addresses
from tilewright.passes.codelet_to_queues.tree import Codelet, Fill, Surrogate

from ....random_networks import FLOAT, grown

FILLED = Codelet("c", (("m", 4),), (Surrogate("y", "SPAD", (4,), "f32", (64,)),), (Fill(0, 0.0),))


@pytest.mark.parametrize("target", ["edge16", "cocco_npu", "cloud128"])
@pytest.mark.parametrize("partition", ["", "greedy", "schedule"])
def test_programs_are_those_of_codelets_that_share_nothing(
    target: str, partition: str, monkeypatch: pytest.MonkeyPatch
):
    model, options = grown(3, FLOAT), CompileOptions(partition=partition, gap=0.5)
    emit.tapes_of.cache_clear()
    programs = [compile(model, target, options=options) for _ in range(2)]  # the second finds all tapes
    monkeypatch.setattr(emit, "form_of", lambda _: object())
    monkeypatch.setattr(emit, "symbolic", lambda codelet: codelet)
    alone = compile(model, target, options=options)
    for program in programs:
        assert (program.code, program.predicted, program.layers, program.regions) == (
            alone.code,
            alone.predicted,
            alone.layers,
            alone.regions,
        )


def test_symbols_become_addresses_whatever_the_sign_of_the_offset():
    values = (np.array([0, 1, 2, 2]) << SYMBOL_BITS) + np.array([5, -3, 0, 1 << 20])
    assert with_addresses(values, np.array([0, 100, 7000])).tolist() == [5, 97, 7000, 7000 + (1 << 20)]


def test_forms_differ_in_all_but_names_and_addresses():
    (tensor,) = FILLED.surrogates
    alike = replace(FILLED, name="d", nodes=("n",), surrogates=(replace(tensor, name="z", addresses=(0,)),))
    assert form_of(alike) == form_of(FILLED) == form_of(symbolic(FILLED))
    others = (
        replace(FILLED, body=(Fill(0, -0.0),)),
        replace(FILLED, body=(Fill(0, 0),)),
        replace(FILLED, dims=(("m", 5),)),
        replace(FILLED, surrogates=(replace(tensor, addresses=(0, 16)),)),
        replace(FILLED, surrogates=(replace(tensor, ring=(2,)),)),
    )
    assert len({form_of(FILLED), *map(form_of, others)}) == 1 + len(others)


def test_no_more_tapes_are_kept_than_have_room(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tapes, "MOST_TAPED", 3)
    kept = tapes.Tapes(load_target("tiny"))
    for number in range(4):
        emitter = emit.Emitter(load_target("tiny"))
        emitter.tapes = kept
        emitter.codelet(replace(FILLED, dims=(("m", 5 + number),)))
        assert kept.count == len(kept.known) == 1 + number % 3
