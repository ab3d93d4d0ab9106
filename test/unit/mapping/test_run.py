"""Mappings that run: what `tilewright run` does on machines without instructions."""

import json
from pathlib import Path

import numpy as np
import pytest

import tilewright
from tilewright.cli import main
from tilewright.driver import RunOptions
from tilewright.errors import TilewrightError
from tilewright.mapping import MapOptions, is_map_only, run_mapped

GEMM = "O[m,n] += A[m,k] * B[k,n]; m=12 n=10 k=7"

HEAD = """
func.func @main(%A : tensor<12x7xsi8>, %B : tensor<7x10xsi8>) -> tensor<12x10xi32> {
  %y = nest.group @gemm dims {m = 12, n = 10, k = 7} ins(A = %A, B = %B) -> tensor<12x10xi32> {
  ^bb0(%a : tensor<12x7xsi8>, %b : tensor<7x10xsi8>):
    %0 = nest.kernel @O "O[m, n] += A[m, k] * B[k, n]" (A = %a, B = %b)
      : (tensor<12x7xsi8>, tensor<7x10xsi8>) -> tensor<12x10xi32>
    nest.yield %0 : tensor<12x10xi32>
  }"""
MAPPED = """ mapping {
    nest.for m step 10 {
      nest.hold @L2 [A, O] {
        nest.for m step 2 {
          nest.spatial n = 4 step 3 on @L1 x {
            nest.hold @L1 [A, B, O] {
              nest.for k step 1 {
                nest.for n step 1 {
                  nest.for m step 1 {
                    nest.compute @O
                  }
                }
              }
            }
          }
        }
      }
    }
  }"""
TAIL = """
  func.return %y : tensor<12x10xi32>
}
"""


@pytest.mark.parametrize("target", ["eyeriss_like", "simba_like", "diannao_like"])
def test_a_kernel_runs_as_it_is_mapped(target: str, tmp_path: Path):
    found = run_mapped(GEMM, target, folder=tmp_path, map_options=MapOptions(time_limit_s=0.5))
    assert found.agrees
    assert found.as_modelled
    assert found.cycles == found.prices.cycles
    assert found.energy_pj == pytest.approx(found.prices.energy_pj)
    with np.load(found.outputs) as arrays:
        assert arrays["O"].shape == (12, 10)
    answer = found.as_dict()
    memories, modelled = answer["counts"]["memories"], answer["model"]["memories"]
    assert memories["DRAM"]["tensors"]["A"] == modelled["DRAM"]["tensors"]["A"] == dict(reads=84, fills=0, updates=0)
    assert answer["model"]["equal"]
    least, ran = answer["lower_bound"], answer["predicted"]
    assert all(0 < least[key] <= ran[key] for key in ("cycles", "energy_pj", "dram_bytes"))
    assert answer["gap"] == pytest.approx(ran["cycles"] / least["cycles"] - 1)
    assert answer["predicted_gap"] == {"cycles": 0, "energy_pj": pytest.approx(0), "dram_bytes": 0}


def test_the_front_door(tmp_path: Path):
    options = tilewright.CompileOptions(time_limit_s=0.5)
    found = tilewright.run("resnet18:conv5_3", "conventional", folder=tmp_path, compile_options=options)
    assert isinstance(found, tilewright.MappedRun)
    assert found.as_modelled
    assert repr(found).startswith("<MappedRun of resnet18:conv5_3 on conventional: ")
    assert repr(found).endswith(" DRAM bytes, agrees with NumPy>")
    assert is_map_only("conventional")
    assert not is_map_only("tiny")


def test_a_mapping_by_hand_runs_as_it_stands(tmp_path: Path):
    (tmp_path / "m.mlir").write_text(HEAD + MAPPED + TAIL)
    found = run_mapped(str(tmp_path / "m.mlir"), "conventional", folder=tmp_path)
    assert found.comparison is not None
    assert found.comparison.equal
    assert found.as_modelled
    tensors = found.as_dict()["counts"]["memories"]["L2"]["tensors"]
    assert tensors["A"] == {"reads": 84, "fills": 84, "updates": 0}
    assert found.proven is None
    assert found.dram_bytes == 84 + 70 + 4 * 120  # B rests in L1 while m moves
    (tmp_path / "u.mlir").write_text(HEAD + TAIL)
    assert run_mapped(str(tmp_path / "u.mlir"), "conventional", folder=tmp_path).agrees


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "nest.for m step 2 {",
            "nest.for m step 10 {",
            "group @gemm, nest.hold @L1 [A, B, O]: expected at most 640 bits of memory L1, found 1688 bits; "
            "`nest.for m step 3` around it fits",
        ),
        (
            "n = 4 step 3",
            "n = 10 step 1",
            "nest.spatial n on @L1 x: expected at most 4 instances of L1 along x, found 10",
        ),
        (
            "n = 4 step 3",
            "n = 3 step 3",
            "expected loops that visit each n in 0..9, found n = 9 left out; spread n over",
        ),
        ("@L1 [A, B, O]", "@L3 [A, B, O]", "expected a memory of small (L1, L2, DRAM), found none"),
        ("nest.for k step 1 {", "nest.for k step 2 {", "expected loops down to one k at a time, found 2"),
        ("@L2 [A, O]", "@L2 [A, B, O]", "expected @L2 to hold what it may (O, I), found tensor B; leave B out"),
    ],
)
def test_mappings_that_the_machine_cannot_take(old: str, new: str, told: str, tmp_path: Path):
    target = tmp_path / "small.acg"
    target.write_text(SMALL)
    for name, text in (("right", MAPPED), ("wrong", MAPPED.replace(old, new))):
        (tmp_path / f"{name}.mlir").write_text(HEAD + text + TAIL)
    assert run_mapped(str(tmp_path / "right.mlir"), target, folder=tmp_path).as_modelled
    with pytest.raises(TilewrightError) as error:
        run_mapped(str(tmp_path / "wrong.mlir"), target, folder=tmp_path)
    assert told in str(error.value)


SMALL = """acg small {
  memory DRAM { data_width 16; access_energy 128; offchip; }
  memory L2 { data_width 16; depth 4096; access_energy 10; holds O, I; }
  memory L1[4][1] { data_width 16; depth 40; access_energy 1; }
  compute MAC[4][1] { capability mac { O{} += I{} * W{}; types i16 = i16, i16; energy 1; } }
  link DRAM <-> L2 <-> L1 <-> MAC;
  link DRAM -> L1;
}
"""


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("resnet18", "expected one kernel, found 12 layers; name one of them (resnet18:conv1,"),
        ("O[m] max= A[m,k]; m=4 k=4", "expected a sum of products of tensors"),
        ("O[m,n] += A[m,k] * B[k,n]; m=4096 n=4096 k=4096", "shrink a bound of the kernel: n=4096 is the largest"),
    ],
)
def test_what_does_not_run(model: str, told: str, tmp_path: Path):
    with pytest.raises(TilewrightError) as error:
        run_mapped(model, "conventional", folder=tmp_path, map_options=MapOptions(time_limit_s=0.2))
    assert told in str(error.value)


def test_groups_that_do_not_stand_alone(tmp_path: Path):
    start = HEAD.replace("+= A", "+= A").replace("(A = %a, B = %b)", "(A = %a, B = %b) into %c")
    start = start.replace("%B : tensor<7x10xsi8>)", "%B : tensor<7x10xsi8>, %C : tensor<12x10xi32>)")
    start = start.replace("B = %B)", "B = %B, C = %C)").replace(
        "%b : tensor<7x10xsi8>)", "%b : tensor<7x10xsi8>, %c : tensor<12x10xi32>)"
    )
    (tmp_path / "into.mlir").write_text(start + TAIL)
    with pytest.raises(TilewrightError, match="expected a sum that starts from nothing, found `into`"):
        run_mapped(str(tmp_path / "into.mlir"), "conventional", folder=tmp_path)


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    text = ["run", GEMM, "--target", "eyeriss_like", "--time-limit", "0.5", "-o", str(tmp_path)]
    assert main([*text, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    keys = ("cycles", "energy_pj", "dram_bytes", "outputs", "agrees", "equal", "max_abs_error", "cpu_s", "peak_bytes")
    assert all(key in answer for key in (*keys, "utilization", "predicted", "predicted_gap", "counts", "model"))
    assert main(text) == 0
    shown = capsys.readouterr().out
    assert "as the cost model says" in shown
    np.savez(tmp_path / "y.npz", O=np.zeros((12, 10), np.float32))
    assert main([*text, "--expect", str(tmp_path / "y.npz")]) == 1
    assert main([*text, "--partition", "none"]) == 2


def test_a_mapping_runs_on_the_mesh_of_its_machine(tmp_path: Path):
    how = MapOptions(mapper="random", factors="perfect", time_limit_s=0.1)
    options = RunOptions(platform="noc")
    kernel = "O[m,n] += A[m,k] * B[k,n]; m=8 n=8 k=4"
    found = run_mapped(kernel, "simba_like", folder=tmp_path, map_options=how, options=options)
    assert found.agrees
    assert found.mesh is not None
    sent = {name: outwards if name == "O" else inwards for name, (inwards, outwards) in found.mesh.words.items()}
    assert sent == found.counted["L2"]["network_words"]
    assert found.as_dict()["noc"]["cycles"] == found.mesh.cycles >= found.simulation.prices.compute_cycles
