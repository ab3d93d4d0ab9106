// RUN: tilewright-opt %s -p "graph-split-rows{map_bytes=32}" | filecheck %s
// RUN: tilewright-opt %s -p "graph-split-rows{map_bytes=64}" | filecheck %s --check-prefix WHOLE

// Two chunks of two rows; what is before the first product, and less than it reads, and what follows the last is made
// in rows, too.  Weights are read for each chunk.
// CHECK: func.func @feed_forward(%x: tensor<4x2xf32>) -> tensor<4x1xf32>
// WHOLE-NOT: graph.slice
func.func @feed_forward(%x: tensor<4x2xf32>) -> tensor<4x1xf32> {
  %u = graph.weight @u = dense<1.0> : tensor<2x4xf32> : tensor<2x4xf32>
  %d = graph.weight @d = dense<1.0> : tensor<4x1xf32> : tensor<4x1xf32>
  // CHECK: %[[X0:.*]] = graph.slice %x starts [0, 0] steps [1, 1] : (tensor<4x2xf32>) -> tensor<2x2xf32>
  // CHECK-NEXT: %[[A0:.*]] = graph.unary abs %[[X0]]
  // CHECK-NEXT: %[[U0:.*]] = graph.matmul %[[A0]], %u {name = "up.0"} : (tensor<2x2xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK-NEXT: %[[R0:.*]] = graph.unary relu %[[U0]]
  // CHECK-NEXT: %[[D0:.*]] = graph.matmul %[[R0]], %d {name = "down.0"} : (tensor<2x4xf32>, tensor<4x1xf32>) -> tensor<2x1xf32>
  // CHECK-NEXT: %[[Y0:.*]] = graph.unary neg %[[D0]]
  // CHECK-NEXT: %[[X1:.*]] = graph.slice %x starts [2, 0] steps [1, 1] : (tensor<4x2xf32>) -> tensor<2x2xf32>
  // CHECK: %[[Y1:.*]] = graph.unary neg
  // CHECK-NEXT: %[[Y:.*]] = graph.concat %[[Y0]], %[[Y1]] axis 0
  // CHECK-NEXT: func.return %[[Y]]
  %a = graph.unary abs %x : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %0 = graph.matmul %a, %u {name = "up"} : (tensor<4x2xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %1 = graph.unary relu %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = graph.matmul %1, %d {name = "down"} : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %3 = graph.unary neg %2 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  func.return %3 : tensor<4x1xf32>
}

// A residual sum is cut where it has least bytes; what others read, too, is made as a whole.
// CHECK-LABEL: func.func @residual
// CHECK: %[[R:.*]] = graph.matmul %x, %v
// CHECK: graph.slice %[[R]] starts [0, 0]
// CHECK: graph.slice %[[R]] starts [2, 0]
// CHECK-NOT: graph.slice
// CHECK: graph.concat
func.func @residual(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %v = graph.weight @v = dense<1.0> : tensor<2x2xf32> : tensor<2x2xf32>
  %u = graph.weight @u = dense<1.0> : tensor<2x4xf32> : tensor<2x4xf32>
  %d = graph.weight @d = dense<1.0> : tensor<4x2xf32> : tensor<4x2xf32>
  %r = graph.matmul %x, %v : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %a = graph.unary abs %r : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %0 = graph.matmul %a, %u : (tensor<4x2xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %1 = graph.unary relu %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = graph.matmul %1, %d : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %3 = graph.binary add %r, %2 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  func.return %3 : tensor<4x2xf32>
}

// Rows of a softmax over tokens need all of them.
// CHECK-LABEL: func.func @over_rows
// CHECK-NOT: graph.slice
func.func @over_rows(%x: tensor<4x2xf32>) -> tensor<4x1xf32> {
  %u = graph.weight @u = dense<1.0> : tensor<2x4xf32> : tensor<2x4xf32>
  %d = graph.weight @d = dense<1.0> : tensor<4x1xf32> : tensor<4x1xf32>
  %0 = graph.matmul %x, %u : (tensor<4x2xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %1 = graph.softmax %0 axis 0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = graph.matmul %1, %d : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  func.return %2 : tensor<4x1xf32>
}

// A bias of as many features as there are rows is no map of rows: each chunk adds all of it.
// CHECK-LABEL: func.func @bias
// CHECK: graph.gemm %{{.*}}, %u, %b : (tensor<2x2xf32>, tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
// CHECK: graph.gemm %{{.*}}, %u, %b : (tensor<2x2xf32>, tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
func.func @bias(%x: tensor<4x2xf32>) -> tensor<4x1xf32> {
  %b = graph.weight @b = dense<1.0> : tensor<4xf32> : tensor<4xf32>
  %u = graph.weight @u = dense<1.0> : tensor<2x4xf32> : tensor<2x4xf32>
  %d = graph.weight @d = dense<1.0> : tensor<4x1xf32> : tensor<4x1xf32>
  %0 = graph.gemm %x, %u, %b : (tensor<4x2xf32>, tensor<2x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %1 = graph.unary relu %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = graph.matmul %1, %d : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  func.return %2 : tensor<4x1xf32>
}
