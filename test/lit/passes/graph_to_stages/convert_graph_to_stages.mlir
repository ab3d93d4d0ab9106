// RUN: tilewright-opt %s -p 'load-target{target="vta"},convert-graph-to-stages' | filecheck %s

// A matrix of 4 by 16 with weights of 16 by 16: layouts in blocks of 16, and five tensors beside the code.
// CHECK: mnemonic.program @main code dense<"0x
// CHECK-SAME: predicted {cycles =
// CHECK-NEXT: mnemonic.tensor "x" input in @DRAM at 0 layout <[0 0, 0 0], [0, 16], [1, 0, 2], 0, []> : tensor<4x16xsi8>
// CHECK-NEXT: mnemonic.tensor "fc.blocks" weight in @DRAM at 256 : tensor<1x1x1x16x16xsi8>
// CHECK-NEXT: mnemonic.tensor "fc.micro_ops" weight in @DRAM at 768 : tensor<1xi32>
// CHECK-NEXT: mnemonic.tensor "y" output in @DRAM at 512 layout <[0 0, 0 0], [0, 16], [1, 0, 2], 0, []> : tensor<4x16xsi8>
func.func @main(%x: tensor<4x16xsi8>) -> tensor<4x16xsi8> attributes {graph.inputs = ["x"], graph.outputs = ["y"]} {
  %w = graph.weight @w = dense<1> : tensor<16x16xsi8> : tensor<16x16xsi8>
  %m = graph.weight @m = dense<1> : tensor<i32> : tensor<i32>
  %s = graph.weight @s = dense<5> : tensor<i32> : tensor<i32>
  %a = graph.gemm %x, %w {name = "fc"} : (tensor<4x16xsi8>, tensor<16x16xsi8>) -> tensor<4x16xi32>
  %y = graph.requantize %a, %m, %s axis 1 zero_point 0 range [-128, 127] {name = "fc"} : (tensor<4x16xi32>, tensor<i32>, tensor<i32>) -> tensor<4x16xsi8>
  func.return %y : tensor<4x16xsi8>
}
