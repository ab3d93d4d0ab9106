// RUN: tilewright-opt %s -p 'convert-graph-to-nest' | filecheck %s

// A fused group is one nest.group; what follows the convolution changes its buffer in place.  It knows its nodes.
// CHECK-LABEL: func.func @fused
func.func @fused(%x : tensor<1x3x8x8xf32>, %w : tensor<4x3x3x3xf32>, %b : tensor<4xf32>, %r : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> attributes {graph.nodes = [["c1", "Conv_0"]]} {
  // CHECK:      %{{.*}} = nest.group @relu1 dims {k = 4, p = 8, q = 8, c = 3, r = 3, s = 3} ins(X = %x, W = %w, B = %b, A = %r) -> tensor<1x4x8x8xf32> attributes {name = "relu1", layers = ["Conv_0", "relu1"]} {
  // CHECK:        %bias = nest.kernel @bias "Y[0, k, p, q] = B[k]" (B = %B) : (tensor<4xf32>) -> tensor<1x4x8x8xf32>
  // CHECK-NEXT:   %mac = nest.kernel @mac "Y[0, k, p, q] += X[0, c, p + r - 1, q + s - 1] * W[k, c, r, s]" (X = %X, W = %W) into %bias pad {X = 0.0}
  // CHECK-NEXT:   %add = nest.kernel @add "Y[0, k, p, q] = A[0, k, p, q] + B[0, k, p, q]" (A = %A, B = %mac) into %mac
  // CHECK-NEXT:   %relu = nest.kernel @relu "Y[0, k, p, q] = relu(A[0, k, p, q])" (A = %add) into %add
  // CHECK-NEXT:   nest.yield %relu
  %y = graph.fused_group tiles 1 (%0 = %x : tensor<1x3x8x8xf32>, %1 = %w : tensor<4x3x3x3xf32>, %2 = %b : tensor<4xf32>, %3 = %r : tensor<1x4x8x8xf32>) -> (tensor<1x4x8x8xf32>) {
    %4 = graph.conv %0, %1, %2 strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 {name = "c1"} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
    %5 = graph.binary add %3, %4 : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    %6 = graph.unary relu %5 {name = "relu1"} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    graph.yield %6 : tensor<1x4x8x8xf32>
  }
  func.return %y : tensor<1x4x8x8xf32>
}

// A reduction shares the rows with what follows it.
// CHECK-LABEL: func.func @softmax
func.func @softmax(%x : tensor<3x10xf32>) -> tensor<3x10xf32> {
  // CHECK:        nest.kernel @max "Y[n, 0] max= X[n, c]"
  // CHECK-NEXT:   nest.kernel @difference "Y[n, c] = X[n, c] - A[n, 0]"
  // CHECK-NEXT:   nest.kernel @exp "Y[n, c] = exp(A[n, c])"
  // CHECK-NEXT:   nest.kernel @sum "Y[n, 0] += A[n, c]"
  // CHECK-NEXT:   nest.kernel @quotient "Y[n, c] = A[n, c] / B[n, 0]" (A = %exp, B = %sum) into %exp
  %y = graph.softmax %x axis 1 : (tensor<3x10xf32>) -> tensor<3x10xf32>
  func.return %y : tensor<3x10xf32>
}

// Each piece of a concat goes into the result of the piece before it; a reshape moves nothing.
// CHECK-LABEL: func.func @pieces
func.func @pieces(%a : tensor<1x2x4xf32>, %b : tensor<1x3x4xf32>) -> tensor<20xf32> {
  // CHECK: %[[first:.*]] = nest.group @concat dims {i1 = 2, i2 = 4} ins(X = %a) -> tensor<1x5x4xf32>
  // CHECK: "Y[0, i1, i2] = X[0, i1, i2]"
  // CHECK: %[[all:.*]] = nest.group @concat.1 dims {i1 = 3, i2 = 4} ins(X = %b, D = %[[first]]) -> tensor<1x5x4xf32>
  // CHECK: "Y[0, i1 + 2, i2] = X[0, i1, i2]" (X = %X) into %D
  // CHECK: nest.view %[[all]] : tensor<1x5x4xf32> -> tensor<20xf32>
  %0 = graph.concat %a, %b axis 1 : (tensor<1x2x4xf32>, tensor<1x3x4xf32>) -> tensor<1x5x4xf32>
  %1 = graph.reshape %0 : (tensor<1x5x4xf32>) -> tensor<20xf32>
  func.return %1 : tensor<20xf32>
}

// A zero point whose value is known becomes a number.
// CHECK-LABEL: func.func @quantize
func.func @quantize(%x : tensor<2x4xf32>, %s : tensor<f32>) -> tensor<2x4xui8> {
  // CHECK: nest.kernel @quantize "Y[n, c] = clip(rint(X[n, c] / S[]) + 3, 0, 255)"
  %z = graph.weight @zero = dense<3> : tensor<ui8> : tensor<ui8>
  %y = graph.quantize %x, %s, %z axis 0 : (tensor<2x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x4xui8>
  func.return %y : tensor<2x4xui8>
}

// An average that leaves padding out divides by counts that are a new weight.
// CHECK-LABEL: func.func @average
func.func @average(%x : tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  // CHECK: graph.weight @y.counts = dense<{{.*}}> : tensor<4x4xf32>
  // CHECK: nest.kernel @average "Y[0, c, p, q] += X[0, c, p + r - 1, q + s - 1]" (X = %X) pad {X = 0.0}
  // CHECK: nest.kernel @divide "Y[0, c, p, q] = A[0, c, p, q] / N[p, q]"
  %y = graph.pool average %x kernel [3, 3] strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  func.return %y : tensor<1x2x4x4xf32>
}

// A choice and a comparison, operands broadcast.
// CHECK-LABEL: func.func @select
func.func @select(%c : tensor<3xui8>, %a : tensor<2x3xf32>, %b : tensor<f32>) -> tensor<2x3xf32> {
  // CHECK:        nest.kernel @gt "Y[n, c] = A[n, c] > B[]"
  // CHECK:        nest.kernel @select "Y[n, c] = select(C[c], A[n, c], B[n, c])"
  %0 = graph.binary gt %a, %b : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %y = graph.select %c, %a, %0 : (tensor<3xui8>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}
