// RUN: tilewright-opt %s -p 'load-target{target="edge16"},graph-pack{min_elements=4}' | filecheck %s
// RUN: tilewright-opt %s -p 'load-target{target="vta"},graph-pack{min_elements=4}' | filecheck %s --check-prefix=BYTES
// RUN: tilewright-opt %s -p 'load-target{target="edge16"},graph-pack' | filecheck %s --check-prefix=BYTES

// Two columns lie in a byte, the first in the low bits: 0x21 is 33, and 0xf8 is -8 (low) beside -1.
// CHECK-LABEL: func.func @columns(
// BYTES-LABEL: func.func @columns(
func.func @columns(%x : tensor<1x2xf32>) -> tensor<1x2xf32> {
  // CHECK-DAG: %[[P:.*]] = graph.weight @y.weight0.i4 = dense<{{.*}}33{{.*}}-8{{.*}}> : tensor<2x1xsi8>
  // CHECK-DAG: %[[FOUR:.*]] = graph.weight @y.four = dense<4> : tensor<si8>
  // CHECK-DAG: %[[SIXTEEN:.*]] = graph.weight @y.sixteen = dense<16> : tensor<si8>
  // CHECK-DAG: %[[C:.*]] = graph.slice %[[P]]
  // CHECK: %[[M:.*]] = graph.binary mul %[[C]], %[[SIXTEEN]]
  // CHECK: %[[L:.*]] = graph.binary shr %[[M]], %[[FOUR]]
  // CHECK: %[[A:.*]] = graph.matmul %x, %[[L]] : (tensor<1x2xf32>, tensor<2x1xsi8>) -> tensor<1x1xf32>
  // CHECK: %[[H:.*]] = graph.binary shr %[[C]], %[[FOUR]]
  // CHECK: %[[B:.*]] = graph.matmul %x, %[[H]]
  // CHECK: graph.concat %[[A]], %[[B]] axis 1 {name = "y"}
  // BYTES: graph.matmul %x, %{{.*}} {name = "y"} : (tensor<1x2xf32>, tensor<2x2xsi8>) -> tensor<1x2xf32>
  %w = graph.weight @w = dense<[[1, 2], [-8, -1]]> : tensor<2x2xsi8> : tensor<2x2xsi8>
  %y = graph.matmul %x, %w {name = "y"} : (tensor<1x2xf32>, tensor<2x2xsi8>) -> tensor<1x2xf32>
  func.return %y : tensor<1x2xf32>
}

// An odd column stays a byte; rows of a transposed factor are its columns.
// CHECK-LABEL: func.func @odd(
func.func @odd(%x : tensor<1x2xf32>) -> tensor<1x3xf32> {
  // CHECK-DAG: graph.weight @o.weight0.i4 = dense<{{.*}}> : tensor<1x2xsi8>
  // CHECK-COUNT-2: graph.gemm %x, %{{.*}} trans_b : (tensor<1x2xf32>, tensor<1x2xsi8>) -> tensor<1x1xf32>
  // CHECK: %[[W:.*]] = graph.weight @o.weight2 = dense<{{.*}}7, -7{{.*}}> : tensor<1x2xsi8>
  // CHECK: graph.gemm %x, %[[W]] trans_b : (tensor<1x2xf32>, tensor<1x2xsi8>) -> tensor<1x1xf32>
  // CHECK: graph.concat %{{.*}}, %{{.*}}, %{{.*}} axis 1 {name = "o"}
  %w = graph.weight @v = dense<[[1, 2], [3, 4], [7, -7]]> : tensor<3x2xsi8> : tensor<3x2xsi8>
  %y = graph.gemm %x, %w trans_b {name = "o"} : (tensor<1x2xf32>, tensor<3x2xsi8>) -> tensor<1x3xf32>
  func.return %y : tensor<1x3xf32>
}

// Blocks of rows are scaled and added up for each piece; scales that f16 holds are kept so.
// CHECK-LABEL: func.func @blocks(
func.func @blocks(%x : tensor<2x1x1xf32>) -> tensor<1x1x2xf32> {
  // CHECK: %[[A:.*]] = graph.matmul
  // CHECK-NEXT: %[[S:.*]] = graph.weight @z.scale0 = dense<{{.*}}> : tensor<2x1x1xf16>
  // CHECK: %[[F:.*]] = graph.cast %[[S]]
  // CHECK: %[[M:.*]] = graph.binary mul %[[A]], %[[F]]
  // CHECK: graph.reduce sum %[[M]] axes [0] keepdims : (tensor<2x1x1xf32>) -> tensor<1x1x1xf32>
  // CHECK: graph.reduce sum
  // CHECK: graph.concat {{.*}} axis 2 {name = "z"}
  %w = graph.weight @u = dense<[[[1, 2]], [[3, 4]]]> : tensor<2x1x2xsi8> : tensor<2x1x2xsi8>
  %s = graph.weight @s = dense<[[[0.5, 2.0]], [[1.0, 4.0]]]> : tensor<2x1x2xf32> : tensor<2x1x2xf32>
  %y = graph.matmul %x, %w : (tensor<2x1x1xf32>, tensor<2x1x2xsi8>) -> tensor<2x1x2xf32>
  %m = graph.binary mul %y, %s : (tensor<2x1x2xf32>, tensor<2x1x2xf32>) -> tensor<2x1x2xf32>
  %z = graph.reduce sum %m axes [0] keepdims {name = "z"} : (tensor<2x1x2xf32>) -> tensor<1x1x2xf32>
  func.return %z : tensor<1x1x2xf32>
}

// Numbers of 5 bits, and products with a bias, are left.
// CHECK-LABEL: func.func @left(
func.func @left(%x : tensor<1x2xf32>, %c : tensor<2xf32>) -> (tensor<1x2xf32>, tensor<1x2xf32>) {
  // CHECK: graph.matmul %x, %{{.*}} : (tensor<1x2xf32>, tensor<2x2xsi8>) -> tensor<1x2xf32>
  // CHECK: graph.gemm %x, %{{.*}}, %c : (tensor<1x2xf32>, tensor<2x2xsi8>, tensor<2xf32>) -> tensor<1x2xf32>
  %w = graph.weight @wide = dense<[[1, 2], [8, -1]]> : tensor<2x2xsi8> : tensor<2x2xsi8>
  %v = graph.weight @narrow = dense<[[1, 2], [7, -1]]> : tensor<2x2xsi8> : tensor<2x2xsi8>
  %y = graph.matmul %x, %w : (tensor<1x2xf32>, tensor<2x2xsi8>) -> tensor<1x2xf32>
  %z = graph.gemm %x, %v, %c : (tensor<1x2xf32>, tensor<2x2xsi8>, tensor<2xf32>) -> tensor<1x2xf32>
  func.return %y, %z : tensor<1x2xf32>, tensor<1x2xf32>
}
