// RUN: not tilewright-opt %s -p dram-allocate 2>&1 | filecheck %s

// Weights and input of 30 bytes each leave 67 bytes free, but in pieces of less than 64 from an address that 64 divides.
// CHECK: infeasible: position 0 (tile 0 of a): expected at most 128 bytes of global buffer, found 129 bytes; 1 bytes more of buffer would do; 67 bytes are free in pieces too small for result of a, tile 0
dram.network @n {
  dram.input "x" 10x1x3
  dram.layer "a" conv 1x1x1 of ["x"] kernel 1x3 stride 1x3
}
dram.schedule @s of @n batch 1 on <side 4, macs 512, capacity 128, buffer 128, read 256, write 256, bandwidth 16, latency 0, align 64, exact 1> {
  dram.layer_group {
    dram.fused_group tiles 1 ["a"]
  }
  dram.transfers {
    load "a" weights during [-1, 1)
    load "a" tile 0 from input "x" during [-1, 1)
    store "a" tile 0 during [0, 1)
  }
}
