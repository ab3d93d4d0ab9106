// RUN: VERIFY

// CHECK: kernel @mac: expected the target X not to be read (use another name and `into`)
func.func @target_read(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "X[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    nest.yield %0 : tensor<4x8xf32>
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: kernel @mac: expected operands X, W, got X, V
func.func @operand_names(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, V = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    nest.yield %0 : tensor<4x8xf32>
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: kernel @mac: expected indices in square brackets, got free strides
func.func @free_strides(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y{m, n} += X{m, k} * W{k, n}" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    nest.yield %0 : tensor<4x8xf32>
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: kernel @mac: expected tensors, dims and numbers, got the name scale
func.func @names(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n] * scale" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    nest.yield %0 : tensor<4x8xf32>
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: kernel @mac: unknown function twice
func.func @function(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += twice(X[m, k]) * W[k, n]" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    nest.yield %0 : tensor<4x8xf32>
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: kernel @mac: expected 2 indices of X, got 3
func.func @rank(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[0, m, k] * W[k, n]" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    nest.yield %0 : tensor<4x8xf32>
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: kernel @mac: m * k: expected an index that is affine in the dims, found another expression
func.func @affine(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m * k, k] * W[k, n]" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    nest.yield %0 : tensor<4x8xf32>
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: kernel @mac: expected pad values for operands, got Z
func.func @pad_of_operand(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) pad {Z = 0.0} : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    nest.yield %0 : tensor<4x8xf32>
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: kernel @turn: expected A, which is overwritten, to be read where it is written, got A[n, m]
func.func @overwritten_elsewhere(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x4xf32> {
  %y = nest.group @g dims {m = 4, n = 4, k = 6} ins(X = %x, W = %w) -> tensor<4x4xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * X[n, k]" (X = %X) : (tensor<4x6xf32>) -> tensor<4x4xf32>
    %1 = nest.kernel @turn "Y[m, n] = A[n, m]" (A = %0) into %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
    nest.yield %1 : tensor<4x4xf32>
  }
  func.return %y : tensor<4x4xf32>
}

// -----

// CHECK: group @g: expected a positive extent of m, got 0
func.func @extent(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 0, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    nest.yield %0 : tensor<4x8xf32>
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: group @g: expected elements = "words" or none, got "word"
func.func @elements(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> attributes {elements = "word"} {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    nest.yield %0 : tensor<4x8xf32>
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: group @g: kernel @mac uses dim k, which has no extent
func.func @unknown_dim(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    nest.yield %0 : tensor<4x8xf32>
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: group @g: kernel @mac accesses X[m, k + 1]: expected index 1 in 0..5, got 1..6
func.func @bounds(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k + 1] * W[k, n]" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    nest.yield %0 : tensor<4x8xf32>
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: group @g: kernel @mac accesses Y[m, n + 1]: expected index 1 in 0..7, got 1..8
func.func @target_bounds(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n + 1] += X[m, k] * W[k, n]" (X = %X, W = %W) pad {X = 0.0} : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    nest.yield %0 : tensor<4x8xf32>
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: group @g: expected distinct names of inputs and kernels, got X twice
func.func @same_names(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @X "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    nest.yield %0 : tensor<4x8xf32>
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: group @g: expected no use of a value after @relu overwrites it
func.func @used_after_overwriting(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    %1 = nest.kernel @relu "Y[m, n] = relu(A[m, n])" (A = %0) into %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %2 = nest.kernel @add "Y[m, n] = A[m, n] + B[m, n]" (A = %0, B = %1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    nest.yield %2 : tensor<4x8xf32>
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: group @g: expected no other or later use of input D, which is overwritten
func.func @input_used_after(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>, %d : tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w, D = %d) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>, %D : tensor<4x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) into %D : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    nest.yield %0 : tensor<4x8xf32>
  }
  "test.op"(%d) : (tensor<4x8xf32>) -> ()
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: group @g: expected no other or later use of input D, which is overwritten
func.func @input_used_twice(%d : tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(D = %d, E = %d) -> tensor<4x8xf32> {
  ^bb0(%D : tensor<4x8xf32>, %E : tensor<4x8xf32>):
    %0 = nest.kernel @add "Y[m, n] = A[m, n] + B[m, n]" (A = %D, B = %E) into %D : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    nest.yield %0 : tensor<4x8xf32>
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: group @g: expected to yield the types of the results
func.func @yielded_types(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    nest.yield %X : tensor<4x6xf32>
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: group @g: expected the body to end with nest.yield
func.func @body_end(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: group @g: expected only nest.kernel in the body
func.func @body_kernels(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    "test.op"() : () -> ()
    nest.yield %0 : tensor<4x8xf32>
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: group @g: expected computes of mac, relu in order, got mac
func.func @every_kernel(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    %1 = nest.kernel @relu "Y[m, n] = relu(A[m, n])" (A = %0) into %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    nest.yield %1 : tensor<4x8xf32>
  } mapping {
    nest.compute @mac
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: group @g: expected computes of mac, relu in order, got relu, mac
func.func @kernels_in_order(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    %1 = nest.kernel @relu "Y[m, n] = relu(A[m, n])" (A = %0) into %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    nest.yield %1 : tensor<4x8xf32>
  } mapping {
    nest.compute @relu
    nest.compute @mac
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: group @g: expected nest.hold, for, spatial or compute in a mapping, got test.op
func.func @tree_nodes(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    %1 = nest.kernel @relu "Y[m, n] = relu(A[m, n])" (A = %0) into %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    nest.yield %1 : tensor<4x8xf32>
  } mapping {
    "test.op"() : () -> ()
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: group @g: expected a dim of the group, got z
func.func @loop_dim(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    %1 = nest.kernel @relu "Y[m, n] = relu(A[m, n])" (A = %0) into %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    nest.yield %1 : tensor<4x8xf32>
  } mapping {
    nest.for z step 1 {
      nest.compute @mac
      nest.compute @relu
    }
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: group @g: expected a positive step of m, got 0
func.func @loop_step(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    %1 = nest.kernel @relu "Y[m, n] = relu(A[m, n])" (A = %0) into %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    nest.yield %1 : tensor<4x8xf32>
  } mapping {
    nest.for m step 0 {
      nest.compute @mac
      nest.compute @relu
    }
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: group @g: expected to hold a buffer of the group, got relu
func.func @held_buffer(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    %1 = nest.kernel @relu "Y[m, n] = relu(A[m, n])" (A = %0) into %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    nest.yield %1 : tensor<4x8xf32>
  } mapping {
    nest.hold @GBUF [X, relu] {
      nest.compute @mac
      nest.compute @relu
    }
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: group @g: expected X to be held once in @GBUF
func.func @held_once(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    %1 = nest.kernel @relu "Y[m, n] = relu(A[m, n])" (A = %0) into %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    nest.yield %1 : tensor<4x8xf32>
  } mapping {
    nest.hold @GBUF [X] {
      nest.hold @GBUF [X, W] {
        nest.compute @mac
        nest.compute @relu
      }
    }
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: group @g: expected at least one copy of a held buffer, got 0
func.func @copies(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    %1 = nest.kernel @relu "Y[m, n] = relu(A[m, n])" (A = %0) into %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    nest.yield %1 : tensor<4x8xf32>
  } mapping {
    nest.hold @GBUF [X] buffers 0 {
      nest.compute @mac
      nest.compute @relu
    }
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: group @g: expected a positive number of instances along x or y, got 4 along z
func.func @spatial_axis(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    %1 = nest.kernel @relu "Y[m, n] = relu(A[m, n])" (A = %0) into %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    nest.yield %1 : tensor<4x8xf32>
  } mapping {
    nest.spatial m = 4 on @MXU z {
      nest.compute @mac
      nest.compute @relu
    }
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: group @g: expected the loop over k to hold only @mac, got @relu too
func.func @reduction_loop(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    %1 = nest.kernel @relu "Y[m, n] = relu(A[m, n])" (A = %0) into %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    nest.yield %1 : tensor<4x8xf32>
  } mapping {
    nest.for k step 2 {
      nest.compute @mac
      nest.compute @relu
    }
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: group @g: expected the loop over n to hold what @twice changes, which it would change again in each iteration
func.func @repeated_change(%x : tensor<4xf32>) -> tensor<4xf32> {
  %y = nest.group @g dims {m = 4, n = 8} ins(X = %x) -> tensor<4xf32> {
  ^bb0(%X : tensor<4xf32>):
    %0 = nest.kernel @twice "Y[m] = 2.0 * X[m]" (X = %X) into %X : (tensor<4xf32>) -> tensor<4xf32>
    nest.yield %0 : tensor<4xf32>
  } mapping {
    nest.for n step 2 {
      nest.compute @twice
    }
  }
  func.return %y : tensor<4xf32>
}

// -----

// CHECK: group @g: expected the loops around @square and @shift to cut index 0 of the value between them at the same place
func.func @cut_elsewhere(%x : tensor<8xf32>) -> tensor<8xf32> {
  %y = nest.group @g dims {e = 8} ins(X = %x) -> tensor<8xf32> {
  ^bb0(%X : tensor<8xf32>):
    %0 = nest.kernel @square "Y[e] = X[e] * X[e]" (X = %X) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = nest.kernel @shift "Y[e] = A[7 - e]" (A = %0) : (tensor<8xf32>) -> tensor<8xf32>
    nest.yield %1 : tensor<8xf32>
  } mapping {
    nest.for e step 2 {
      nest.compute @square
      nest.compute @shift
    }
  }
  func.return %y : tensor<8xf32>
}

// -----

// CHECK: group @g: expected compute @mac to bind each dim once, got z
func.func @bound_dims(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    %1 = nest.kernel @relu "Y[m, n] = relu(A[m, n])" (A = %0) into %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    nest.yield %1 : tensor<4x8xf32>
  } mapping {
    nest.compute @mac on @MXU::@mac dims {p = z} tensors {}
    nest.compute @relu
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: group @g: expected compute @mac to bind each dim once, got m
func.func @bound_twice(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    %1 = nest.kernel @relu "Y[m, n] = relu(A[m, n])" (A = %0) into %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    nest.yield %1 : tensor<4x8xf32>
  } mapping {
    nest.compute @mac on @MXU::@mac dims {p = m, q = m} tensors {}
    nest.compute @relu
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: group @g: compute @mac binds Z, which it does not access
func.func @bound_tensors(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    %1 = nest.kernel @relu "Y[m, n] = relu(A[m, n])" (A = %0) into %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    nest.yield %1 : tensor<4x8xf32>
  } mapping {
    nest.compute @mac on @MXU::@mac dims {p = m, k = n, c = k} tensors {O = Z}
    nest.compute @relu
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: group @g: expected dim k of compute @mac to be bound or of extent 1 in its loops, got 6
func.func @unbound_dims(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    %1 = nest.kernel @relu "Y[m, n] = relu(A[m, n])" (A = %0) into %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    nest.yield %1 : tensor<4x8xf32>
  } mapping {
    nest.compute @mac on @MXU::@mac dims {p = m, k = n} tensors {}
    nest.compute @relu
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: compute @mac: expected `on` before bindings
func.func @bindings_without_capability(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    %1 = nest.kernel @relu "Y[m, n] = relu(A[m, n])" (A = %0) into %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    nest.yield %1 : tensor<4x8xf32>
  } mapping {
    nest.compute @mac dims {p = m}
    nest.compute @relu
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: compute @mac: expected `on @node::@capability`, dims and tensors
func.func @capability_name(%x : tensor<4x6xf32>, %w : tensor<6x8xf32>) -> tensor<4x8xf32> {
  %y = nest.group @g dims {m = 4, n = 8, k = 6} ins(X = %x, W = %w) -> tensor<4x8xf32> {
  ^bb0(%X : tensor<4x6xf32>, %W : tensor<6x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    %1 = nest.kernel @relu "Y[m, n] = relu(A[m, n])" (A = %0) into %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    nest.yield %1 : tensor<4x8xf32>
  } mapping {
    nest.compute @mac on @MXU dims {p = m} tensors {}
    nest.compute @relu
  }
  func.return %y : tensor<4x8xf32>
}

// -----

// CHECK: expected a view of the same elements, got tensor<4x8xf32> and tensor<33xf32>
func.func @view(%x : tensor<4x8xf32>) -> tensor<33xf32> {
  %y = nest.view %x : tensor<4x8xf32> -> tensor<33xf32>
  func.return %y : tensor<33xf32>
}

// -----

// CHECK: 'nest.group' does not contain single-block regions
func.func @blocks(%x : tensor<4xf32>) -> tensor<4xf32> {
  %y = nest.group @g dims {m = 4} ins(X = %x) -> tensor<4xf32> {
  ^bb0(%X : tensor<4xf32>):
    %0 = nest.kernel @copy "Y[m] = X[m]" (X = %X) : (tensor<4xf32>) -> tensor<4xf32>
    nest.yield %0 : tensor<4xf32>
  } mapping {
    "test.termop"() : () -> ()
  ^bb1:
    "test.termop"() : () -> ()
  }
  func.return %y : tensor<4xf32>
}
