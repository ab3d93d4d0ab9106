"""Front ends for MLIR text of other compilers: StableHLO and linalg on tensors, both to the graph dialect."""

import re

from xdsl.dialects.builtin import ModuleOp

from ..input_shapes import InputShapes
from ..mlir_text import check_strings

_DIALECTS = r"(?:stablehlo|chlo|linalg|tensor)"
_FOREIGN = re.compile(rf'(?:^|=)[ \t]*(?:{_DIALECTS}\.\w|"{_DIALECTS}\.\w+"\()', re.MULTILINE)


def is_foreign(text: str) -> bool:
    """Whether a text has operations of StableHLO or linalg."""
    return _FOREIGN.search(text) is not None


def import_mlir(text: str, name: str = "MLIR text", shapes: InputShapes | None = None) -> ModuleOp:
    """The function `@main` in the graph dialect that computes what the function of a text computes.

    The text is StableHLO as JAX prints it or linalg on tensors as torch-mlir and IREE print it.  Raises
    `TilewrightError` for what cannot be imported, naming the operation and its line.
    """
    from . import linalg, scalars, stablehlo
    from .importer import import_source
    from .reader import read_source

    check_strings(text, name)
    converters = {
        **dict.fromkeys(("stablehlo", "chlo"), stablehlo.convert),
        **dict.fromkeys(("arith", "math"), scalars.convert),
        **{"linalg": linalg.convert, "tensor": linalg.convert_tensor},
    }
    return import_source(read_source(text, name), converters, shapes or InputShapes())
