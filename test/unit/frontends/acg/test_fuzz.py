"""No text makes the front end fail otherwise than by a `TilewrightError`; what it accepts survives every round trip."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException

from tilewright.dialects.acg import machine_of
from tilewright.driver import make_context
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import load_target, parse_module, parse_target, print_target, target_files

TINY, SIMBA = (re.sub("#.*", "", target_files()[name].read_text()) for name in ("tiny", "simba_like_dbw"))
TOKEN = re.compile(r"[A-Za-z_]\w*|[0-9]+(?:\.[0-9]+)?|<->|->|<=|[+]=|\S")
TOKENS, MAPPED = TOKEN.findall(TINY), TOKEN.findall(SIMBA)
ODD = [
    "0",
    "-1",
    "1e9",
    "9" * 30,
    "{",
    "}",
    ";",
    "[",
    "]",
    "inf",
    "lanes",
    "at 3",
    "#",
    "\0",
    "é",
    "(" * 300,
    "0x",
    ".",
]


@st.composite
def edited(draw: st.DrawFn, tokens: list[str]) -> str:
    """The text with a few tokens left out, doubled, swapped or replaced."""
    tokens = list(tokens)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(tokens) - 2))
        match draw(st.integers(0, 3)):
            case 0:
                del tokens[at]
            case 1:
                tokens.insert(at, tokens[at])
            case 2:
                tokens[at], tokens[at + 1] = tokens[at + 1], tokens[at]
            case _:
                tokens[at] = draw(st.sampled_from(ODD) | st.sampled_from(TOKENS))
    return "\n".join(tokens) if draw(st.booleans()) else " ".join(tokens)


def check(text: str) -> None:
    try:
        machine = parse_target(text)
    except TilewrightError:
        return
    assert parse_target(print_target(machine)) == machine
    module = parse_module(text)
    module.verify()
    assert machine_of(module) == machine


@settings(max_examples=60, deadline=None)
@given(edited(TOKENS))
def test_edited_targets(text: str) -> None:
    check(text)


@settings(max_examples=60, deadline=None)
@given(edited(MAPPED))
def test_edited_machines_without_instructions(text: str) -> None:
    check(text)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200) | st.lists(st.sampled_from(TOKENS + ODD), max_size=60).map(" ".join))
@example("acg a {" + "{" * 100_000)
@example("acg a { memory M { depth " + "9" * 100_000 + "; } }")
@example("acg a { compute C { capability c { dims i <= 1; O{i} = " + "(" * 8000 + "; types i8; cycles 1; } } }")
@example("acg a { compute C { capability c { dims i <= 1; O{i} = " + "-" * 8000 + "1; types i8; cycles 1; } } }")
@example("acg a { frequency 1e99999; }")
@example("acg a { frequency 0x" + "f" * 400 + "; }")
@example("acg a { compute C[99999999999][1] { } }")
def test_any_text(text: str) -> None:
    check(text)


@pytest.mark.parametrize("name", target_files())
def test_ir_round_trips(name: str) -> None:
    module = parse_module(target_files()[name].read_text())
    for generic in (False, True):
        text = io.StringIO()
        Printer(text, print_generic_format=generic).print_op(module)
        again = Parser(make_context(), text.getvalue()).parse_module()
        again.verify()
        assert again.is_structurally_equivalent(module)
        assert machine_of(again) == load_target(name)


def ir_tokens(target: str) -> list[str]:
    text = io.StringIO()
    Printer(text).print_op(parse_module(target))
    return re.findall(r'"[^"]*"|[@%^]?[A-Za-z_][\w.]*|[0-9]+|->|\S', text.getvalue())


@settings(max_examples=100, deadline=None)
@given(edited(ir_tokens(TINY)) | edited(ir_tokens(SIMBA)))
def test_edited_ir(text: str) -> None:
    try:
        module = Parser(make_context(), text).parse_op()
        module.verify()
    except (ParseError, VerifyException, TilewrightError):
        return
    if isinstance(module, ModuleOp) and "acg.graph" in text:
        machine = machine_of(module)
        assert parse_target(print_target(machine)) == machine
