// RUN: tilewright-opt %s -p 'load-target{target="tiny"},convert-nest-to-codelet' | filecheck %s

// Inputs, weights and results become tensors off chip; holds become locals with transfers in and out; the matrix
// product goes on from the bias, its reduction loop inside the hold of the result.
// CHECK-LABEL: codelet.program @main {
func.func @main(%x : tensor<8x12xf32>) -> (tensor<32xf32>, tensor<8x12xf32>) attributes {
    graph.inputs = ["x"], graph.outputs = ["y", "x_again"]} {
  %w = graph.weight @w : tensor<12x4xf32>
  %b = graph.weight @b : tensor<4xf32>
  // CHECK-NEXT: %x = codelet.tensor "x" input : !codelet.surrogate<8x12xf32, @DRAM>
  // CHECK-NEXT: %w = codelet.tensor "w" weight : !codelet.surrogate<12x4xf32, @DRAM>
  // CHECK-NEXT: %b = codelet.tensor "b" weight : !codelet.surrogate<4xf32, @DRAM>
  // CHECK-NEXT: %y = codelet.tensor "y" output : !codelet.surrogate<32xf32, @DRAM>
  // CHECK-NEXT: %[[Y:.*]] = codelet.view %y : !codelet.surrogate<32xf32, @DRAM> -> !codelet.surrogate<8x4xf32, @DRAM>
  // CHECK-NEXT: codelet.codelet @fc dims {m = 8, n = 4, k = 12} (%X = %x : {{.*}}, %W = %w : {{.*}}, %B = %b : {{.*}}, %init = %[[Y]] : {{.*}}) {
  %y = nest.group @fc dims {m = 8, n = 4, k = 12} ins(X = %x, W = %w, B = %b) -> tensor<8x4xf32> {
  ^bb0(%X : tensor<8x12xf32>, %W : tensor<12x4xf32>, %B : tensor<4xf32>):
    %0 = nest.kernel @init "Y[m, n] = B[n]" (B = %B) : (tensor<4xf32>) -> tensor<8x4xf32>
    %1 = nest.kernel @mac "Y[m, n] += A[m, k] * B[k, n]" (A = %X, B = %W) into %0
      : (tensor<8x12xf32>, tensor<12x4xf32>) -> tensor<8x4xf32>
    nest.yield %1 : tensor<8x4xf32>
  } mapping {
    // CHECK-NEXT: %[[B:.*]] = codelet.local "B[n]" : !codelet.surrogate<4xf32, @SPAD>
    // CHECK-NEXT: codelet.transfer %B -> %[[B]]
    nest.hold @SPAD [B] {
      // CHECK-NEXT: codelet.loop m step 3 {
      nest.for m step 3 {
        // CHECK-NEXT: %[[I:.*]] = codelet.local "init[m, n]" buffers 2 : !codelet.surrogate<3x4xf32, @SPAD>
        nest.hold @SPAD [init] buffers 2 {
          // CHECK-NEXT: codelet.compute @VPU::@unary "O[m, n] = A[n]" (%[[I]], %[[B]]) dims {a = m, b = n} functions {F = identity}
          nest.compute @init on @VPU::@unary dims {a = m, b = n} tensors {O = Y, A = B} functions {F = identity}
          // CHECK-NEXT: codelet.loop k step 5 {
          nest.for k step 5 {
            // CHECK-NEXT: %[[X:.*]] = codelet.local "X[m, k]" : !codelet.surrogate<3x5xf32, @SPAD>
            // CHECK-NEXT: codelet.transfer %X -> %[[X]]
            // CHECK-NEXT: %[[W:.*]] = codelet.local "W[k, n]" : !codelet.surrogate<5x4xf32, @SPAD>
            // CHECK-NEXT: codelet.transfer %W -> %[[W]]
            nest.hold @SPAD [X, W] {
              nest.spatial n = 4 on @MXU x {
                // CHECK-NEXT: codelet.compute @MXU::@mac "O[m, n] += X[m, k] * W[k, n]" (%[[I]], %[[X]], %[[W]]) dims {p = m, k = n, c = k} spread {x = k} keep
                nest.compute @mac on @MXU::@mac dims {p = m, k = n, c = k} tensors {O = Y, X = A, W = B}
              }
            }
            // CHECK-NEXT: }
          }
          // CHECK-NEXT: codelet.transfer %[[I]] -> %init
        }
      }
    }
  }
  %flat = nest.view %y : tensor<8x4xf32> -> tensor<32xf32>
  // The input, returned as well, is copied.
  // CHECK: %[[O:.*]] = codelet.tensor "x_again" output : !codelet.surrogate<8x12xf32, @DRAM>
  // CHECK: codelet.codelet @copy_x_again dims {i = 96} (%X = {{.*}}, %Y = {{.*}}) {
  // CHECK-NEXT: codelet.loop i step 16 {
  // CHECK-NEXT:   %[[L:.*]] = codelet.local "X[i]" buffers 2 : !codelet.surrogate<16xf32, @SPAD>
  // CHECK-NEXT:   codelet.transfer %X -> %[[L]]
  // CHECK-NEXT:   codelet.transfer %[[L]] -> %Y
  func.return %flat, %x : tensor<32xf32>, tensor<8x12xf32>
}
