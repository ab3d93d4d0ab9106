// RUN: VERIFY
// RUN: tilewright-opt %s -p 'load-target{target=tiny}' --verify-diagnostics --split-input-file | filecheck %s --check-prefix=TINY

// CHECK: expected tensors and instructions in mnemonic.program, found test.op
mnemonic.program @other_ops {
  "test.op"() : () -> ()
}

// -----

// CHECK: expected packed code or instructions, found both
mnemonic.program @packed_and_written code dense<[1]> : tensor<1xi8> {
  mnemonic.instr @LOAD <>
}

// -----

// CHECK: expected code of bytes (tensor<nxi8>), found tensor<1xi32>
mnemonic.program @words code dense<[1]> : tensor<1xi32>

// -----

// CHECK: expected tensors with different names, found one twice
mnemonic.program @one_name_twice {
  mnemonic.tensor "x" input in @DRAM at 0 : tensor<64xui8>
  mnemonic.tensor "x" output in @DRAM at 0 : tensor<64xui8>
}

// -----

// CHECK: expected a static tensor of numbers, found tensor<4xindex>
mnemonic.program @no_numbers {
  mnemonic.tensor "x" input in @DRAM at 0 : tensor<4xindex>
}

// -----

// CHECK: expected a static tensor of numbers, found tensor<?xf32>
mnemonic.program @dynamic {
  mnemonic.tensor "x" input in @DRAM at 0 : tensor<?xf32>
}

// -----

// CHECK: expected an address of at least 0, found -4
mnemonic.program @negative_address {
  mnemonic.tensor "x" input in @DRAM at -4 : tensor<4xf32>
}

// -----

// CHECK: 'mnemonic.instr' expects parent op 'mnemonic.program'
mnemonic.instr @LOAD <>

// -----

// CHECK: 'mnemonic.tensor' expects parent op 'mnemonic.program'
mnemonic.tensor "x" input in @DRAM at 0 : tensor<4xf32>

// -----

// TINY: expected x inside a memory among DRAM (65536 bytes), SPAD (1024 bytes), found DRAM up to 65540
mnemonic.program @outside {
  mnemonic.tensor "x" input in @DRAM at 65536 : tensor<f32>
}

// -----

// TINY: expected x inside a memory among DRAM (65536 bytes), SPAD (1024 bytes), found GBUF up to 4
mnemonic.program @nowhere {
  mnemonic.tensor "x" input in @GBUF at 0 : tensor<f32>
}

// -----

// TINY: expected a mnemonic among LOAD, STORE, FILL, MAC, UNARY, BINARY, REQ, found JUMP
mnemonic.program @unknown_mnemonic {
  mnemonic.instr @JUMP <>
}

// -----

// TINY: expected fields of FILL (TAG, WT0, WC0, WT1, WC1, T, D, NB, NA, DB, DA, V) once, found E
mnemonic.program @unknown_field {
  mnemonic.instr @FILL <E = 1>
}

// -----

// TINY: expected fields of FILL (TAG, WT0, WC0, WT1, WC1, T, D, NB, NA, DB, DA, V) once, found D
mnemonic.program @field_twice {
  mnemonic.instr @FILL <D = 1, D = 2>
}

// -----

// TINY: expected FILL.D of 10 bits (0 to 1023), found 1024
mnemonic.program @too_large {
  mnemonic.instr @FILL <D = 1024>
}

// -----

// TINY: expected FILL.DB of 11 bits (-1024 to 1023), found -1025
mnemonic.program @too_small {
  mnemonic.instr @FILL <DB = -1025>
}

// -----

// TINY: expected FILL.T of 2 bits (f32, i32, i8, u8), found f64
mnemonic.program @unknown_enumerator {
  mnemonic.instr @FILL <T = f64>
}

// -----

// TINY: expected FILL.D of 10 bits (0 to 1023), found f32
mnemonic.program @name_in_ifield {
  mnemonic.instr @FILL <D = f32>
}

// -----

// CHECK: expected a layout of tensor<40xsi8>, found another (layout: expected an extent that 64 divides, found 40)
mnemonic.program @extent_that_no_block_divides {
  mnemonic.tensor "w" weight in @DRAM at 64 layout <[0 0], [64], [0, 1], 0, []> : tensor<40xsi8>
}
