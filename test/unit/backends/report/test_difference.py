"""What two answers differ in."""

from typing import Any

from tilewright.backends.report.difference import difference


def layer(name: str, *nodes: str, **figures: Any) -> dict[str, Any]:
    zero = {"cycles": 0, "dram_bytes": 0, "energy_pj": 0.0, "instructions": 1, "bound_by": "dram", "group": ""}
    return {"name": name, "nodes": list(nodes or (name,)), **zero, **figures}


def answer(*layers: dict[str, Any], **more: Any) -> dict[str, Any]:
    sums = {key: sum(one[key] for one in layers) for key in ("cycles", "dram_bytes", "energy_pj", "instructions")}
    return {**sums, "layers": list(layers), **more}


def test_the_same_differs_in_nothing():
    one = answer(layer("a", cycles=10), layer("b", cycles=5))
    found = difference(one, one)
    assert found["changed"] == []
    assert all(change["a"] == change["b"] for change in found["totals"])


def test_what_changed_most_comes_first():
    a = answer(layer("a", cycles=60, dram_bytes=100), layer("b", cycles=40, bound_by="MXU"))
    b = answer(layer("a", cycles=54, dram_bytes=20), layer("b", cycles=10))
    changed = difference(a, b)["changed"]
    assert [(change["layer"], change["key"]) for change in changed] == [
        ("a", "dram_bytes"),
        ("b", "cycles"),
        ("b", "bound_by"),
        ("a", "cycles"),
    ]
    assert changed[1]["weight"] == 0.3
    assert (changed[2]["a"], changed[2]["b"]) == ("MXU", "dram")


def test_layers_are_met_by_nodes_then_by_name():
    a = answer(layer("a", "a", "r", cycles=6), layer("b", "b", cycles=3), layer("gone", cycles=1))
    b = answer(layer("x", "a", "r", cycles=7), layer("b", "b", "add", cycles=3), layer("new", cycles=2))
    changed = {(one["layer"], one["key"]): (one["a"], one["b"]) for one in difference(a, b)["changed"]}
    assert changed[("a", "cycles")] == (6, 7)
    assert ("b", "cycles") not in changed
    assert changed[("gone", "cycles")] == (1, None)
    assert changed[("new", "cycles")] == (None, 2)


def test_decisions_and_attributes_of_targets_are_compared():
    graphs = ({"boxes": [{"layer": 0, "notes": {"tile_rows": rows, "fused": rows}}]} for rows in (4, 8))
    a, b = (answer(layer("a", cycles=1), graph=graph) for graph in graphs)
    found = difference(a, b, ({"GBUF.depth": 4, "GBUF.banks": 1}, {"GBUF.depth": 8, "GBUF.banks": 1}))
    assert [(one["key"], one["a"], one["b"]) for one in found["changed"]] == [("tile_rows", 4, 8)]
    assert found["target"] == [{"key": "GBUF.depth", "a": 4, "b": 8}]
