"""Records what LiteRT's interpreter gives for the TFLite models of the tests, which read the file.

`pip install ai-edge-litert tflite`, then `python bench/record_tflite.py`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "test"))

from tflite_files.recorded import FILE, MODELS, seeded_input


def interpret(name: str, data: bytes) -> list[Any]:
    """The outputs of LiteRT's interpreter, with the kernels that it takes by default."""
    from ai_edge_litert.interpreter import Interpreter  # pyright: ignore[reportMissingImports]

    interpreter = Interpreter(model_content=data)
    interpreter.allocate_tensors()
    for position, detail in enumerate(interpreter.get_input_details()):
        given = seeded_input(name, position, tuple(np.asarray(detail["shape"]).tolist()), detail["dtype"])
        interpreter.set_tensor(detail["index"], given)
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]


def main() -> None:
    """Write the file."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    arrays: dict[str, Any] = {}
    for name, build in MODELS.items():
        arrays |= {f"{name}:{i}": output for i, output in enumerate(interpret(name, build()))}
    FILE.parent.mkdir(exist_ok=True)
    np.savez_compressed(FILE, **arrays)


if __name__ == "__main__":
    main()
