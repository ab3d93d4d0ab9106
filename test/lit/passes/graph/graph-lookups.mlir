// RUN: tilewright-opt %s -p 'load-target{target="edge16"},graph-lookups' | filecheck %s
// RUN: tilewright-opt %s -p 'load-target{target="edge16"},graph-lookups,graph-normalize' | filecheck %s
// RUN: tilewright-opt %s -p 'load-target{target="tiny"},graph-lookups,graph-normalize' | filecheck %s --check-prefix=PRODUCT

// A table of which fewer bytes are read than it has; one with as many indices as rows; one that is quantised.
// CHECK-LABEL: @few
// CHECK: graph.lookup %{{.*}} at %{{.*}} by_rows
// PRODUCT-LABEL: @few
// PRODUCT-NOT: graph.lookup
// PRODUCT: graph.matmul
func.func @few(%i : tensor<2xi64>) -> tensor<2x4xf32> {
  %t = graph.weight @t = dense<[[1.1, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0], [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]]> : tensor<6x4xf32> : tensor<6x4xf32>
  %y = graph.lookup %t at %i : (tensor<6x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  func.return %y : tensor<2x4xf32>
}

// CHECK-LABEL: @many
// CHECK-NOT: by_rows
// CHECK-LABEL: @quantised
// CHECK: %[[ROWS:.*]] = graph.lookup %{{.*}} at %{{.*}} by_rows
// CHECK-SAME: -> tensor<1x4xsi8>
// CHECK: graph.dequantize %[[ROWS]], %{{.*}} axis 1
func.func @many(%i : tensor<2xi64>) -> tensor<2x2xf32> {
  %t = graph.weight @u = dense<[[1.1, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> : tensor<2x2xf32>
  %y = graph.lookup %t at %i : (tensor<2x2xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  func.return %y : tensor<2x2xf32>
}

func.func @quantised(%i : tensor<1xi64>) -> tensor<1x4xf32> {
  %t = graph.weight @v = dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [9, 10, 11, 12], [9, 10, 11, 12]]> : tensor<5x4xsi8> : tensor<5x4xsi8>
  %s = graph.weight @s = dense<[1.5, 2.5, 3.5, 4.5]> : tensor<4xf32> : tensor<4xf32>
  %d = graph.dequantize %t, %s axis 1 : (tensor<5x4xsi8>, tensor<4xf32>) -> tensor<5x4xf32>
  %y = graph.lookup %d at %i : (tensor<5x4xf32>, tensor<1xi64>) -> tensor<1x4xf32>
  func.return %y : tensor<1x4xf32>
}
