// RUN: VERIFY

// CHECK: expected to walk once over dims of the statement that are not bound, found m
codelet.program @main {
  codelet.codelet @c dims {p = 2, m = 16} () {
    %o = codelet.local "Y[p, m]" : !codelet.surrogate<2x16xi32, @ACC>
    codelet.compute @MAC::@clear "O[p, m] = 0" (%o) dims {n = m} over [p, m] : (!codelet.surrogate<2x16xi32, @ACC>)
  }
}

// -----

// CHECK: expected to walk once over dims of the statement that are not bound, found q
codelet.program @main {
  codelet.codelet @c dims {p = 2, q = 2, m = 16} () {
    %o = codelet.local "Y[p, m]" : !codelet.surrogate<2x16xi32, @ACC>
    codelet.compute @MAC::@clear "O[p, m] = 0" (%o) dims {n = m} over [p, q] : (!codelet.surrogate<2x16xi32, @ACC>)
  }
}

// -----

// CHECK: expected a loop that is ahead or alternating, found both
codelet.program @main {
  %0 = codelet.tensor "x" input : !codelet.surrogate<4xsi8, @DRAM>
  codelet.codelet @c dims {p = 4} (%X = %0 : !codelet.surrogate<4xsi8, @DRAM>) {
    codelet.loop p step 2 ahead alternating {
      %i = codelet.local "X[p]" buffers 2 : !codelet.surrogate<2xsi8, @INP>
      codelet.transfer %X -> %i : !codelet.surrogate<4xsi8, @DRAM> -> !codelet.surrogate<2xsi8, @INP>
      codelet.compute @VPU::@unary "O[p] = relu(A[p])" (%i, %i) dims {a = p} : (!codelet.surrogate<2xsi8, @INP>, !codelet.surrogate<2xsi8, @INP>)
    }
  }
}

// -----

// CHECK: expected only loads into Y[p, m], which is kept, found codelet.compute
codelet.program @main {
  codelet.codelet @c dims {p = 2, m = 16} () {
    %o = codelet.local "Y[p, m]" kept : !codelet.surrogate<2x16xi32, @ACC>
    codelet.compute @MAC::@clear "O[p, m] = 0" (%o) dims {n = m} over [p] : (!codelet.surrogate<2x16xi32, @ACC>)
  }
}

// -----

// CHECK: expected X[p], which is kept, from what the codelet does not write
codelet.program @main {
  %0 = codelet.tensor "x" temp : !codelet.surrogate<4xsi8, @DRAM>
  codelet.codelet @c dims {p = 4} (%X = %0 : !codelet.surrogate<4xsi8, @DRAM>) {
    codelet.loop p step 2 {
      %i = codelet.local "X[p]" kept : !codelet.surrogate<2xsi8, @INP>
      codelet.transfer %X -> %i : !codelet.surrogate<4xsi8, @DRAM> -> !codelet.surrogate<2xsi8, @INP>
      codelet.transfer %i -> %X : !codelet.surrogate<2xsi8, @INP> -> !codelet.surrogate<4xsi8, @DRAM>
    }
  }
}

// -----

// CHECK: expected a dim of the codelet that 2*y is not over, found y
codelet.program @main {
  codelet.codelet @c dims {y = 4} () {
    codelet.span y over "2*y" {
    }
  }
}

// -----

// CHECK: expected dims among p, y in 2*p + r, found r
codelet.program @main {
  codelet.codelet @c dims {p = 2, y = 4} () {
    codelet.span y over "2*p + r" {
    }
  }
}

// -----

// CHECK: expected 2*p within the 4 iterations of y, found 0 to 4
codelet.program @main {
  codelet.codelet @c dims {p = 3, y = 4} () {
    codelet.span y over "2*p" {
    }
  }
}

// -----

// CHECK: expected the shadow of a local, found that of a tensor
codelet.program @main {
  %0 = codelet.tensor "x" input : !codelet.surrogate<4x16xi32, @DRAM>
  codelet.codelet @c dims {p = 4} (%X = %0 : !codelet.surrogate<4x16xi32, @DRAM>) {
    %s = codelet.shadow %X : !codelet.surrogate<4x16xi32, @DRAM> -> !codelet.surrogate<4x16xsi8, @OUT>
  }
}

// -----

// CHECK: expected the sizes of !codelet.surrogate<2x16xi32, @ACC> in another memory
codelet.program @main {
  codelet.codelet @c dims {p = 2, m = 16} () {
    %o = codelet.local "Y[p, m]" : !codelet.surrogate<2x16xi32, @ACC>
    %s = codelet.shadow %o : !codelet.surrogate<2x16xi32, @ACC> -> !codelet.surrogate<2x8xsi8, @OUT>
  }
}
