// RUN: ROUNDTRIP

// A convolution with bias and relu: what is computed, and nothing about how.
// CHECK-LABEL: @unmapped
func.func @unmapped(%x : tensor<1x3x13x13xf32>, %w : tensor<8x3x3x3xf32>, %b : tensor<8xf32>) -> tensor<1x8x7x7xf32> {
  // CHECK: nest.group @conv dims {n = 1, k = 8, p = 7, q = 7, c = 3, r = 3, s = 3} ins(X = %x, W = %w, B = %b) -> tensor<1x8x7x7xf32>
  %y = nest.group @conv dims {n = 1, k = 8, p = 7, q = 7, c = 3, r = 3, s = 3} ins(X = %x, W = %w, B = %b) -> tensor<1x8x7x7xf32> {
  ^bb0(%X : tensor<1x3x13x13xf32>, %W : tensor<8x3x3x3xf32>, %B : tensor<8xf32>):
    // CHECK: nest.kernel @bias "Y[n, k, p, q] = B[k]" (B = %B) : (tensor<8xf32>) -> tensor<1x8x7x7xf32>
    %0 = nest.kernel @bias "Y[n, k, p, q] = B[k]" (B = %B) : (tensor<8xf32>) -> tensor<1x8x7x7xf32>
    // CHECK: nest.kernel @mac "Y[n, k, p, q] += X[n, c, 2 * p + r - 1, 2 * q + s - 1] * W[k, c, r, s]" (X = %X, W = %W) into %{{.*}} pad {X = 0.0} :
    %1 = nest.kernel @mac "Y[n,k,p,q] += X[n,c,2*p+r-1,2*q+s-1] * W[k,c,r,s]" (X = %X, W = %W) into %0 pad {X = 0.0}
      : (tensor<1x3x13x13xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x7x7xf32>
    // CHECK: nest.kernel @relu "Y[n, k, p, q] = relu(A[n, k, p, q])" (A = %{{.*}}) into %{{.*}} :
    %2 = nest.kernel @relu "Y[n,k,p,q] = relu(A[n,k,p,q])" (A = %1) into %1 : (tensor<1x8x7x7xf32>) -> tensor<1x8x7x7xf32>
    nest.yield %2 : tensor<1x8x7x7xf32>
  }
  func.return %y : tensor<1x8x7x7xf32>
}

// The same, mapped: tiles of 4 rows, weights stay, input rows are loaded two tiles deep.  One buffer (`bias`) is
// initialised, accumulated and rectified in place.
// CHECK-LABEL: @mapped
func.func @mapped(%x : tensor<1x3x13x13xf32>, %w : tensor<8x3x3x3xf32>, %b : tensor<8xf32>) -> tensor<1x8x7x7xf32> {
  %y = nest.group @conv dims {n = 1, k = 8, p = 7, q = 7, c = 3, r = 3, s = 3} ins(X = %x, W = %w, B = %b) -> tensor<1x8x7x7xf32> attributes {name = "relu1"} {
  ^bb0(%X : tensor<1x3x13x13xf32>, %W : tensor<8x3x3x3xf32>, %B : tensor<8xf32>):
    %0 = nest.kernel @bias "Y[n, k, p, q] = B[k]" (B = %B) : (tensor<8xf32>) -> tensor<1x8x7x7xf32>
    %1 = nest.kernel @mac "Y[n,k,p,q] += X[n,c,2*p+r-1,2*q+s-1] * W[k,c,r,s]" (X = %X, W = %W) into %0 pad {X = 0.0}
      : (tensor<1x3x13x13xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x7x7xf32>
    %2 = nest.kernel @relu "Y[n,k,p,q] = relu(A[n,k,p,q])" (A = %1) into %1 : (tensor<1x8x7x7xf32>) -> tensor<1x8x7x7xf32>
    nest.yield %2 : tensor<1x8x7x7xf32>
  } mapping {
    // CHECK:      } mapping {
    // CHECK-NEXT:   nest.hold @GBUF [W, B] {
    // CHECK-NEXT:     nest.for p step 4 {
    // CHECK-NEXT:       nest.hold @GBUF [X, bias] buffers 2 {
    // CHECK-NEXT:         nest.compute @bias on @VPU::@unary dims {a = k, b = p, c = q} tensors {O = Y, A = B} functions {F = identity}
    // CHECK-NEXT:         nest.spatial k = 4 on @MXU x {
    // CHECK-NEXT:           nest.spatial p = 4 on @MXU y {
    // CHECK-NEXT:             nest.compute @mac on @MXU::@fmac dims {k = k, p = p, q = q, c = c, r = r, s = s} tensors {O = Y, X = X, W = W}
    // CHECK-NEXT:           }
    // CHECK-NEXT:         }
    // CHECK-NEXT:         nest.compute @relu on @VPU::@unary dims {a = k, b = p, c = q} tensors {O = Y, A = A} functions {F = relu}
    nest.hold @GBUF [W, B] {
      nest.for p step 4 {
        nest.hold @GBUF [X, bias] buffers 2 {
          nest.compute @bias on @VPU::@unary dims {a = k, b = p, c = q} tensors {O = Y, A = B} functions {F = identity}
          nest.spatial k = 4 on @MXU x {
            nest.spatial p = 4 on @MXU y {
              nest.compute @mac on @MXU::@fmac dims {k = k, p = p, q = q, c = c, r = r, s = s} tensors {O = Y, X = X, W = W}
            }
          }
          nest.compute @relu on @VPU::@unary dims {a = k, b = p, c = q} tensors {O = Y, A = A} functions {F = relu}
        }
      }
    }
  }
  func.return %y : tensor<1x8x7x7xf32>
}

// A reduction loop around the anchor alone, and immediates.
// CHECK-LABEL: @reduction
func.func @reduction(%x : tensor<8x64xf32>, %w : tensor<64x16xf32>) -> tensor<8x16xf32> {
  %y = nest.group @fc dims {m = 8, n = 16, k = 64} ins(X = %x, W = %w) -> tensor<8x16xf32> {
  ^bb0(%X : tensor<8x64xf32>, %W : tensor<64x16xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<8x64xf32>, tensor<64x16xf32>) -> tensor<8x16xf32>
    %1 = nest.kernel @clip "Y[m, n] = clip(A[m, n], 0.0, 6.0)" (A = %0) into %0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
    nest.yield %1 : tensor<8x16xf32>
  } mapping {
    nest.hold @GBUF [mac] {
      nest.for k step 16 {
        nest.hold @GBUF [X, W] buffers 2 {
          nest.compute @mac
        }
      }
      // CHECK: nest.compute @clip on @VPU::@immediate dims {a = m, b = n} tensors {O = Y, A = A} functions {F = clip} immediates {V = 0.0, U = 6.0, Z = neg_inf, T = 1.0e-05}
      nest.compute @clip on @VPU::@immediate dims {a = m, b = n} tensors {O = Y, A = A} functions {F = clip} immediates {V = 0.0, U = 6.0, Z = neg_inf, T = 0.00001}
    }
  }
  func.return %y : tensor<8x16xf32>
}

// Two groups write halves of one tensor; a view changes the shape for free.
// CHECK-LABEL: @concat
func.func @concat(%a : tensor<4x8xi32>, %b : tensor<4x8xi32>) -> tensor<64xi32> {
  %0 = nest.group @left dims {i = 4, j = 8} ins(A = %a) -> tensor<4x16xi32> {
  ^bb0(%A : tensor<4x8xi32>):
    %1 = nest.kernel @copy "Y[i, j] = A[i, j]" (A = %A) : (tensor<4x8xi32>) -> tensor<4x16xi32>
    nest.yield %1 : tensor<4x16xi32>
  }
  %2 = nest.group @right dims {i = 4, j = 8} ins(A = %b, D = %0) -> tensor<4x16xi32> {
  ^bb0(%A : tensor<4x8xi32>, %D : tensor<4x16xi32>):
    // CHECK: nest.kernel @copy "Y[i, j + 8] = A[i, j]" (A = %A) into %D
    %3 = nest.kernel @copy "Y[i, j + 8] = A[i, j]" (A = %A) into %D : (tensor<4x8xi32>) -> tensor<4x16xi32>
    nest.yield %3 : tensor<4x16xi32>
  }
  // CHECK: nest.view %{{.*}} : tensor<4x16xi32> -> tensor<64xi32>
  %4 = nest.view %2 : tensor<4x16xi32> -> tensor<64xi32>
  func.return %4 : tensor<64xi32>
}

// A mapping for levels of memory: instances with pieces of their own, a level that keeps nothing, a sum in parts.
// CHECK-LABEL: @levels
func.func @levels(%x : tensor<8x64xf32>, %w : tensor<64x16xf32>) -> tensor<8x16xf32> {
  %y = nest.group @fc dims {m = 8, n = 16, k = 64} ins(X = %x, W = %w) -> tensor<8x16xf32> {
  ^bb0(%X : tensor<8x64xf32>, %W : tensor<64x16xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<8x64xf32>, tensor<64x16xf32>) -> tensor<8x16xf32>
    nest.yield %0 : tensor<8x16xf32>
  } mapping {
    // CHECK:      nest.for k step 24 {
    // CHECK-NEXT:   nest.hold @L2 [] {
    // CHECK-NEXT:     nest.spatial m = 3 step 3 on @PE x {
    // CHECK-NEXT:       nest.hold @PE [mac] {
    nest.for k step 24 {
      nest.hold @L2 [] {
        nest.spatial m = 3 step 3 on @PE x {
          nest.hold @PE [mac] {
            nest.compute @mac
          }
        }
      }
    }
  }
  func.return %y : tensor<8x16xf32>
}
