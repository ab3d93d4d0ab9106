// The example of section IV of SoMa: {A, B} in two tiles, a fine-grained cut, {C, D}, a DRAM cut, {E}.  The results of B
// stay for C and D; C's goes to DRAM for E, which is behind the cut.
// RUN: tilewright-opt %s -p dram-verify | filecheck %s

// CHECK: dram.transfers {
// CHECK-NEXT: load "A" weights during {{\[}}-1, 3)
// CHECK-NEXT: load "A" tile 0 from input "x" during {{\[}}-1, 1)
// CHECK-NEXT: load "B" weights during {{\[}}0, 4)
// CHECK-NEXT: load "A" tile 1 from input "x" during {{\[}}1, 3)
// CHECK-NEXT: load "D" weights during {{\[}}2, 6)
// CHECK-NEXT: store "C" tile 0 during {{\[}}4, 6)
// CHECK-NEXT: load "E" weights during {{\[}}5, 7)
// CHECK-NEXT: load "E" tile 0 from "C" during {{\[}}6, 7)
// CHECK-NEXT: store "D" tile 0 during {{\[}}5, 7)
// CHECK-NEXT: store "E" tile 0 during {{\[}}6, 7)
dram.network @five {
  dram.input "x" 8x8x8
  dram.layer "A" conv 16x8x8 of ["x"] kernel 3x3
  dram.layer "B" conv 16x8x8 of ["A"] kernel 3x3
  dram.layer "C" pool 16x4x4 of ["B"] kernel 2x2 stride 2x2
  dram.layer "D" conv 16x8x8 of ["B"]
  dram.layer "E" fc 10x1x1 of ["C"] kernel 4x4
}
dram.schedule @s of @five batch 1 on <side 4, macs 512, capacity 8192, buffer 8192, read 256, write 256, bandwidth 16, latency 0, align 64, exact 1> {
  dram.layer_group {
    dram.fused_group tiles 2 ["A", "B"]
    dram.fused_group tiles 1 ["C", "D"]
  }
  dram.layer_group {
    dram.fused_group tiles 1 ["E"]
  }
  dram.transfers {
    load "A" weights during [-1, 3)
    load "A" tile 0 from input "x" during [-1, 1)
    load "B" weights during [0, 4)
    load "A" tile 1 from input "x" during [1, 3)
    load "D" weights during [2, 6)
    store "C" tile 0 during [4, 6)
    load "E" weights during [5, 7)
    load "E" tile 0 from "C" during [6, 7)
    store "D" tile 0 during [5, 7)
    store "E" tile 0 during [6, 7)
  }
}
