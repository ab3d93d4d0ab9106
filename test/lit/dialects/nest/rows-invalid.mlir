// RUN: VERIFY

// CHECK: expected a table of rows and indices of i32 or i64, got tensor<100x8xf32> and tensor<4xf32>
func.func @main(%t : tensor<100x8xf32>, %i : tensor<4xf32>) {
  %0 = nest.rows %t at %i : (tensor<100x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

// CHECK: expected tensor<4x8xf32>, got tensor<8x4xf32>
func.func @main(%t : tensor<100x8xf32>, %i : tensor<4xi32>) {
  %0 = nest.rows %t at %i : (tensor<100x8xf32>, tensor<4xi32>) -> tensor<8x4xf32>
  func.return
}
