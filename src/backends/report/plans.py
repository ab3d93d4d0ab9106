"""Answers of `partition`, `explore`, `schedule` and `map` in the form of a run's, so that two can be compared.

What `difference` calls layers are groups of a partition, and memories of a mapping with the tensors in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Plan = Mapping[str, Any]


def is_plan(answer: Plan) -> bool:
    """Whether an answer is of a command that plans."""
    return "latency_cycles" in answer or "mapping" in answer


def plan_answer(plan: Plan) -> dict[str, Any]:
    """The plan's totals, parts, and what was decided about these; KeyError or TypeError for what is no plan."""
    parts = list(_groups(plan) if "groups" in plan else _memories(plan) if "mapping" in plan else ())
    least = {_key(key): value for key, value in _bounds(plan).items() if isinstance(value, int | float)}
    return {
        **{_key(key): value for key, value in plan.items() if isinstance(value, int | float | str)},
        "lower_bound": least,
        "layers": [part for part, _ in parts],
        "graph": {"boxes": [{"layer": place, "notes": notes} for place, (_, notes) in enumerate(parts)]},
    }


def _key(key: str) -> str:
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
