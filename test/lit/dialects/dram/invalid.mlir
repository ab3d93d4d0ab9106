// RUN: VERIFY

// CHECK: expected kernel of 2 numbers from 1 to 4194304, found [3]
"dram.network"() <{sym_name = "n"}> ({
  "dram.layer"() <{sym_name = "a", kind = "conv", shape = array<i64: 4, 8, 8>, inputs = [], weights = [], kernel = array<i64: 3>, stride = array<i64: 1, 1>, groups = 1 : i64, operands_count = 1 : i64, permutation = array<i64: 0, 1, 2>}> : () -> ()
}) : () -> ()

// -----

// CHECK: expected groups of 1 or more, found 0
dram.network @n {
  dram.input "x" 4x8x8
  dram.layer "a" conv 4x8x8 of ["x"] groups 0
}

// -----

// CHECK: expected a layer
dram.network @n {
  dram.input "x" 4x8x8
}

// -----

// CHECK: expected each name of an input once
dram.network @n {
  dram.input "x" 4x8x8
  dram.input "x" 4x8x8
  dram.layer "a" conv 4x8x8 of ["x"]
}

// -----

// CHECK: expected each name of a layer once, found 'a' twice
dram.network @n {
  dram.input "x" 4x8x8
  dram.layer "a" conv 4x8x8 of ["x"]
  dram.layer "a" conv 4x8x8 of ["x"]
}

// -----

// CHECK: expected layer 'a' to read what comes before it, found 'b'
dram.network @n {
  dram.layer "a" conv 4x8x8 of ["b"]
  dram.layer "b" conv 4x8x8 of ["a"]
}

// -----

// CHECK: expected weights of 'a' from a layer before it, found 'x'
dram.network @n {
  dram.input "x" 4x8x8
  dram.layer "a" conv 4x8x8 of ["x"] weights ["x"]
}

// -----

// CHECK: expected inputs and layers, and nothing else, in a network
dram.network @n {
  dram.layer "a" conv 4x8x8 of []
  "test.op"() : () -> ()
}

// -----

// CHECK: expected macs of 1 or more, found 0
dram.schedule @s of @n batch 1 on <side 4, macs 0, capacity 8, buffer 8, read 1, write 1, bandwidth 1, latency 0, align 1, exact 1> {
}

// -----

// CHECK: expected a buffer within 8 bytes, found 9
dram.schedule @s of @n batch 1 on <side 4, macs 1, capacity 8, buffer 9, read 1, write 1, bandwidth 1, latency 0, align 1, exact 1> {
}

// -----

// CHECK: expected dram.network @n in the module, found none
dram.schedule @s of @n batch 1 on <side 4, macs 1, capacity 8, buffer 8, read 1, write 1, bandwidth 1, latency 0, align 1, exact 1> {
}

// -----

// CHECK: expected a batch of 1 or more, found 0
dram.network @n {
  dram.layer "a" conv 4x8x8 of []
}
dram.schedule @s of @n batch 0 on <side 4, macs 1, capacity 8, buffer 8, read 1, write 1, bandwidth 1, latency 0, align 1, exact 1> {
}

// -----

// CHECK: expected layer groups, then perhaps transfers
dram.network @n {
  dram.layer "a" conv 4x8x8 of []
}
dram.schedule @s of @n batch 1 on <side 4, macs 1, capacity 8, buffer 8, read 1, write 1, bandwidth 1, latency 0, align 1, exact 1> {
  dram.transfers {
  }
  dram.layer_group {
    dram.fused_group tiles 1 ["a"]
  }
}

// -----

// CHECK: expected fused groups, and nothing else, in a layer group
dram.network @n {
  dram.layer "a" conv 4x8x8 of []
}
dram.schedule @s of @n batch 1 on <side 4, macs 1, capacity 8, buffer 8, read 1, write 1, bandwidth 1, latency 0, align 1, exact 1> {
  dram.layer_group {
  }
}

// -----

// CHECK: expected a layer and a tile, found 1 and 0
dram.network @n {
  dram.layer "a" conv 4x8x8 of []
}
dram.schedule @s of @n batch 1 on <side 4, macs 1, capacity 8, buffer 8, read 1, write 1, bandwidth 1, latency 0, align 1, exact 1> {
  dram.layer_group {
    dram.fused_group tiles 0 ["a"]
  }
}

// -----

// CHECK: expected a layer of @n, found 'b'
dram.network @n {
  dram.layer "a" conv 4x8x8 of []
}
dram.schedule @s of @n batch 1 on <side 4, macs 1, capacity 8, buffer 8, read 1, write 1, bandwidth 1, latency 0, align 1, exact 1> {
  dram.layer_group {
    dram.fused_group tiles 1 ["b"]
  }
}

// -----

// CHECK: expected each layer once, found 'a' twice
dram.network @n {
  dram.layer "a" conv 4x8x8 of []
}
dram.schedule @s of @n batch 1 on <side 4, macs 1, capacity 8, buffer 8, read 1, write 1, bandwidth 1, latency 0, align 1, exact 1> {
  dram.layer_group {
    dram.fused_group tiles 1 ["a", "a"]
  }
}

// -----

// CHECK: expected each layer once, found no 'b'
dram.network @n {
  dram.layer "a" conv 4x8x8 of []
  dram.layer "b" conv 4x8x8 of []
}
dram.schedule @s of @n batch 1 on <side 4, macs 1, capacity 8, buffer 8, read 1, write 1, bandwidth 1, latency 0, align 1, exact 1> {
  dram.layer_group {
    dram.fused_group tiles 1 ["a"]
  }
}

// -----

// CHECK: expected 'a' before 'b', which reads it, found it later
dram.network @n {
  dram.layer "a" conv 4x8x8 of []
  dram.layer "b" conv 4x8x8 of ["a"]
}
dram.schedule @s of @n batch 1 on <side 4, macs 1, capacity 8, buffer 8, read 1, write 1, bandwidth 1, latency 0, align 1, exact 1> {
  dram.layer_group {
    dram.fused_group tiles 1 ["b", "a"]
  }
}

// -----

// CHECK: expected names of @n, found 'c'
dram.network @n {
  dram.layer "a" conv 4x8x8 of []
}
dram.schedule @s of @n batch 1 on <side 4, macs 1, capacity 8, buffer 8, read 1, write 1, bandwidth 1, latency 0, align 1, exact 1> {
  dram.layer_group {
    dram.fused_group tiles 1 ["a"]
  }
  dram.transfers {
    load "c" weights during [-1, 1)
  }
}

// -----

// CHECK: expected loads and stores only, found kind 3
dram.network @n {
  dram.layer "a" conv 4x8x8 of []
}
dram.schedule @s of @n batch 1 on <side 4, macs 1, capacity 8, buffer 8, read 1, write 1, bandwidth 1, latency 0, align 1, exact 1> {
  dram.layer_group {
    dram.fused_group tiles 1 ["a"]
  }
  "dram.transfers"() <{layer_names = ["a"], input_names = [], packed = dense<[3, 0, 0, -1, -1, 1]> : tensor<6xi64>}> : () -> ()
}

// -----

// CHECK: expected a life [start, end) from -1 on, found [3, 3)
dram.network @n {
  dram.layer "a" conv 4x8x8 of []
}
dram.schedule @s of @n batch 1 on <side 4, macs 1, capacity 8, buffer 8, read 1, write 1, bandwidth 1, latency 0, align 1, exact 1> {
  dram.layer_group {
    dram.fused_group tiles 1 ["a"]
  }
  dram.transfers {
    load "a" weights during [3, 3)
  }
}

// -----

// CHECK: expected a layer and a source among the names, found 0 and 7
"dram.network"() <{sym_name = "n"}> ({
  dram.layer "a" conv 4x8x8 of []
}) : () -> ()
dram.schedule @s of @n batch 1 on <side 4, macs 1, capacity 8, buffer 8, read 1, write 1, bandwidth 1, latency 0, align 1, exact 1> {
  dram.layer_group {
    dram.fused_group tiles 1 ["a"]
  }
  "dram.transfers"() <{layer_names = ["a"], input_names = [], packed = dense<[0, 0, 0, 7, 0, 1]> : tensor<6xi64>}> : () -> ()
}

// -----

// CHECK: expected rows of six numbers, but
dram.network @n {
  dram.layer "a" conv 4x8x8 of []
}
dram.schedule @s of @n batch 1 on <side 4, macs 1, capacity 8, buffer 8, read 1, write 1, bandwidth 1, latency 0, align 1, exact 1> {
  dram.layer_group {
    dram.fused_group tiles 1 ["a"]
  }
  "dram.transfers"() <{layer_names = ["a"], input_names = [], packed = dense<[0, 0, 0]> : tensor<3xi64>}> : () -> ()
}
