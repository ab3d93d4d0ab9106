"""Machines of control model `threads`."""

import re
from pathlib import Path

import pytest

import tilewright
from tilewright.errors import TilewrightError

TARGETS = Path(tilewright.__file__).parent / "targets"
TEXT = (TARGETS / "gpu_k80.acg").read_text()


def test_the_shipped_machine_is_one(tmp_path: Path):
    (tmp_path / "m.acg").write_text(TEXT)
    assert tilewright.load_target(tmp_path / "m.acg").control == "threads"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Shared -> Register ->", "Shared <-> Register ->", "memory Shared.*operands alone: sums stay in registers"),
        (r"Register\[208\]\[12\]", "Register[104][12]", "memory Register.*registers for each of the 2496 instances"),
        (r"\[208\]\[12\]", "[208][80]", "memory Register.*at most 1024 threads below each Shared, found 1280"),
        ("(?s)memory Shared.*?}|-> Shared ", "", "three memories: a thread's registers, .*found Register, Global"),
        ("control threads;", "control threads; isa { positional; }", "no instructions with control threads"),
    ],
)
def test_broken_rules_are_told(old: str, new: str, message: str, tmp_path: Path):
    text = re.sub(old, new, TEXT)
    if "<->" in text:  # sums may rest in shared memory
        text = text.replace("holds I, W;", "").replace("Global -> Shared", "Global <-> Shared")
        text = text.replace("link Core -> Register -> Global", "link Core -> Register")
    (tmp_path / "m.acg").write_text(text)
    with pytest.raises(TilewrightError, match=message):
        tilewright.load_target(tmp_path / "m.acg")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (r"k <= 16 lanes 2", "k <= 8 lanes 2", "capability Tensor.mma.*a product of matrices, `dims m <= 16 lanes 16"),
        (r"I\{m, k\} \* W\{k, n\}", "I{k, m} * W{k, n}", "capability Tensor.mma.*a product of matrices"),
        (
            r"types f32 = f16, f16 \| f16",
            "types f32 = f32, f32 | f16",
            "types f32 = f16, f16 or .*found f32 = f32, f32",
        ),
        (r"\[264\]", "[132]", "compute Tensor.*an instance for each 32 of 16896 threads, .*found 264, 264"),
        (
            r"Shared -> Fragment",
            "Global -> Fragment",
            "capability Tensor.mma.*a memory of fragments below Shared, Global",
        ),
    ],
)
def test_units_that_warps_cannot_use_are_told(old: str, new: str, message: str, tmp_path: Path):
    (tmp_path / "m.acg").write_text(re.sub(old, new, (TARGETS / "gpu_h100.acg").read_text()))
    with pytest.raises(TilewrightError, match=message):
        tilewright.load_target(tmp_path / "m.acg")
