"""Energies per action from an Accelergy table (`ERT`, versions 0.2 to 0.4)."""

from __future__ import annotations

import re

from .document import Item

Energies = dict[str, dict[str, float]]
"""pJ by component and action; of several prices of an action the highest, as Timeloop takes it."""

READS = ("random_read", "read")
WRITES = ("random_fill", "write")
UPDATES = ("random_update", "write", "update")
COMPUTES = ("mac_random", "mult_random", "mac", "multiply", "compute")


def energies_of(item: Item) -> Energies:
    """The prices in the value of the key `ERT`; leakage and other actions are there but have no meaning here."""
    tables = item.need("an ERT", "tables")
    found: Energies = {}
    if isinstance(tables.value, dict):  # version 0.2: actions by name
        for name, actions in tables.mapping("tables").items():
            prices = found.setdefault(component_name(name), {})
            for action, entries in actions.mapping("actions").items():
                listed = entries.value if isinstance(entries.value, tuple) else (entries,)
                prices[action] = max((_energy(entry) for entry in listed), default=0.0)
        return found
    for table in tables.items("tables"):
        prices = found.setdefault(component_name(table.need("a table", "name").text("a name")), {})
        for action in table.need("a table", "actions").items("actions"):
            name = action.need("an action", "name").text("a name")
            prices[name] = max(prices.get(name, 0.0), _energy(action))
    return found


def _energy(item: Item) -> float:
    return item.need("an action", "energy").number("an energy in pJ")


def component_name(path: str) -> str:
    """The last name of a path of components, without its range: `system.PE[0..3].L1[0..7]` is `L1`."""
    return re.sub(r"\[[^\]]*\]", "", path).rsplit(".", 1)[-1]


def price(prices: dict[str, float], actions: tuple[str, ...]) -> float | None:
    """The price of the first of `actions` that is there."""
    return next((prices[action] for action in actions if action in prices), None)
