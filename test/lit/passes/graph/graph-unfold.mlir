// RUN: tilewright-opt %s -p load-target{target="edge16"},graph-unfold | filecheck %s

// Of 3 x 3 taps 27 channels: 2 steps of 16 lanes, not 9 of 3.
// CHECK: func.func @first
// CHECK-NOT: @w =
// CHECK: %[[U:.*]] = graph.unfold %x kernel [3, 3] strides [2, 2] pads [1, 1, 0, 0] dilations [1, 1] pad_value 7.0 {name = "y.unfolded"} : (tensor<1x3x9x8xui8>) -> tensor<1x27x4x4xui8>
// CHECK: %{{.*}} = graph.conv %[[U]], %{{.*}} strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 pad_value 7.0 {name = "y"} : (tensor<1x27x4x4xui8>, tensor<64x27x1x1xsi8>) -> tensor<1x64x4x4xi32>
func.func @first(%x: tensor<1x3x9x8xui8>) -> tensor<1x64x4x4xi32> {
  %w = graph.weight @w = dense<1> : tensor<64x3x3x3xsi8> : tensor<64x3x3x3xsi8>
  %0 = graph.conv %x, %w strides [2, 2] pads [1, 1, 0, 0] dilations [1, 1] groups 1 pad_value 7 {name = "y"} : (tensor<1x3x9x8xui8>, tensor<64x3x3x3xsi8>) -> tensor<1x64x4x4xi32>
  func.return %0 : tensor<1x64x4x4xi32>
}

// Of 5 x 5 taps on rows without steps whole windows would be copied 25 times; rows of them become channels.
// CHECK: func.func @rows
// CHECK: graph.unfold %x kernel [1, 5] strides [1, 1] pads [0, 2, 0, 2] dilations [1, 1] {name = "y.unfolded"} : (tensor<1x3x32x32xui8>) -> tensor<1x15x32x32xui8>
// CHECK: graph.conv %{{.*}} strides [1, 1] pads [2, 0, 2, 0] dilations [1, 1] groups 1 {name = "y"} : (tensor<1x15x32x32xui8>, tensor<32x15x5x1xsi8>) -> tensor<1x32x32x32xi32>
func.func @rows(%x: tensor<1x3x32x32xui8>) -> tensor<1x32x32x32xi32> {
  %w = graph.weight @v = dense<1> : tensor<32x3x5x5xsi8> : tensor<32x3x5x5xsi8>
  %0 = graph.conv %x, %w strides [1, 1] pads [2, 2, 2, 2] dilations [1, 1] groups 1 {name = "y"} : (tensor<1x3x32x32xui8>, tensor<32x3x5x5xsi8>) -> tensor<1x32x32x32xi32>
  func.return %0 : tensor<1x32x32x32xi32>
}

// Groups, full lanes, and weights without bytes stay.
// CHECK: func.func @others
// CHECK-NOT: graph.unfold
func.func @others(%x: tensor<1x16x8x8xui8>, %v: tensor<64x3x3x3xsi8>, %z: tensor<1x3x8x8xui8>) -> (tensor<1x64x6x6xi32>, tensor<1x16x6x6xi32>, tensor<1x64x6x6xi32>) {
  %w = graph.weight @full = dense<1> : tensor<64x16x3x3xsi8> : tensor<64x16x3x3xsi8>
  %0 = graph.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<1x16x8x8xui8>, tensor<64x16x3x3xsi8>) -> tensor<1x64x6x6xi32>
  %d = graph.weight @depthwise = dense<1> : tensor<16x1x3x3xsi8> : tensor<16x1x3x3xsi8>
  %1 = graph.conv %x, %d strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 16 : (tensor<1x16x8x8xui8>, tensor<16x1x3x3xsi8>) -> tensor<1x16x6x6xi32>
  %2 = graph.conv %z, %v strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<1x3x8x8xui8>, tensor<64x3x3x3xsi8>) -> tensor<1x64x6x6xi32>
  func.return %0, %1, %2 : tensor<1x64x6x6xi32>, tensor<1x16x6x6xi32>, tensor<1x64x6x6xi32>
}
