// RUN: tilewright-opt %s -p nest-fold-moves | filecheck %s

// Groups of channels are written where they are shuffled to.
// CHECK-LABEL: @shuffled
// CHECK-NEXT: %[[Y:.*]] = nest.group @double dims {g = 2, k = 3, p = 2, q = 2} ins(X = %x) -> tensor<1x6x2x2xsi8>
// CHECK:   %twice = nest.kernel @twice "Y[0, g + 2 * k, p, q] = X[0, 3 * g + k, p, q]" (X = %X)
// CHECK-NOT: nest.group
// CHECK: func.return %[[Y]]
func.func @shuffled(%x : tensor<1x6x2x2xsi8>) -> tensor<1x6x2x2xsi8> {
  %a = nest.group @double dims {g = 2, k = 3, p = 2, q = 2} ins(X = %x) -> tensor<1x6x2x2xsi8> {
  ^bb0(%X : tensor<1x6x2x2xsi8>):
    %twice = nest.kernel @twice "Y[0, 3 * g + k, p, q] = X[0, 3 * g + k, p, q]" (X = %X) : (tensor<1x6x2x2xsi8>) -> tensor<1x6x2x2xsi8>
    nest.yield %twice : tensor<1x6x2x2xsi8>
  }
  %y = nest.group @shuffle dims {d = 2, c = 3, h = 2, w = 2} ins(X = %a) -> tensor<1x6x2x2xsi8> {
  ^bb0(%X : tensor<1x6x2x2xsi8>):
    %transpose = nest.kernel @transpose "Y[0, 2 * c + d, h, w] = X[0, 3 * d + c, h, w]" (X = %X) : (tensor<1x6x2x2xsi8>) -> tensor<1x6x2x2xsi8>
    nest.yield %transpose : tensor<1x6x2x2xsi8>
  }
  func.return %y : tensor<1x6x2x2xsi8>
}

// A map is written where it is joined, also where its channels are two dims.
// CHECK-LABEL: @joined
// CHECK-NEXT: %[[Y:.*]] = nest.group @double dims {g = 2, k = 3, p = 2, q = 2} ins(X = %x) -> tensor<1x9x2x2xsi8>
// CHECK:   %twice = nest.kernel @twice "Y[0, 3 * g + k + 3, p, q] = X[0, 3 * g + k, p, q]" (X = %X)
// CHECK-NOT: nest.group
// CHECK: func.return %[[Y]]
func.func @joined(%x : tensor<1x6x2x2xsi8>) -> tensor<1x9x2x2xsi8> {
  %a = nest.group @double dims {g = 2, k = 3, p = 2, q = 2} ins(X = %x) -> tensor<1x6x2x2xsi8> {
  ^bb0(%X : tensor<1x6x2x2xsi8>):
    %twice = nest.kernel @twice "Y[0, 3 * g + k, p, q] = X[0, 3 * g + k, p, q]" (X = %X) : (tensor<1x6x2x2xsi8>) -> tensor<1x6x2x2xsi8>
    nest.yield %twice : tensor<1x6x2x2xsi8>
  }
  %y = nest.group @join dims {c = 6, h = 2, w = 2} ins(X = %a) -> tensor<1x9x2x2xsi8> {
  ^bb0(%X : tensor<1x6x2x2xsi8>):
    %copy = nest.kernel @copy "Y[0, c + 3, h, w] = X[0, c, h, w]" (X = %X) : (tensor<1x6x2x2xsi8>) -> tensor<1x9x2x2xsi8>
    nest.yield %copy : tensor<1x9x2x2xsi8>
  }
  func.return %y : tensor<1x9x2x2xsi8>
}

// What moves rows, what two read, and channels that are cut otherwise stay.
// CHECK-LABEL: @others
// CHECK: @rows
// CHECK: @shuffle
// CHECK: @part
func.func @others(%x : tensor<1x6x2x2xsi8>) -> (tensor<1x6x2x2xsi8>, tensor<1x6x2x2xsi8>, tensor<1x3x2x2xsi8>) {
  %a = nest.group @double dims {c = 6, p = 2, q = 2} ins(X = %x) -> tensor<1x6x2x2xsi8> {
  ^bb0(%X : tensor<1x6x2x2xsi8>):
    %twice = nest.kernel @twice "Y[0, c, p, q] = X[0, c, p, q]" (X = %X) : (tensor<1x6x2x2xsi8>) -> tensor<1x6x2x2xsi8>
    nest.yield %twice : tensor<1x6x2x2xsi8>
  }
  %b = nest.group @rows dims {c = 6, p = 2, q = 2} ins(X = %a) -> tensor<1x6x2x2xsi8> {
  ^bb0(%X : tensor<1x6x2x2xsi8>):
    %turned = nest.kernel @turned "Y[0, c, p, q] = X[0, c, q, p]" (X = %X) : (tensor<1x6x2x2xsi8>) -> tensor<1x6x2x2xsi8>
    nest.yield %turned : tensor<1x6x2x2xsi8>
  }
  %y = nest.group @shuffle dims {d = 2, c = 3, h = 2, w = 2} ins(X = %b) -> tensor<1x6x2x2xsi8> {
  ^bb0(%X : tensor<1x6x2x2xsi8>):
    %transpose = nest.kernel @transpose "Y[0, 2 * c + d, h, w] = X[0, 3 * d + c, h, w]" (X = %X) : (tensor<1x6x2x2xsi8>) -> tensor<1x6x2x2xsi8>
    nest.yield %transpose : tensor<1x6x2x2xsi8>
  }
  %z = nest.group @part dims {c = 3, h = 2, w = 2} ins(X = %y) -> tensor<1x3x2x2xsi8> {
  ^bb0(%X : tensor<1x6x2x2xsi8>):
    %copy = nest.kernel @copy "Y[0, c, h, w] = X[0, c, h, w]" (X = %X) : (tensor<1x6x2x2xsi8>) -> tensor<1x3x2x2xsi8>
    nest.yield %copy : tensor<1x3x2x2xsi8>
  }
  func.return %y, %b, %z : tensor<1x6x2x2xsi8>, tensor<1x6x2x2xsi8>, tensor<1x3x2x2xsi8>
}
