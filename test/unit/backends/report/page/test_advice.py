"""Remarks in words."""

from typing import Any

from tilewright.backends.report.page.summary import advice_of

from .conftest import Report

LAYER = {
    "name": "conv5",
    "cycles": 1000,
    "dram_bytes": 16_000,
    "bound_by": "dram",
    "utilization": 0.1,
    "busy_cycles": {"MXU": 100, "MX": 100, "dram": 1000, "LD": 1000},
    "waits": [{"unit": "MX", "for_unit": "LD", "for_layer": 0, "for_what": "weights", "cycles": 880}],
}
TARGET = {
    "array": "MXU",
    "links": [{"name": "DRAM->GBUF", "bytes_per_cycle": 16.0, "offchip": True}],
    "units": [{"name": "LD", "nodes": ["DRAM->GBUF"]}, {"name": "MX", "nodes": ["MXU"]}],
}


def answer(**more: Any) -> dict[str, Any]:
    return {"cycles": 1000, "dram_bytes": 16_000, "layers": [LAYER], "target": TARGET, **more}


def test_a_layer_that_waits_for_weights():
    (remark,) = advice_of(answer())
    assert remark["layer"] == 0
    assert remark["cycles"] == 880
    assert remark["text"] == "conv5: MXU waits 880 cycles for weights over DRAM->GBUF (16 B/cycle)."
    assert remark["lever"] == "It moves 16 KB in 100 cycles of work: 160 B/cycle would keep step."


def test_what_was_compiled_again_is_told_instead_of_an_estimate():
    faster = {"attribute": "DRAM.bandwidth", "factor": 1.5, "value": 24, "wait_cycles": 8, "cycles": 900.0}
    larger = {**faster, "attribute": "GBUF.depth", "size_bytes": 2_000_000, "wait_cycles": 600}
    tried = [{**larger, "wait": "left"}, {**larger, "wait": "moved"}, {**faster, "wait": "hidden"}]
    (remark,) = advice_of(answer(layers=[{**LAYER, "hiding": tried}]))
    assert remark["lever"] == (
        "Compiled again: `DRAM.bandwidth` 24 (x 1.5) hides them, the run takes 900 cycles; "
        "with `GBUF.depth` 24 (x 1.5, 2 MB) other layers wait instead, the run takes 900 cycles; "
        "`GBUF.depth` 24 (x 1.5, 2 MB) leaves 600 of them."
    )


def test_a_program_at_its_bound_and_one_above():
    near, far = (
        advice_of(answer(layers=[], lower_bound={"cycles": least}, gap=1000 / least - 1, bound_by="DRAM traffic"))
        for least in (990, 500)
    )
    assert "no other schedule" in near[0]["lever"]
    assert (
        far[0]["text"]
        == "The program takes 100.0 % more cycles than the bound of all programs, which DRAM traffic sets."
    )
    assert far[0]["cycles"] == 500


def test_one_layer_is_not_told_to_be_grouped():
    above = {"lower_bound": {"cycles": 500}, "gap": 1.0, "bound_by": "DRAM traffic"}
    one, two = (advice_of(answer(layers=[LAYER] * count, **above))[0]["lever"] for count in (1, 2))
    assert "One layer" in one
    assert "--partition best" not in one
    assert "--partition best" in two


def test_remarks_are_of_layers_that_are_there(report: Report):
    for remark in report.answer["advice"]:
        assert remark["layer"] is None or 0 <= remark["layer"] < len(report.answer["layers"])
        assert remark["cycles"] <= report.answer["cycles"]
