// RUN: tilewright-opt %s -p 'load-target{target="vta"},convert-graph-to-codelet,codelet-allocate,convert-codelet-to-stages' | tilewright-opt | filecheck %s

// Sums of 32 bits are stored as four planes of their bytes.
// CHECK: mnemonic.tensor "y" output in @DRAM at 512 layout <[0 0, 0 0], [0, 16], [1, 0, 2], 0, [], planes> : tensor<4x16xi32>
func.func @main(%x: tensor<4x16xsi8>) -> tensor<4x16xi32> attributes {graph.inputs = ["x"], graph.outputs = ["y"]} {
  %w = graph.weight @w = dense<1> : tensor<16x16xsi8> : tensor<16x16xsi8>
  %a = graph.gemm %x, %w {name = "fc"} : (tensor<4x16xsi8>, tensor<16x16xsi8>) -> tensor<4x16xi32>
  func.return %a : tensor<4x16xi32>
}
