"""The answer of `tilewright map --cases`: the best mapping of every case in a file."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from ..costs.hierarchy import Architecture, Problem, mapping_as_json, parse_architecture, parse_problem
from ..costs.json_fields import Json, bad, read_json
from ..errors import TilewrightError
from ..interruption import requested, stop_unless, stoppable
from ..search.mapping.exact import solve
from ..search.mapping.values import Mapped, Objective, Request, Space


def cases_file(
    path: str | Path,
    objective: Objective = "edp",
    time_limit_s: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Json:
    """`{"results": [...]}`, one per entry of the JSON list at `path`: `{arch, problem, bypass_in_space, ...}`.

    An entry's `arch` and `problem` are objects, or names of what a JSON file beside `path` describes under `archs` or
    `problems`.
    `bypass_in_space` and `spatial_dim_split_xy` (default false) say which mappings count; factors are perfect and the
    model is Timeloop's.  `time_limit_s` holds per entry, in processor seconds; equal entries are solved once.
    `progress` is told how many entries of how many are done.  A request to stop leaves out what is not solved.
    """
    where = Path(path)
    entries = read_json(where)
    if not isinstance(entries, list):
        raise bad(str(where), "a list of cases", entries)
    tables = _Tables(where)
    known: dict[tuple[Architecture, Problem, Space], Mapped] = {}
    results: list[Json] = []
    for i, entry in enumerate(entries):
        case = _object(entry, f"{where}[{i}]")
        arch = tables.architecture(case.get("arch"), f"{where}[{i}].arch")
        problem = tables.problem(case.get("problem"), f"{where}[{i}].problem")
        space = Space(_flag(case, "bypass_in_space", where, i), _flag(case, "spatial_dim_split_xy", where, i))
        key = arch, problem, space
        if key not in known:
            with stoppable():
                known[key] = solve(arch, problem, Request(objective, "timeloop", space, time_limit_s=time_limit_s))
        if key not in known:
            break
        results.append({"arch": arch.name, "problem": problem.name} | _answer(arch, problem, known[key]))
        if progress is not None:
            progress(i + 1, len(entries))
        if requested():
            break
    stop_unless(results)
    return {"model": "timeloop", "objective": objective, "factors": "perfect", "results": results}


def _answer(arch: Architecture, problem: Problem, mapped: Mapped) -> Json:
    return {
        "edp_J_cycle": mapped.edp,
        "energy_pJ": mapped.energy,
        "cycles": mapped.cycles,
        "lower_bound": mapped.lower_bound,
        "proven": mapped.proven,
        "evaluated": mapped.evaluated,
        "cpu_s": mapped.cpu_s,
        "mapping": mapping_as_json(arch, problem, mapped.mapping),
    }


class _Tables:
    """Machines and problems by name, from files that are read at the first unknown name."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def architecture(self, value: object, where: str) -> Architecture:
        found = value if isinstance(value, dict) else self._named("archs", _name(value, where), where)
        return parse_architecture(found, where)

    def problem(self, value: object, where: str) -> Problem:
        found = value if isinstance(value, dict) else self._named("problems", _name(value, where), where)
        return parse_problem(found, where)

    def _named(self, section: str, name: str, where: str) -> object:
        for _, document in self._opened:
            table = document.get(section)
            if isinstance(table, dict) and name in table:
                return table[name]
        files = ", ".join(path.name for path, _ in self._opened) or "no reference file"
        raise TilewrightError("parse", where, f"an object, or a name under {section} of a reference", name, files)

    @cached_property
    def _opened(self) -> list[tuple[Path, Json]]:
        found: list[tuple[Path, Json]] = []
        for path in sorted(self._path.parent.glob("*.json")):
            try:
                document = read_json(path)
            except TilewrightError:
                continue
            if isinstance(document, dict) and ("archs" in document or "problems" in document):
                found.append((path, {str(key): value for key, value in document.items()}))
        return found


def _object(value: object, where: str) -> Json:
    if not isinstance(value, dict):
        raise bad(where, "an object", value)
    return {str(key): item for key, item in value.items()}


def _name(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise bad(where, "a name or an object", value)
    return value


def _flag(case: Json, key: str, path: Path, index: int) -> bool:
    value = case.get(key, False)
    if not isinstance(value, bool):
        raise TilewrightError("parse", f"{path}[{index}].{key}", "true or false", str(value))
    return value
