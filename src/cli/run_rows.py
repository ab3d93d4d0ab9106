"""Rows about a run that all kinds of runs share."""

from __future__ import annotations

from typing import Any

from .tables import energy, number


def cost_rows(answer: dict[str, Any]) -> list[list[str]]:
    """What the run cost, under each what was predicted, and how far that is off."""
    predicted, gap = answer["predicted"], answer["predicted_gap"]

    def row(label: str, key: str, text: str) -> list[list[str]]:
        return [[label, text + (f" ({100 * gap[key]:+.1f} %)" if key in gap else "")]] if key in predicted else []

    return [
        ["latency", number(answer["cycles"], "cycles")],
        *row("predicted latency", "cycles", number(predicted.get("cycles", 0), "cycles")),
        *row("latency in the model", "model_cycles", number(predicted.get("model_cycles", 0), "cycles")),
        ["energy", energy(answer["energy_pj"]) if answer["energy_pj"] is not None else "not in the file"],
        *row("predicted energy", "energy_pj", energy(predicted.get("energy_pj", 0))),
        ["DRAM traffic", number(answer["dram_bytes"], "B")],
        *row("predicted DRAM traffic", "dram_bytes", number(predicted.get("dram_bytes", 0), "B")),
    ]


def error_rows(answer: dict[str, Any]) -> list[list[str]]:
    """What the outputs were compared with, the verdict, and the worst element."""
    if answer["max_abs_error"] is None:
        return []
    worst = answer["worst"]
    return [
        ["compared with", answer["compared_with"]],
        ["verdict", "agrees" if answer["agrees"] else "differs"],
        ["largest error", f"{answer['max_abs_error']:.3g}"],
        ["relative to the output's range", f"{answer['max_rel_error']:.3g}"],
        *([["worst element", f"{worst['name']}{list(worst['index'])}"]] if worst else []),
        *([["found, expected", f"{worst['found']:.9g}, {worst['expected']:.9g}"]] if worst else []),
        ["equal in all bits", "yes" if answer["equal"] else "no"],
    ]


def end_rows(answer: dict[str, Any]) -> list[list[str]]:
    """The files that were written, and what the command took."""
    return [
        ["outputs", answer["outputs"]],
        *([["trace", answer["trace"]]] if answer.get("trace") else []),
        *([["page", answer["report"]]] if "report" in answer else []),
        ["CPU time", f"{answer['cpu_s']:.1f} s"],
    ]
