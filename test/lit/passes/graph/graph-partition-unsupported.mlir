// RUN: not tilewright-opt %s -p 'graph-partition{method=luck}' 2>&1 | filecheck %s
// RUN: not tilewright-opt %s -p 'graph-partition{global_bytes=-4}' 2>&1 | filecheck %s --check-prefix=SIZE

// CHECK: error: usage: method: expected one of ours, genetic, {{.*}}, found 'luck'
// SIZE: error: usage: global_bytes, weight_bytes: expected capacities in bytes, found -4, 0
func.func @f(%x : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %a = graph.unary relu %x : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  func.return %a : tensor<1x4x8x8xf32>
}
