// RUN: tilewright-opt %s -p 'load-target{target="dnnweaver"},convert-nest-to-loops' | filecheck %s
// RUN: tilewright-opt %s -p 'load-target{target="dnnweaver"},convert-nest-to-loops' -t assembly | filecheck %s --check-prefix=ASM

// CHECK: mnemonic.program @main code
// CHECK: mnemonic.tensor "A" input in @DRAM at 0 layout <[0 0, 0 24], [0, 64], [0, 1, 2], 0, []> : tensor<4x40xsi8>
// CHECK: mnemonic.tensor "B" input in @DRAM at 256 layout <[0 24, 0 0], [64, 5], [0, 2, 3, 1], 0, []> : tensor<40x5xsi8>
// CHECK: mnemonic.tensor "O" output in @DRAM

// Everything is one tile: each operand is loaded once, four issues of the array, the result is stored.
// ASM: SYNC_INST SYSTOLIC_ARRAY, START, EXEC, 0, 0, 22
// ASM: LD_ST LD, BUFFER, WBUF, 14, 5
// ASM-NEXT: LD_ST LD, BUFFER, IBUF, 14, 4
// ASM-NEXT: SA_LOOP_CFG 0, 7, 3
// ASM: LD_ST ST, BUFFER, OBUF, 14, 16
// ASM-NEXT: SYNC_INST SYSTOLIC_ARRAY, END, EXEC, 0, 0, 0
// ASM-NEXT: BLOCK_END 1
func.func @main(%A: tensor<4x40xsi8>, %B: tensor<40x5xsi8>) -> tensor<4x5xi32> attributes {graph.inputs = ["A", "B"], graph.outputs = ["O"]} {
  %0 = nest.group @kernel dims {m = 4, n = 5, k = 40} ins(A = %A, B = %B) -> tensor<4x5xi32> {
  ^bb0(%A_1: tensor<4x40xsi8>, %B_1: tensor<40x5xsi8>):
    %1 = nest.kernel @O "O[m, n] += A[m, k] * B[k, n]" (A = %A_1, B = %B_1) : (tensor<4x40xsi8>, tensor<40x5xsi8>) -> tensor<4x5xi32>
    nest.yield %1 : tensor<4x5xi32>
  }
  func.return %0 : tensor<4x5xi32>
}
