// RUN: tilewright-opt %s -p 'nest-permute{order=k,m}' | filecheck %s
// RUN: tilewright-opt %s -p 'nest-permute{memory=L1 order=n,k,m group=fc}' | filecheck %s --check-prefix=INSIDE
// RUN: not tilewright-opt %s -p 'nest-permute{order=k,n}' 2>&1 | filecheck %s --check-prefix=BAND
// RUN: not tilewright-opt %s -p 'nest-permute{memory=L9 order=k,m}' 2>&1 | filecheck %s --check-prefix=MEMORY
// RUN: not tilewright-opt %s -p 'nest-permute{order=k,m group=fd}' 2>&1 | filecheck %s --check-prefix=GROUP

// BAND: error: unsupported: group @fc, order: expected each of the loops m, k outside of all holds once, found k, n
// MEMORY: error: unsupported: group @fc, memory L9: expected a memory with a nest.hold around one node, found none
// GROUP: error: usage: nest-permute: group: expected one of the module's groups (fc), found fd

func.func @main(%x : tensor<20x40xf32>, %w : tensor<40x30xf32>) -> tensor<20x30xf32> {
  %y = nest.group @fc dims {m = 20, n = 30, k = 40} ins(X = %x, W = %w) -> tensor<20x30xf32> {
  ^bb0(%X : tensor<20x40xf32>, %W : tensor<40x30xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<20x40xf32>, tensor<40x30xf32>) -> tensor<20x30xf32>
    nest.yield %0 : tensor<20x30xf32>
  } mapping {
    // CHECK:      nest.for k step 16 {
    // CHECK-NEXT:   nest.for m step 7 {
    // CHECK-NEXT:     nest.hold @L1 [X, W, mac] {
    // CHECK-NEXT:       nest.for m step 1 {
    // INSIDE:     nest.for m step 7 {
    // INSIDE-NEXT:  nest.for k step 16 {
    // INSIDE-NEXT:    nest.hold @L1 [X, W, mac] {
    // INSIDE-NEXT:      nest.for n step 1 {
    // INSIDE-NEXT:        nest.for k step 1 {
    // INSIDE-NEXT:          nest.for m step 1 {
    nest.for m step 7 {
      nest.for k step 16 {
        nest.hold @L1 [X, W, mac] {
          nest.for m step 1 {
            nest.for n step 1 {
              nest.for k step 1 {
                nest.compute @mac
              }
            }
          }
        }
      }
    }
  }
  func.return %y : tensor<20x30xf32>
}
