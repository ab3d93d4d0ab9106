// RUN: not tilewright-opt %s -p 'load-target{target="tiny"},codelet-verify' 2>&1 | filecheck %s

// The statement and the chosen function differ.
// CHECK: refuted: codelet @c, compute VPU.unary: expected O{a, b} = F(A{a, b}) with F = relu, found O[p] = exp(A[p])
codelet.program @main {
  codelet.codelet @c dims {p = 4} () {
    %0 = codelet.local "X[p]" at [0] : !codelet.surrogate<4xf32, @SPAD>
    codelet.compute @VPU::@unary "O[p] = exp(A[p])" (%0, %0) dims {a = p} functions {F = relu} : (!codelet.surrogate<4xf32, @SPAD>, !codelet.surrogate<4xf32, @SPAD>)
  }
}
