"""Programs that others made: assembled, disassembled, and run on an image of the memory off chip.

An image is a compiled program for other simulators and hardware: `image.bin` is the memory off chip with weights in
place and inputs of 0, `instructions.bin` the words one after another, `micro_ops.bin` the lists of micro-ops of
machines that have them; `addresses.json` says where tensors lie.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np

from ..algebra.element import Array
from ..arrays import read_arrays, write_arrays
from ..backends.assembler import assemble, disassemble
from ..backends.program import Program, check_tensors
from ..backends.simulator.memory import Storage
from ..backends.simulator.placing import place_tensors
from ..backends.words import MAX_INSTRUCTIONS, most_bytes, read_words, write_words
from ..errors import TilewrightError
from ..files import make_folder, write_file
from ..machine import Machine, Memory
from ..machine.tensor_placement import TensorPlacement
from ..resources import Resources

MAX_TEXT_BYTES = 1 << 28
MAX_IMAGE_BYTES = 1 << 32
CHUNK = 1 << 20
LLVM = "their text is LLVM's: llvm-mc assembles it, llvm-objdump prints it (docs/programs.md)"
NUMBER = r"0[xX][0-9a-fA-F]{1,16}|[0-9]{1,19}"
NAMED_ADDRESS = re.compile(rf"(?:(?P<name>.*)@)?(?P<address>{NUMBER})")
RANGE = re.compile(rf"(?P<name>[^=:]+)=(?P<address>{NUMBER}):(?P<dtype>\w+):(?P<shape>\d+(?:x\d+)*)")


@dataclass(frozen=True)
class BinaryFile:
    """A program's bytes and the format of the file that held them."""

    machine: Machine
    code: bytes
    format_name: str


def check_words(machine: Machine) -> None:
    """Refuses machines without instruction words of their own."""
    if machine.packets is not None:
        raise TilewrightError("target", machine.name, "a target with instruction words", "packets", LLVM)
    if not machine.words:
        raise TilewrightError("target", machine.name, "a target with instructions", "none", "see `tilewright targets`")


def read_bytes(path: Path, most: int, what: str) -> bytes:
    """A file's bytes; `TilewrightError` (kind `file`) for one that cannot be read or is longer than `most`."""
    try:
        with path.open("rb") as stream:
            data = stream.read(most + 1)
    except OSError as error:
        raise TilewrightError("file", str(path), f"a file with {what}", error.strerror or "another error") from None
    if len(data) > most:
        raise TilewrightError("file", str(path), f"at most {most} bytes of {what}", "more")
    return data


def read_binary(path: Path, machine: Machine, format_name: str = "") -> BinaryFile:
    """A program of others; its format is told from the content where none is given."""
    check_words(machine)
    data = read_bytes(path, 10 * most_bytes(machine), "a program")
    code, found = read_words(machine, data, format_name, str(path))
    if len(code) > most_bytes(machine):
        raise TilewrightError(
            "file", str(path), f"a program of at most {MAX_INSTRUCTIONS} instructions", "a longer one"
        )
    return BinaryFile(machine, code, found)


def assemble_file(path: Path, machine: Machine, output: Path, format_name: str) -> bytes:
    """Assembles the text of a file, and writes the program in a format; its bytes."""
    check_words(machine)
    data = read_bytes(path, MAX_TEXT_BYTES, "assembly text")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TilewrightError("file", f"{path}:{line}", "assembly text in UTF-8", "other bytes") from None
    code = assemble(machine, text, str(path))
    output.write_bytes(write_words(machine, code, format_name))
    return code


def disassemble_file(path: Path, machine: Machine, format_name: str = "") -> tuple[BinaryFile, str]:
    """A program of others, and its assembly text."""
    binary = read_binary(path, machine, format_name)
    try:
        return binary, disassemble(machine, binary.code)
    except TilewrightError as error:
        raise _of_file(path, binary, error) from None


def _of_file(path: Path, binary: BinaryFile, error: TilewrightError) -> TilewrightError:
    """The error, with the file's name where it is about the program's words."""
    if error.kind != "program":
        return error
    subject = f"{path} ({error.subject}, read as {binary.format_name})"
    lever = error.lever or "see --format, --target"
    return TilewrightError(error.kind, subject, error.expected, error.found, lever)


def parse_range(text: str, memory: Memory) -> TensorPlacement:
    """What `NAME=ADDRESS:TYPE:SHAPE` says, e.g. `y=0x400000:int32:12x12x64`."""
    match = RANGE.fullmatch(text)
    dtype = _dtype(match["dtype"]) if match else None
    if match is None or dtype is None or len(match["shape"]) > 200:
        expected = "NAME=ADDRESS:TYPE:SHAPE such as y=0x400:int32:12x64"
        raise TilewrightError("usage", "--read", expected, f"`{text[:120]}`")
    shape = tuple(int(n) for n in match["shape"].split("x"))
    return TensorPlacement(match["name"], "output", dtype.name, shape, memory.name, int(match["address"], 0))


def _dtype(name: str) -> np.dtype[Any] | None:
    """A NumPy type of numbers; None for other names."""
    try:
        dtype = np.dtype(name)
    except TypeError:
        return None
    return dtype if dtype.kind in "iufb" else None


def image_pieces(path: Path, memory: Memory) -> dict[str, tuple[int, Array]]:
    """What an image holds, by name: an address and bytes.

    In an `.npz` file each array is named by its address, or `NAME@ADDRESS`; any other file is bytes from address 0 on.
    """
    most, what = min(memory.capacity_bytes, MAX_IMAGE_BYTES), f"{memory.name}'s bytes"
    if path.suffix != ".npz":
        return {path.name: (0, np.frombuffer(read_bytes(path, most, what), np.uint8))}
    if _unpacked_bytes(path) > most:
        raise TilewrightError("file", str(path), f"at most {most} bytes of {what}", "more in its arrays")
    pieces: dict[str, tuple[int, Array]] = {}
    for name, array in read_arrays(path).items():
        match = NAMED_ADDRESS.fullmatch(name)
        if match is None or array.dtype.kind not in "iufb":
            found = f"`{name[:80]}` of {array.dtype}"
            raise TilewrightError("inputs", str(path), "arrays of numbers named by addresses, as x@0x100", found)
        pieces[name] = int(match["address"], 0), np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return pieces


def _unpacked_bytes(path: Path) -> int:
    """What the parts of a zip file say of their length; 0 for another file."""
    try:
        with ZipFile(path) as archive:
            return sum(item.file_size for item in archive.infolist())
    except (OSError, BadZipFile, NotImplementedError):  # the last of a version to come
        return 0


def program_on_image(
    binary: BinaryFile, pieces: Mapping[str, tuple[int, Array]], ranges: Sequence[str]
) -> tuple[Program, dict[str, Array]]:
    """A program whose inputs are the pieces of an image and whose outputs are ranges, with those inputs."""
    memory = offchip(binary.machine)
    inputs = [
        TensorPlacement(name, "input", "uint8", data.shape, memory.name, address)
        for name, (address, data) in pieces.items()
    ]
    outputs = [parse_range(text, memory) for text in ranges]
    names = [tensor.name for tensor in (*inputs, *outputs)]
    for name in names:
        if names.count(name) > 1:
            raise TilewrightError("usage", "--read", "different names of ranges and pieces of the image", f"`{name}`")
    check_tensors(binary.machine, (*inputs, *outputs))
    program = Program(binary.machine, binary.code, (*inputs, *outputs), Resources())
    return program, {name: data for name, (_, data) in pieces.items()}


def offchip(machine: Machine) -> Memory:
    """The one memory off chip."""
    found = [memory for memory in machine.memories if memory.offchip]
    if len(found) != 1:
        raise TilewrightError("target", machine.name, "one memory off chip for an image", str(len(found)))
    return found[0]


def write_image(path: Path, data: Array) -> None:
    """Writes bytes; long runs of zeros take no room on disk."""
    with path.open("wb") as stream:
        for start in range(0, len(data), CHUNK):
            chunk = data[start : start + CHUNK]
            if chunk.any():
                stream.seek(start)
                stream.write(chunk.tobytes())
        stream.truncate(len(data))


def run_binary(
    path: Path, machine: Machine, image: Path, ranges: Sequence[str], folder: Path, format_name: str, trace: bool
) -> dict[str, Any]:
    """The answer of `tilewright run --binary`: writes `image.bin`, `outputs.npz` and `trace.json` to `folder`.

    `image.bin` is the memory off chip after the run, as far as the program, the image and the ranges reach.
    """
    from ..backends.simulator import simulate

    binary = read_binary(path, machine, format_name)
    program, inputs = program_on_image(binary, image_pieces(image, offchip(machine)), ranges)
    folder.mkdir(parents=True, exist_ok=True)
    written = folder / "trace.json" if trace else None
    try:
        result = simulate(program, inputs, trace=written)
    except TilewrightError as error:
        raise _of_file(path, binary, error) from None
    storage = result.storages[offchip(machine).name]
    write_image(folder / "image.bin", storage.data[: storage.size_bytes])
    write_arrays(folder / "outputs.npz", result.outputs)
    return {
        **result.as_dict(),
        "format": binary.format_name,
        "image": str(folder / "image.bin"),
        "outputs": str(folder / "outputs.npz"),
        "trace": str(written) if written is not None else None,
    }


MICRO_OPS = ".micro_ops"
"""How the names of weights that are micro-ops end."""


def write_program_image(program: Program, folder: Path, inputs: dict[str, Array] | None = None) -> dict[str, Any]:
    """Writes the four files into `folder`, which is made; `addresses.json`'s content.

    `inputs` are put in their places; those that are not given are 0.
    """
    check_words(program.machine)
    memory = offchip(program.machine)
    given = {t.name: np.zeros(t.shape, t.dtype) for t in program.tensors if t.role == "input"} | (inputs or {})
    reach = max((tensor.address + tensor.size_bytes for tensor in program.tensors), default=0)
    storage = Storage(memory, reach, True)
    place_tensors(program, given, [storage])
    make_folder(folder)
    write_image(folder / "image.bin", storage.data[:reach])
    (folder / "instructions.bin").write_bytes(program.code)
    lists = [tensor for tensor in program.tensors if tensor.role == "weight" and tensor.name.endswith(MICRO_OPS)]
    (folder / "micro_ops.bin").write_bytes(b"".join(program.constants[tensor.name].tobytes() for tensor in lists))
    table = {
        "machine": program.machine.name,
        "memory": memory.name,
        "image_bytes": reach,
        "instructions": program.instruction_count,
        "instruction_bytes": len(program.code) // max(program.instruction_count, 1),
        "micro_ops": [{"name": t.name, "address": t.address, "bytes": t.size_bytes} for t in lists],
        "tensors": [{**asdict(tensor), "size_bytes": tensor.size_bytes} for tensor in program.tensors],
    }
    write_file(folder / "addresses.json", json.dumps(table, indent=1))
    return table
