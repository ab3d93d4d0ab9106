// RUN: tilewright-opt %s -p 'load-target{target="hvx"},mnemonic-pack' --split-input-file | filecheck %s

// Four words a packet, two of them multiply; the sum of a sum comes a packet later.
// CHECK-LABEL: mnemonic.program @sums
mnemonic.program @sums {
  mnemonic.instr @VADDW <O = 2, A = 0, B = 1>
  mnemonic.instr @VADDW <O = 4, A = 2, B = 1>
  mnemonic.instr @VADDW <O = 5, A = 0, B = 0>
  mnemonic.instr @VRMPY <O = 6, A = 0, B = 1>
  mnemonic.instr @VRMPY <O = 7, A = 0, B = 2>
  mnemonic.instr @VRMPY <O = 8, A = 0, B = 3>
}

// CHECK-NEXT: mnemonic.instr @VADDW <O = 2, A = 0, B = 1> {packet = 0 : i64}
// CHECK-NEXT: mnemonic.instr @VADDW <O = 5, A = 0, B = 0> {packet = 0 : i64}
// CHECK-NEXT: mnemonic.instr @VRMPY <O = 6, A = 0, B = 1> {packet = 0 : i64}
// CHECK-NEXT: mnemonic.instr @VRMPY <O = 7, A = 0, B = 2> {packet = 0 : i64}
// CHECK-NEXT: mnemonic.instr @VADDW <O = 4, A = 2, B = 1> {packet = 1 : i64}
// CHECK-NEXT: mnemonic.instr @VRMPY <O = 8, A = 0, B = 3> {packet = 1 : i64}

// -----

// A load and a store go together where they touch different parts of memory, and keep their order where they may not.
// CHECK-LABEL: mnemonic.program @apart
mnemonic.program @apart {
  // CHECK-NEXT: mnemonic.instr @VSTORE <A = 1, B = 0, I = 1> {writes = ["y"], packet = 0 : i64}
  mnemonic.instr @VSTORE <A = 1, B = 0, I = 1> {writes = ["y"]}
  // CHECK-NEXT: mnemonic.instr @VLOAD <O = 2, B = 0, I = 0> {reads = ["x"], packet = 0 : i64}
  mnemonic.instr @VLOAD <O = 2, B = 0, I = 0> {reads = ["x"]}
}

// -----

// CHECK-LABEL: mnemonic.program @together
mnemonic.program @together {
  // CHECK-NEXT: mnemonic.instr @VSTORE <A = 1, B = 0, I = 1> {packet = 0 : i64}
  mnemonic.instr @VSTORE <A = 1, B = 0, I = 1>
  // CHECK-NEXT: mnemonic.instr @VLOAD <O = 2, B = 0, I = 0> {packet = 1 : i64}
  mnemonic.instr @VLOAD <O = 2, B = 0, I = 0>
}
