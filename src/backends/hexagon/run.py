"""A packet program through llvm-mc, ld.lld and qemu-hexagon.

The program around a kernel: reads memory from standard input, counts, calls, writes counts and memory.

Traps of the machine are met here: 128-byte alignment, short reads and writes, counters that llvm-mc does not know by
name (C20 counts packets, C21 instructions), registers that a kernel may use.  The kernel gets the memory's address in
r0 and may change all registers but r29 (the stack) and r31.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...algebra.element import Array
from ...errors import TilewrightError
from ...machine.packet_program import PacketProgram
from ...machine.packet_storage import initial_memory, outputs_of

PACKETS_OF_CALL = 4
"""Packets between the two readings of the counter that are not the kernel's: reading, storing, call, return."""

STUB = """\
    .text
    .globl _start
    .p2align 5
_start:
    {{ r29 = and(r29,#-128) }}
    {{ r16 = ##memory; r17 = ##{read_bytes} }}
.Lread:
    {{ p0 = cmp.eq(r17,#0); if (p0.new) jump:nt ##.Lrun }}
    {{ r0 = #0; r1 = r16; r2 = r17; r6 = #63 }}
    {{ trap0(#1) }}
    {{ p0 = cmp.gt(r0,#0); if (!p0.new) jump:nt ##.Lfail }}
    {{ r16 = add(r16,r0); r17 = sub(r17,r0); jump ##.Lread }}
.Lrun:
    {{ r0 = ##memory }}
    {{ r3 = ##counts }}
    .word 0x6a15c000|2
    {{ memw(r3+#12) = r2 }}
    .word 0x6a14c000|1
    {{ memw(r3+#8) = r1 }}
    {{ call ##kernel }}
    .word 0x6a14c000|1
    .word 0x6a15c000|2
    {{ r3 = ##counts }}
    {{ r4 = memw(r3+#8); r5 = memw(r3+#12) }}
    {{ r1 = sub(r1,r4); r2 = sub(r2,r5) }}
    {{ memw(r3+#0) = r1 }}
    {{ memw(r3+#4) = r2 }}
    {{ r16 = ##counts; r17 = #8 }}
    {{ r18 = ##.Lmemory }}
    {{ jump ##.Lwrite }}
.Lmemory:
    {{ r16 = ##memory+{write_from}; r17 = ##{write_bytes} }}
    {{ r18 = ##.Lexit }}
.Lwrite:
    {{ p0 = cmp.eq(r17,#0); if (!p0.new) jump:t ##.Lmore }}
    {{ jumpr r18 }}
.Lmore:
    {{ r0 = #1; r1 = r16; r2 = r17; r6 = #64 }}
    {{ trap0(#1) }}
    {{ p0 = cmp.gt(r0,#0); if (!p0.new) jump:nt ##.Lfail }}
    {{ r16 = add(r16,r0); r17 = sub(r17,r0); jump ##.Lwrite }}
.Lexit:
    {{ r0 = #0; r6 = #93 }}
    {{ trap0(#1) }}
.Lfail:
    {{ r0 = #1; r6 = #93 }}
    {{ trap0(#1) }}
    .p2align 5
kernel:
{kernel}    {{ jumpr r31 }}
    .bss
    .p2align 7
counts:
    .space 128
memory:
    .space {memory_bytes}
"""


def whole_program(kernel: str, memory_bytes: int, read_bytes: int, write_from: int, write_bytes: int) -> str:
    """Assembly text of a program that takes `read_bytes` of memory and gives `write_bytes` from `write_from` on."""
    return STUB.format(
        kernel=kernel, memory_bytes=memory_bytes, read_bytes=read_bytes, write_from=write_from, write_bytes=write_bytes
    )


TOOLS = ("llvm-mc", "ld.lld", "qemu-hexagon")
ASSEMBLE = ("-arch=hexagon", "-mcpu=hexagonv66", "-mattr=+hvxv66,+hvx-length128b", "-filetype=obj")
SECONDS = 600


@dataclass(frozen=True)
class QemuResult:
    """Outputs by name, and what qemu's own counters say of the kernel."""

    outputs: dict[str, Array]
    packets: int
    instructions: int


def missing_tools() -> list[str]:
    """The tools that are not installed."""
    return [tool for tool in TOOLS if shutil.which(tool) is None]


def run_program(
    kernel: str, program: PacketProgram, inputs: Mapping[str, Array], objects: Sequence[Path] = ()
) -> QemuResult:
    """Assembles `kernel` (the program's text), links it with what it needs, and runs it on the inputs' bytes.

    `objects` are object files that the kernel calls into.

    `TilewrightError` (kind `tool`) where a tool is missing or refuses.
    """
    if missing := missing_tools():
        raise TilewrightError("tool", missing[0], "an installed tool", "none", "apt-get install lld llvm qemu-user")
    read, first, last = _extent(program)
    memory = initial_memory(program, inputs)
    with tempfile.TemporaryDirectory() as name:
        elf = link(_whole(kernel, program), Path(name), objects)
        written = _call(["qemu-hexagon", str(elf)], memory[:read].tobytes())
    counts = np.frombuffer(written[:8], np.uint32)
    memory[first:last] = np.frombuffer(written[8:], np.uint8)
    packets = int(counts[0]) - PACKETS_OF_CALL
    return QemuResult(outputs_of(program, memory), packets, int(counts[1]))


def linked_bytes(kernel: str, program: PacketProgram) -> bytes:
    """The whole program as an ELF file's bytes."""
    with tempfile.TemporaryDirectory() as name:
        return link(_whole(kernel, program), Path(name)).read_bytes()


def _whole(kernel: str, program: PacketProgram) -> str:
    read, first, last = _extent(program)
    return whole_program(kernel, program.memory_bytes, read, first, last - first)


def link(text: str, folder: Path, objects: Sequence[Path] = ()) -> Path:
    """The ELF file of an assembly text, with object files."""
    source, object_file, elf = folder / "program.s", folder / "program.o", folder / "program"
    source.write_text(text)
    _call(["llvm-mc", *ASSEMBLE, str(source), "-o", str(object_file)])
    _call(["ld.lld", "-e", "_start", str(object_file), *map(str, objects), "-o", str(elf)])
    return elf


def _extent(program: PacketProgram) -> tuple[int, int, int]:
    """Bytes to read at the start, and where the outputs begin and end."""
    inputs = [t.address + t.size_bytes for t in program.stored if t.role == "input"]
    inputs += [address + len(data) for address, data in program.images]
    outputs = [t for t in program.stored if t.role == "output"]
    first, last = min(t.address for t in outputs), max(t.address + t.size_bytes for t in outputs)
    return max(inputs, default=0), first, last


def _call(command: Sequence[str], data: bytes = b"") -> bytes:
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise TilewrightError("tool", command[0], f"an end within {SECONDS} s", "none") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise TilewrightError("tool", command[0], "success", "; ".join(said[:3]) or f"exit status {done.returncode}")
    return done.stdout
