// RUN: tilewright-opt %s -p 'load-target{target="cloud128"},nest-schedule,nest-split-reductions' | filecheck %s --check-prefix SPLIT
// RUN: tilewright-opt %s -p 'load-target{target="edge16"},nest-schedule,nest-split-reductions' | filecheck %s --check-prefix FED
// RUN: tilewright-opt %s -p 'load-target{target="cloud128"},nest-split-reductions' | filecheck %s --check-prefix ALONE
// RUN: tilewright-opt %s -p 'load-target{target="edge16"},nest-split-reductions' | filecheck %s --check-prefix ROWS

// By its formula an array of cloud128 waits for 512 channels of each row, or is fed once for eight taps of 64.  Those of
// edge16 are fed fast enough.  Layers of which nothing says that they run as a whole stay.
// SPLIT-LABEL: func.func @main
// SPLIT: nest.group @mixed dims {m = 512, n = 64, k = 8, k1 = 64}
// SPLIT: nest.kernel @mac "Y[m, n] += A[m, 64 * k + k1] * B[64 * k + k1, n]" (A = %A, B = %B)
// FED: nest.kernel @mac "Y[m, n] += A[m, k] * B[k, n]"
// ALONE: nest.kernel @mac "Y[m, n] += A[m, k] * B[k, n]"
func.func @main(%a : tensor<512x512xsi8>, %b : tensor<512x64xsi8>) -> tensor<512x64xi32> {
  %y = nest.group @mixed dims {m = 512, n = 64, k = 512} ins(A = %a, B = %b) -> tensor<512x64xi32> {
  ^bb0(%A : tensor<512x512xsi8>, %B : tensor<512x64xsi8>):
    %mac = nest.kernel @mac "Y[m, n] += A[m, k] * B[k, n]" (A = %A, B = %B) : (tensor<512x512xsi8>, tensor<512x64xsi8>) -> tensor<512x64xi32>
    nest.yield %mac : tensor<512x64xi32>
  }
  func.return %y : tensor<512x64xi32>
}

// What is read for many results stays, and a dim that another kernel has, too.
// SPLIT-LABEL: func.func @wide
// SPLIT: nest.kernel @mac "Y[m, n] += A[m, k] * B[k, n]"
func.func @wide(%a : tensor<512x512xsi8>, %b : tensor<512x1024xsi8>) -> tensor<512x1024xi32> {
  %y = nest.group @wide dims {m = 512, n = 1024, k = 512} ins(A = %a, B = %b) -> tensor<512x1024xi32> {
  ^bb0(%A : tensor<512x512xsi8>, %B : tensor<512x1024xsi8>):
    %mac = nest.kernel @mac "Y[m, n] += A[m, k] * B[k, n]" (A = %A, B = %B) : (tensor<512x512xsi8>, tensor<512x1024xsi8>) -> tensor<512x1024xi32>
    nest.yield %mac : tensor<512x1024xi32>
  }
  func.return %y : tensor<512x1024xi32>
}

// SPLIT-LABEL: func.func @shared
// SPLIT: nest.kernel @mac "Y[m, n] += A[m, k] * B[k, n]"
func.func @shared(%a : tensor<512x512xsi8>, %b : tensor<512x64xsi8>) -> tensor<512x64xi32> {
  %y = nest.group @mixed dims {m = 512, n = 64, k = 512} ins(A = %a, B = %b) -> tensor<512x64xi32> {
  ^bb0(%A : tensor<512x512xsi8>, %B : tensor<512x64xsi8>):
    %turned = nest.kernel @turned "T[k, n] = neg(B[k, n])" (B = %B) : (tensor<512x64xsi8>) -> tensor<512x64xsi8>
    %mac = nest.kernel @mac "Y[m, n] += A[m, k] * B[k, n]" (A = %A, B = %turned) : (tensor<512x512xsi8>, tensor<512x64xsi8>) -> tensor<512x64xi32>
    nest.yield %mac : tensor<512x64xi32>
  }
  func.return %y : tensor<512x64xi32>
}

// A layer that runs in rows is fed with some of them at a time: 32 channels of 4 x 112 pixels, for 16 results of each.
// One row of 8 pixels is little beside weights of 256 results, which are fed with each tap.
// ROWS-LABEL: func.func @rows
// ROWS: nest.group @project dims {k = 16, p = 112, q = 112, c = 4, c1 = 8}
// ROWS: nest.kernel @mac "Y[0, k, p, q] += X[0, 8 * c + c1, p, q] * W[k, 8 * c + c1]" (X = %X, W = %W)
// ROWS: nest.group @narrow dims {k = 256, p = 8, q = 8, c = 32}
func.func @rows(%x : tensor<1x32x112x112xf32>, %z : tensor<1x32x8x8xf32>) -> (tensor<1x16x112x112xf32>, tensor<1x256x8x8xf32>) {
  %w = graph.weight @w = dense<1.0> : tensor<16x32xf32> : tensor<16x32xf32>
  %v = graph.weight @v = dense<1.0> : tensor<256x32xf32> : tensor<256x32xf32>
  %y = nest.group @project dims {k = 16, p = 112, q = 112, c = 32} ins(X = %x, W = %w) -> tensor<1x16x112x112xf32> attributes {fused = 0 : i64, tile_rows = 4 : i64} {
  ^bb0(%X : tensor<1x32x112x112xf32>, %W : tensor<16x32xf32>):
    %mac = nest.kernel @mac "Y[0, k, p, q] += X[0, c, p, q] * W[k, c]" (X = %X, W = %W) : (tensor<1x32x112x112xf32>, tensor<16x32xf32>) -> tensor<1x16x112x112xf32>
    nest.yield %mac : tensor<1x16x112x112xf32>
  }
  %u = nest.group @narrow dims {k = 256, p = 8, q = 8, c = 32} ins(X = %z, W = %v) -> tensor<1x256x8x8xf32> attributes {fused = 1 : i64, tile_rows = 1 : i64} {
  ^bb0(%X : tensor<1x32x8x8xf32>, %W : tensor<256x32xf32>):
    %mac = nest.kernel @mac "Y[0, k, p, q] += X[0, c, p, q] * W[k, c]" (X = %X, W = %W) : (tensor<1x32x8x8xf32>, tensor<256x32xf32>) -> tensor<1x256x8x8xf32>
    nest.yield %mac : tensor<1x256x8x8xf32>
  }
  func.return %y, %u : tensor<1x16x112x112xf32>, tensor<1x256x8x8xf32>
}
