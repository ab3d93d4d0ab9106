// RUN: tilewright-opt %s -p 'convert-graph-to-nest{in_place=true}' | filecheck %s
// RUN: tilewright-opt %s -p 'convert-graph-to-nest' | filecheck %s --check-prefix APART

// What follows a layer element by element is in its group; in f32 its sums begin with what is added to them.
// CHECK-LABEL: func.func @epilogue
// APART-LABEL: func.func @epilogue
func.func @epilogue(%x : tensor<1x3x8x8xf32>, %r : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %w = graph.weight @w : tensor<4x3x3x3xf32>
  // CHECK:      %{{.*}} = nest.group @a dims {k = 4, p = 8, q = 8, c = 3, r = 3, s = 3} ins(X = %x, W = %w, A = %r)
  // CHECK:        %[[add:.*]] = nest.kernel @add "Y[0, k, p, q] = A[0, k, p, q]"
  // CHECK-NEXT:   nest.kernel @mac {{.*}} into %[[add]]
  // CHECK-NEXT:   nest.kernel @relu
  // CHECK-NEXT:   nest.yield %relu
  // APART-COUNT-3: nest.group
  %a = graph.conv %x, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
  %b = graph.binary add %r, %a : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %c = graph.unary relu %b : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  func.return %c : tensor<1x4x8x8xf32>
}

// A map that others read too is made by a group of its own.
// CHECK-LABEL: func.func @shared
func.func @shared(%x : tensor<1x4x8x8xf32>) -> (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) {
  // CHECK: nest.kernel @max
  // CHECK-NEXT: nest.yield %max
  // CHECK: nest.kernel @relu
  %a = graph.pool max %x kernel [3, 3] strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %b = graph.unary relu %a : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  func.return %a, %b : tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>
}

// What is joined along channels is read where it lies.
// CHECK-LABEL: func.func @joined
// APART-LABEL: func.func @joined
func.func @joined(%x : tensor<1x4x8x8xf32>) -> tensor<1x8x8x8xf32> {
  // CHECK: %[[a:.*]] = nest.group @{{.*}} ins(X = %x)
  // CHECK: %[[b:.*]] = nest.group @{{.*}} ins(X = %x)
  // CHECK-NOT: nest.group
  // CHECK: %[[join:.*]] = nest.join %[[a]], %[[b]] axis 1 : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x8x8x8xf32>
  // CHECK: nest.group @{{.*}} ins(X = %[[join]])
  // APART-NOT: nest.join
  %a = graph.pool max %x kernel [3, 3] strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %b = graph.pool max %x kernel [5, 5] strides [1, 1] pads [2, 2, 2, 2] dilations [1, 1] : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %c = graph.concat %a, %b axis 1 : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x8x8x8xf32>
  %d = graph.pool max %c kernel [3, 3] strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  func.return %d : tensor<1x8x8x8xf32>
}

// What is joined along rows, or returned, is copied.
// CHECK-LABEL: func.func @copied
func.func @copied(%x : tensor<1x4x8x8xf32>) -> (tensor<1x4x16x8xf32>, tensor<1x8x8x8xf32>) {
  // CHECK-NOT: nest.join
  %a = graph.pool max %x kernel [3, 3] strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %b = graph.concat %a, %x axis 2 : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x16x8xf32>
  %c = graph.concat %a, %x axis 1 : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x8x8x8xf32>
  func.return %b, %c : tensor<1x4x16x8xf32>, tensor<1x8x8x8xf32>
}

// What is joined in another shape than it was made in is copied, too.
// CHECK-LABEL: func.func @viewed
func.func @viewed(%x : tensor<1x4x8x8xf32>, %y : tensor<1x4x64xf32>) -> tensor<1x8x8x8xf32> {
  // CHECK-NOT: nest.join
  %a = graph.reshape %y : (tensor<1x4x64xf32>) -> tensor<1x4x8x8xf32>
  %b = graph.concat %a, %x axis 1 : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x8x8x8xf32>
  %c = graph.pool max %b kernel [3, 3] strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  func.return %c : tensor<1x8x8x8xf32>
}

// It is copied right before the first that reads it.
// CHECK-LABEL: func.func @late
// APART-LABEL: func.func @late
func.func @late(%x : tensor<1x4x8x8xf32>, %y : tensor<1x4x8x8xf32>) -> (tensor<1x4x8x8xf32>, tensor<1x4x16x8xf32>) {
  // CHECK: nest.kernel @max
  // CHECK: nest.kernel @copy
  // CHECK: nest.kernel @copy
  // CHECK: nest.kernel @relu
  // APART: nest.kernel @copy
  // APART: nest.kernel @copy
  // APART: nest.kernel @max
  // APART: nest.kernel @relu
  %a = graph.concat %x, %y axis 2 : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x16x8xf32>
  %b = graph.pool max %x kernel [3, 3] strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %c = graph.unary relu %a : (tensor<1x4x16x8xf32>) -> tensor<1x4x16x8xf32>
  func.return %b, %c : tensor<1x4x8x8xf32>, tensor<1x4x16x8xf32>
}
