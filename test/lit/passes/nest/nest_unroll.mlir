// RUN: tilewright-opt %s -p 'nest-unroll{dim=k ways=4 node=PE memory=L2}' | filecheck %s
// RUN: tilewright-opt %s -p 'nest-unroll{dim=m ways=3 node=L2 axis=y}' | filecheck %s --check-prefix=WHOLE
// RUN: not tilewright-opt %s -p 'nest-unroll{dim=n ways=4 node=PE}' 2>&1 | filecheck %s --check-prefix=LOOP
// RUN: not tilewright-opt %s -p 'nest-unroll{dim=m ways=4 node=PE axis=z}' 2>&1 | filecheck %s --check-prefix=AXIS

// LOOP: error: unsupported: group @fc, loop over n: expected one of the loops m outside of all holds, found n
// AXIS: error: usage: nest-unroll: expected at least one instance along x or y, found 4 along z

func.func @main(%x : tensor<20x50xf32>, %w : tensor<50x30xf32>) -> tensor<20x30xf32> {
  %y = nest.group @fc dims {m = 20, n = 30, k = 50} ins(X = %x, W = %w) -> tensor<20x30xf32> {
  ^bb0(%X : tensor<20x50xf32>, %W : tensor<50x30xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<20x50xf32>, tensor<50x30xf32>) -> tensor<20x30xf32>
    nest.yield %0 : tensor<20x30xf32>
  } mapping {
    // Of the seven iterations over k, four run at once: two rounds.
    // CHECK:      nest.for m step 7 {
    // CHECK-NEXT:   nest.hold @L2 [X, W, mac] {
    // CHECK-NEXT:     nest.for k step 32 {
    // CHECK-NEXT:       nest.for n step 1 {
    // CHECK-NEXT:         nest.spatial k = 4 step 8 on @PE x {
    // CHECK-NEXT:           nest.hold @PE [W] {
    // All three iterations over m run at once.
    // WHOLE:      mapping {
    // WHOLE-NEXT:   nest.spatial m = 3 step 7 on @L2 y {
    // WHOLE-NEXT:     nest.hold @L2 [X, W, mac] {
    nest.for m step 7 {
      nest.hold @L2 [X, W, mac] {
        nest.for k step 8 {
          nest.for n step 1 {
            nest.hold @PE [W] {
              nest.for m step 1 {
                nest.for k step 1 {
                  nest.compute @mac
                }
              }
            }
          }
        }
      }
    }
  }
  func.return %y : tensor<20x30xf32>
}
