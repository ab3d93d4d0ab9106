"""Timeloop's files: problem, architecture, energies and mapping, each in a file of its own or together."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ...costs.hierarchy import Architecture, LoopMapping, Problem, parse_problem
from ...errors import TilewrightError
from .architecture import architecture_of_item
from .components import Energies, components_of, energies_of, hollow_levels
from .document import Item, parse_yaml, read_yaml, refuse
from .mapping import mapping_of

LAYER = """
name: cnn_layer
dimensions: [R, S, P, Q, C, K, N]
coefficients:
- {name: Wstride, default: 1}
- {name: Hstride, default: 1}
- {name: Wdilation, default: 1}
- {name: Hdilation, default: 1}
data_spaces:
- {name: Weights, projection: [[[C]], [[K]], [[R]], [[S]]]}
- {name: Inputs, projection: [[[N]], [[C]], [[R, Wdilation], [P, Wstride]], [[S, Hdilation], [Q, Hstride]]]}
- {name: Outputs, projection: [[[N]], [[K]], [[Q]], [[P]]], read_write: true}
"""

PRODUCT = """
name: gemm_ABZ
dimensions: [M, N, K]
data_spaces:
- {name: A, projection: [[[M]], [[K]]]}
- {name: B, projection: [[[N]], [[K]]]}
- {name: Z, projection: [[[M]], [[N]]], read_write: true}
"""

SHAPES = {"cnn_layer": LAYER, "gemm_abz": PRODUCT}
"""Shapes that a problem may name instead of describing one."""


def problem_of(item: Item) -> Problem:
    """The problem in the value of the key `problem`."""
    shape = item.need("a problem", "shape")
    if isinstance(shape.value, str):
        name = shape.text("a shape").replace("-", "_").lower()
        if name not in SHAPES:
            raise shape.error(f"a shape, or the name of one of {', '.join(SHAPES)}", shape.kind())
        shape = parse_yaml(SHAPES[name], name)
    refuse(shape, "a shape", ("flattened_dimensions", "flattened_rankIDs"))
    bounds = item.find("a problem", "instance") or item
    densities = bounds.part("an instance", "densities")
    if densities.mapping("densities"):
        raise densities.error("dense operands: no densities", "some")
    values = {
        name: value.whole(f"the value of {name}")
        for name, value in bounds.mapping("an instance").items()
        if isinstance(value.value, str) and value.value.strip().isdigit()
    }
    dims = shape.need("a shape", "dimensions").names("dimensions")
    for dim in dims:
        if dim not in values:
            raise bounds.error(f"a bound for the dimension {dim}", "none")
    name = shape.find("a shape", "name")
    data = {
        "name": name.text("a name") if name is not None else "problem",
        "dims": {dim: values[dim] for dim in dims},
        "coeffs": _coefficients(shape) | values,
        "tensors": [_tensor(space) for space in shape.need("a shape", "data_spaces").items("data_spaces")],
    }
    return parse_problem(data, item.where)


def _coefficients(shape: Item) -> dict[str, int]:
    found: dict[str, int] = {}
    for item in shape.part("a shape", "coefficients").items("coefficients"):
        name = item.need("a coefficient", "name").text("a name")
        default = item.find("a coefficient", "default")
        found[name] = default.whole(f"the default of {name}") if default is not None else 1
    return found


def _tensor(space: Item) -> dict[str, object]:
    axes = space.need("a data space", "projection").items("a projection")
    written = space.find("a data space", "read_write")
    return {
        "name": space.need("a data space", "name").text("a name"),
        "proj": [[_term(term) for term in axis.items("an axis")] for axis in axes],
        "write": written is not None and written.flag("read_write"),
    }


def _term(term: Item) -> list[object]:
    names = term.names("a term: [dimension] or [dimension, coefficient]")
    return [int(name) if name.isdigit() else name for name in names]


ARCHITECTURES = ("architecture", "arch")
CONSTRAINTS = ("architecture_constraints", "arch_constraints", "mapspace_constraints")


@dataclass(frozen=True)
class TimeloopInput:
    """What the files said; None for what they did not."""

    problem: Problem | None
    architecture: Architecture | None
    mapping: LoopMapping | None


def load_timeloop(*paths: str | Path, machine: Architecture | None = None) -> TimeloopInput:
    """The input in files that `timeloop-model` would take together, on `machine` rather than theirs if one is given.

    Raises `TilewrightError` (kind `parse`, or `unsupported` for what these values cannot say) at a file and line.
    """
    return _read([read_yaml(Path(path)) for path in paths], machine)


def parse_timeloop(*texts: str, machine: Architecture | None = None) -> TimeloopInput:
    """`load_timeloop` on the content of files."""
    return _read([parse_yaml(text, f"yaml {number}") for number, text in enumerate(texts, 1)], machine)


def load_problem(path: str | Path) -> Problem:
    """The problem in a file; `TilewrightError` if there is none."""
    problem = load_timeloop(path).problem
    if problem is None:
        raise TilewrightError("parse", str(path), "a Timeloop problem", "no key `problem`")
    return problem


def load_architecture(*paths: str | Path) -> Architecture:
    """The machine in files; `TilewrightError` if there is none."""
    machine = load_timeloop(*paths).architecture
    if machine is None:
        expected = f"a Timeloop {' or '.join(ARCHITECTURES)}"
        raise TilewrightError("parse", str(paths[0]) if paths else "no file", expected, "no such key")
    return machine


def _read(documents: list[Item], machine: Architecture | None) -> TimeloopInput:
    found: dict[str, Item] = {}
    for document in documents:
        for key, item in document.mapping("a Timeloop file").items():
            if key in found:
                raise item.error(f"one {key}", f"a second one after {found[key].where}")
            found[key] = item
    problem = problem_of(found["problem"]) if "problem" in found else None
    item = next((found[key] for key in ARCHITECTURES if key in found), None)
    if machine is None and item is not None:
        energies: Energies = energies_of(found["ERT"]) if "ERT" in found else {}
        directives = [item for key in CONSTRAINTS if key in found for item in _directives(found[key])]
        machine = architecture_of_item(item, energies, problem, directives)
    if "mapping" not in found or problem is None or machine is None:
        return TimeloopInput(problem, machine, None)
    hollow = hollow_levels(components_of(item)) if item is not None else {}
    return TimeloopInput(problem, machine, mapping_of(found["mapping"], machine, problem, hollow))


def _directives(item: Item) -> Iterable[Item]:
    """Constraints are a list, or a list under `targets` or `constraints`."""
    if isinstance(item.value, dict):
        item = item.part("constraints", "targets", "constraints")
    return item.items("constraints")
