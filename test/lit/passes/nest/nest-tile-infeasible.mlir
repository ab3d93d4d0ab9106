// RUN: not tilewright-opt %s -p 'load-target{target="tiny"},nest-tile' 2>&1 | filecheck %s

// Cutting j would leave holes in the rows of the result that a tile writes.
// CHECK: error: infeasible: group @g, kernel @join: expected at most 1024 bytes of memory SPAD, found 3200 bytes; a SPAD of 3200 bytes would hold the smallest tiles
func.func @rows(%x : tensor<3x400xf32>) -> tensor<1200xf32> {
  %y = nest.group @g dims {i = 3, j = 400} ins(X = %x) -> tensor<1200xf32> {
  ^bb0(%X : tensor<3x400xf32>):
    %0 = nest.kernel @join "Y[400 * i + j] = X[i, j]" (X = %X) : (tensor<3x400xf32>) -> tensor<1200xf32>
    nest.yield %0 : tensor<1200xf32>
  }
  func.return %y : tensor<1200xf32>
}
