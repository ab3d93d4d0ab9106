// RUN: VERIFY

// CHECK: expected for each axis of [1, 2, 8, 4] how much of it is kept, found [1, 0, 9, 0]
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<1x2x8x4xf32, @DRAM>
  %r = codelet.tensor "r" temp ring [1, 0, 9, 0] : !codelet.surrogate<1x2x8x4xf32, @GBUF>
  codelet.fused @group updates dense<[[0, 0, 0, 2]]> : tensor<1x4xi64> samples ["n"] rows ["h"] {
    codelet.codelet @load dims {n = 1, c = 2, h = 8, w = 4} (%X = %x : !codelet.surrogate<1x2x8x4xf32, @DRAM>, %R = %r : !codelet.surrogate<1x2x8x4xf32, @GBUF>) {
      codelet.transfer %X -> %R over "X[n, c, h, w]" : !codelet.surrogate<1x2x8x4xf32, @DRAM> -> !codelet.surrogate<1x2x8x4xf32, @GBUF>
    }
  }
}

// -----

// CHECK: expected for each axis of [1, 2, 8, 4] how much of it is kept, found [1, 0]
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<1x2x8x4xf32, @DRAM>
  %r = codelet.tensor "r" temp ring [1, 0] : !codelet.surrogate<1x2x8x4xf32, @GBUF>
  codelet.fused @group updates dense<[[0, 0, 0, 2]]> : tensor<1x4xi64> samples ["n"] rows ["h"] {
    codelet.codelet @load dims {n = 1, c = 2, h = 8, w = 4} (%X = %x : !codelet.surrogate<1x2x8x4xf32, @DRAM>, %R = %r : !codelet.surrogate<1x2x8x4xf32, @GBUF>) {
      codelet.transfer %X -> %R over "X[n, c, h, w]" : !codelet.surrogate<1x2x8x4xf32, @DRAM> -> !codelet.surrogate<1x2x8x4xf32, @GBUF>
    }
  }
}

// -----

// CHECK: expected a ring for temporary tensors only, found one for an output
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<1x2x8x4xf32, @DRAM>
  %r = codelet.tensor "r" output ring [1, 0, 3, 0] : !codelet.surrogate<1x2x8x4xf32, @GBUF>
  codelet.fused @group updates dense<[[0, 0, 0, 2]]> : tensor<1x4xi64> samples ["n"] rows ["h"] {
    codelet.codelet @load dims {n = 1, c = 2, h = 8, w = 4} (%X = %x : !codelet.surrogate<1x2x8x4xf32, @DRAM>, %R = %r : !codelet.surrogate<1x2x8x4xf32, @GBUF>) {
      codelet.transfer %X -> %R over "X[n, c, h, w]" : !codelet.surrogate<1x2x8x4xf32, @DRAM> -> !codelet.surrogate<1x2x8x4xf32, @GBUF>
    }
  }
}

// -----

// CHECK: expected a dim among n, c, h, w, found k
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<1x2x8x4xf32, @DRAM>
  %r = codelet.tensor "r" temp ring [1, 0, 3, 0] : !codelet.surrogate<1x2x8x4xf32, @GBUF>
  codelet.fused @group updates dense<[[0, 0, 0, 2]]> : tensor<1x4xi64> samples ["n"] rows ["h"] {
    codelet.codelet @load dims {n = 1, c = 2, h = 8, w = 4} (%X = %x : !codelet.surrogate<1x2x8x4xf32, @DRAM>, %R = %r : !codelet.surrogate<1x2x8x4xf32, @GBUF>) {
      codelet.part k from 0 to 1 {
      codelet.transfer %X -> %R over "X[n, c, h, w]" : !codelet.surrogate<1x2x8x4xf32, @DRAM> -> !codelet.surrogate<1x2x8x4xf32, @GBUF>
      }
    }
  }
}

// -----

// CHECK: expected some of the 2 iterations of c, found 1 to 3
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<1x2x8x4xf32, @DRAM>
  %r = codelet.tensor "r" temp ring [1, 0, 3, 0] : !codelet.surrogate<1x2x8x4xf32, @GBUF>
  codelet.fused @group updates dense<[[0, 0, 0, 2]]> : tensor<1x4xi64> samples ["n"] rows ["h"] {
    codelet.codelet @load dims {n = 1, c = 2, h = 8, w = 4} (%X = %x : !codelet.surrogate<1x2x8x4xf32, @DRAM>, %R = %r : !codelet.surrogate<1x2x8x4xf32, @GBUF>) {
      codelet.part c from 1 to 3 {
      codelet.transfer %X -> %R over "X[n, c, h, w]" : !codelet.surrogate<1x2x8x4xf32, @DRAM> -> !codelet.surrogate<1x2x8x4xf32, @GBUF>
      }
    }
  }
}

// -----

// CHECK: expected some of the 2 iterations of c, found 1 to 1
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<1x2x8x4xf32, @DRAM>
  %r = codelet.tensor "r" temp ring [1, 0, 3, 0] : !codelet.surrogate<1x2x8x4xf32, @GBUF>
  codelet.fused @group updates dense<[[0, 0, 0, 2]]> : tensor<1x4xi64> samples ["n"] rows ["h"] {
    codelet.codelet @load dims {n = 1, c = 2, h = 8, w = 4} (%X = %x : !codelet.surrogate<1x2x8x4xf32, @DRAM>, %R = %r : !codelet.surrogate<1x2x8x4xf32, @GBUF>) {
      codelet.part c from 1 to 1 {
      codelet.transfer %X -> %R over "X[n, c, h, w]" : !codelet.surrogate<1x2x8x4xf32, @DRAM> -> !codelet.surrogate<1x2x8x4xf32, @GBUF>
      }
    }
  }
}

// -----

// CHECK: expected no loop over c around a part of it
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<1x2x8x4xf32, @DRAM>
  %r = codelet.tensor "r" temp ring [1, 0, 3, 0] : !codelet.surrogate<1x2x8x4xf32, @GBUF>
  codelet.fused @group updates dense<[[0, 0, 0, 2]]> : tensor<1x4xi64> samples ["n"] rows ["h"] {
    codelet.codelet @load dims {n = 1, c = 2, h = 8, w = 4} (%X = %x : !codelet.surrogate<1x2x8x4xf32, @DRAM>, %R = %r : !codelet.surrogate<1x2x8x4xf32, @GBUF>) {
      codelet.loop c step 1 {
      codelet.part c from 0 to 1 {
      codelet.transfer %X -> %R over "X[n, c, h, w]" : !codelet.surrogate<1x2x8x4xf32, @DRAM> -> !codelet.surrogate<1x2x8x4xf32, @GBUF>
      }
      }
    }
  }
}

// -----

// CHECK: expected no loop over c around a part of it
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<1x2x8x4xf32, @DRAM>
  %r = codelet.tensor "r" temp ring [1, 0, 3, 0] : !codelet.surrogate<1x2x8x4xf32, @GBUF>
  codelet.fused @group updates dense<[[0, 0, 0, 2]]> : tensor<1x4xi64> samples ["n"] rows ["h"] {
    codelet.codelet @load dims {n = 1, c = 2, h = 8, w = 4} (%X = %x : !codelet.surrogate<1x2x8x4xf32, @DRAM>, %R = %r : !codelet.surrogate<1x2x8x4xf32, @GBUF>) {
      codelet.part c from 0 to 2 {
      codelet.part c from 0 to 1 {
      codelet.transfer %X -> %R over "X[n, c, h, w]" : !codelet.surrogate<1x2x8x4xf32, @DRAM> -> !codelet.surrogate<1x2x8x4xf32, @GBUF>
      }
      }
    }
  }
}

// -----

// CHECK: expected a value of type f32, found i32
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<1x2x8x4xf32, @DRAM>
  %r = codelet.tensor "r" temp ring [1, 0, 3, 0] : !codelet.surrogate<1x2x8x4xf32, @GBUF>
  codelet.fused @group updates dense<[[0, 0, 0, 2]]> : tensor<1x4xi64> samples ["n"] rows ["h"] {
    codelet.codelet @load dims {n = 1, c = 2, h = 8, w = 4} (%X = %x : !codelet.surrogate<1x2x8x4xf32, @DRAM>, %R = %r : !codelet.surrogate<1x2x8x4xf32, @GBUF>) {
      codelet.fill %R with 0 : i32 : !codelet.surrogate<1x2x8x4xf32, @GBUF>
    }
  }
}

// -----

// CHECK: expected dims among n, c, h, w in X[n, c, p, w], found p
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<1x2x8x4xf32, @DRAM>
  %r = codelet.tensor "r" temp ring [1, 0, 3, 0] : !codelet.surrogate<1x2x8x4xf32, @GBUF>
  codelet.fused @group updates dense<[[0, 0, 0, 2]]> : tensor<1x4xi64> samples ["n"] rows ["h"] {
    codelet.codelet @load dims {n = 1, c = 2, h = 8, w = 4} (%X = %x : !codelet.surrogate<1x2x8x4xf32, @DRAM>, %R = %r : !codelet.surrogate<1x2x8x4xf32, @GBUF>) {
      codelet.transfer %X -> %R over "X[n, c, p, w]" : !codelet.surrogate<1x2x8x4xf32, @DRAM> -> !codelet.surrogate<1x2x8x4xf32, @GBUF>
    }
  }
}

// -----

// CHECK: expected 4 indices in X[n, c, h], found 3
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<1x2x8x4xf32, @DRAM>
  %r = codelet.tensor "r" temp ring [1, 0, 3, 0] : !codelet.surrogate<1x2x8x4xf32, @GBUF>
  codelet.fused @group updates dense<[[0, 0, 0, 2]]> : tensor<1x4xi64> samples ["n"] rows ["h"] {
    codelet.codelet @load dims {n = 1, c = 2, h = 8, w = 4} (%X = %x : !codelet.surrogate<1x2x8x4xf32, @DRAM>, %R = %r : !codelet.surrogate<1x2x8x4xf32, @GBUF>) {
      codelet.transfer %X -> %R over "X[n, c, h]" : !codelet.surrogate<1x2x8x4xf32, @DRAM> -> !codelet.surrogate<1x2x8x4xf32, @GBUF>
    }
  }
}

// -----

// CHECK: expected an access such as X[n, 2*p + r], found another expression
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<1x2x8x4xf32, @DRAM>
  %r = codelet.tensor "r" temp ring [1, 0, 3, 0] : !codelet.surrogate<1x2x8x4xf32, @GBUF>
  codelet.fused @group updates dense<[[0, 0, 0, 2]]> : tensor<1x4xi64> samples ["n"] rows ["h"] {
    codelet.codelet @load dims {n = 1, c = 2, h = 8, w = 4} (%X = %x : !codelet.surrogate<1x2x8x4xf32, @DRAM>, %R = %r : !codelet.surrogate<1x2x8x4xf32, @GBUF>) {
      codelet.transfer %X -> %R over "h + w" : !codelet.surrogate<1x2x8x4xf32, @DRAM> -> !codelet.surrogate<1x2x8x4xf32, @GBUF>
    }
  }
}

// -----

// CHECK: expected an access between two tensors only, found a local
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<1x2x8x4xf32, @DRAM>
  %r = codelet.tensor "r" temp ring [1, 0, 3, 0] : !codelet.surrogate<1x2x8x4xf32, @GBUF>
  codelet.fused @group updates dense<[[0, 0, 0, 2]]> : tensor<1x4xi64> samples ["n"] rows ["h"] {
    codelet.codelet @load dims {n = 1, c = 2, h = 8, w = 4} (%X = %x : !codelet.surrogate<1x2x8x4xf32, @DRAM>, %R = %r : !codelet.surrogate<1x2x8x4xf32, @GBUF>) {
      %l = codelet.local "X[n, c, h, w]" : !codelet.surrogate<1x2x8x4xf32, @GBUF>
      codelet.transfer %X -> %l over "X[n, c, h, w]" : !codelet.surrogate<1x2x8x4xf32, @DRAM> -> !codelet.surrogate<1x2x8x4xf32, @GBUF>
    }
  }
}

// -----

// CHECK: expected codelets in a fused group, found test.op
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<1x2x8x4xf32, @DRAM>
  %r = codelet.tensor "r" temp ring [1, 0, 3, 0] : !codelet.surrogate<1x2x8x4xf32, @GBUF>
  codelet.fused @group updates dense<[[0, 0, 0, 2]]> : tensor<1x4xi64> samples ["n"] rows ["h"] {
    "test.op"() : () -> ()
    codelet.codelet @load dims {n = 1, c = 2, h = 8, w = 4} (%X = %x : !codelet.surrogate<1x2x8x4xf32, @DRAM>, %R = %r : !codelet.surrogate<1x2x8x4xf32, @GBUF>) {
      codelet.transfer %X -> %R over "X[n, c, h, w]" : !codelet.surrogate<1x2x8x4xf32, @DRAM> -> !codelet.surrogate<1x2x8x4xf32, @GBUF>
    }
  }
}

// -----

// CHECK: expected a sample dim and a row dim for each of 1 codelets
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<1x2x8x4xf32, @DRAM>
  %r = codelet.tensor "r" temp ring [1, 0, 3, 0] : !codelet.surrogate<1x2x8x4xf32, @GBUF>
  codelet.fused @group updates dense<[[0, 0, 0, 2]]> : tensor<1x4xi64> samples ["n"] rows ["h", "h"] {
    codelet.codelet @load dims {n = 1, c = 2, h = 8, w = 4} (%X = %x : !codelet.surrogate<1x2x8x4xf32, @DRAM>, %R = %r : !codelet.surrogate<1x2x8x4xf32, @GBUF>) {
      codelet.transfer %X -> %R over "X[n, c, h, w]" : !codelet.surrogate<1x2x8x4xf32, @DRAM> -> !codelet.surrogate<1x2x8x4xf32, @GBUF>
    }
  }
}

// -----

// CHECK: expected rows of four i64 as updates, found tensor<1x3xi64>
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<1x2x8x4xf32, @DRAM>
  %r = codelet.tensor "r" temp ring [1, 0, 3, 0] : !codelet.surrogate<1x2x8x4xf32, @GBUF>
  codelet.fused @group updates dense<[[0, 0, 0]]> : tensor<1x3xi64> samples ["n"] rows ["h"] {
    codelet.codelet @load dims {n = 1, c = 2, h = 8, w = 4} (%X = %x : !codelet.surrogate<1x2x8x4xf32, @DRAM>, %R = %r : !codelet.surrogate<1x2x8x4xf32, @GBUF>) {
      codelet.transfer %X -> %R over "X[n, c, h, w]" : !codelet.surrogate<1x2x8x4xf32, @DRAM> -> !codelet.surrogate<1x2x8x4xf32, @GBUF>
    }
  }
}

// -----

// CHECK: expected a dim of @load, found q
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<1x2x8x4xf32, @DRAM>
  %r = codelet.tensor "r" temp ring [1, 0, 3, 0] : !codelet.surrogate<1x2x8x4xf32, @GBUF>
  codelet.fused @group updates dense<[[0, 0, 0, 2]]> : tensor<1x4xi64> samples ["n"] rows ["q"] {
    codelet.codelet @load dims {n = 1, c = 2, h = 8, w = 4} (%X = %x : !codelet.surrogate<1x2x8x4xf32, @DRAM>, %R = %r : !codelet.surrogate<1x2x8x4xf32, @GBUF>) {
      codelet.transfer %X -> %R over "X[n, c, h, w]" : !codelet.surrogate<1x2x8x4xf32, @DRAM> -> !codelet.surrogate<1x2x8x4xf32, @GBUF>
    }
  }
}

// -----

// CHECK: expected a codelet below 1 in each update, found 1
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<1x2x8x4xf32, @DRAM>
  %r = codelet.tensor "r" temp ring [1, 0, 3, 0] : !codelet.surrogate<1x2x8x4xf32, @GBUF>
  codelet.fused @group updates dense<[[1, 0, 0, 2]]> : tensor<1x4xi64> samples ["n"] rows ["h"] {
    codelet.codelet @load dims {n = 1, c = 2, h = 8, w = 4} (%X = %x : !codelet.surrogate<1x2x8x4xf32, @DRAM>, %R = %r : !codelet.surrogate<1x2x8x4xf32, @GBUF>) {
      codelet.transfer %X -> %R over "X[n, c, h, w]" : !codelet.surrogate<1x2x8x4xf32, @DRAM> -> !codelet.surrogate<1x2x8x4xf32, @GBUF>
    }
  }
}

// -----

// CHECK: expected samples and rows of @load, found 1, 0 to 2
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<1x2x8x4xf32, @DRAM>
  %r = codelet.tensor "r" temp ring [1, 0, 3, 0] : !codelet.surrogate<1x2x8x4xf32, @GBUF>
  codelet.fused @group updates dense<[[0, 1, 0, 2]]> : tensor<1x4xi64> samples ["n"] rows ["h"] {
    codelet.codelet @load dims {n = 1, c = 2, h = 8, w = 4} (%X = %x : !codelet.surrogate<1x2x8x4xf32, @DRAM>, %R = %r : !codelet.surrogate<1x2x8x4xf32, @GBUF>) {
      codelet.transfer %X -> %R over "X[n, c, h, w]" : !codelet.surrogate<1x2x8x4xf32, @DRAM> -> !codelet.surrogate<1x2x8x4xf32, @GBUF>
    }
  }
}

// -----

// CHECK: expected samples and rows of @load, found 0, 7 to 9
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<1x2x8x4xf32, @DRAM>
  %r = codelet.tensor "r" temp ring [1, 0, 3, 0] : !codelet.surrogate<1x2x8x4xf32, @GBUF>
  codelet.fused @group updates dense<[[0, 0, 7, 2]]> : tensor<1x4xi64> samples ["n"] rows ["h"] {
    codelet.codelet @load dims {n = 1, c = 2, h = 8, w = 4} (%X = %x : !codelet.surrogate<1x2x8x4xf32, @DRAM>, %R = %r : !codelet.surrogate<1x2x8x4xf32, @GBUF>) {
      codelet.transfer %X -> %R over "X[n, c, h, w]" : !codelet.surrogate<1x2x8x4xf32, @DRAM> -> !codelet.surrogate<1x2x8x4xf32, @GBUF>
    }
  }
}

// -----

// CHECK: expected samples and rows of @load, found 0, 0 to 0
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<1x2x8x4xf32, @DRAM>
  %r = codelet.tensor "r" temp ring [1, 0, 3, 0] : !codelet.surrogate<1x2x8x4xf32, @GBUF>
  codelet.fused @group updates dense<[[0, 0, 0, 0]]> : tensor<1x4xi64> samples ["n"] rows ["h"] {
    codelet.codelet @load dims {n = 1, c = 2, h = 8, w = 4} (%X = %x : !codelet.surrogate<1x2x8x4xf32, @DRAM>, %R = %r : !codelet.surrogate<1x2x8x4xf32, @GBUF>) {
      codelet.transfer %X -> %R over "X[n, c, h, w]" : !codelet.surrogate<1x2x8x4xf32, @DRAM> -> !codelet.surrogate<1x2x8x4xf32, @GBUF>
    }
  }
}

// -----

// CHECK: expected rows of six i64 as updates, found tensor<1x4xi64>
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<1x2x8x4xf32, @DRAM>
  %r = codelet.tensor "r" temp ring [1, 0, 3, 0] : !codelet.surrogate<1x2x8x4xf32, @GBUF>
  codelet.fused @group updates dense<[[0, 0, 0, 2]]> : tensor<1x4xi64> samples ["n"] rows ["h"] columns ["w"] {
    codelet.codelet @load dims {n = 1, c = 2, h = 8, w = 4} (%X = %x : !codelet.surrogate<1x2x8x4xf32, @DRAM>, %R = %r : !codelet.surrogate<1x2x8x4xf32, @GBUF>) {
      codelet.transfer %X -> %R over "X[n, c, h, w]" : !codelet.surrogate<1x2x8x4xf32, @DRAM> -> !codelet.surrogate<1x2x8x4xf32, @GBUF>
    }
  }
}

// -----

// CHECK: expected a dim of @load, found q
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<1x2x8x4xf32, @DRAM>
  %r = codelet.tensor "r" temp ring [1, 0, 3, 0] : !codelet.surrogate<1x2x8x4xf32, @GBUF>
  codelet.fused @group updates dense<[[0, 0, 0, 2, 0, 1]]> : tensor<1x6xi64> samples ["n"] rows ["h"] columns ["q"] {
    codelet.codelet @load dims {n = 1, c = 2, h = 8, w = 4} (%X = %x : !codelet.surrogate<1x2x8x4xf32, @DRAM>, %R = %r : !codelet.surrogate<1x2x8x4xf32, @GBUF>) {
      codelet.transfer %X -> %R over "X[n, c, h, w]" : !codelet.surrogate<1x2x8x4xf32, @DRAM> -> !codelet.surrogate<1x2x8x4xf32, @GBUF>
    }
  }
}

// -----

// CHECK: expected samples and rows of @load, found 0, 0 to 2, 3 to 5
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<1x2x8x4xf32, @DRAM>
  %r = codelet.tensor "r" temp ring [1, 0, 3, 0] : !codelet.surrogate<1x2x8x4xf32, @GBUF>
  codelet.fused @group updates dense<[[0, 0, 0, 2, 3, 2]]> : tensor<1x6xi64> samples ["n"] rows ["h"] columns ["w"] {
    codelet.codelet @load dims {n = 1, c = 2, h = 8, w = 4} (%X = %x : !codelet.surrogate<1x2x8x4xf32, @DRAM>, %R = %r : !codelet.surrogate<1x2x8x4xf32, @GBUF>) {
      codelet.transfer %X -> %R over "X[n, c, h, w]" : !codelet.surrogate<1x2x8x4xf32, @DRAM> -> !codelet.surrogate<1x2x8x4xf32, @GBUF>
    }
  }
}

// -----

// CHECK: expected borders of operands (A), found O
codelet.program @main {
  %z = codelet.tensor "z" temp : !codelet.surrogate<1xf32, @GBUF>
  codelet.codelet @c dims {c = 1} (%Z = %z : !codelet.surrogate<1xf32, @GBUF>) {
    codelet.compute @VPU::@unary "O[c] = relu(A[c])" (%Z, %Z, %Z) dims {a = c} functions {F = relu} borders [O] : (!codelet.surrogate<1xf32, @GBUF>, !codelet.surrogate<1xf32, @GBUF>, !codelet.surrogate<1xf32, @GBUF>)
  }
}

// -----

// CHECK: expected 3 tensors (O, A), found 2
codelet.program @main {
  %z = codelet.tensor "z" temp : !codelet.surrogate<1xf32, @GBUF>
  codelet.codelet @c dims {c = 1} (%Z = %z : !codelet.surrogate<1xf32, @GBUF>) {
    codelet.compute @VPU::@unary "O[c] = relu(A[c])" (%Z, %Z) dims {a = c} functions {F = relu} borders [A] : (!codelet.surrogate<1xf32, @GBUF>, !codelet.surrogate<1xf32, @GBUF>)
  }
}

// -----

// CHECK: expected accesses of both sides that differ by constants
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<1x2x8x4xf32, @DRAM>
  %r = codelet.tensor "r" temp ring [1, 0, 3, 0] : !codelet.surrogate<1x2x8x4xf32, @GBUF>
  codelet.fused @group updates dense<[[0, 0, 0, 2]]> : tensor<1x4xi64> samples ["n"] rows ["h"] {
    codelet.codelet @load dims {n = 1, c = 2, h = 8, w = 4} (%X = %x : !codelet.surrogate<1x2x8x4xf32, @DRAM>, %R = %r : !codelet.surrogate<1x2x8x4xf32, @GBUF>) {
      codelet.transfer %X -> %R over "X[n, c, h, w]" into "R[n, c, 2 * h, w]" : !codelet.surrogate<1x2x8x4xf32, @DRAM> -> !codelet.surrogate<1x2x8x4xf32, @GBUF>
    }
  }
}

// -----

// CHECK: expected a local on at least one side of a transfer
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<1x2x8x4xf32, @DRAM>
  %r = codelet.tensor "r" temp ring [1, 0, 3, 0] : !codelet.surrogate<1x2x8x4xf32, @GBUF>
  codelet.fused @group updates dense<[[0, 0, 0, 2]]> : tensor<1x4xi64> samples ["n"] rows ["h"] {
    codelet.codelet @load dims {n = 1, c = 2, h = 8, w = 4} (%X = %x : !codelet.surrogate<1x2x8x4xf32, @DRAM>, %R = %r : !codelet.surrogate<1x2x8x4xf32, @GBUF>) {
      codelet.transfer %X -> %R into "R[n, c, h, w]" : !codelet.surrogate<1x2x8x4xf32, @DRAM> -> !codelet.surrogate<1x2x8x4xf32, @GBUF>
    }
  }
}
