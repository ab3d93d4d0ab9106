"""A machine small enough to count its cycles by hand, and programs for it in assembly."""

from typing import Any

import numpy as np
import pytest

from tilewright.backends.assembler import assemble
from tilewright.backends.program import Program
from tilewright.backends.simulator import SimulationResult, simulate
from tilewright.frontends.acg import parse_target
from tilewright.machine.tensor_placement import TensorPlacement
from tilewright.resources import Resources

SMALL = """
acg small {
  control queues;
  frequency 1000000000;
  memory DRAM { data_width 8; banks 1; depth 65536; align 1; read_energy 10; write_energy 20; offchip; }
  memory SPAD { data_width 8; banks 1; depth 4096; align 1; read_energy 1; write_energy 2; }
  compute MXU[2][4] {
    capability mac {
      dims m <= 64 lanes 2, n <= 64, k <= 64;
      O{m, n} += A{m, k} * B{k, n};
      types i32 = i8, i8 | f32 = f32, f32;
      splits m, n;
      cycles ceildiv(m, 2 * m_ways) * ceildiv(n, n_ways) * k;
      energy 0.5 * ops;
    }
  }
  compute VPU {
    capability unary {
      dims a <= 256, b <= 256 lanes 4;
      O{a, b} = F(A{a, b});
      functions F = identity, relu, exp;
      types f32 = f32 | i8 = i8 | f32 = i32;
      cycles ceildiv(ops, 4);
      energy 0.25 * ops;
    }
    capability fill { dims a <= 256; O{a} = V; immediates V i32; types i32 | i8; cycles a; }
    capability peak { dims a <= 256, r <= 256; O{a} max= A{a, r}; types i8 = i8; cycles a * r; }
  }
  link DRAM <-> SPAD { bandwidth 8; latency 5;
    capability copy { dims b <= 255, a <= 4095; D{b, a} = S{b, a}; types u8 = u8; cycles ceildiv(ops, 8); } }
  link SPAD <-> MXU { bandwidth 64; latency 1; }
  link SPAD <-> VPU { bandwidth 64; }
  unit LD depth 2; unit ST; unit MX; unit VP;
  isa { opcode_bits 8; align 8;
    header { ifield TAG 8; ifield WT0 8; ifield WC0 16; ifield WT1 8; ifield WC1 16; }
    signal TAG; wait WT0 WC0; wait WT1 WC1; }
  mnemonic LOAD(1) { unit LD;
    ifield D 16; ifield S 24; ifield N 16; ifield NB 8; ifield DB 16 signed; ifield SB 16 signed;
    execute DRAM->SPAD.copy; extents a N, b NB;
    operand D SPAD[D] u8 { a 1, b DB }; operand S DRAM[S] u8 { a 1, b SB }; }
  mnemonic STORE(2) { unit ST;
    ifield D 24; ifield S 16; ifield N 16; ifield NB 8; ifield DB 16 signed; ifield SB 16 signed;
    execute SPAD->DRAM.copy; extents a N, b NB;
    operand D DRAM[D] u8 { a 1, b DB }; operand S SPAD[S] u8 { a 1, b SB }; }
  mnemonic MAC(3) { unit MX;
    ifield ACC 1; efield TO 2 [i32, f32]; efield TI 2 [i8, f32]; efield SX 2 [none, m, n]; efield SY 2 [none, m, n];
    ifield O 16; ifield A 16; ifield B 16; ifield M 8; ifield N 8; ifield K 8;
    ifield OM 16 signed; ifield ON 16 signed; ifield AM 16 signed; ifield AK 16 signed; ifield BK 16 signed;
    ifield BN 16 signed;
    execute MXU.mac; extents m M, n N, k K;
    operand O SPAD[O] TO { m OM, n ON }; operand A SPAD[A] TI { m AM, k AK }; operand B SPAD[B] TI { k BK, n BN };
    accumulate ACC; spread x SX; spread y SY; }
  mnemonic VEC(4) { unit VP;
    efield F 3 [identity, relu, exp]; efield TO 1 [f32, i8]; efield TA 2 [f32, i8, i32];
    ifield O 16; ifield A 16; ifield NA 16; ifield NB 16;
    ifield OA 16 signed; ifield OB 16 signed; ifield AA 16 signed; ifield AB 16 signed;
    execute VPU.unary; extents a NA, b NB;
    operand O SPAD[O] TO { a OA, b OB }; operand A SPAD[A] TA { a AA, b AB }; function F F; }
  mnemonic FILL(5) { unit VP;
    efield T 1 [i32, i8]; ifield O 16; ifield N 16; ifield OA 16 signed; ifield V 32;
    execute VPU.fill; extents a N; operand O SPAD[O] T { a OA }; immediates V V; }
  mnemonic PEAK(6) { unit VP;
    ifield ACC 1; ifield O 16; ifield A 16; ifield NA 16; ifield NR 16; ifield OA 16 signed; ifield AA 16 signed;
    ifield AR 16 signed;
    execute VPU.peak; extents a NA, r NR; operand O SPAD[O] i8 { a OA }; operand A SPAD[A] i8 { a AA, r AR };
    accumulate ACC; }
}
"""


class Bench:
    """Runs assembly on the small machine."""

    def __init__(self) -> None:
        self.machine = parse_target(SMALL, "small.acg")

    def tensor(self, name: str, role: str, array: np.ndarray, address: int, memory: str = "DRAM") -> TensorPlacement:
        return TensorPlacement(name, role, array.dtype.name, array.shape, memory, address)

    def bytes(self, count: int) -> tuple[TensorPlacement, ...]:
        """An input `x` of that many bytes at the beginning of DRAM."""
        return (self.tensor("x", "input", np.zeros(count, np.uint8), 0),)

    def run(
        self, text: str, tensors: tuple[TensorPlacement, ...] = (), inputs: Any = {}, **options: Any
    ) -> SimulationResult:
        constants = Resources(options.pop("constants", {}))
        return simulate(Program(self.machine, assemble(self.machine, text), tensors, constants), inputs, **options)


@pytest.fixture(scope="session")
def bench() -> Bench:
    return Bench()
