"""What stands out in a run, in words, with what would change it: as `explain` found, or else an estimate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...simulator.waiting import MOST, WORTH, MainWait, main_wait

NEAR = 0.02
"""A program this near to its bound is not made faster by another schedule."""

Units = Mapping[str, Sequence[str]]
"""The nodes of each unit."""

IDLE_ARRAY = 0.5
"""An array that does less of its peak while it is busy leaves lanes idle."""


def advice_of(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Remarks, weightiest first: the layer that each is about (None: the whole), text, lever, and cycles lost."""
    whole = [*_about_bound(answer), *_about_room(answer)]
    layers = sorted(_about_layers(answer), key=lambda remark: -remark["cycles"])
    return whole + layers[:MOST]


def _remark(layer: int | None, cycles: float, text: str, lever: str) -> dict[str, Any]:
    return {"layer": layer, "cycles": cycles, "text": text, "lever": lever}


def _about_bound(answer: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if "gap" not in answer:
        return
    gap, bound = answer["gap"], answer["bound_by"]
    lost = answer["cycles"] - answer["lower_bound"]["cycles"]
    if gap <= NEAR:
        text = f"The program takes {_share(gap)} more cycles than any program must, by {bound}."
        lever = "Another target or network helps, no other schedule: `tilewright explain` doubles each resource."
    else:
        text = f"The program takes {_share(gap)} more cycles than the bound of all programs, which {bound} sets."
        lever = (
            "`tilewright compile --partition best` compares more ways to group layers."
            if len(answer["layers"]) > 1
            else "One layer has no other layers to be grouped with: `tilewright explain` doubles each resource."
        )
    yield _remark(None, lost, text, lever)


def _about_room(answer: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Bytes that cross DRAM although no program must move them."""
    least = answer.get("lower_bound", {}).get("dram_bytes", 0)
    more = answer["dram_bytes"] - least
    if not least or more <= NEAR * least:
        return
    bandwidth = max(_speeds(answer).values(), default=0)
    text = f"{_bytes(more)} more than any program must cross DRAM ({_share(more / least)}): not all stays on chip."
    lever = "A larger buffer keeps more; `tilewright explain` says what twice as much is worth."
    yield _remark(None, min(more / bandwidth, answer["cycles"]) if bandwidth else 0, text, lever)


def _about_layers(answer: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    units = {unit["name"]: unit["nodes"] for unit in answer["target"]["units"]}
    for number, layer in enumerate(answer["layers"]):
        if layer["cycles"] < WORTH * answer["cycles"]:
            continue
        wait = main_wait(layer, units)
        if wait is not None and wait.cycles >= WORTH * answer["cycles"]:
            yield _about_wait(answer, number, layer, wait, units)
        yield from _about_lanes(answer, number, layer)


def _about_wait(
    answer: Mapping[str, Any], number: int, layer: Mapping[str, Any], wait: MainWait, units: Units
) -> dict[str, Any]:
    speeds = _speeds(answer)
    links = [node for node in units[wait.for_unit] if node in speeds]
    text = f"{layer['name']}: {_work_of(wait.unit, units)} waits {wait.cycles:,} cycles for"
    if not links:
        lever = _hiding(layer) or "Smaller tiles let both work side by side."
        return _remark(number, wait.cycles, f"{text} {_work_of(wait.for_unit, units)}.", lever)
    speed = speeds[links[0]]
    what = f"{wait.what} over " if wait.what else ""
    lever = _hiding(layer) or _estimate(layer, units, speed)
    return _remark(number, wait.cycles, f"{text} {what}{links[0]} ({speed:g} B/cycle).", lever)


def _estimate(layer: Mapping[str, Any], units: Units, speed: float) -> str:
    """What may hide a wait for a link of `speed` bytes a cycle."""
    work = max((c for key, c in layer["busy_cycles"].items() if key not in ("dram", *units)), default=0)
    moved = layer["dram_bytes"]
    if work and moved / work > (1 + NEAR) * speed:
        return f"It moves {_bytes(moved)} in {work:,} cycles of work: {moved / work:.0f} B/cycle would keep step."
    return "Other layers' transfers fill the link: a larger buffer lets this layer's begin earlier."


OUTCOMES = {
    "hidden": "{of} hides them, the run takes {cycles:,.0f} cycles",
    "moved": "with {of} other layers wait instead, the run takes {cycles:,.0f} cycles",
    "left": "{of} leaves {wait_cycles:,} of them",
}
"""What `explain` found about a wait with more of a resource (`driver.explain`)."""


def _hiding(layer: Mapping[str, Any]) -> str:
    """What `explain` found to hide the wait of a layer, and what not; nothing where it did not look."""
    tried: Sequence[Mapping[str, Any]] = layer.get("hiding", ())
    ordered = sorted(tried, key=lambda one: list(OUTCOMES).index(one["wait"]))
    told = [OUTCOMES[one["wait"]].format(of=_of(one), **one) for one in ordered]
    return f"Compiled again: {'; '.join(told)}." if told else ""


def _of(one: Mapping[str, Any]) -> str:
    room = f", {_bytes(one['size_bytes'])}" if "size_bytes" in one else ""
    return f"`{one['attribute']}` {one['value']:,g} (x {one['factor']:g}{room})"


def _speeds(answer: Mapping[str, Any]) -> dict[str, float]:
    """The bandwidths of links off chip that have one."""
    links = [link for link in answer["target"]["links"] if link["offchip"] and link["bytes_per_cycle"] is not None]
    return {link["name"]: link["bytes_per_cycle"] for link in links}


def _work_of(unit: str, units: Units) -> str:
    """What a unit is called: the node or link that it serves, if that is one."""
    return units[unit][0] if len(units[unit]) == 1 else unit


def _about_lanes(answer: Mapping[str, Any], number: int, layer: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    array = answer["target"]["array"]
    busy, share = layer["busy_cycles"].get(array, 0), layer["utilization"]
    if layer["bound_by"] == array and share < IDLE_ARRAY and busy:
        lost = round(busy * (1 - share))
        text = f"{layer['name']}: {array} works at {_share(share)} of its peak: lanes are idle or wait for operands."
        yield _remark(number, lost, text, f"Other lanes of {array}, more bandwidth to it, or a larger batch.")


def _share(part: float) -> str:
    return f"{100 * part:.1f} %"


def _bytes(count: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000:
            break
        count /= 1000
    return f"{count:.3g} {unit}"
