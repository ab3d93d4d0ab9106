"""Tensors in the memories of a machine: those that a caller gives, and weights."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ...algebra.element import Array, of_type
from ...arrays import release_pages
from ...errors import InfeasibleError, TilewrightError
from ..control_models import Inputs
from .memory import Storage

if TYPE_CHECKING:
    from ...machine.tensor_placement import TensorPlacement
    from ..program import Program


def offchip_storage(program: Program, reach: int, most_bytes: int, inputs: Inputs, functional: bool) -> Storage:
    """The one memory off chip, as far as tensors and transfers (`reach`) do, with the tensors that are given.

    `TilewrightError` where the machine has not one such memory, or that or the host has no room.
    """
    offchip = [memory for memory in program.machine.memories if memory.offchip]
    if len(offchip) != 1:
        raise TilewrightError("target", program.machine.name, "one memory off chip", f"{len(offchip)}")
    reach = max([reach, *(t.address + t.size_bytes for t in program.tensors)])
    if reach > (most := min(offchip[0].capacity_bytes, most_bytes)):
        raise InfeasibleError("host memory", reach, most, "bytes", "use lower addresses", offchip[0].name)
    storage = Storage(offchip[0], reach, functional)
    place_tensors(program, inputs, [storage], functional)
    return storage


def place_tensors(program: Program, inputs: Inputs, storages: list[Storage], functional: bool = True) -> None:
    """Puts inputs and weights into memory; `TilewrightError` where one is missing, unknown or of another shape."""
    by_name = {storage.name: storage for storage in storages}
    given = [tensor for tensor in program.tensors if tensor.role in ("input", "weight")]
    _check_names(given, inputs)
    _check_apart(given)
    for tensor in given:
        array = _value(program, tensor, inputs) if functional else None
        if array is not None and tensor.layout is not None:
            array = tensor.layout.pack(array)
        by_name[tensor.memory].place(tensor.address, array, tensor.size_bytes)
        if array is not None:
            release_pages(array)


def given_inputs(program: Program, inputs: Inputs) -> dict[str, Array]:
    """The inputs as arrays; `TilewrightError` where one is missing, unknown or of another shape."""
    tensors = [tensor for tensor in program.tensors if tensor.role == "input"]
    _check_names(tensors, inputs)
    return {tensor.name: _value(program, tensor, inputs) for tensor in tensors}


def _check_names(tensors: Sequence[TensorPlacement], inputs: Inputs) -> None:
    unknown = [name for name in inputs if all(tensor.name != name for tensor in tensors)]
    if unknown:
        names = ", ".join(tensor.name for tensor in tensors if tensor.role == "input")
        raise TilewrightError("inputs", unknown[0], f"inputs named {names}", f"`{unknown[0]}`")


def _check_apart(given: Sequence[TensorPlacement]) -> None:
    """Tensors that hold values from the beginning lie apart."""
    ordered = sorted((t for t in given if t.size_bytes), key=lambda t: (t.memory, t.address))
    for left, right in pairwise(ordered):
        if left.memory == right.memory and left.address + left.size_bytes > right.address:
            expected = f"inputs and weights apart from each other in {left.memory}"
            raise TilewrightError("program", right.name, expected, f"bytes shared with {left.name}")


def _value(program: Program, tensor: TensorPlacement, inputs: Inputs) -> Array:
    is_input = tensor.role == "input"
    if tensor.name not in (inputs if is_input else program.constants):
        raise TilewrightError("inputs", tensor.name, f"an array for the {tensor.role}", "none")
    dtype = np.dtype(tensor.dtype)
    try:
        stored = np.asarray(inputs[tensor.name]) if is_input else program.constants.as_stored(tensor.name)
    except ValueError as error:  # rows of several lengths
        raise TilewrightError("inputs", tensor.name, f"an array of shape {tuple(tensor.shape)}", f"{error}") from error
    array = of_type(stored, dtype)
    if array.dtype == np.bool_ and dtype == np.uint8:
        array = array.astype(np.uint8)
    if array.shape != tuple(tensor.shape) or array.dtype != dtype:
        expected = f"{dtype} of shape {tuple(tensor.shape)}"
        raise TilewrightError("inputs", tensor.name, expected, f"{array.dtype} of shape {array.shape}")
    return array
