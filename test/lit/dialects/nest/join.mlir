// RUN: ROUNDTRIP

// CHECK: %0 = nest.join %a, %b axis 1 : (tensor<1x4x8xf32>, tensor<1x2x8xf32>) -> tensor<1x6x8xf32>
func.func @main(%a : tensor<1x4x8xf32>, %b : tensor<1x2x8xf32>) -> tensor<1x6x8xf32> {
  %0 = nest.join %a, %b axis 1 : (tensor<1x4x8xf32>, tensor<1x2x8xf32>) -> tensor<1x6x8xf32>
  func.return %0 : tensor<1x6x8xf32>
}
