// RUN: not tilewright-opt %s -p graph-verify 2>&1 | filecheck %s

// CHECK: error: partition: graph.fused_group %a: expected a group of connected layers, found k and l apart; split it
func.func @f(%x : tensor<1x4x8x8xf32>, %z : tensor<1x4x8x8xf32>) -> (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) {
  %a, %c = graph.fused_group tiles 1 (%i = %x : tensor<1x4x8x8xf32>, %j = %z : tensor<1x4x8x8xf32>) -> (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) {
    %k = graph.unary relu %i : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    %l = graph.unary relu %j : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    graph.yield %k, %l : tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>
  }
  func.return %a, %c : tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>
}
