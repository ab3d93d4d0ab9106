// RUN: not tilewright-opt %s -p 'load-target{target="tiny"},codelet-allocate' 2>&1 | filecheck %s

// CHECK: infeasible: codelet @c: expected at most 1024 bytes of SPAD, found 1200 bytes; make the tiles 176 bytes smaller (the largest local is A, 2 copies of 400 bytes)
codelet.program @main {
  codelet.codelet @c dims {i = 100} () {
    %0 = codelet.local "A[i]" buffers 2 : !codelet.surrogate<100xf32, @SPAD>
    %1 = codelet.local "B[i]" : !codelet.surrogate<100xf32, @SPAD>
    codelet.compute @VPU::@unary "O[i] = relu(A[i])" (%1, %0) dims {a = i} functions {F = relu} : (!codelet.surrogate<100xf32, @SPAD>, !codelet.surrogate<100xf32, @SPAD>)
  }
}
