"""The program around a kernel: reads memory from standard input, counts, calls, writes counts and memory.

Traps of the machine are met here: 128-byte alignment, short reads and writes, counters that llvm-mc does not know by
name (C20 counts packets, C21 instructions), registers that a kernel may use.  The kernel gets the memory's address in
r0 and may change all registers but r29 (the stack) and r31.
"""

from __future__ import annotations

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
        kernel=kernel,
        memory_bytes=memory_bytes,
        read_bytes=read_bytes,
        write_from=write_from,
        write_bytes=write_bytes,
    )
