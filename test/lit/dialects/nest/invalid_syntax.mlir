// RUN: PARSEDIAG

func.func @statement(%x : tensor<4x6xf32>) {
  %y = nest.group @g dims {m = 4, k = 6} ins(X = %x) -> tensor<4xf32> {
  ^bb0(%X : tensor<4x6xf32>):
    // CHECK: statement:1:1: expected a reduction (`+=`, `max=`, `min=`), or every dim in the target, found `=` over k
    %0 = nest.kernel @sum "Y[m] = X[m, k]" (X = %X) : (tensor<4x6xf32>) -> tensor<4xf32>
    nest.yield %0 : tensor<4xf32>
  }
}

// -----

func.func @dims(%x : tensor<4xf32>) {
  // CHECK: a dim is given twice
  %y = nest.group @g dims {m = 4, m = 4} ins(X = %x) -> tensor<4xf32> {
  }
}

// -----

func.func @inputs(%x : tensor<4xf32>) {
  // CHECK: expected one argument of the body for each input
  %y = nest.group @g dims {m = 4} ins(X = %x) -> tensor<4xf32> {
    nest.yield
  }
}

// -----

func.func @types(%x : tensor<4xf32>) {
  %y = nest.group @g dims {m = 4} ins(X = %x) -> tensor<4xf32> {
  ^bb0(%X : tensor<4xf32>):
    // CHECK: expected the types of the operands and of one result
    %0 = nest.kernel @copy "Y[m] = X[m]" (X = %X) : tensor<4xf32>
  }
}

// -----

func.func @capability(%x : tensor<4xf32>) {
  %y = nest.group @g dims {m = 4} ins(X = %x) -> tensor<4xf32> {
  ^bb0(%X : tensor<4xf32>):
    %0 = nest.kernel @copy "Y[m] = X[m]" (X = %X) : (tensor<4xf32>) -> tensor<4xf32>
    nest.yield %0 : tensor<4xf32>
  } mapping {
    // CHECK: expected @node::@capability
    nest.compute @copy on "VPU"
  }
}
