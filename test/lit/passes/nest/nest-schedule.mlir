// RUN: tilewright-opt %s -p 'load-target{target="edge16"},nest-schedule' | filecheck %s --check-prefix LARGE
// RUN: tilewright-opt %s -p 'load-target{target="edge16:GBUF.depth=80"},nest-schedule' | filecheck %s --check-prefix SMALL
// RUN: tilewright-opt %s -p 'load-target{target="edge16:GBUF.depth=20"},nest-schedule' | filecheck %s --check-prefix TINY
// RUN: tilewright-opt %s -p 'load-target{target="edge16:GBUF.depth=16"},nest-schedule{unpadded=true}' | filecheck %s --check-prefix UNPADDED

// With room for all, each layer runs as a whole and its result stays.  In 5 KiB a map of 8 KiB does not stay: both
// layers run together, some rows at a time; in 1.25 KiB fewer, in 1 KiB without room around rings of rows.
// LARGE-LABEL: func.func @maps
// LARGE: nest.group @first {{.*}} attributes {fused = 0 : i64, tile_rows = 0 : i64, kept}
// LARGE: nest.group @second {{.*}} attributes {fused = 1 : i64, tile_rows = 0 : i64, kept}
// SMALL-LABEL: func.func @maps
// SMALL: nest.group @first {{.*}} attributes {fused = 0 : i64, tile_rows = 4 : i64} {
// SMALL: nest.group @second {{.*}} attributes {fused = 0 : i64, tile_rows = 4 : i64} {
// TINY-LABEL: func.func @maps
// TINY: nest.group @first {{.*}} attributes {fused = 0 : i64, tile_rows = 1 : i64} {
// TINY: nest.group @second {{.*}} attributes {fused = 0 : i64, tile_rows = 1 : i64} {
// UNPADDED-LABEL: func.func @maps
// UNPADDED: nest.group @first {{.*}} attributes {unpadded, fused = 0 : i64, tile_rows = 1 : i64} {
// UNPADDED: nest.group @second {{.*}} attributes {unpadded, fused = 0 : i64, tile_rows = 1 : i64} {
func.func @maps(%x : tensor<1x4x64x8xf32>) -> tensor<1x4x64x8xf32> {
  %a = nest.group @first dims {c = 4, p = 64, q = 8, r = 3, s = 3} ins(X = %x) -> tensor<1x4x64x8xf32> {
  ^bb0(%X : tensor<1x4x64x8xf32>):
    %0 = nest.kernel @max "Y[0, c, p, q] max= X[0, c, p + r - 1, q + s - 1]" (X = %X) pad {X = neg_inf} : (tensor<1x4x64x8xf32>) -> tensor<1x4x64x8xf32>
    nest.yield %0 : tensor<1x4x64x8xf32>
  }
  %b = nest.group @second dims {c = 4, p = 64, q = 8, r = 3, s = 3} ins(X = %a) -> tensor<1x4x64x8xf32> {
  ^bb0(%X : tensor<1x4x64x8xf32>):
    %0 = nest.kernel @max "Y[0, c, p, q] max= X[0, c, p + r - 1, q + s - 1]" (X = %X) pad {X = neg_inf} : (tensor<1x4x64x8xf32>) -> tensor<1x4x64x8xf32>
    nest.yield %0 : tensor<1x4x64x8xf32>
  }
  func.return %b : tensor<1x4x64x8xf32>
}

// Weights of 16 KiB stay whole where there is room.  Where they do not fit they are loaded in pieces while their layer
// runs.  A layer that does not fit in pieces either has no marks: it is tiled from DRAM.
// LARGE-LABEL: func.func @weights
// LARGE: nest.group @fc {{.*}} attributes {fused = 0 : i64, tile_rows = 0 : i64, kept}
// SMALL-LABEL: func.func @weights
// SMALL: nest.group @fc {{.*}} attributes {fused = 0 : i64, tile_rows = 0 : i64, piece_bytes = 640 : i64, kept}
// TINY-LABEL: func.func @weights
// TINY: nest.group @fc {{.*}} -> tensor<1x64xf32> {
func.func @weights(%x : tensor<1x64xf32>) -> tensor<1x64xf32> {
  %w = graph.weight @w : tensor<64x64xf32>
  %y = nest.group @fc dims {n = 64, k = 64} ins(X = %x, W = %w) -> tensor<1x64xf32> {
  ^bb0(%X : tensor<1x64xf32>, %W : tensor<64x64xf32>):
    %0 = nest.kernel @mac "Y[0, n] += X[0, k] * W[n, k]" (X = %X, W = %W) : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
    nest.yield %0 : tensor<1x64xf32>
  }
  func.return %y : tensor<1x64xf32>
}

// A sum is made where the operand lies that nobody reads any more; the product has a place of its own.
// LARGE-LABEL: func.func @sum
// LARGE: nest.group @product
// LARGE:   nest.kernel @add "Y[m, n] = A[m, n] + B[m, n]" (A = %{{.*}}, B = %B) into %B :
func.func @sum(%x : tensor<4x64xf32>) -> tensor<4x64xf32> {
  %w = graph.weight @w : tensor<1024x64xf32>
  %a = nest.group @first dims {m = 4, n = 64} ins(X = %x) -> tensor<4x64xf32> {
  ^bb0(%X : tensor<4x64xf32>):
    %0 = nest.kernel @relu "Y[m, n] = relu(A[m, n])" (A = %X) : (tensor<4x64xf32>) -> tensor<4x64xf32>
    nest.yield %0 : tensor<4x64xf32>
  }
  %b = nest.group @product dims {m = 4, n = 64, k = 64} ins(X = %x, W = %w, B = %a) -> tensor<4x64xf32> {
  ^bb0(%X : tensor<4x64xf32>, %W : tensor<1024x64xf32>, %B : tensor<4x64xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<4x64xf32>, tensor<1024x64xf32>) -> tensor<4x64xf32>
    %1 = nest.kernel @add "Y[m, n] = A[m, n] + B[m, n]" (A = %0, B = %B) : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
    nest.yield %1 : tensor<4x64xf32>
  }
  %c = nest.group @last dims {m = 4, n = 64} ins(X = %b) -> tensor<4x64xf32> {
  ^bb0(%X : tensor<4x64xf32>):
    %0 = nest.kernel @neg "Y[m, n] = neg(A[m, n])" (A = %X) : (tensor<4x64xf32>) -> tensor<4x64xf32>
    nest.yield %0 : tensor<4x64xf32>
  }
  func.return %c : tensor<4x64xf32>
}
