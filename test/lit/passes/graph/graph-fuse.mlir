// RUN: tilewright-opt %s -p graph-fuse | filecheck %s
// RUN: tilewright-opt %s -p 'graph-fuse{max_layers=2}' | filecheck %s --check-prefix=SHORT

// A layer and the elementwise layers that alone read it.
// Of two convolutions that are added, the later one has the sum.
// CHECK-LABEL: func.func @residual(
// SHORT-LABEL: func.func @residual(
func.func @residual(%x : tensor<1x3x4x4xf32>, %w : tensor<3x3x1x1xf32>, %b : tensor<3x1x1xf32>) -> tensor<1x48xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.fused_group tiles 1 (%[[X1:.*]] = %x : tensor<1x3x4x4xf32>, %[[W1:.*]] = %w : tensor<3x3x1x1xf32>) -> (tensor<1x3x4x4xf32>) attributes {name = "conv1"} {
  // CHECK-NEXT:   graph.conv %[[X1]], %[[W1]]
  // CHECK-NEXT:   graph.yield
  // CHECK: %[[Y:.*]] = graph.fused_group tiles 1 (%[[X2:.*]] = %x : tensor<1x3x4x4xf32>, %[[W2:.*]] = %w : tensor<3x3x1x1xf32>, %[[A2:.*]] = %[[A]] : tensor<1x3x4x4xf32>, %[[B2:.*]] = %b : tensor<3x1x1xf32>) -> (tensor<1x3x4x4xf32>) attributes {name = "relu"} {
  // CHECK-NEXT:   %[[C2:.*]] = graph.conv %[[X2]], %[[W2]] {{.*}} {name = "conv2"}
  // CHECK-NEXT:   %[[S:.*]] = graph.binary add %[[A2]], %[[C2]]
  // CHECK-NEXT:   %[[T:.*]] = graph.binary add %[[S]], %[[B2]]
  // CHECK-NEXT:   %[[R:.*]] = graph.unary relu %[[T]] {name = "relu"}
  // CHECK-NEXT:   graph.yield %[[R]]
  // CHECK: graph.reshape %[[Y]]
  // SHORT: graph.fused_group
  // SHORT: graph.conv
  // SHORT: graph.fused_group
  // SHORT: graph.conv
  // SHORT: graph.binary add
  // SHORT-NEXT: graph.yield
  // SHORT: graph.fused_group
  // SHORT: graph.binary add
  // SHORT-NEXT: graph.unary relu
  // SHORT-NEXT: graph.yield
  %0 = graph.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 {name = "conv1"} : (tensor<1x3x4x4xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x4x4xf32>
  %1 = graph.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 {name = "conv2"} : (tensor<1x3x4x4xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x4x4xf32>
  %2 = graph.binary add %0, %1 : (tensor<1x3x4x4xf32>, tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  %3 = graph.binary add %2, %b : (tensor<1x3x4x4xf32>, tensor<3x1x1xf32>) -> tensor<1x3x4x4xf32>
  %4 = graph.unary relu %3 {name = "relu"} : (tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  %5 = graph.reshape %4 : (tensor<1x3x4x4xf32>) -> tensor<1x48xf32>
  func.return %5 : tensor<1x48xf32>
}

// A value that is read twice leaves its group.
// CHECK-LABEL: func.func @read_twice(
func.func @read_twice(%x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[E:.*]] = graph.fused_group
  // CHECK-NEXT: graph.unary exp
  // CHECK: %[[N:.*]] = graph.fused_group
  // CHECK-NEXT: graph.unary neg
  // CHECK: func.return %[[E]], %[[N]]
  %0 = graph.unary exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.unary neg %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// Elementwise trees are one group, in an order that respects what they read.
// CHECK-LABEL: func.func @tree(
func.func @tree(%x : tensor<4xui8>, %y : tensor<4xui8>) -> tensor<4xi32> {
  // CHECK: graph.fused_group tiles 1 (%[[X:.*]] = %x : tensor<4xui8>, %[[Y:.*]] = %y : tensor<4xui8>) -> (tensor<4xi32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.cast %[[X]]
  // CHECK-NEXT: %[[B:.*]] = graph.cast %[[Y]]
  // CHECK-NEXT: graph.binary add %[[A]], %[[B]]
  // CHECK-NEXT: graph.yield
  %0 = graph.cast %x : (tensor<4xui8>) -> tensor<4xi32>
  %1 = graph.cast %y : (tensor<4xui8>) -> tensor<4xi32>
  %2 = graph.binary add %0, %1 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %2 : tensor<4xi32>
}

// Layers that move elements, softmax and the like stay alone; so does what changes the shape by broadcasting.
// CHECK-LABEL: func.func @alone(
func.func @alone(%x : tensor<3xf32>, %y : tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: graph.unary exp
  // CHECK-NEXT: graph.yield
  // CHECK: graph.binary add
  // CHECK-NEXT: graph.yield
  // CHECK: graph.softmax
  // CHECK-NEXT: graph.yield
  // CHECK: graph.unary relu
  // CHECK-NEXT: graph.yield
  %0 = graph.unary exp %x : (tensor<3xf32>) -> tensor<3xf32>
  %1 = graph.binary add %0, %y : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = graph.softmax %1 axis 1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = graph.unary relu %2 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %3 : tensor<2x3xf32>
}

// Weights stay outside.
// CHECK-LABEL: func.func @weights(
func.func @weights(%x : tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK-NEXT: %[[W:.*]] = graph.weight @w
  // CHECK-NEXT: graph.fused_group tiles 1 (%{{.*}} = %x : tensor<2x2xf32>, %{{.*}} = %[[W]] : tensor<2x2xf32>)
  %w = graph.weight @w : tensor<2x2xf32>
  %0 = graph.matmul %x, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  func.return %0 : tensor<2x2xf32>
}
