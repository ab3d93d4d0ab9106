// RUN: not tilewright-opt %s -p 'load-target{target="tiny"},codelet-verify' 2>&1 | filecheck %s

// A compute that reads beyond the piece that its local keeps.
// CHECK: refuted: codelet @c, compute VPU.unary, operand A: index 0 of X: expected within the 4 elements kept (SPAD), found 5 elements; keep 5 instead of 4 elements (at p = 0..3)
codelet.program @main {
  codelet.codelet @c dims {p = 8} () {
    codelet.loop p step 4 {
      %0 = codelet.local "X[p]" at [0] : !codelet.surrogate<4xf32, @SPAD>
      %1 = codelet.local "Y[p]" at [16] : !codelet.surrogate<4xf32, @SPAD>
      codelet.compute @VPU::@unary "O[p] = relu(A[p + 1])" (%1, %0) dims {a = p} functions {F = relu} : (!codelet.surrogate<4xf32, @SPAD>, !codelet.surrogate<4xf32, @SPAD>)
    }
  }
}
