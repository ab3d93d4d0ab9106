"""Files of words: every format of every target's programs, what format a file has, and every complaint."""

import random

import pytest

from tilewright import load_target
from tilewright.backends.assembler import assemble, disassemble
from tilewright.backends.words import DIGITS, read_words, write_words
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import target_files
from tilewright.machine import Machine
from tilewright.machine.encoding import encode

FORMATS = ("binary", *DIGITS)

MACHINES = {name: load_target(name) for name in target_files()}
WITH_WORDS = [name for name, machine in MACHINES.items() if machine.words]


def random_program(machine: Machine, seed: int, length: int = 30) -> bytes:
    """Any instructions with any values that their fields hold."""
    values = random.Random(seed)
    words: list[bytes] = []
    for _ in range(length):
        mnemonic = values.choice(machine.mnemonics)
        enums = {
            item.name: [code for _, code in item.enum] for item in (*machine.header, *mnemonic.fields) if item.enum
        }
        constants = {item.name: item.constant for item in mnemonic.fields if item.constant is not None}
        fields = {
            place.name: values.choice(enums[place.name])
            if place.name in enums
            else values.randint(place.lowest, place.highest)
            for place in machine.words[mnemonic.name].fields[1:]
        }
        words.append(encode(machine, mnemonic.name, fields | constants))
    return b"".join(words)


def test_every_target_with_instructions_is_tried():
    assert {"edge16", "tiny", "genesys16", "dnnweaver", "diannao", "uneven", "cloud128", "cocco_npu"} <= set(WITH_WORDS)


@pytest.mark.parametrize("name", WITH_WORDS)
@pytest.mark.parametrize("seed", range(3))
def test_text_of_any_program_gives_the_program(name: str, seed: int):
    machine = MACHINES[name]
    code = random_program(machine, seed)
    assert assemble(machine, disassemble(machine, code)) == code


@pytest.mark.parametrize("name", WITH_WORDS)
@pytest.mark.parametrize("format_name", FORMATS)
def test_formats_are_told_from_the_content(name: str, format_name: str):
    machine = MACHINES[name]
    code = random_program(machine, 7)
    if format_name == "decimal" and not machine.instruction_bits:
        with pytest.raises(TilewrightError, match="instructions of one length for decimal numbers, found words of"):
            write_words(machine, code, format_name)
    else:
        data = write_words(machine, code, format_name)
        assert read_words(machine, data) == (code, format_name)
        assert read_words(machine, data, format_name) == (code, format_name)


def test_comments_prefixes_and_empty_lines():
    data = b"# two words\n\n 0xB0000001 # the end\r\n90070003\n"
    assert read_words(MACHINES["genesys16"], data) == (bytes.fromhex("b000000190070003"), "hex")


def test_no_words():
    assert read_words(MACHINES["genesys16"], b"") == (b"", "binary")
    assert read_words(MACHINES["genesys16"], b"# nothing\n", "hex") == (b"", "hex")


@pytest.mark.parametrize(
    ("data", "format_name", "message"),
    [
        (b"b0000001\n90g70003\n", "hex", "p:2:1: expected a word in hex, found `90g70003`; say --format"),
        (b"b0000001\n  9007000\n", "hex", "p:2:3: expected 8 digits in hex, found 7 digits"),
        (b"1011\n", "bits", "p:1:1: expected 32 digits in bits, found 4 digits"),
        (b"4294967296\n", "decimal", "p:1:1: expected a number below 2^32, found `4294967296`"),
        (b"9" * 100_000, "decimal", "p:1:1: expected a number below 2^32, found `99999"),
        (b"b0000001\n7f000000\n", "", "p:2:1: expected a known opcode, found `7f000000`"),
        (b"\xff\xfe", "decimal", "p: expected text with a number in decimal a line, found other bytes"),
        (b"\x00\x01", "bits", "p: expected text with a number in bits a line, found other bytes"),
    ],
)
def test_complaints(data: bytes, format_name: str, message: str):
    with pytest.raises(TilewrightError) as error:
        read_words(MACHINES["genesys16"], data, format_name, "p")
    assert message in str(error.value)


@pytest.mark.parametrize("name", ["genesys16", "tiny", "edge16"])
def test_any_bytes_are_read_or_refused(name: str):
    values = random.Random(5)
    machine = MACHINES[name]
    whole = write_words(machine, random_program(machine, 1), "hex")
    for _ in range(60):
        data = bytearray(whole[: values.randrange(len(whole))])
        for _ in range(values.randrange(4)):
            data[values.randrange(len(data)) : values.randrange(len(data) + 1)] = values.randbytes(values.randrange(5))
            data += b"\n"
        try:
            code, found = read_words(machine, bytes(data))
            text = disassemble(machine, code)
        except TilewrightError:
            continue
        assert found in FORMATS
        assert assemble(machine, text) == code
