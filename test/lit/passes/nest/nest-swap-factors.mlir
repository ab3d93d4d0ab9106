// RUN: tilewright-opt %s -p 'load-target{target="cocco_npu"},nest-schedule,nest-swap-factors' | filecheck %s --check-prefix SWAP
// RUN: tilewright-opt %s -p 'load-target{target="cocco_npu:WBUF.depth=144"},nest-schedule,nest-swap-factors' | filecheck %s --check-prefix SMALL
// RUN: tilewright-opt %s -p 'load-target{target="cocco_npu"},nest-swap-factors' | filecheck %s --check-prefix ALONE

// A product of one channel each has pixels in the lanes of weights; one of many channels stays.  It does, too, where
// the map takes more than a quarter of the memory of weights, and where no layer is known to run as a whole.
// SWAP: nest.kernel @mac "Y[0, g, p, q] += W[g, 0, r, s] * X[0, g, p + r, q + s]" (X = %X, W = %W) into %bias
// SWAP: nest.kernel @mac "Y[0, k, p, q] += X[0, c, p, q] * W[k, c, 0, 0]"
// SMALL: nest.kernel @mac "Y[0, g, p, q] += X[0, g, p + r, q + s] * W[g, 0, r, s]"
// ALONE: nest.kernel @mac "Y[0, g, p, q] += X[0, g, p + r, q + s] * W[g, 0, r, s]"
func.func @main(%x : tensor<1x32x34x34xsi8>) -> tensor<1x256x32x32xi32> {
  %w = graph.weight @w : tensor<32x1x3x3xsi8>
  %b = graph.weight @b : tensor<32xi32>
  %v = graph.weight @v : tensor<256x32x1x1xsi8>
  %y = nest.group @depthwise dims {g = 32, p = 32, q = 32, r = 3, s = 3} ins(X = %x, W = %w, B = %b) -> tensor<1x32x32x32xsi8> {
  ^bb0(%X : tensor<1x32x34x34xsi8>, %W : tensor<32x1x3x3xsi8>, %B : tensor<32xi32>):
    %bias = nest.kernel @bias "Y[0, g, p, q] = B[g]" (B = %B) : (tensor<32xi32>) -> tensor<1x32x32x32xi32>
    %mac = nest.kernel @mac "Y[0, g, p, q] += X[0, g, p + r, q + s] * W[g, 0, r, s]" (X = %X, W = %W) into %bias : (tensor<1x32x34x34xsi8>, tensor<32x1x3x3xsi8>) -> tensor<1x32x32x32xi32>
    %clip = nest.kernel @clip "Y[0, g, p, q] = sat_i8(A[0, g, p, q])" (A = %mac) : (tensor<1x32x32x32xi32>) -> tensor<1x32x32x32xsi8>
    nest.yield %clip : tensor<1x32x32x32xsi8>
  }
  %z = nest.group @pointwise dims {k = 256, p = 32, q = 32, c = 32} ins(X = %y, W = %v) -> tensor<1x256x32x32xi32> {
  ^bb0(%X : tensor<1x32x32x32xsi8>, %W : tensor<256x32x1x1xsi8>):
    %mac = nest.kernel @mac "Y[0, k, p, q] += X[0, c, p, q] * W[k, c, 0, 0]" (X = %X, W = %W) : (tensor<1x32x32x32xsi8>, tensor<256x32x1x1xsi8>) -> tensor<1x256x32x32xi32>
    nest.yield %mac : tensor<1x256x32x32xi32>
  }
  func.return %z : tensor<1x256x32x32xi32>
}

// Of two maps the smaller is copied to the memory of weights where loads and copies take longer than products; that of a
// quarter of that memory is not.
// SWAP-LABEL: func.func @step
// SWAP: nest.kernel @mac "Y[m, n] += B[k, n] * A[m, k]" (A = %A, B = %B)
// SMALL-LABEL: func.func @step
// SMALL: nest.kernel @mac "Y[m, n] += A[m, k] * B[k, n]"
func.func @step(%a : tensor<1x4096xsi8>, %b : tensor<4096x64xsi8>) -> tensor<1x64xi32> {
  %y = nest.group @scores dims {m = 1, n = 64, k = 4096} ins(A = %a, B = %b) -> tensor<1x64xi32> {
  ^bb0(%A : tensor<1x4096xsi8>, %B : tensor<4096x64xsi8>):
    %mac = nest.kernel @mac "Y[m, n] += A[m, k] * B[k, n]" (A = %A, B = %B) : (tensor<1x4096xsi8>, tensor<4096x64xsi8>) -> tensor<1x64xi32>
    nest.yield %mac : tensor<1x64xi32>
  }
  func.return %y : tensor<1x64xi32>
}

// Where products take longer, copies of the same size stay.
// SWAP-LABEL: func.func @square
// SWAP: nest.kernel @mac "Y[m, n] += A[m, k] * B[k, n]"
func.func @square(%a : tensor<256x256xsi8>, %b : tensor<256x256xsi8>) -> tensor<256x256xi32> {
  %y = nest.group @scores dims {m = 256, n = 256, k = 256} ins(A = %a, B = %b) -> tensor<256x256xi32> {
  ^bb0(%A : tensor<256x256xsi8>, %B : tensor<256x256xsi8>):
    %mac = nest.kernel @mac "Y[m, n] += A[m, k] * B[k, n]" (A = %A, B = %B) : (tensor<256x256xsi8>, tensor<256x256xsi8>) -> tensor<256x256xi32>
    nest.yield %mac : tensor<256x256xi32>
  }
  func.return %y : tensor<256x256xi32>
}
