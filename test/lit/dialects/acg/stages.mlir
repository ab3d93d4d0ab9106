// RUN: ROUNDTRIP

// CHECK: acg.graph @pair control "stages"
acg.graph @pair control "stages" frequency 1.0e9 {
  acg.memory @DRAM data_width 8 banks 1 depth 65536 align 1 read_energy 0.0 write_energy 0.0 offchip
  acg.memory @UOP data_width 32 banks 1 depth 64 align 1 read_energy 0.0 write_energy 0.0
  acg.memory @ACC data_width 32 banks 4 depth 256 align 1 read_energy 0.0 write_energy 0.0
  acg.memory @OUT data_width 8 banks 4 depth 256 align 1 read_energy 0.0 write_energy 0.0
  acg.memory @M data_width 32 banks 4 depth 256 align 1 read_energy 0.0 write_energy 0.0
  acg.memory @N data_width 8 banks 4 depth 256 align 1 read_energy 0.0 write_energy 0.0
  acg.link @M -> @N both bandwidth 4.0 latency 0 channel "M<->N"
  acg.unit @load depth 4
  acg.unit @store depth 4
  // CHECK: acg.isa opcode_bits 8 align 8 width 64 header <POP 1, PUSH 1> signal "" waits <> little
  acg.isa opcode_bits 8 align 8 width 64 header <POP 1, PUSH 1> signal "" waits <> little
  // CHECK-NEXT: acg.mnemonic @GO 1 unit @load fields <N 9 index ACC 1> action <finish {}>
  acg.mnemonic @GO 1 unit @load fields <N 9 index ACC 1> action <finish {}>
  acg.mnemonic @END 2 unit @store fields <> action <finish {}>
  // CHECK: acg.token @there @load -> @store push "PUSH" pop "POP"
  acg.token @there @load -> @store push "PUSH" pop "POP"
  // CHECK-NEXT: acg.microops @UOP <DST 8 index ACC 0, SRC 12>
  acg.microops @UOP <DST 8 index ACC 0, SRC 12>
  // CHECK-NEXT: acg.fetch "M<->N"
  acg.fetch "M<->N"
  // CHECK-NEXT: acg.shadow @OUT of @ACC
  acg.shadow @OUT of @ACC
}
