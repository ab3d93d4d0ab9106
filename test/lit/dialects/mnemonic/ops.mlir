// RUN: ROUNDTRIP

// CHECK-LABEL: mnemonic.program @packed code dense<[1, 2, 3]> : tensor<3xi8> predicted {cycles = 1.000000e+00 : f64} {
mnemonic.program @packed code dense<[1, 2, 3]> : tensor<3xi8> predicted {cycles = 1.0 : f64} {
  // CHECK-NEXT: mnemonic.tensor "x" input in @DRAM at 0 : tensor<64xui8>
  mnemonic.tensor "x" input in @DRAM at 0 : tensor<64xui8>
  // CHECK-NEXT: mnemonic.tensor "w" weight in @DRAM at 64 : tensor<2x3xf32>
  mnemonic.tensor "w" weight in @DRAM at 64 : tensor<2x3xf32>
  // CHECK-NEXT: mnemonic.tensor "t" temp in @DRAM at 128 : tensor<i32>
  mnemonic.tensor "t" temp in @DRAM at 128 : tensor<i32>
  // CHECK-NEXT: mnemonic.tensor "y" output in @DRAM at 192 : tensor<0xsi8>
  mnemonic.tensor "y" output in @DRAM at 192 : tensor<0xsi8>
// CHECK-NEXT: }
}

// CHECK-LABEL: mnemonic.program @blocked {
mnemonic.program @blocked {
  // CHECK-NEXT: mnemonic.tensor "w" weight in @DRAM at 64 layout <[0 24, 0 0], [64, 5], [0, 2, 3, 1], -1, []> : tensor<40x5xsi8>
  mnemonic.tensor "w" weight in @DRAM at 64 layout <[0 24, 0 0], [64, 5], [0, 2, 3, 1], -1, []> : tensor<40x5xsi8>
  // CHECK-NEXT: mnemonic.tensor "p" temp in @DRAM at 4096 layout <[0 0], [0], [0], 0, [128]> : tensor<4xsi8>
  mnemonic.tensor "p" temp in @DRAM at 4096 layout <[0 0], [0], [0], 0, [128]> : tensor<4xsi8>
// CHECK-NEXT: }
}

// CHECK-LABEL: mnemonic.program @written {
mnemonic.program @written {
  // CHECK-NEXT: mnemonic.instr @LOAD <TAG = 1, DST = 64, SB = -3>
  mnemonic.instr @LOAD <TAG = 1, DST = 64, SB = -3>
  // CHECK-NEXT: mnemonic.instr @VUN <FN = relu>
  mnemonic.instr @VUN <FN = relu>
  // CHECK-NEXT: mnemonic.instr @HALT <>
  mnemonic.instr @HALT <>
// CHECK-NEXT: }
}

// CHECK-NEXT: mnemonic.program @empty code dense<> : tensor<0xi8>
mnemonic.program @empty code dense<> : tensor<0xi8>

// CHECK-NEXT: "test.op"() {role = #mnemonic<role weight>, values = #mnemonic.values<A = -1, B = b>} : () -> ()
"test.op"() {role = #mnemonic<role weight>, values = #mnemonic.values<A = -1, B = b>} : () -> ()
