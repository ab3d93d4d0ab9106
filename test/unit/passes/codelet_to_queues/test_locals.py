"""Addresses and lifetimes of the locals of a codelet."""

from tilewright.algebra.affine import Affine, Axis
from tilewright.algebra.parser import parse_statement
from tilewright.passes.codelet_to_queues.locals import lifetimes, place_locals
from tilewright.passes.codelet_to_queues.tree import Codelet, Define, Issue, Loop, Surrogate


def buffer(name: str, size: int, copies: int = 1) -> Surrogate:
    return Surrogate(name, "SPAD", (size,), "i8", (0,) * copies, (Axis((Affine(0, (("i", 1),)),), 1, size),))


def issue(target: int, source: int) -> Issue:
    return Issue("VPU", "unary", parse_statement("O[i] = A[i]"), (target, source), (("a", "i"),))


def test_lifetimes_last_to_the_end_of_loops_that_use_what_was_made_outside():
    surrogates = (buffer("a", 4), buffer("b", 4), buffer("c", 4, 2), buffer("d", 4))
    inner = Loop("i", 2, (Define(1), Define(2), issue(1, 0), issue(2, 1)))
    body = (Define(0), Loop("i", 4, (inner, Define(3))), issue(3, 3))
    live = lifetimes(Codelet("c", (("i", 8),), surrogates, body))
    # 0 define a; 1 loop { 2 loop { 3 define b; 4 define c; 5, 6 issues }; 7 define d }; 8 issue
    assert live == {0: (0, 7), 1: (3, 6), 2: (2, 6), 3: (7, 8)}


def test_locals_share_bytes_only_where_they_must():
    surrogates = (buffer("a", 40), buffer("b", 40), buffer("c", 40))
    body = (Define(0), Define(1), issue(1, 0), Define(2), issue(2, 1))
    codelet = Codelet("c", (("i", 40),), surrogates, body)
    assert place_locals(codelet, "SPAD", 120, 4) == {0: (0,), 1: (40,), 2: (80,)}
    assert place_locals(codelet, "SPAD", 80, 4) == {0: (0,), 1: (40,), 2: (0,)}
    assert place_locals(codelet, "SPAD", 79, 4) == 80


def test_copies_of_a_local_lie_one_after_another():
    codelet = Codelet("c", (("i", 5),), (buffer("a", 5, 3),), (Define(0),))
    assert place_locals(codelet, "SPAD", 100, 4) == {0: (0, 8, 16)}
