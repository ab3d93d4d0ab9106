// RUN: not tilewright-opt %s -p 'load-target{target="tiny"},codelet-verify' 2>&1 | filecheck %s

// CHECK: refuted: codelet @c, compute VPU.unary, dim a: expected at most 255 iterations (VPU), found 256 iterations of p; loop outside in steps of 255
codelet.program @main {
  codelet.codelet @c dims {p = 256} () {
    %0 = codelet.local "X[p]" at [0] : !codelet.surrogate<256xui8, @SPAD>
    codelet.compute @VPU::@unary "O[p] = relu(A[p])" (%0, %0) dims {a = p} functions {F = relu} : (!codelet.surrogate<256xui8, @SPAD>, !codelet.surrogate<256xui8, @SPAD>)
  }
}
