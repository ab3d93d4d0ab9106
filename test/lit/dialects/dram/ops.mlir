// RUN: ROUNDTRIP

// CHECK-LABEL: dram.network @pair {
// CHECK-NEXT:    dram.input "x" 3x8x8
// CHECK-NEXT:    dram.input "k" 1x1x1
// CHECK-NEXT:    dram.layer "a" conv 16x8x8 of ["x"] kernel 3x3
// CHECK-NEXT:    dram.layer "b" pool 16x4x4 of ["a"] kernel 2x2 stride 2x2
// CHECK-NEXT:    dram.layer "turn/0" transpose 4x16x4 of ["b"] permute [1, 0, 2]
// CHECK-NEXT:    dram.layer "q" group_conv 4x4x4 of ["b"] weights ["turn/0"] groups 4
// CHECK-NEXT:    dram.layer "e" eltwise 4x4x4 of ["q", "q"] operands 2
dram.network @pair {
  dram.input "x" 3x8x8
  dram.input "k" 1x1x1
  dram.layer "a" conv 16x8x8 of ["x"] kernel 3x3 stride 1x1
  dram.layer "b" pool 16x4x4 of ["a"] kernel 2x2 stride 2x2
  dram.layer "turn/0" transpose 4x16x4 of ["b"] permute [1, 0, 2]
  dram.layer "q" group_conv 4x4x4 of ["b"] weights ["turn/0"] groups 4
  dram.layer "e" eltwise 4x4x4 of ["q", "q"] operands 2
}

// CHECK-LABEL: dram.schedule @s of @pair batch 2 on <side 4, macs 512, capacity 8388608, buffer 8000000, read 256, write 256, bandwidth 16, latency 30, align 64, exact 1> {
// CHECK-NEXT:    dram.layer_group {
// CHECK-NEXT:      dram.fused_group tiles 2 ["a", "b"]
// CHECK-NEXT:      dram.fused_group tiles 1 streaming reused ["turn/0"]
// CHECK-NEXT:    }
// CHECK-NEXT:    dram.layer_group {
// CHECK-NEXT:      dram.fused_group tiles 4 reused ["q", "e"]
// CHECK-NEXT:    }
// CHECK-NEXT:    dram.transfers {
// CHECK-NEXT:      load "a" weights during [-1, 3)
// CHECK-NEXT:      load "a" weights tile 1 during [2, 3)
// CHECK-NEXT:      load "a" tile 0 from input "x" during [-1, 1)
// CHECK-NEXT:      load "b" tile 1 from "a" during [3, 4)
// CHECK-NEXT:      store "b" tile 1 during [3, 5)
// CHECK-NEXT:    }
// CHECK-NEXT:  }
dram.schedule @s of @pair batch 2 on <side 4, macs 512, capacity 8388608, buffer 8000000, read 256, write 256, bandwidth 16, latency 30, align 64, exact 1> {
  dram.layer_group {
    dram.fused_group tiles 2 ["a", "b"]
    dram.fused_group tiles 1 streaming reused ["turn/0"]
  }
  dram.layer_group {
    dram.fused_group tiles 4 reused ["q", "e"]
  }
  dram.transfers {
    load "a" weights during [-1, 3)
    load "a" weights tile 1 during [2, 3)
    load "a" tile 0 from input "x" during [-1, 1)
    load "b" tile 1 from "a" during [3, 4)
    store "b" tile 1 during [3, 5)
  }
}
