// RUN: tilewright-opt %s -p "graph-split-hidden{chunk_bytes=32}" | filecheck %s

// Two chunks of two: columns of the first weights, rows of the second, and the bias of each.
// CHECK: func.func @feed_forward(%x: tensor<4x2xf32>) -> tensor<4x1xf32>
func.func @feed_forward(%x: tensor<4x2xf32>) -> tensor<4x1xf32> {
  %u = graph.weight @u = dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32> : tensor<2x4xf32>
  %b = graph.weight @b = dense<[0.5, 1.5, 2.5, 3.5]> : tensor<4xf32> : tensor<4xf32>
  %d = graph.weight @d = dense<[[1.0], [2.0], [3.0], [4.0]]> : tensor<4x1xf32> : tensor<4x1xf32>
  // CHECK-NEXT: graph.weight @u.0 = dense<{{\[\[}}1.000000e+00, 2.000000e+00], [5.000000e+00, 6.000000e+00]]>
  // CHECK-NEXT: graph.matmul %x, %{{.*}} {name = "up.0"} : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: graph.weight @b.0 = dense<[5.000000e-01, 1.500000e+00]>
  // CHECK-NEXT: graph.binary add %{{.*}}, %{{.*}} : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: graph.unary relu %{{.*}} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: graph.weight @d.0 = dense<{{\[\[}}1.000000e+00], [2.000000e+00]]>
  // CHECK-NEXT: %[[FIRST:.*]] = graph.matmul %{{.*}} {name = "down.0"} : (tensor<4x2xf32>, tensor<2x1xf32>)
  // CHECK-NEXT: graph.weight @u.1 = dense<{{\[\[}}3.000000e+00, 4.000000e+00], [7.000000e+00, 8.000000e+00]]>
  // CHECK-NEXT: graph.matmul %x, %{{.*}} {name = "up.1"} : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %0 = graph.matmul %x, %u {name = "up"} : (tensor<4x2xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %1 = graph.binary add %0, %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %2 = graph.unary relu %1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: %[[SECOND:.*]] = graph.matmul %{{.*}} {name = "down.1"} : (tensor<4x2xf32>, tensor<2x1xf32>)
  // CHECK-NEXT: %[[SUM:.*]] = graph.binary add %[[FIRST]], %[[SECOND]] {name = "down"}
  %3 = graph.matmul %2, %d {name = "down"} : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  // CHECK-NEXT: func.return %[[SUM]] : tensor<4x1xf32>
  func.return %3 : tensor<4x1xf32>
}

// Weights without bytes stay whole.
// CHECK: func.func @unknown
// CHECK: graph.matmul %{{.*}} : (tensor<4x2xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
func.func @unknown(%x: tensor<4x2xf32>) -> tensor<4x1xf32> {
  %u = graph.weight @far : tensor<2x4xf32>
  %d = graph.weight @d = dense<[[1.0], [2.0], [3.0], [4.0]]> : tensor<4x1xf32> : tensor<4x1xf32>
  %0 = graph.matmul %x, %u : (tensor<4x2xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %1 = graph.matmul %0, %d : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  func.return %1 : tensor<4x1xf32>
}
