// RUN: ROUNDTRIP

// CHECK-LABEL: acg.graph @two_slots
acg.graph @two_slots control "packets" frequency 1.0e9 {
  acg.memory @M data_width 8 banks 1 depth 4096 align 16 read_energy 0.0 write_energy 0.0 offchip
  acg.memory @G data_width 32 banks 1 depth 8 align 4 read_energy 0.0 write_energy 0.0
  acg.compute @CORE x 1 y 1 {
    acg.capability @add dims <> <"O{} = A{} + V"> immediates <V i32> types <[i32, i32]> cycles <"1"> energy <"0">
  }
  acg.link @M -> @G both bandwidth 4.0 latency 0 channel "M<->G" {
    acg.capability @copy dims <i to 4> <"O{i} = A{i}"> types <[u8, u8]> cycles <"1"> energy <"0">
  }
  acg.link @G -> @CORE both bandwidth 4.0 latency 0 channel "G<->CORE"
  // CHECK: acg.packet words 2 base @R resources <S0, S1, ALU> executor "none"
  acg.packet words 2 base @R resources <S0, S1, ALU> executor "none"
  // CHECK-NEXT: acg.registers @R in @G width 4 count 8 "r{0}"
  acg.registers @R in @G width 4 count 8 "r{0}"
  // CHECK-NEXT: acg.packed @ADD "{O} = add({A},#{I})" words 1 latency 1 align 1 registers <O R, A R> fields <I 16 signed>
  // CHECK-SAME: needs <{[S0], [S1]}, {[ALU]}> execute @CORE::@add extents <> places <O = G[O, 1] i32 {}, A = G[A, 1] i32 {}> immediates <V I>
  acg.packed @ADD "{O} = add({A},#{I})" words 1 latency 1 align 1 registers <O R, A R> fields <I 16 signed> needs <{[S0], [S1]}, {[ALU]}> execute @CORE::@add extents <> places <O = G[O, 1] i32 {}, A = G[A, 1] i32 {}> immediates <V I>
  // CHECK-NEXT: acg.packed @LOAD {{.*}} latency 2 align 4 {{.*}} places <O = G[O, 1] u8 {i 1}, A = M[B, 4, I] u8 {i 1}> advance <by = address[B, 4, I] u8 {}>
  acg.packed @LOAD "{O} = mem({B}+#{I})" words 1 latency 2 align 4 registers <O R, B R> fields <I 4 signed> needs <{[S0, S1], [ALU]}> execute @"M->G"::@copy extents <i 4> places <O = G[O, 1] u8 {i 1}, A = M[B, 4, I] u8 {i 1}> advance <by = address[B, 4, I] u8 {}>
  // CHECK-NEXT: acg.packed @LOOP {{.*}} trips "N" loop 0 suffix ":endloop0"
  acg.packed @LOOP "loop0({label},#{N})" words 1 latency 1 align 1 registers <> fields <N 10> needs <> extents <> places <> trips "N" loop 0 suffix ":endloop0"
  // CHECK-NEXT: acg.packed @REPEAT {{.*}} trips "N" given <N -4>{{$}}
  acg.packed @REPEAT "if ({N}--) jump {label}" words 2 latency 1 align 1 registers <N R> fields <> needs <> extents <> places <> trips "N" given <N -4>
}

// CHECK: "test.op"() {a = #acg.needs<{[S0], [S1]}, {[X, Y]}>, b = #acg.places<D = L2[B, 128, I] u8 {a 1}, S = V[S, 1] u8 {a 1} by R>}
"test.op"() {a = #acg.needs<{[S0], [S1]}, {[X, Y]}>, b = #acg.places<D = L2[B, 128, I] u8 {a 1}, S = V[S, 1] u8 {a 1} by R>} : () -> ()
