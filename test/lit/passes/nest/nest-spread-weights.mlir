// RUN: tilewright-opt %s -p 'load-target{target="cocco_npu:WBUF.depth=2560"},nest-schedule,nest-spread-weights' | filecheck %s --check-prefix SMALL
// RUN: tilewright-opt %s -p 'load-target{target="cocco_npu:WBUF.depth=2560"},nest-schedule,nest-spread-weights{last_first=true}' | filecheck %s --check-prefix LAST
// RUN: tilewright-opt %s -p 'load-target{target="cocco_npu"},nest-schedule,nest-spread-weights' | filecheck %s --check-prefix LARGE
// RUN: tilewright-opt %s -p 'load-target{target="edge16"},nest-schedule,nest-spread-weights' | filecheck %s --check-prefix LARGE

// Weights of two layers fit in the memory of weights: those of others come to that of maps while the first layer runs.
// SMALL: nest.kernel @mac "Y[0, k, p, q] += X[0, c, p, q] * W[k, c, 0, 0]"
// SMALL: nest.kernel @mac "Y[0, k, p, q] += X[0, c, 4 * p, 4 * q] * W[k, c, 0, 0]"
// SMALL: nest.kernel @mac "Y[0, k, p, q] += W[k, c, 0, 0] * X[0, c, p, q]"
// SMALL: nest.kernel @mac "Y[0, k, p, q] += X[0, c, p, q] * W[k, c, 0, 0]"
// Of the last layers first, those of the fourth in place of the third's.
// LAST: nest.kernel @mac "Y[0, k, p, q] += X[0, c, p, q] * W[k, c, 0, 0]"
// LAST: nest.kernel @mac "Y[0, k, p, q] += X[0, c, 4 * p, 4 * q] * W[k, c, 0, 0]"
// LAST: nest.kernel @mac "Y[0, k, p, q] += X[0, c, p, q] * W[k, c, 0, 0]"
// LAST: nest.kernel @mac "Y[0, k, p, q] += W[k, c, 0, 0] * X[0, c, p, q]"
// Where all fit, or no memory is of weights alone, nothing is gained.
// LARGE: nest.kernel @mac "Y[0, k, p, q] += X[0, c, p, q] * W[k, c, 0, 0]"
// LARGE: nest.kernel @mac "Y[0, k, p, q] += X[0, c, 4 * p, 4 * q] * W[k, c, 0, 0]"
// LARGE: nest.kernel @mac "Y[0, k, p, q] += X[0, c, p, q] * W[k, c, 0, 0]"
// LARGE: nest.kernel @mac "Y[0, k, p, q] += X[0, c, p, q] * W[k, c, 0, 0]"
func.func @main(%x : tensor<1x256x16x16xsi8>) -> tensor<1x256x4x4xsi8> {
  %u = graph.weight @u : tensor<256x256x1x1xsi8>
  %v = graph.weight @v : tensor<256x256x1x1xsi8>
  %w = graph.weight @w : tensor<256x256x1x1xsi8>
  %z = graph.weight @z : tensor<256x256x1x1xsi8>
  %b = graph.weight @b : tensor<256xi32>
  %y1 = nest.group @first dims {k = 256, p = 16, q = 16, c = 256} ins(X = %x, W = %u, B = %b) -> tensor<1x256x16x16xsi8> {
  ^bb0(%X : tensor<1x256x16x16xsi8>, %W : tensor<256x256x1x1xsi8>, %B : tensor<256xi32>):
    %bias = nest.kernel @bias "Y[0, k, p, q] = B[k]" (B = %B) : (tensor<256xi32>) -> tensor<1x256x16x16xi32>
    %mac = nest.kernel @mac "Y[0, k, p, q] += X[0, c, p, q] * W[k, c, 0, 0]" (X = %X, W = %W) into %bias : (tensor<1x256x16x16xsi8>, tensor<256x256x1x1xsi8>) -> tensor<1x256x16x16xi32>
    %clip = nest.kernel @clip "Y[0, k, p, q] = sat_i8(A[0, k, p, q])" (A = %mac) : (tensor<1x256x16x16xi32>) -> tensor<1x256x16x16xsi8>
    nest.yield %clip : tensor<1x256x16x16xsi8>
  }
  %y2 = nest.group @second dims {k = 256, p = 4, q = 4, c = 256} ins(X = %y1, W = %v, B = %b) -> tensor<1x256x4x4xsi8> {
  ^bb0(%X : tensor<1x256x16x16xsi8>, %W : tensor<256x256x1x1xsi8>, %B : tensor<256xi32>):
    %bias = nest.kernel @bias "Y[0, k, p, q] = B[k]" (B = %B) : (tensor<256xi32>) -> tensor<1x256x4x4xi32>
    %mac = nest.kernel @mac "Y[0, k, p, q] += X[0, c, 4 * p, 4 * q] * W[k, c, 0, 0]" (X = %X, W = %W) into %bias : (tensor<1x256x16x16xsi8>, tensor<256x256x1x1xsi8>) -> tensor<1x256x4x4xi32>
    %clip = nest.kernel @clip "Y[0, k, p, q] = sat_i8(A[0, k, p, q])" (A = %mac) : (tensor<1x256x4x4xi32>) -> tensor<1x256x4x4xsi8>
    nest.yield %clip : tensor<1x256x4x4xsi8>
  }
  %y3 = nest.group @third dims {k = 256, p = 4, q = 4, c = 256} ins(X = %y2, W = %w, B = %b) -> tensor<1x256x4x4xsi8> {
  ^bb0(%X : tensor<1x256x4x4xsi8>, %W : tensor<256x256x1x1xsi8>, %B : tensor<256xi32>):
    %bias = nest.kernel @bias "Y[0, k, p, q] = B[k]" (B = %B) : (tensor<256xi32>) -> tensor<1x256x4x4xi32>
    %mac = nest.kernel @mac "Y[0, k, p, q] += X[0, c, p, q] * W[k, c, 0, 0]" (X = %X, W = %W) into %bias : (tensor<1x256x4x4xsi8>, tensor<256x256x1x1xsi8>) -> tensor<1x256x4x4xi32>
    %clip = nest.kernel @clip "Y[0, k, p, q] = sat_i8(A[0, k, p, q])" (A = %mac) : (tensor<1x256x4x4xi32>) -> tensor<1x256x4x4xsi8>
    nest.yield %clip : tensor<1x256x4x4xsi8>
  }
  %y4 = nest.group @fourth dims {k = 256, p = 4, q = 4, c = 256} ins(X = %y3, W = %z, B = %b) -> tensor<1x256x4x4xsi8> {
  ^bb0(%X : tensor<1x256x4x4xsi8>, %W : tensor<256x256x1x1xsi8>, %B : tensor<256xi32>):
    %bias = nest.kernel @bias "Y[0, k, p, q] = B[k]" (B = %B) : (tensor<256xi32>) -> tensor<1x256x4x4xi32>
    %mac = nest.kernel @mac "Y[0, k, p, q] += X[0, c, p, q] * W[k, c, 0, 0]" (X = %X, W = %W) into %bias : (tensor<1x256x4x4xsi8>, tensor<256x256x1x1xsi8>) -> tensor<1x256x4x4xi32>
    %clip = nest.kernel @clip "Y[0, k, p, q] = sat_i8(A[0, k, p, q])" (A = %mac) : (tensor<1x256x4x4xi32>) -> tensor<1x256x4x4xsi8>
    nest.yield %clip : tensor<1x256x4x4xsi8>
  }
  func.return %y4 : tensor<1x256x4x4xsi8>
}
