// Every rule of `dram-verify`, broken once.
// RUN: tilewright-opt %s -p dram-verify --verify-diagnostics --split-input-file | filecheck %s


// CHECK: infeasible: position 2 (tile 1 of A): expected at most 4096 bytes of global buffer, found 5248 bytes; 1152 bytes more of buffer would do
dram.network @five {
  dram.input "x" 8x8x8
  dram.layer "A" conv 16x8x8 of ["x"] kernel 3x3
  dram.layer "B" conv 16x8x8 of ["A"] kernel 3x3
  dram.layer "C" pool 16x4x4 of ["B"] kernel 2x2 stride 2x2
  dram.layer "D" conv 16x8x8 of ["B"]
  dram.layer "E" fc 10x1x1 of ["C"] kernel 4x4
}
dram.schedule @s of @five batch 1 on <side 4, macs 512, capacity 8192, buffer 4096, read 256, write 256, bandwidth 16, latency 0, align 64, exact 1> {
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

// -----

// CHECK: input of E, tile 0, from C: expected all stores of C before it in the order, found 1 after
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
    load "E" tile 0 from "C" during [6, 7)
    store "C" tile 0 during [4, 6)
    load "E" weights during [5, 7)
    store "D" tile 0 during [5, 7)
    store "E" tile 0 during [6, 7)
  }
}

// -----

// CHECK: weights of B: expected a life until 4, after its last use, found until 3
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
    load "B" weights during [0, 3)
    load "A" tile 1 from input "x" during [1, 3)
    load "D" weights during [2, 6)
    store "C" tile 0 during [4, 6)
    load "E" weights during [5, 7)
    load "E" tile 0 from "C" during [6, 7)
    store "D" tile 0 during [5, 7)
    store "E" tile 0 during [6, 7)
  }
}

// -----

// CHECK: input of A, tile 1, from x: expected a life from -1 to 2, its first use, found from 3
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
    load "A" tile 1 from input "x" during [3, 4)
    load "D" weights during [2, 6)
    store "C" tile 0 during [4, 6)
    load "E" weights during [5, 7)
    load "E" tile 0 from "C" during [6, 7)
    store "D" tile 0 during [5, 7)
    store "E" tile 0 during [6, 7)
  }
}

// -----

// CHECK: result of C, tile 0: expected a life from 4, when it is made, found from 3
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
    store "C" tile 0 during [3, 6)
    load "E" weights during [5, 7)
    load "E" tile 0 from "C" during [6, 7)
    store "D" tile 0 during [5, 7)
    store "E" tile 0 during [6, 7)
  }
}

// -----

// CHECK: weights of E: expected one transfer, found none
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
    load "E" tile 0 from "C" during [6, 7)
    store "D" tile 0 during [5, 7)
    store "E" tile 0 during [6, 7)
  }
}

// -----

// CHECK: weights of D: expected a place in the order after input of A, tile 1, from x, which must be complete by 2, found one before it, though it may begin at 4 only
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
    load "D" weights during [4, 6)
    load "A" tile 1 from input "x" during [1, 3)
    store "C" tile 0 during [4, 6)
    load "E" weights during [5, 7)
    load "E" tile 0 from "C" during [6, 7)
    store "D" tile 0 during [5, 7)
    store "E" tile 0 during [6, 7)
  }
}

// -----

// CHECK: expected at most 1 x 1 x 1 tiles of samples, rows and columns, found 7 tiles that divisors cannot spread
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
    dram.fused_group tiles 7 ["E"]
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

// -----

// CHECK: weights of A: expected one transfer, found two
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

// -----

// CHECK: layer 'C', tile 1: expected a store that the groups ask for, found a row that they do not
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
    store "C" tile 1 during [4, 6)
  }
}
