// RUN: not tilewright-opt %s -p graph-verify 2>&1 | filecheck %s

// CHECK: error: partition: graph.fused_group %a: expected groups that do not wait for each other in a circle, found graph.fused_group %a -> graph.fused_group %b -> graph.fused_group %a; split one of them
func.func @f(%x : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %a, %c = graph.fused_group tiles 1 (%i = %x : tensor<1x4x8x8xf32>, %j = %b : tensor<1x4x8x8xf32>) -> (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) {
    %k = graph.unary relu %i : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    %l = graph.unary relu %j : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    graph.yield %k, %l : tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>
  }
  %b = graph.fused_group tiles 1 (%i = %a : tensor<1x4x8x8xf32>) -> (tensor<1x4x8x8xf32>) {
    %k = graph.unary relu %i : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    graph.yield %k : tensor<1x4x8x8xf32>
  }
  func.return %c : tensor<1x4x8x8xf32>
}
