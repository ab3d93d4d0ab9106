// RUN: ROUNDTRIP

// CHECK: %0 = nest.rows %t at %i : (tensor<100x8xf32>, tensor<1x4xi64>) -> tensor<1x4x8xf32>
func.func @main(%t : tensor<100x8xf32>, %i : tensor<1x4xi64>) -> tensor<1x4x8xf32> {
  %0 = nest.rows %t at %i : (tensor<100x8xf32>, tensor<1x4xi64>) -> tensor<1x4x8xf32>
  func.return %0 : tensor<1x4x8xf32>
}
