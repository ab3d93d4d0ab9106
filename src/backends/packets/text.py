"""A program of packets as assembly text."""

from collections.abc import Iterator

from ...machine.packet_program import Code, Instruction, Isa, Loop, Packet


def assembly(isa: Isa, code: Code) -> str:
    """One line a packet, a label before each loop."""
    return "".join(f"{line}\n" for line in _lines(isa, code, ""))


def _lines(isa: Isa, code: Code, suffix: str) -> Iterator[str]:
    for i, item in enumerate(code):
        end = suffix if i == len(code) - 1 else ""
        if isinstance(item, Loop):
            yield f".L{item.label}:"
            yield from _lines(isa, item.body, item.suffix)
            if item.end is not None:
                yield packet_text(isa, (item.end,))
        else:
            yield packet_text(isa, item) + end


def packet_text(isa: Isa, packet: Packet) -> str:
    """`{ first; second }`; an empty packet waits."""
    return "{ " + "; ".join(instruction_text(isa, item) for item in packet) + " }" if packet else "{ nop }"


def instruction_text(isa: Isa, instruction: Instruction) -> str:
    """The mnemonic's text with registers and numbers in it."""
    mnemonic = isa.mnemonics[instruction.mnemonic]
    words: dict[str, object] = dict(instruction.values)
    for name, file in mnemonic.registers:
        words[name] = isa.register_text(file, instruction.value(name))
    return mnemonic.syntax.format(label=f".L{instruction.label}", **words)
