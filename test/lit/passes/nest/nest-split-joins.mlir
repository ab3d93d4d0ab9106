// RUN: tilewright-opt %s -p nest-split-joins | filecheck %s

// What comes of the last of the joined maps is a part of its own; weights are cut, and both write into one result.
// CHECK-LABEL: @three
// CHECK: %[[FIRST:.*]] = nest.join %u, %v axis 1 : (tensor<1x4x2x2xsi8>, tensor<1x2x2x2xsi8>) -> tensor<1x6x2x2xsi8>
// CHECK: %[[A:.*]] = nest.group @scale dims {c = 6, h = 2, w = 2} ins(X = %[[FIRST]], B = %{{.*}}) -> tensor<1x8x2x2xsi8>
// CHECK: %[[B:.*]] = nest.group @scale.1 dims {c = 2, h = 2, w = 2} ins(X = %v, B = %{{.*}}, D = %[[A]]) -> tensor<1x8x2x2xsi8>
// CHECK:   %mul = nest.kernel @mul "Y[0, c, h, w] = A[0, c, h, w] * B[c, 0, 0]" (A = %X, B = %B) : (tensor<1x2x2x2xsi8>, tensor<2x1x1xi32>) -> tensor<1x2x2x2xi32>
// CHECK:   %cast = nest.kernel @cast "Y[0, c + 6, h, w] = sat_i8(A[0, c, h, w])" (A = %mul) into %D
// CHECK: func.return %[[B]]
func.func @three(%u : tensor<1x4x2x2xsi8>, %v : tensor<1x2x2x2xsi8>) -> tensor<1x8x2x2xsi8> {
  %x = nest.join %u, %v, %v axis 1 : (tensor<1x4x2x2xsi8>, tensor<1x2x2x2xsi8>, tensor<1x2x2x2xsi8>) -> tensor<1x8x2x2xsi8>
  %b = graph.weight @b = dense<2> : tensor<8x1x1xi32> : tensor<8x1x1xi32>
  %y = nest.group @scale dims {c = 8, h = 2, w = 2} ins(X = %x, B = %b) -> tensor<1x8x2x2xsi8> {
  ^bb0(%X : tensor<1x8x2x2xsi8>, %B : tensor<8x1x1xi32>):
    %mul = nest.kernel @mul "Y[0, c, h, w] = A[0, c, h, w] * B[c, 0, 0]" (A = %X, B = %B) : (tensor<1x8x2x2xsi8>, tensor<8x1x1xi32>) -> tensor<1x8x2x2xi32>
    %cast = nest.kernel @cast "Y[0, c, h, w] = sat_i8(A[0, c, h, w])" (A = %mul) : (tensor<1x8x2x2xi32>) -> tensor<1x8x2x2xsi8>
    nest.yield %cast : tensor<1x8x2x2xsi8>
  }
  func.return %y : tensor<1x8x2x2xsi8>
}

// What sums over channels, or reads no join, stays.
// CHECK-LABEL: @summed
// CHECK-NOT: @total.1
func.func @summed(%u : tensor<1x4x2x2xi32>, %v : tensor<1x2x2x2xi32>) -> tensor<1x2x2xi32> {
  %x = nest.join %u, %v axis 1 : (tensor<1x4x2x2xi32>, tensor<1x2x2x2xi32>) -> tensor<1x6x2x2xi32>
  %y = nest.group @total dims {c = 6, h = 2, w = 2} ins(X = %x) -> tensor<1x2x2xi32> {
  ^bb0(%X : tensor<1x6x2x2xi32>):
    %sum = nest.kernel @sum "Y[0, h, w] += A[0, c, h, w]" (A = %X) : (tensor<1x6x2x2xi32>) -> tensor<1x2x2xi32>
    nest.yield %sum : tensor<1x2x2xi32>
  }
  func.return %y : tensor<1x2x2xi32>
}
