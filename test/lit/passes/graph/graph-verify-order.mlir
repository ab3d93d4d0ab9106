// RUN: not tilewright-opt %s -p graph-verify 2>&1 | filecheck %s

// CHECK: error: partition: graph.fused_group %b: expected a group after those that it reads, found it before graph.fused_group %a; swap them
func.func @f(%x : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %b = graph.fused_group tiles 1 (%i = %a : tensor<1x4x8x8xf32>) -> (tensor<1x4x8x8xf32>) {
    %k = graph.unary relu %i : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    graph.yield %k : tensor<1x4x8x8xf32>
  }
  %a = graph.fused_group tiles 1 (%i = %x : tensor<1x4x8x8xf32>) -> (tensor<1x4x8x8xf32>) {
    %k = graph.unary relu %i : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    graph.yield %k : tensor<1x4x8x8xf32>
  }
  func.return %b : tensor<1x4x8x8xf32>
}
