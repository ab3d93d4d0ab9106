"""How often the command line looks for garbage."""

import gc

import pytest

import tilewright.cli
from tilewright.garbage import SELDOM


def test_a_process_looks_for_garbage_seldom_and_callers_decide_themselves(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tilewright.cli, "as_program", lambda _: 0)
    before = gc.get_threshold()
    try:
        gc.set_threshold(700, 10, 10)
        tilewright.cli.main(["networks", "--json"])
        assert gc.get_threshold() == (700, 10, 10)
        tilewright.cli.main()
        assert gc.get_threshold() == SELDOM
    finally:
        gc.set_threshold(*before)
