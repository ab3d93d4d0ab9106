"""What two compiled networks, runs or plans differ in: totals, target, and layers, most changed first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Answer = Mapping[str, Any]

TOTALS = ("cycles", "energy_pj", "dram_bytes", "instructions")
PLAN_TOTALS = ("max_buffer_bytes", "layer_groups", "fused_groups", "tiles", "dram_tensors", "edp", "method", "mapper")
"""What answers of plans (`plans.plan_answer`) have, too."""

LAYER_NUMBERS = ("cycles", "dram_bytes", "energy_pj", "instructions")
LAYER_WORDS = ("bound_by", "group")


def difference(a: Answer, b: Answer, attributes: Sequence[Mapping[str, float]] = ({}, {})) -> dict[str, Any]:
    """`totals` and `target`, and of layers what `changed`: layer, key, values `a` and `b`, and a `weight` to sort by.

    The weight of a number is its change as a share of all layers' in `a`, that of a word just below the
    layer's cycles.  Layers of the same nodes or else name are compared; what only one of both has is None in the other.
    """
    totals = [
        _change(key, a.get(key), b.get(key))
        for key in (*TOTALS, *PLAN_TOTALS)
        if a.get(key) is not None or b.get(key) is not None
    ]
    totals += [
        _change(f"lower_bound.{key}", a["lower_bound"][key], b["lower_bound"].get(key))
        for key in a.get("lower_bound", {})
        if "lower_bound" in b
    ]
    changed = sorted(_layers(a, b), key=lambda change: (-change["weight"], change["layer"], change["key"]))
    return {
        "totals": totals,
        "target": [change for change in _attributes(*attributes) if change["a"] != change["b"]],
        "changed": changed,
    }


def _change(key: str, a: Any, b: Any) -> dict[str, Any]:
    return {"key": key, "a": a, "b": b}


def _attributes(a: Mapping[str, float], b: Mapping[str, float]) -> Iterator[dict[str, Any]]:
    yield from (_change(key, a.get(key), b.get(key)) for key in dict.fromkeys((*a, *b)))


def _layers(a: Answer, b: Answer) -> Iterator[dict[str, Any]]:
    sums = {key: max(sum(layer[key] for layer in a["layers"]), 1e-9) for key in LAYER_NUMBERS}
    notes_a, notes_b = _notes(a), _notes(b)
    for one, other in _pairs(a["layers"], b["layers"]):
        known: Mapping[str, Any] = one or other or {}
        cycles = abs((other or {}).get("cycles", 0) - (one or {}).get("cycles", 0)) / sums["cycles"]
        decided = notes_a.get(_key(one), {}), notes_b.get(_key(other), {})
        for key, before, after in _values(one, other, *decided):
            if (before or None) != (after or None):
                number = key in sums
                weight = abs((after or 0) - (before or 0)) / sums[key] if number else 0.999 * cycles
                yield {"layer": known["name"], **_change(key, before, after), "weight": weight}


def _key(layer: Answer | None) -> tuple[str, ...]:
    return tuple(layer["nodes"]) if layer is not None else ()


def _pairs(old: Sequence[Answer], new: Sequence[Answer]) -> Iterator[tuple[Answer | None, Answer | None]]:
    """The layers of both that belong together: of the same nodes, else of the same name."""
    by_nodes, by_name = {_key(layer): layer for layer in new}, {layer["name"]: layer for layer in new}
    met: set[str] = set()
    for layer in old:
        other = by_nodes.get(_key(layer)) or by_name.get(layer["name"])
        met |= {other["name"]} if other is not None else set()
        yield layer, other
    yield from ((None, layer) for layer in new if layer["name"] not in met)


def _values(one: Answer | None, other: Answer | None, notes: Answer, others: Answer) -> Iterator[tuple[str, Any, Any]]:
    for key in (*LAYER_NUMBERS, *LAYER_WORDS):
        yield key, one[key] if one is not None else None, other[key] if other is not None else None
    if one is not None and other is not None:
        for key in dict.fromkeys((*notes, *others)):
            if key not in ("name", "fused"):  # numbers of groups say nothing by themselves
                yield key, notes.get(key), others.get(key)


def _notes(answer: Answer) -> dict[tuple[str, ...], Mapping[str, Any]]:
    """What was decided about the layers of an answer with a graph, by their nodes."""
    boxes = answer.get("graph", {}).get("boxes", ())
    layers = answer["layers"]
    return {tuple(layers[box["layer"]]["nodes"]): box["notes"] for box in boxes if box["layer"] is not None}
