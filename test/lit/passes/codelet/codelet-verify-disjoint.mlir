// RUN: not tilewright-opt %s -p 'load-target{target="tiny"},codelet-verify' 2>&1 | filecheck %s

// The second copy of X runs into Y while both are in use.
// CHECK: refuted: codelet @c, X at 40..79 and Y at 76..115: expected no shared bytes while both are in use (SPAD), found 4 B shared in SPAD; move one of them by 4 B
codelet.program @main {
  codelet.codelet @c dims {p = 20} () {
    codelet.loop p step 10 {
      %0 = codelet.local "X[p]" buffers 2 at [0, 40] : !codelet.surrogate<10xf32, @SPAD>
      %1 = codelet.local "Y[p]" at [76] : !codelet.surrogate<10xf32, @SPAD>
      codelet.compute @VPU::@unary "O[p] = relu(A[p])" (%1, %0) dims {a = p} functions {F = relu} : (!codelet.surrogate<10xf32, @SPAD>, !codelet.surrogate<10xf32, @SPAD>)
    }
  }
}
