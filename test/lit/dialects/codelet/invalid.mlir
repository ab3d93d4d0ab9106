// RUN: VERIFY

// CHECK: expected tensors, views and codelets in a program, found test.op
codelet.program @main {
  "test.op"() : () -> ()
}

// -----

// CHECK: expected distinct names of tensors, found 'x' twice
codelet.program @main {
  %0 = codelet.tensor "x" input : !codelet.surrogate<2xf32, @DRAM>
  %1 = codelet.tensor "x" temp : !codelet.surrogate<2xf32, @DRAM>
}

// -----

// CHECK: expected elements that are numbers, found index
codelet.program @main {
  %0 = codelet.tensor "x" input : !codelet.surrogate<2xindex, @DRAM>
}

// -----

// CHECK: expected an address of at least 0, found -4
codelet.program @main {
  %0 = codelet.tensor "x" input at -4 : !codelet.surrogate<2xf32, @DRAM>
}

// -----

// CHECK: expected a view of the same elements in the same place
codelet.program @main {
  %0 = codelet.tensor "x" input : !codelet.surrogate<2x3xf32, @DRAM>
  %1 = codelet.view %0 : !codelet.surrogate<2x3xf32, @DRAM> -> !codelet.surrogate<5xf32, @DRAM>
}

// -----

// CHECK: expected a positive extent of dim m, found 0
codelet.program @main {
  codelet.codelet @c dims {m = 0} () {
  }
}

// -----

// CHECK: expected one block argument of the same type for each tensor
codelet.program @main {
  %0 = codelet.tensor "x" input : !codelet.surrogate<2xf32, @DRAM>
  "codelet.codelet"(%0) <{sym_name = "c", dims = #nest.dims<m = 2>}> ({
  ^bb0:
  }) : (!codelet.surrogate<2xf32, @DRAM>) -> ()
}

// -----

// CHECK: expected loops, locals, transfers and computes in a codelet, found test.op
codelet.program @main {
  codelet.codelet @c dims {m = 2} () {
    "test.op"() : () -> ()
  }
}

// -----

// CHECK: expected codelet.loop inside codelet.codelet
codelet.loop m step 2 {
}

// -----

// CHECK: expected a dim among m, found n
codelet.program @main {
  codelet.codelet @c dims {m = 2} () {
    codelet.loop n step 1 {
    }
  }
}

// -----

// CHECK: expected a positive step of dim m, found 0
codelet.program @main {
  codelet.codelet @c dims {m = 2} () {
    codelet.loop m step 0 {
    }
  }
}

// -----

// CHECK: expected an access such as X[n, 2*p + r]
codelet.program @main {
  codelet.codelet @c dims {m = 2} () {
    %0 = codelet.local "X" : !codelet.surrogate<2xf32, @GBUF>
  }
}

// -----

// CHECK: expected accesses of one rank, found X[m], X[m, n]
codelet.program @main {
  codelet.codelet @c dims {m = 2, n = 2} () {
    %0 = codelet.local "X[m]", "X[m, n]" : !codelet.surrogate<2xf32, @GBUF>
  }
}

// -----

// CHECK: expected dims among m in X[k], found k
codelet.program @main {
  codelet.codelet @c dims {m = 2} () {
    %0 = codelet.local "X[k]" : !codelet.surrogate<2xf32, @GBUF>
  }
}

// -----

// CHECK: expected the size [4, 5] of the window of X[m, 2*n + r], found [8, 5]
codelet.program @main {
  codelet.codelet @c dims {m = 8, n = 2, r = 3} () {
    codelet.loop m step 4 {
      %0 = codelet.local "X[m, 2*n + r]" : !codelet.surrogate<8x5xf32, @GBUF>
    }
  }
}

// -----

// CHECK: expected the accesses X[m], X[n] to move alike with dim m, which a loop cuts
codelet.program @main {
  codelet.codelet @c dims {m = 8, n = 8} () {
    codelet.loop m step 4 {
      %0 = codelet.local "X[m]", "X[n]" : !codelet.surrogate<8xf32, @GBUF>
    }
  }
}

// -----

// CHECK: expected at least one buffer, found 0
codelet.program @main {
  codelet.codelet @c dims {m = 2} () {
    %0 = codelet.local "X[m]" buffers 0 : !codelet.surrogate<2xf32, @GBUF>
  }
}

// -----

// CHECK: expected 2 addresses of at least 0, found [0]
codelet.program @main {
  codelet.codelet @c dims {m = 2} () {
    %0 = codelet.local "X[m]" buffers 2 at [0] : !codelet.surrogate<2xf32, @GBUF>
  }
}

// -----

// CHECK: expected a local on at least one side of a transfer
codelet.program @main {
  %0 = codelet.tensor "x" input : !codelet.surrogate<2xf32, @DRAM>
  %1 = codelet.tensor "y" input : !codelet.surrogate<2xf32, @DRAM>
  codelet.codelet @c dims {m = 2} (%X = %0 : !codelet.surrogate<2xf32, @DRAM>, %Y = %1 : !codelet.surrogate<2xf32, @DRAM>) {
    codelet.transfer %X -> %Y : !codelet.surrogate<2xf32, @DRAM> -> !codelet.surrogate<2xf32, @DRAM>
  }
}

// -----

// CHECK: expected sides of the same element type and rank
codelet.program @main {
  %0 = codelet.tensor "x" input : !codelet.surrogate<2x1xf32, @DRAM>
  codelet.codelet @c dims {m = 2} (%X = %0 : !codelet.surrogate<2x1xf32, @DRAM>) {
    %l = codelet.local "X[m]" : !codelet.surrogate<2xf32, @GBUF>
    codelet.transfer %X -> %l : !codelet.surrogate<2x1xf32, @DRAM> -> !codelet.surrogate<2xf32, @GBUF>
  }
}

// -----

// CHECK: expected a transfer between two places, found @GBUF twice
codelet.program @main {
  codelet.codelet @c dims {m = 2} () {
    %l = codelet.local "X[m]" : !codelet.surrogate<2xf32, @GBUF>
    %r = codelet.local "X[m]" : !codelet.surrogate<2xf32, @GBUF>
    codelet.transfer %l -> %r : !codelet.surrogate<2xf32, @GBUF> -> !codelet.surrogate<2xf32, @GBUF>
  }
}

// -----

// CHECK: expected a pad value only where a local is written
codelet.program @main {
  %0 = codelet.tensor "x" input : !codelet.surrogate<2xf32, @DRAM>
  codelet.codelet @c dims {m = 2} (%X = %0 : !codelet.surrogate<2xf32, @DRAM>) {
    %l = codelet.local "X[m]" : !codelet.surrogate<2xf32, @GBUF>
    codelet.transfer %l -> %X pad 0.0 : f32 : !codelet.surrogate<2xf32, @GBUF> -> !codelet.surrogate<2xf32, @DRAM>
  }
}

// -----

// CHECK: expected a pad value of type f32, found i32
codelet.program @main {
  %0 = codelet.tensor "x" input : !codelet.surrogate<2xf32, @DRAM>
  codelet.codelet @c dims {m = 2} (%X = %0 : !codelet.surrogate<2xf32, @DRAM>) {
    %l = codelet.local "X[m]" : !codelet.surrogate<2xf32, @GBUF>
    codelet.transfer %X -> %l pad 0 : i32 : !codelet.surrogate<2xf32, @DRAM> -> !codelet.surrogate<2xf32, @GBUF>
  }
}

// -----

// CHECK: expected @node::@capability, found @VPU
codelet.program @main {
  codelet.codelet @c dims {m = 2} () {
    %l = codelet.local "X[m]" : !codelet.surrogate<2xf32, @GBUF>
    codelet.compute @VPU "O[m] = relu(A[m])" (%l, %l) dims {a = m} : (!codelet.surrogate<2xf32, @GBUF>, !codelet.surrogate<2xf32, @GBUF>)
  }
}

// -----

// CHECK: expected 2 tensors (O, A), found 1
codelet.program @main {
  codelet.codelet @c dims {m = 2} () {
    %l = codelet.local "X[m]" : !codelet.surrogate<2xf32, @GBUF>
    codelet.compute @VPU::@unary "O[m] = relu(A[m])" (%l) dims {a = m} : (!codelet.surrogate<2xf32, @GBUF>)
  }
}

// -----

// CHECK: expected indices in square brackets, found free strides
codelet.program @main {
  codelet.codelet @c dims {m = 2} () {
    %l = codelet.local "X[m]" : !codelet.surrogate<2xf32, @GBUF>
    codelet.compute @VPU::@unary "O{m} = relu(A[m])" (%l, %l) dims {a = m} : (!codelet.surrogate<2xf32, @GBUF>, !codelet.surrogate<2xf32, @GBUF>)
  }
}

// -----

// CHECK: expected dims among m in A[k], found k
codelet.program @main {
  codelet.codelet @c dims {m = 2} () {
    %l = codelet.local "X[m]" : !codelet.surrogate<2xf32, @GBUF>
    codelet.compute @VPU::@unary "O[m] += A[k]" (%l, %l) dims {a = m} : (!codelet.surrogate<2xf32, @GBUF>, !codelet.surrogate<2xf32, @GBUF>)
  }
}

// -----

// CHECK: expected 1 indices in A[m, m], found 2
codelet.program @main {
  codelet.codelet @c dims {m = 2} () {
    %l = codelet.local "X[m]" : !codelet.surrogate<2xf32, @GBUF>
    codelet.compute @VPU::@unary "O[m] = relu(A[m, m])" (%l, %l) dims {a = m} : (!codelet.surrogate<2xf32, @GBUF>, !codelet.surrogate<2xf32, @GBUF>)
  }
}

// -----

// CHECK: expected A[m] to step by multiples of 2, which the local keeps, found 1
codelet.program @main {
  codelet.codelet @c dims {m = 2} () {
    %l = codelet.local "X[2*m]" : !codelet.surrogate<2xf32, @GBUF>
    codelet.compute @VPU::@unary "O[2*m] = relu(A[m])" (%l, %l) dims {a = m} : (!codelet.surrogate<2xf32, @GBUF>, !codelet.surrogate<2xf32, @GBUF>)
  }
}

// -----

// CHECK: expected each dim of the statement to be bound once, found k
codelet.program @main {
  codelet.codelet @c dims {m = 2} () {
    %l = codelet.local "X[m]" : !codelet.surrogate<2xf32, @GBUF>
    codelet.compute @VPU::@unary "O[m] = relu(A[m])" (%l, %l) dims {a = m, b = k} : (!codelet.surrogate<2xf32, @GBUF>, !codelet.surrogate<2xf32, @GBUF>)
  }
}

// -----

// CHECK: expected dim m to be bound, walked over, or to have one iteration, found 2
codelet.program @main {
  codelet.codelet @c dims {m = 2} () {
    %l = codelet.local "X[m]" : !codelet.surrogate<2xf32, @GBUF>
    codelet.compute @VPU::@unary "O[m] = relu(A[m])" (%l, %l) dims {} : (!codelet.surrogate<2xf32, @GBUF>, !codelet.surrogate<2xf32, @GBUF>)
  }
}

// -----

// CHECK: expected axis x or y to spread a bound dim of the capability, found x = b
codelet.program @main {
  codelet.codelet @c dims {m = 2} () {
    %l = codelet.local "X[m]" : !codelet.surrogate<2xf32, @GBUF>
    codelet.compute @VPU::@unary "O[m] = relu(A[m])" (%l, %l) dims {a = m} spread {x = b} : (!codelet.surrogate<2xf32, @GBUF>, !codelet.surrogate<2xf32, @GBUF>)
  }
}

// -----

// CHECK: expected tensors, dims and numbers, found the name v
codelet.program @main {
  codelet.codelet @c dims {m = 2} () {
    %l = codelet.local "X[m]" : !codelet.surrogate<2xf32, @GBUF>
    codelet.compute @VPU::@binary "O[m] = A[m] * v" (%l, %l) dims {a = m} : (!codelet.surrogate<2xf32, @GBUF>, !codelet.surrogate<2xf32, @GBUF>)
  }
}

// -----

// CHECK: expected two buffers of X[m], which is loaded ahead, found 1
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<16xf32, @DRAM>
  %y = codelet.tensor "y" output : !codelet.surrogate<16xf32, @DRAM>
  codelet.codelet @c dims {m = 16} (%X = %x : !codelet.surrogate<16xf32, @DRAM>, %Y = %y : !codelet.surrogate<16xf32, @DRAM>) {
    codelet.loop m step 4 ahead {
      %a = codelet.local "X[m]" buffers 1 : !codelet.surrogate<4xf32, @GBUF>
      codelet.transfer %X -> %a : !codelet.surrogate<16xf32, @DRAM> -> !codelet.surrogate<4xf32, @GBUF>
      codelet.compute @VPU::@unary "O[m] = relu(A[m])" (%a, %a) dims {a = m} : (!codelet.surrogate<4xf32, @GBUF>, !codelet.surrogate<4xf32, @GBUF>)
      codelet.transfer %a -> %Y : !codelet.surrogate<4xf32, @GBUF> -> !codelet.surrogate<16xf32, @DRAM>
    }
  }
}

// -----

// CHECK: expected loads at the beginning of a loop that is `ahead`, and work after them
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<16xf32, @DRAM>
  %y = codelet.tensor "y" output : !codelet.surrogate<16xf32, @DRAM>
  codelet.codelet @c dims {m = 16} (%X = %x : !codelet.surrogate<16xf32, @DRAM>, %Y = %y : !codelet.surrogate<16xf32, @DRAM>) {
    codelet.loop m step 4 ahead {
      %a = codelet.local "X[m]" buffers 2 : !codelet.surrogate<4xf32, @GBUF>
        codelet.compute @VPU::@unary "O[m] = relu(A[m])" (%a, %a) dims {a = m} : (!codelet.surrogate<4xf32, @GBUF>, !codelet.surrogate<4xf32, @GBUF>)
      codelet.transfer %a -> %Y : !codelet.surrogate<4xf32, @GBUF> -> !codelet.surrogate<16xf32, @DRAM>
    }
  }
}

// -----

// CHECK: expected loads ahead of what the loop does not write, found one of %X
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<16xf32, @DRAM>
  %y = codelet.tensor "y" output : !codelet.surrogate<16xf32, @DRAM>
  codelet.codelet @c dims {m = 16} (%X = %x : !codelet.surrogate<16xf32, @DRAM>, %Y = %x : !codelet.surrogate<16xf32, @DRAM>) {
    codelet.loop m step 4 ahead {
      %a = codelet.local "X[m]" buffers 2 : !codelet.surrogate<4xf32, @GBUF>
      codelet.transfer %X -> %a : !codelet.surrogate<16xf32, @DRAM> -> !codelet.surrogate<4xf32, @GBUF>
      codelet.compute @VPU::@unary "O[m] = relu(A[m])" (%a, %a) dims {a = m} : (!codelet.surrogate<4xf32, @GBUF>, !codelet.surrogate<4xf32, @GBUF>)
      codelet.transfer %a -> %Y : !codelet.surrogate<4xf32, @GBUF> -> !codelet.surrogate<16xf32, @DRAM>
    }
  }
}

// -----

// CHECK: expected a share of a bound dim that indexes the target, found n
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<16xf32, @DRAM>
  %y = codelet.tensor "y" output : !codelet.surrogate<16xf32, @DRAM>
  codelet.codelet @c dims {m = 16} (%X = %x : !codelet.surrogate<16xf32, @DRAM>, %Y = %y : !codelet.surrogate<16xf32, @DRAM>) {
    codelet.loop m step 4 {
      %a = codelet.local "X[m]" buffers 2 : !codelet.surrogate<4xf32, @GBUF>
      codelet.transfer %X -> %a : !codelet.surrogate<16xf32, @DRAM> -> !codelet.surrogate<4xf32, @GBUF>
      codelet.compute @VPU::@unary "O[m] = relu(A[m])" (%a, %a) dims {a = m} take {n = 1} : (!codelet.surrogate<4xf32, @GBUF>, !codelet.surrogate<4xf32, @GBUF>)
      codelet.transfer %a -> %Y : !codelet.surrogate<4xf32, @GBUF> -> !codelet.surrogate<16xf32, @DRAM>
    }
  }
}

// -----

// CHECK: expected at least one iteration of m to take, found 0
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<16xf32, @DRAM>
  %y = codelet.tensor "y" output : !codelet.surrogate<16xf32, @DRAM>
  codelet.codelet @c dims {m = 16} (%X = %x : !codelet.surrogate<16xf32, @DRAM>, %Y = %y : !codelet.surrogate<16xf32, @DRAM>) {
    codelet.loop m step 4 {
      %a = codelet.local "X[m]" buffers 2 : !codelet.surrogate<4xf32, @GBUF>
      codelet.transfer %X -> %a : !codelet.surrogate<16xf32, @DRAM> -> !codelet.surrogate<4xf32, @GBUF>
      codelet.compute @VPU::@unary "O[m] = relu(A[m])" (%a, %a) dims {a = m} take {m = 0} : (!codelet.surrogate<4xf32, @GBUF>, !codelet.surrogate<4xf32, @GBUF>)
      codelet.transfer %a -> %Y : !codelet.surrogate<4xf32, @GBUF> -> !codelet.surrogate<16xf32, @DRAM>
    }
  }
}
