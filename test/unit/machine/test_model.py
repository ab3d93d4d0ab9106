"""Sizes and layouts of machines' values."""

from __future__ import annotations

import pytest

from tilewright.frontends.acg import load_target
from tilewright.machine import Capability, Link, Memory


def test_capacity() -> None:
    assert Memory("M", data_width_bits=32, banks=2, depth=16).capacity_bytes == 128


def test_reversed_link() -> None:
    link = load_target("tiny").links[0]
    back = link.reversed()
    assert (back.name, back.back, back.channel) == ("SPAD->DRAM", True, "DRAM<->SPAD")
    assert [capability.node for capability in back.capabilities] == ["SPAD->DRAM"]
    assert back.reversed() == link
    assert Link("A", "B", 1.0).name == "A->B"


@pytest.mark.parametrize(("target", "sizes"), [("tiny", {32}), ("edge16", {48, 56, 64, 72, 80, 88, 104})])
def test_words(target: str, sizes: set[int]) -> None:
    machine = load_target(target)
    assert {word.bytes for word in machine.words.values()} == sizes
    for word in machine.words.values():
        assert word.fields[0].name == "OPCODE"
        assert list(word.by_name) == [item.name for item in word.fields[1:]]
        assert all(item.offset_bits + item.width_bits <= word.bits for item in word.fields)


def cycles_at_rate(capability: Capability, **extents: int) -> float:
    from tilewright.algebra.formula import evaluate_formula

    ways = {f"{dim}_ways": 4 if dim in ("k", "p") else 1 for dim in capability.splits}
    points = 1
    for extent in extents.values():
        points *= extent
    return points / evaluate_formula(capability.cycles, {**extents, **ways, "ops": points})


def test_published_rates() -> None:
    """8192 multiply-accumulates and 512 vector operations a cycle (SoMa, section VI); a quarter of that in f32."""
    machine = load_target("edge16")
    capabilities = {c.name: c for compute in machine.computes for c in compute.capabilities}
    tile = {"g": 1, "k": 128, "p": 64, "q": 32, "c": 64, "r": 3, "s": 3}
    assert cycles_at_rate(capabilities["mac"], **tile) == 8192
    assert cycles_at_rate(capabilities["fmac"], **tile) == 2048
    block = {"a": 1, "b": 2, "c": 4, "d": 512}
    assert cycles_at_rate(capabilities["ibinary"], **block) == 512
    assert cycles_at_rate(capabilities["binary"], **block) == 128
    # a matrix times a vector is bound by the buffer: every weight is read, 256 bytes a cycle
    vector = {"g": 1, "k": 1024, "p": 1, "q": 1, "c": 1024, "r": 1, "s": 1}
    assert 250 < cycles_at_rate(capabilities["mac"], **vector) < 256
