// RUN: tilewright-opt %s -p 'load-target{target="cloud128"},nest-band' | filecheck %s
// RUN: tilewright-opt %s -p 'load-target{target="cloud128"},nest-band,nest-verify' | filecheck %s
// RUN: tilewright-opt %s -p 'load-target{target="cocco_npu"},nest-band,nest-verify' | filecheck %s --check-prefix=NPU

// Seven results of a row see nine elements; the weights are rows of taps with six zeros before, between and after them.
// CHECK-LABEL: func.func @depthwise
// CHECK: [[W:%.*]] = graph.weight @w.band : tensor<136x1x33xsi8>
// CHECK: nest.group @dw dims {g = 136, p = 28, q = 4, r = 3, s = 9, k = 7} ins(X = %x, W = [[W]], B = %b)
// CHECK: nest.kernel @bias "Y[0, g, p, k + 7 * q] = B[g]"
// CHECK: nest.kernel @mac "Y[0, g, p, k + 7 * q] += X[0, g, p + r - 1, 7 * q + s - 1] * W[g, 0, -1 * k + 9 * r + s + 6]"{{.*}} into %bias pad {X = 0}
func.func @depthwise(%x: tensor<1x136x28x28xui8>) -> tensor<1x136x28x28xi32> {
  %w = graph.weight @w = dense<1> : tensor<136x1x3x3xsi8> : tensor<136x1x3x3xsi8>
  %b = graph.weight @b = dense<1> : tensor<136xi32> : tensor<136xi32>
  %y = nest.group @dw dims {g = 136, p = 28, q = 28, r = 3, s = 3} ins(X = %x, W = %w, B = %b) -> tensor<1x136x28x28xi32> {
  ^bb0(%X: tensor<1x136x28x28xui8>, %W: tensor<136x1x3x3xsi8>, %B: tensor<136xi32>):
    %bias = nest.kernel @bias "Y[0, g, p, q] = B[g]" (B = %B) : (tensor<136xi32>) -> tensor<1x136x28x28xi32>
    %mac = nest.kernel @mac "Y[0, g, p, q] += X[0, g, p + r - 1, q + s - 1] * W[g, 0, r, s]" (X = %X, W = %W) into %bias pad {X = 0} : (tensor<1x136x28x28xui8>, tensor<136x1x3x3xsi8>) -> tensor<1x136x28x28xi32>
    nest.yield %mac : tensor<1x136x28x28xi32>
  }
  func.return %y : tensor<1x136x28x28xi32>
}

// Arrays of 8 x 8 make 8 of 14 results from 8 elements, twice.
// NPU-LABEL: func.func @depthwise
// NPU: graph.weight @w.band : tensor<136x1x37xsi8>
// NPU: nest.group @dw dims {g = 136, p = 28, q = 2, r = 3, s = 8, k = 14, k1 = 8}
// NPU: nest.kernel @bias "Y[0, g, p, k + 14 * q] = B[g]"
// NPU: nest.kernel @mac "Y[0, g, p, k1 + 14 * q] += X[0, g, p + r - 1, 14 * q + s - 1] * W[g, 0, -1 * k1 + 10 * r + s + 7]"{{.*}} into %bias
// NPU: nest.kernel @mac1 "Y[0, g, p, k1 + 14 * q + 6] += X[0, g, p + r - 1, 14 * q + s + 7] * W[g, 0, -1 * k1 + 10 * r + s + 9]"{{.*}} into %mac

// Channels are summed up: arrays have lanes for these.
// CHECK-LABEL: func.func @dense
// CHECK: nest.group @conv dims {k = 8, p = 28, q = 28, c = 8, r = 3, s = 3}
func.func @dense(%x: tensor<1x8x30x30xui8>) -> tensor<1x8x28x28xi32> {
  %w = graph.weight @w2 = dense<1> : tensor<8x8x3x3xsi8> : tensor<8x8x3x3xsi8>
  %y = nest.group @conv dims {k = 8, p = 28, q = 28, c = 8, r = 3, s = 3} ins(X = %x, W = %w) -> tensor<1x8x28x28xi32> {
  ^bb0(%X: tensor<1x8x30x30xui8>, %W: tensor<8x8x3x3xsi8>):
    %mac = nest.kernel @mac "Y[0, k, p, q] += X[0, c, p + r, q + s] * W[k, c, r, s]" (X = %X, W = %W) : (tensor<1x8x30x30xui8>, tensor<8x8x3x3xsi8>) -> tensor<1x8x28x28xi32>
    nest.yield %mac : tensor<1x8x28x28xi32>
  }
  func.return %y : tensor<1x8x28x28xi32>
}

// Zeros of few results take longer to load than they save.
// CHECK-LABEL: func.func @small
// CHECK: nest.group @few dims {g = 512, p = 2, q = 2, r = 3, s = 3}
func.func @small(%x: tensor<1x512x2x2xui8>) -> tensor<1x512x2x2xi32> {
  %w = graph.weight @w3 = dense<1> : tensor<512x1x3x3xsi8> : tensor<512x1x3x3xsi8>
  %y = nest.group @few dims {g = 512, p = 2, q = 2, r = 3, s = 3} ins(X = %x, W = %w) -> tensor<1x512x2x2xi32> {
  ^bb0(%X: tensor<1x512x2x2xui8>, %W: tensor<512x1x3x3xsi8>):
    %mac = nest.kernel @mac "Y[0, g, p, q] += X[0, g, p + r - 1, q + s - 1] * W[g, 0, r, s]" (X = %X, W = %W) pad {X = 0} : (tensor<1x512x2x2xui8>, tensor<512x1x3x3xsi8>) -> tensor<1x512x2x2xi32>
    nest.yield %mac : tensor<1x512x2x2xi32>
  }
  func.return %y : tensor<1x512x2x2xi32>
}
