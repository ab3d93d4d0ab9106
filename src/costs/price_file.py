"""The answer of `tilewright price`: every mapping of a file, priced."""

from collections.abc import Callable
from pathlib import Path

from .hierarchy.parse import parse_architecture, parse_mapping, parse_problem
from .hierarchy.values import Architecture, Problem
from .json_fields import Json, bad, list_of, object_of, read_json, text
from .model import check_model, evaluate_with, factors_refused

FindTarget = Callable[[str], Architecture | None]
"""Looks up a machine that the compiler knows by name."""

SECTIONS = ("random_mappings", "link_transfer_mappings")
"""Where a file lists its mappings, in the order of the answer."""


def price_file(path: str | Path, model: str = "exact", find_target: FindTarget | None = None) -> Json:
    """`{"results": [...]}`, one per mapping of the JSON file at `path`, in order.

    The file holds `archs` and `problems` by name and lists of `{arch, problem, mapping}`, where `arch` and `problem`
    are names or the objects themselves.  A problem that the file does not list is Timeloop's built-in `cnn-layer` (unit
    stride and dilation), its bounds the products of the mapping's factors.  A name that `find_target` knows means that
    machine rather than the file's.  A mapping whose factors do not cover the bounds (for `model` timeloop: do not
    multiply to them) has no prices.
    """
    check_model(model)
    return price_document(read_json(Path(path)), str(path), model, find_target)


def price_document(
    data: object, where: str = "file", model: str = "exact", find_target: FindTarget | None = None
) -> Json:
    """`price_file` on the parsed content of a file."""
    document = object_of(data, where)
    if not any(section in document for section in SECTIONS):
        raise bad(where, f"a list {' or '.join(SECTIONS)}", f"keys {', '.join(document)}" if document else "no keys")
    tables = _Tables(document, where, find_target)
    results: list[Json] = []
    for section in SECTIONS:
        for i, entry in enumerate(list_of(document.get(section, []), f"{where}: {section}")):
            results.append(_price_entry(object_of(entry, f"{section}[{i}]"), tables, model, f"{where}: {section}[{i}]"))
    return {"model": model, "results": results}


class _Tables:
    """The machines and problems of a file, parsed at first use."""

    def __init__(self, document: Json, where: str, find_target: FindTarget | None) -> None:
        self._where = where
        self._find_target = find_target
        self._archs = object_of(document.get("archs", {}), f"{where}: archs")
        self._problems = object_of(document.get("problems", {}), f"{where}: problems")
        self._parsed: dict[str, Architecture] = {}
        self._known: dict[str, Problem] = {}

    def architecture(self, entry: Json, where: str) -> Architecture:
        if isinstance(entry.get("arch"), dict):
            return parse_architecture(entry["arch"], f"{where}.arch")
        name = text(entry, "arch", where)
        if name not in self._parsed:
            self._parsed[name] = self._named(name, where)
        return self._parsed[name]

    def _named(self, name: str, where: str) -> Architecture:
        target = None if self._find_target is None else self._find_target(name)
        if target is not None:
            return target
        if name not in self._archs:
            raise bad(f"{where}.arch", f"one of the file's archs ({', '.join(self._archs)})", name)
        return parse_architecture(self._archs[name], f"{self._where}: archs.{name}")

    def problem(self, entry: Json, where: str) -> Problem:
        if isinstance(entry.get("problem"), dict):
            return parse_problem(entry["problem"], f"{where}.problem")
        name = text(entry, "problem", where)
        if name not in self._problems:
            return _built_in_layer(name, entry, where, ", ".join(self._problems))
        if name not in self._known:
            self._known[name] = parse_problem(self._problems[name], f"{self._where}: problems.{name}")
        return self._known[name]


def _price_entry(entry: Json, tables: _Tables, model: str, where: str) -> Json:
    arch = tables.architecture(entry, where)
    problem = tables.problem(entry, where)
    mapping = parse_mapping(entry.get("mapping"), arch, problem, f"{where}.mapping")
    names: Json = {"arch": arch.name, "problem": problem.name}
    wrong = factors_refused(model, problem, mapping)
    if not wrong:
        return names | evaluate_with(model, arch, problem, mapping).as_json()
    unpriced: Json = {"cycles": None, "energy_pj": None, "energy_pJ": None, "levels": {}}
    return names | {"valid": False, "violations": [v.as_json() for v in wrong]} | unpriced


LAYER_DIMS = ("N", "K", "C", "P", "Q", "R", "S")


def _built_in_layer(name: str, entry: Json, where: str, listed: str) -> Problem:
    def axes(*terms: str) -> list[list[list[str]]]:
        return [[[dim] for dim in term] for term in terms]

    bounds = {dim: 1 for dim in LAYER_DIMS}
    for i, item in enumerate(list_of(entry.get("mapping"), f"{where}.mapping")):
        for dim, factor in _factors(object_of(item, f"{where}.mapping[{i}]")):
            if dim not in bounds:
                raise bad(f"{where}.problem", f"one of the file's problems ({listed}), or a cnn-layer", name)
            bounds[dim] *= factor if isinstance(factor, int) else 1
    tensors = [
        {"name": "Weights", "proj": axes("C", "K", "R", "S")},
        {"name": "Inputs", "proj": axes("N", "C", "RP", "SQ")},
        {"name": "Outputs", "proj": axes("N", "K", "Q", "P"), "write": True},
    ]
    return parse_problem({"name": name, "dims": bounds, "tensors": tensors}, f"{where}.problem")


def _factors(level: Json) -> list[tuple[str, object]]:
    pairs = list(object_of(level.get("temporal") or {}, "temporal").items())
    for key in ("spatial_x", "spatial_y"):
        for item in list_of(level.get(key) or [], key):
            pair = list_of(item, key)
            if len(pair) == 2:
                pairs.append((str(pair[0]), pair[1]))
    return pairs
