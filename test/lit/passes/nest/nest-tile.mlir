// RUN: tilewright-opt %s -p 'load-target{target="tiny"},nest-tile' | filecheck %s

// The operands do not fit in the scratchpad: tiles of both outputs, and sums cut along k that stay on chip.
// CHECK-LABEL: func.func @matmul
func.func @matmul(%x : tensor<20x40xf32>, %w : tensor<40x30xf32>) -> tensor<20x30xf32> {
  %y = nest.group @fc dims {m = 20, n = 30, k = 40} ins(X = %x, W = %w) -> tensor<20x30xf32> {
  ^bb0(%X : tensor<20x40xf32>, %W : tensor<40x30xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<20x40xf32>, tensor<40x30xf32>) -> tensor<20x30xf32>
    %1 = nest.kernel @relu "Y[m, n] = relu(A[m, n])" (A = %0) into %0 : (tensor<20x30xf32>) -> tensor<20x30xf32>
    nest.yield %1 : tensor<20x30xf32>
  }
  func.return %y : tensor<20x30xf32>
}
// CHECK:      } mapping {
// CHECK:        nest.for [[A:[mn]]] step
// CHECK:        nest.for [[B:[mn]]] step
// CHECK:        nest.hold @SPAD [mac]
// CHECK-NEXT:     nest.for k step
// CHECK-NEXT:       nest.hold @SPAD [X, W]
// CHECK-NEXT:         nest.compute @mac
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:     nest.compute @relu

// A mapping that is there stays.
// CHECK-LABEL: func.func @mapped
func.func @mapped(%x : tensor<20xf32>) -> tensor<20xf32> {
  %y = nest.group @g dims {i = 20} ins(X = %x) -> tensor<20xf32> {
  ^bb0(%X : tensor<20xf32>):
    %0 = nest.kernel @relu "Y[i] = relu(X[i])" (X = %X) : (tensor<20xf32>) -> tensor<20xf32>
    nest.yield %0 : tensor<20xf32>
  } mapping {
    // CHECK:      nest.for i step 7 {
    // CHECK-NEXT:   nest.hold @SPAD [X, relu] buffers 2 {
    nest.for i step 7 {
      nest.hold @SPAD [X, relu] buffers 2 {
        nest.compute @relu
      }
    }
  }
  func.return %y : tensor<20xf32>
}

// The row between the kernels does not fit, and cannot be cut: two groups, which meet in DRAM.
// CHECK-LABEL: func.func @split
func.func @split(%x : tensor<400xf32>) -> tensor<400xf32> {
  // CHECK: %[[twice:.*]] = nest.group @g.square dims {i = 400} ins(X = %x) -> tensor<400xf32>
  // CHECK: nest.group @g dims {j = 400} ins(square = %[[twice]]) -> tensor<400xf32> attributes {name = "y"}
  %y = nest.group @g dims {i = 400, j = 400} ins(X = %x) -> tensor<400xf32> attributes {name = "y"} {
  ^bb0(%X : tensor<400xf32>):
    %0 = nest.kernel @square "Y[i] = X[i] * X[i]" (X = %X) : (tensor<400xf32>) -> tensor<400xf32>
    %1 = nest.kernel @turn "Y[j] = A[399 - j]" (A = %0) : (tensor<400xf32>) -> tensor<400xf32>
    nest.yield %1 : tensor<400xf32>
  }
  func.return %y : tensor<400xf32>
}
