// RUN: VERIFY

// CHECK: expected pieces, and an axis of tensor<1x8x8xf32>, got 2 and 3
func.func @main(%a: tensor<1x4x8xf32>, %b: tensor<1x4x8xf32>) {
  %0 = nest.join %a, %b axis 3 : (tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> tensor<1x8x8xf32>
  func.return
}

// -----

// CHECK: expected pieces like tensor<1x8x8xf32>, got tensor<4x8xf32>
func.func @main(%a: tensor<1x4x8xf32>, %b: tensor<4x8xf32>) {
  %0 = nest.join %a, %b axis 1 : (tensor<1x4x8xf32>, tensor<4x8xf32>) -> tensor<1x8x8xf32>
  func.return
}

// -----

// CHECK: expected pieces that differ from tensor<1x8x8xf32> along axis 1 only, got tensor<1x4x7xf32>
func.func @main(%a: tensor<1x4x8xf32>, %b: tensor<1x4x7xf32>) {
  %0 = nest.join %a, %b axis 1 : (tensor<1x4x8xf32>, tensor<1x4x7xf32>) -> tensor<1x8x8xf32>
  func.return
}

// -----

// CHECK: expected pieces of 8 along axis 1, got 7
func.func @main(%a: tensor<1x4x8xf32>, %b: tensor<1x3x8xf32>) {
  %0 = nest.join %a, %b axis 1 : (tensor<1x4x8xf32>, tensor<1x3x8xf32>) -> tensor<1x8x8xf32>
  func.return
}
