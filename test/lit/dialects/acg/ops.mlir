// RUN: ROUNDTRIP

// CHECK-LABEL: acg.graph @toy control "queues" frequency 1.000000e+09 {
acg.graph @toy control "queues" frequency 1.0e9 {
  // CHECK-NEXT: acg.memory @DRAM data_width 8 banks 1 depth 65536 align 1 read_energy 8.400000e+01 write_energy 8.450000e+01 offchip
  acg.memory @DRAM data_width 8 banks 1 depth 65536 align 1 read_energy 84.0 write_energy 84.5 offchip
  // CHECK-NEXT: acg.memory @SPAD data_width 8 banks 1 depth 64 align 4 read_energy 0.000000e+00 write_energy 0.000000e+00 offchip
  acg.memory @SPAD data_width 8 banks 1 depth 64 align 4 read_energy 0.0 write_energy 0.0 offchip
  // CHECK-NEXT: acg.compute @ALU x 1 y 2 {
  acg.compute @ALU x 1 y 2 {
    // CHECK-NEXT: acg.capability @dot dims <i to 15 lanes 2, j to 15> <"O{i} += F(A{i, j}, B{j}, V)">
    // CHECK-SAME: functions <F [clip, select]> immediates <V i8> types <[i32, i8, i8], [f32, f32, f32]> splits <i>
    // CHECK-SAME: cycles <"ceildiv(i, i_ways) * j"> energy <"0.5 * ops">
    acg.capability @dot dims <i to 15 lanes 2, j to 15> <"O{i} += F(A{i,j}, B{j}, V)"> functions <F [clip, select]> immediates <V i8> types <[i32, i8, i8], [f32, f32, f32]> splits <i> cycles <"ceildiv(i, i_ways) * j"> energy <"0.5 * ops">
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: acg.link @DRAM -> @SPAD both bandwidth 4.500000e+00 latency 3 channel "bus" {
  acg.link @DRAM -> @SPAD both bandwidth 4.5 latency 3 channel "bus" {
    // CHECK-NEXT: acg.capability @copy dims <a to 15> <"D{a} = S{a}"> types <[u8, u8]> cycles <"ceildiv(a, bandwidth)"> energy <"0">
    acg.capability @copy dims <a to 15> <"D{a} = S{a}"> types <[u8, u8]> cycles <"ceildiv(a, bandwidth)"> energy <"0">
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: acg.link @SPAD -> @ALU bandwidth 4.000000e+00 latency 0 channel ""
  acg.link @SPAD -> @ALU bandwidth 4.0 latency 0 channel ""
  // CHECK-NEXT: acg.link @ALU -> @SPAD bandwidth 4.000000e+00 latency 0 channel ""
  acg.link @ALU -> @SPAD bandwidth 4.0 latency 0 channel ""
  // CHECK-NEXT: acg.unit @DM depth 0
  acg.unit @DM depth 0
  // CHECK-NEXT: acg.isa opcode_bits 8 align 8 width 0 header <TAG 8, WT 8, WC 16> signal "TAG" waits <WT WC>
  acg.isa opcode_bits 8 align 8 width 0 header <TAG 8, WT 8, WC 16> signal "TAG" waits <WT WC>
  // CHECK-NEXT: acg.mnemonic @DOT 2 unit @DM fields <T 1 [i8 = 0, f32 = 1], FN 2 [select = 1, clip = 3], ACC 1, SX 2 [none = 0, i = 1], O 6, A 6, I 4, AI 8 signed, V 8 at 96>
  // CHECK-SAME: execute @ALU::@dot extents <i I, j 3> operands <O = SPAD[O] i32 {i 4}, A = SPAD[A] T {i AI, j 1}, B = SPAD[32] T {j 1}>
  // CHECK-SAME: functions <F FN> immediates <V V> accumulate "ACC" spread <y SX>
  acg.mnemonic @DOT 2 unit @DM fields <T 1 [i8 = 0, f32 = 1], FN 2 [select = 1, clip = 3], ACC 1, SX 2 [none = 0, i = 1], O 6, A 6, I 4, AI 8 signed, V 8 at 96> execute @ALU::@dot extents <i I, j 3> operands <O = SPAD[O] i32 {i 4}, A = SPAD[A] T {i AI, j 1}, B = SPAD[32] T {j 1}> functions <F FN> immediates <V V> accumulate "ACC" spread <y SX>
// CHECK-NEXT: }
}

// -----

// CHECK-LABEL: acg.graph @rules
acg.graph @rules control "queues" frequency 1.0e9 {
  acg.memory @M data_width 8 banks 1 depth 64 align 1 read_energy 0.0 write_energy 0.0 offchip
  acg.compute @ALU x 1 y 1 {
    acg.capability @twice dims <i to 15> <"O{i} = A{i} * 4"> types <[i32, i32]> cycles <"i"> energy <"0">
    acg.capability @scale dims <i to 15> <"O{i} = A{i} * 2"> types <[i32, i32]> cycles <"i"> energy <"0">
  }
  acg.link @M -> @ALU both bandwidth 4.0 latency 0 channel "bus"
  acg.unit @U depth 0
  acg.mnemonic @DBL 1 unit @U fields <O 6, A 6, I 4> execute @ALU::@scale extents <i I> operands <O = M[O] i32 {i 4}, A = M[A] i32 {i 4}>
  // CHECK: acg.macro @QUAD execute @ALU::@twice places ["O M i32", "A M i32"] emits ["DBL O O, A A, I i", "DBL O O, A O, I i"]
  acg.macro @QUAD execute @ALU::@twice places ["O M i32", "A M i32"] emits ["DBL O O, A A, I i", "DBL O O, A O, I i"]
}

// -----

// CHECK-LABEL: acg.graph @least
acg.graph @least control "queues" frequency 1.0 {
  acg.memory @M data_width 8 banks 1 depth 1 align 1 read_energy 0.0 write_energy 0.0 offchip
}

// -----

// CHECK-LABEL: "test.op"
// CHECK-SAME: a = #acg.dims<i to 3 lanes 2>
// CHECK-SAME: b = #acg.names<i, j>
// CHECK-SAME: c = #acg.types<[i32, i8], [f32]>
// CHECK-SAME: d = #acg.choices<F [add, sub], G []>
// CHECK-SAME: e = #acg.pairs<a 1, b NB>
// CHECK-SAME: f = #acg.fields<A 3 signed at 4, B 2 [x = 1]>
// CHECK-SAME: g = #acg.operands<D = M[A] u8 {a 1}, S = M[0] T {}>
// CHECK-SAME: h = #acg.statement<"O{i} max= A{i, j}">
// CHECK-SAME: i = #acg.formula<"2 * (i + 1)">
"test.op"() {a = #acg.dims<i to 3 lanes 2>, b = #acg.names<i, j>, c = #acg.types<[i32, i8], [f32]>, d = #acg.choices<F [add, sub], G []>, e = #acg.pairs<a 1, b NB>, f = #acg.fields<A 3 signed at 4, B 2 [x = 1]>, g = #acg.operands<D = M[A] u8 {a 1}, S = M[0] T {}>, h = #acg.statement<"O{i} max= A{i,j}">, i = #acg.formula<"2*(i+1)">} : () -> ()

// CHECK-LABEL: acg.graph @mapping
acg.graph @mapping control "queues" frequency 1.0e9 {
  // CHECK-NEXT: acg.memory @DRAM data_width 16 banks 1 align 1 read_energy 0.000000e+00 write_energy 0.000000e+00
  // CHECK-SAME: ports <block_words 4, read_energy_pj 512.0, write_energy_pj 1.0e-07, shared_bandwidth 20.5, latency_cycles 7> offchip
  acg.memory @DRAM data_width 16 banks 1 align 1 read_energy 0.0 write_energy 0.0 ports <block_words 4, latency_cycles 7, read_energy_pj 512, write_energy_pj 1.0e-7, shared_bandwidth 20.5> offchip
  // CHECK-NEXT: acg.memory @L1 x 4 y 2 data_width 16 banks 1 depth 64 align 1 read_energy 0.000000e+00 write_energy 0.000000e+00
  // CHECK-SAME: holds <I, O> buffering 2.000000e+00 regions 64 ports <read_energy_pj 2.05, read_bandwidth 3.0, write_bandwidth 4.0, network_bandwidth 1.0, hop_energy_pj 0.6>
  acg.memory @L1 x 4 y 2 data_width 16 banks 1 depth 64 align 1 read_energy 0.0 write_energy 0.0 holds <I, O> buffering 2.0 regions 64 ports <read_energy_pj 2.05, read_bandwidth 3.0, write_bandwidth 4.0, network_bandwidth 1.0, hop_energy_pj 0.6>
  // CHECK-NEXT: acg.memory @W y 2 data_width 16 banks 1 depth 64 align 1 read_energy 0.000000e+00 write_energy 0.000000e+00 holds <W>
  acg.memory @W y 2 data_width 16 banks 1 depth 64 align 1 read_energy 0.0 write_energy 0.0 holds <W>
  // CHECK-NEXT: acg.compute @MAC x 4 y 2 {
  acg.compute @MAC x 4 y 2 {
    // CHECK-NEXT: acg.capability @mac dims <> <"O{} += I{} * W{}"> types <[i16, i16, i16]> cycles <"1"> energy <"2.2">
    acg.capability @mac dims <> <"O{} += I{} * W{}"> types <[i16, i16, i16]> cycles <"1"> energy <"2.2">
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: acg.link @DRAM -> @L1 both latency 0 channel "DRAM<->L1"
  acg.link @DRAM -> @L1 both latency 0 channel "DRAM<->L1"
  // CHECK-NEXT: acg.link @L1 -> @MAC both latency 0 channel "L1<->MAC"
  acg.link @L1 -> @MAC both latency 0 channel "L1<->MAC"
  // CHECK-NEXT: acg.link @DRAM -> @W latency 0 channel ""
  acg.link @DRAM -> @W latency 0 channel ""
  // CHECK-NEXT: acg.link @W -> @MAC latency 0 channel ""
  acg.link @W -> @MAC latency 0 channel ""
}

// CHECK-LABEL: acg.graph @digits control "queues" frequency 2.5165824000000000e+07 {
acg.graph @digits control "queues" frequency 25165824.0 {
  // CHECK-NEXT: acg.memory @M data_width 8 banks 1 depth 8 align 1 read_energy 1.500000e+00 write_energy 1.2345678000000000e+07 offchip
  acg.memory @M data_width 8 banks 1 depth 8 align 1 read_energy 1.5 write_energy 12345678.0 offchip
}

// CHECK-LABEL: acg.graph @timed control "queues" frequency 1.000000e+09 {
acg.graph @timed control "queues" frequency 1.0e9 {
  // CHECK-NEXT: acg.memory @M data_width 8 banks 1 depth 8 align 1 read_energy 0.000000e+00 write_energy 0.000000e+00 offchip timing <"hbm2">
  acg.memory @M data_width 8 banks 1 depth 8 align 1 read_energy 0.0 write_energy 0.0 offchip timing <"hbm2">
  // CHECK-NEXT: acg.memory @N data_width 8 banks 1 depth 8 align 1
  // CHECK-SAME: offchip timing <"ddr4-2400", rcd 18, map [bank 2, row 16, column 7, group 2, channel 0]>
  acg.memory @N data_width 8 banks 1 depth 8 align 1 read_energy 0.0 write_energy 0.0 offchip timing <"ddr4-2400", rcd 18, map [bank 2, row 16, column 7, group 2, channel 0]>
  // CHECK-NEXT: acg.memory @B data_width 8 banks 1 depth 8
  // CHECK-SAME: ports <flit_bits 64, queue_flits 2, tag_energy_pj 0.5>
  acg.memory @B data_width 8 banks 1 depth 8 align 1 read_energy 0.0 write_energy 0.0 ports <flit_bits 64, queue_flits 2, tag_energy_pj 0.5>
}
