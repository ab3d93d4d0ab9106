"""What two compiled networks, runs or plans differ in: totals, target, and layers, most changed first.

What is called layers here are groups of a partition, and memories of a mapping with the tensors in them: answers of
`partition`, `explore`, `schedule` and `map` are put in the form of a run's.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Plan = Mapping[str, Any]


def is_plan(answer: Plan) -> bool:
    """Whether an answer is of a command that plans."""
    return "latency_cycles" in answer or "mapping" in answer


def plan_answer(plan: Plan) -> dict[str, Any]:
    """The plan's totals, parts, and what was decided about these; KeyError or TypeError for what is no plan."""
    parts = list(_groups(plan) if "groups" in plan else _memories(plan) if "mapping" in plan else ())
    least = {_run_key(key): value for key, value in _bounds(plan).items() if isinstance(value, int | float)}
    return {
        **{_run_key(key): value for key, value in plan.items() if isinstance(value, int | float | str)},
        "lower_bound": least,
        "layers": [part for part, _ in parts],
        "graph": {"boxes": [{"layer": place, "notes": notes} for place, (_, notes) in enumerate(parts)]},
    }


def _run_key(key: str) -> str:
    """What a run calls it."""
    return {"latency_cycles": "cycles", "ema_bytes": "dram_bytes"}.get(key, key)


def _bounds(plan: Plan) -> Mapping[str, Any]:
    bound = plan.get("lower_bound")
    return bound if isinstance(bound, dict) else {}


def _part(name: str, nodes: list[str], **figures: float) -> dict[str, Any]:
    nothing = dict.fromkeys(("cycles", "dram_bytes", "energy_pj", "instructions"), 0)
    return {"name": name, "nodes": nodes, "bound_by": "", "group": "", **nothing, **figures}


def _groups(plan: Plan) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for group in plan["groups"]:
        layers: list[str] = group["layers"]
        name = layers[0] if len(layers) == 1 else f"{layers[0]} .. {layers[-1]} ({len(layers)})"
        moved = group["weight_bytes"] + group["input_bytes"] + group["output_bytes"]
        figures = {"cycles": group["latency_cycles"], "dram_bytes": moved, "energy_pj": group["energy_pj"]}
        rows, columns = group["tile"]
        yield _part(name, layers, **figures), {"tile": f"{rows}x{columns or 'all'}", "regions": group["regions"]}


def _memories(plan: Plan) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for level in plan["mapping"]:
        notes = {
            "loops": " ".join(f"{dim} {count}" for dim, count in level["temporal"].items()),
            "order": " ".join(level["order"]),
            "bypass": " ".join(level["bypass"]),
            **{key: " ".join(f"{dim} {count}" for dim, count in level.get(key, ())) for key in SPREADS},
        }
        yield _part(level["target"], [level["target"]]), notes
    for row in plan["traffic"]:
        name = f"{row['level']}, {row['tensor']}"
        notes = {key: row[key] for key in ("tile_words", "reads", "fills", "updates")}
        yield _part(name, [name], energy_pj=row["energy_pj"]), notes


SPREADS = "spatial_x", "spatial_y"


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
