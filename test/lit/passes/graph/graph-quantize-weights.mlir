// RUN: tilewright-opt %s -p 'load-target{target="edge16"},graph-quantize' | filecheck %s
// RUN: tilewright-opt %s -p 'load-target{target="cocco_npu"},graph-quantize' | filecheck %s --check-prefix=WIDE

// The target multiplies f32 by 8-bit weights: their scales, one for each column, come after the product.  The other
// target does not.
// CHECK-LABEL: func.func @eight_bits(
// WIDE-LABEL: func.func @eight_bits(
func.func @eight_bits(%x : tensor<2x2xf32>, %c : tensor<2xf32>) -> tensor<2x2xf32> {
  // CHECK-DAG: %[[W:.*]] = graph.weight @w.weight = dense<{{.*}}1, -2{{.*}}3, 4{{.*}}> : tensor<2x2xsi8>
  // CHECK: %[[P:.*]] = graph.gemm %x, %[[W]] trans_b {name = "y.product"} : (tensor<2x2xf32>, tensor<2x2xsi8>)
  // CHECK: %[[S:.*]] = graph.weight @w.scale = dense<[2.0{{.*}}, 5.0{{.*}}]> : tensor<2xf32>
  // CHECK: %[[M:.*]] = graph.binary mul %[[P]], %[[S]]
  // CHECK: graph.binary add %[[M]], %c {name = "y"}
  // WIDE: graph.gemm %x, %{{.*}}, %c trans_b {name = "y"} : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>)
  %w = graph.weight @w = dense<[[1, -2], [3, 4]]> : tensor<2x2xsi8> : tensor<2x2xsi8>
  %s = graph.weight @s = dense<[0.2, 5.0]> : tensor<2xf32> : tensor<2xf32>
  %f = graph.dequantize %w, %s axis 0 : (tensor<2x2xsi8>, tensor<2xf32>) -> tensor<2x2xf32>
  %y = graph.gemm %x, %f, %c trans_b {name = "y"} : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  func.return %y : tensor<2x2xf32>
}

// Weights that a narrow float holds exactly are kept in it; 0.1 is no such number, and what others read stays as it is.
// CHECK-LABEL: func.func @halves(
func.func @halves(%x : tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  // CHECK-DAG: graph.weight @exact.f8e4m3fn = dense<{{.*}}> : tensor<2x2xf8E4M3FN>
  // CHECK-DAG: graph.weight @not_exact = dense<{{.*}}> : tensor<2x2xf32>
  // CHECK-DAG: graph.weight @read = dense<{{.*}}> : tensor<2x2xf32>
  // CHECK: graph.matmul %x, %{{.*}} : (tensor<2x2xf32>, tensor<2x2xf8E4M3FN>) -> tensor<2x2xf32>
  // CHECK: graph.matmul %x, %{{.*}} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: graph.matmul %x, %{{.*}} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %exact = graph.weight @exact = dense<[[1.0, 0.5], [-0.25, 3.0]]> : tensor<2x2xf32> : tensor<2x2xf32>
  %other = graph.weight @not_exact = dense<[[1.0, 0.1], [-0.25, 3.0]]> : tensor<2x2xf32> : tensor<2x2xf32>
  %read = graph.weight @read = dense<[[1.0, 0.5], [-0.25, 2.0]]> : tensor<2x2xf32> : tensor<2x2xf32>
  %a = graph.matmul %x, %exact : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %b = graph.matmul %x, %other : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %c = graph.matmul %x, %read : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %d = graph.binary add %x, %read : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  func.return %a, %b, %c, %d : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}
