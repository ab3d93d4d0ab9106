"""Names that nothing else has, and those of a function's inputs and outputs."""

from collections.abc import Collection

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.dialects.func import FuncOp

from ..errors import TilewrightError


def unique_name(name: str, taken: Collection[str], separator: str = ".") -> str:
    """`name`, or the first of `name.1`, `name.2`, ... that is not among `taken`."""
    candidate, number = name, 0
    while candidate in taken:
        number += 1
        candidate = f"{name}{separator}{number}"
    return candidate


def take_name(name: str, taken: set[str], separator: str = ".") -> str:
    """A name as `unique_name` has it, which is among `taken` from then on."""
    found = unique_name(name, taken, separator)
    taken.add(found)
    return found


def value_names(function: FuncOp, attribute: str) -> list[str]:
    """Names of the function's inputs or outputs; made up where it has none."""
    inputs = attribute == "graph.inputs"
    count = len(function.function_type.inputs if inputs else function.function_type.outputs)
    names = function.attributes.get(attribute)
    if not isinstance(names, ArrayAttr):
        return [f"{'arg' if inputs else 'result'}{i}" for i in range(count)]
    given = [name.data for name in names if isinstance(name, StringAttr)]
    if len(given) != count or len(set(given)) != count:
        raise TilewrightError("ir", attribute, f"{count} different strings", str(names))
    return given
