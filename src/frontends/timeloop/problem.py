"""Timeloop's `problem` as a value: a shape (dimensions, projections of data spaces) and the bounds of an instance."""

from __future__ import annotations

from ...costs.hierarchy import Problem, parse_problem
from .document import Item, parse_yaml, refuse

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
    densities = bounds.find("an instance", "densities")
    if densities is not None and densities.mapping("densities"):
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
    listed = shape.find("a shape", "coefficients")
    found: dict[str, int] = {}
    for item in listed.items("coefficients") if listed is not None else ():
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
