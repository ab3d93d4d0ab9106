"""The same file compiles for every target that can say it: no operation's file knows a target."""

import numpy as np
import pytest

from tilewright import CompileOptions, compile, load_target, simulate
from tilewright.driver import load_model, reference
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import target_files
from tilewright.frontends.layers import OPERATORS, operator_file

PROGRAMMED = [name for name in target_files() if load_target(name).mnemonics]
INTEGERS = {"conv", "depthwise", "gemm", "add", "muladd", "transpose"}
REALS = {"softmax", "layer_norm", "gelu"}
WORKS = {
    "edge16": set(OPERATORS),
    "cocco_npu": set(OPERATORS),
    "cloud128": set(OPERATORS),
    "tiny": INTEGERS | {"requantize"},
    "diannao": INTEGERS | {"maxpool"},
    "uneven": INTEGERS - {"conv", "depthwise"},  # nothing writes padding there
    "dnnweaver": set(OPERATORS) - REALS,
    "vta": {"avgpool"},
    "genesys16": set(OPERATORS) - REALS - {"conv", "gemm"},  # its weights lie in an order of their own
}
"""What each target's capabilities can say; machines of packets take one kernel, not layers."""


def test_no_file_names_a_target_or_a_memory():
    names = [*target_files(), *(m.name for t in PROGRAMMED for m in load_target(t).memories)]
    for operator in OPERATORS:
        text = operator_file(operator).read_text()
        assert [name for name in names if name in text] == []


def test_every_programmed_target_does_something():
    assert set(PROGRAMMED) <= set(WORKS)


FIRST_WAY = CompileOptions(gap=1000.0)
"""Any program is near enough to the bound: of a long chain of steps one is made, not twenty to choose from."""

ALIKE = {"cocco_npu", "cloud128"}
"""Their vector units do what that of edge16 does: long chains of steps are not compiled again for them."""


@pytest.mark.parametrize(
    ("target", "operator"),
    [(t, o) for t in WORKS if t in PROGRAMMED for o in OPERATORS if t not in ALIKE or not o.endswith("_i8")],
)
def test_an_operation_runs_or_is_refused_in_words(target: str, operator: str):
    module = load_model(f"operator:{operator}")
    if operator not in WORKS[target]:
        with pytest.raises(TilewrightError) as error:
            compile(module, target)
        assert error.value.kind in ("unsupported", "target", "infeasible", "program")
        return
    program = compile(module, target, options=FIRST_WAY)
    rng = np.random.default_rng(0)
    inputs: dict[str, np.ndarray] = {}
    for tensor in program.tensors:
        if tensor.role == "input" and tensor.dtype == "float32":
            inputs[tensor.name] = rng.standard_normal(tensor.shape).astype(np.float32)
        elif tensor.role == "input":
            inputs[tensor.name] = rng.integers(-100, 100, tensor.shape).astype(tensor.dtype)
    found, expected = simulate(program, inputs).outputs, reference(module, inputs)
    for name, values in expected.items():
        assert values.any()
        np.testing.assert_allclose(found[name], values, rtol=1e-4, atol=1e-4)


def test_other_names_are_refused():
    with pytest.raises(TilewrightError, match="softmax"):
        load_model("operator:softmix")
