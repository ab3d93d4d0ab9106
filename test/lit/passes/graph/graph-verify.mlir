// RUN: tilewright-opt %s -p graph-verify | filecheck %s
// RUN: not tilewright-opt %s -p 'graph-verify{global_bytes=500}' 2>&1 | filecheck %s --check-prefix=SMALL

// SMALL: error: infeasible: group p to q of f: expected at most 500 bytes of global buffer, found {{[0-9]+}} bytes; use a global buffer of at least {{[0-9]+}} bytes, or smaller groups

// CHECK-LABEL: func.func @f
// CHECK:         graph.fused_group tiles 4
func.func @f(%x : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %y = graph.fused_group tiles 4 (%i = %x : tensor<1x4x8x8xf32>) -> (tensor<1x4x8x8xf32>) {
    %p = graph.pool max %i kernel [3, 3] strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    %q = graph.pool max %p kernel [3, 3] strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    graph.yield %q : tensor<1x4x8x8xf32>
  }
  func.return %y : tensor<1x4x8x8xf32>
}
