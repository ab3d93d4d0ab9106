// RUN: tilewright-opt %s -p graph-normalize | filecheck %s

// Batch normalisation goes into the weights: factor 2 / sqrt(3 + 1) = 1 and 4 / sqrt(3 + 1) = 2.
// CHECK-LABEL: func.func @batch_norm_after_conv(
func.func @batch_norm_after_conv(%x : tensor<1x1x2x2xf32>) -> tensor<1x2x2x2xf32> {
  %w = graph.weight @w = dense<3.0> : tensor<2x1x1x1xf32> : tensor<2x1x1x1xf32>
  %c = graph.weight @c = dense<[0.0, 7.0]> : tensor<2xf32> : tensor<2xf32>
  %s = graph.weight @s = dense<[2.0, 4.0]> : tensor<2xf32> : tensor<2xf32>
  %b = graph.weight @b = dense<[0.5, 0.5]> : tensor<2xf32> : tensor<2xf32>
  %m = graph.weight @m = dense<[1.0, 1.0]> : tensor<2xf32> : tensor<2xf32>
  %v = graph.weight @v = dense<[3.0, 3.0]> : tensor<2xf32> : tensor<2xf32>
  // CHECK-DAG: %[[W:.*]] = graph.weight @{{.*}} = dense<{{\[\[\[\[}}3.000000e+00]]], {{\[\[\[}}6.000000e+00]]]]>
  // CHECK-DAG: %[[B:.*]] = graph.weight @bn.bias = dense<[-5.000000e-01, 1.250000e+01]>
  // CHECK: %[[Y:.*]] = graph.conv %{{.*}}, %[[W]], %[[B]] strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 {name = "bn"}
  // CHECK-NEXT: func.return %[[Y]]
  %0 = graph.conv %x, %w, %c strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 {name = "conv"} : (tensor<1x1x2x2xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  %1 = graph.batch_norm %0, %s, %b, %m, %v epsilon 1.0 {name = "bn"} : (tensor<1x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  func.return %1 : tensor<1x2x2x2xf32>
}

// Alone it is a factor and a term per channel.
// CHECK-LABEL: func.func @batch_norm_alone(
func.func @batch_norm_alone(%x : tensor<1x2x3xf32>) -> tensor<1x2x3xf32> {
  %s = graph.weight @s2 = dense<[2.0, 4.0]> : tensor<2xf32> : tensor<2xf32>
  %v = graph.weight @v2 = dense<[3.0, 3.0]> : tensor<2xf32> : tensor<2xf32>
  // CHECK-DAG: %[[F:.*]] = graph.weight @bn2.factor = dense<{{\[\[}}1.000000e+00], [2.000000e+00]]>
  // CHECK-DAG: %[[T:.*]] = graph.weight @bn2.shift = dense<{{\[\[}}-1.000000e+00], [-2.000000e+00]]>
  // CHECK: %[[M:.*]] = graph.binary mul %{{.*}}, %[[F]]
  // CHECK: %[[Y:.*]] = graph.binary add %[[M]], %[[T]] {name = "bn2"}
  // CHECK-NEXT: func.return %[[Y]]
  %0 = graph.batch_norm %x, %s, %s, %v, %v epsilon 1.0 {name = "bn2"} : (tensor<1x2x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3xf32>
  func.return %0 : tensor<1x2x3xf32>
}

// Without the bytes of the weights nothing is folded.
// CHECK-LABEL: func.func @no_bytes(
func.func @no_bytes(%x : tensor<1x1x2x2xf32>) -> tensor<1x2x2x2xf32> {
  %w = graph.weight @elsewhere : tensor<2x1x1x1xf32>
  %f = graph.weight @factor : tensor<2x1x1xf32>
  // CHECK: %[[C:.*]] = graph.conv
  // CHECK: graph.binary mul %[[C]], %{{.*}}
  %0 = graph.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<1x1x2x2xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x2x2xf32>
  %1 = graph.binary mul %0, %f : (tensor<1x2x2x2xf32>, tensor<2x1x1xf32>) -> tensor<1x2x2x2xf32>
  func.return %1 : tensor<1x2x2x2xf32>
}

// A convolution that is read twice keeps its weights.
// CHECK-LABEL: func.func @read_twice(
func.func @read_twice(%x : tensor<1x1x2x2xf32>) -> (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) {
  %w = graph.weight @w3 = dense<3.0> : tensor<1x1x1x1xf32> : tensor<1x1x1x1xf32>
  %f = graph.weight @f3 = dense<2.0> : tensor<f32> : tensor<f32>
  // CHECK: %[[C:.*]] = graph.conv
  // CHECK: %[[Y:.*]] = graph.binary mul %[[C]], %{{.*}}
  // CHECK: func.return %[[C]], %[[Y]]
  %0 = graph.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %1 = graph.binary mul %0, %f : (tensor<1x1x2x2xf32>, tensor<f32>) -> tensor<1x1x2x2xf32>
  func.return %0, %1 : tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>
}

// Constants are computed, but dequantisation is left for graph-quantize to see.
// CHECK-LABEL: func.func @constants(
func.func @constants() -> (tensor<2xf32>, tensor<2xf32>) {
  %a = graph.weight @a = dense<[1.0, 2.0]> : tensor<2xf32> : tensor<2xf32>
  %s = graph.weight @scale = dense<0.5> : tensor<f32> : tensor<f32>
  %q = graph.weight @q = dense<[2, 4]> : tensor<2xsi8> : tensor<2xsi8>
  // CHECK: graph.weight @sum = dense<[2.000000e+00, 4.000000e+00]> : tensor<2xf32> {name = "sum"}
  // CHECK: graph.dequantize
  %0 = graph.binary add %a, %a {name = "sum"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = graph.dequantize %q, %s axis 0 : (tensor<2xsi8>, tensor<f32>) -> tensor<2xf32>
  func.return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @gemm_factors(
func.func @gemm_factors(%a : tensor<2x2xf32>, %b : tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %w = graph.weight @gw = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> : tensor<2x2xf32>
  %c = graph.weight @gc = dense<[1.0, 2.0]> : tensor<2xf32> : tensor<2xf32>
  // CHECK-DAG: %[[C:.*]] = graph.weight @{{.*}} = dense<[3.000000e+00, 6.000000e+00]>
  // CHECK-DAG: %[[W:.*]] = graph.weight @{{.*}} = dense<{{\[\[}}2.000000e+00, 4.000000e+00], [6.000000e+00, 8.000000e+00]]>
  // CHECK: graph.gemm %{{.*}}, %[[W]], %[[C]] trans_b {name = "y0"} :
  %0 = graph.gemm %a, %w, %c trans_b alpha 2.0 beta 3.0 {name = "y0"} : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  // CHECK: %[[G:.*]] = graph.gemm %{{.*}}, %{{.*}} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: %[[M:.*]] = graph.binary mul %[[G]], %{{.*}} : (tensor<2x2xf32>, tensor<f32>)
  // CHECK: graph.binary add %[[M]], %{{.*}} {name = "y1"} :
  %1 = graph.gemm %a, %b, %c alpha 2.0 {name = "y1"} : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  // CHECK: graph.gemm %{{[a-z0-9_]*}}, %{{[a-z0-9_]*}} {name = "y2"} :
  %2 = graph.gemm %a, %b, %c beta 0.0 {name = "y2"} : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  func.return %0, %1, %2 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}

// CHECK-LABEL: func.func @padding(
func.func @padding(%x : tensor<1x1x4x4xf32>, %w : tensor<1x1x3x3xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x1x6x4xf32>) {
  // CHECK: graph.conv %x, %w strides [1, 1] pads [1, 0, 1, 2] dilations [1, 1] groups 1 :
  %p = graph.pad constant %x pads [0, 0, 1, 0, 0, 0, 0, 2] : (tensor<1x1x4x4xf32>) -> tensor<1x1x5x6xf32>
  %0 = graph.conv %p, %w strides [1, 1] pads [0, 0, 1, 0] dilations [1, 1] groups 1 : (tensor<1x1x5x6xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x4x4xf32>
  // The pads differ in value: both stay.
  // CHECK: %[[P:.*]] = graph.pad constant
  // CHECK: graph.conv %[[P]]
  %q = graph.pad constant %x pads [0, 0, 2, 1, 0, 0, 0, 1] value 1.0 : (tensor<1x1x4x4xf32>) -> tensor<1x1x6x6xf32>
  %1 = graph.conv %q, %w strides [1, 1] pads [1, 0, 1, 0] dilations [1, 1] groups 1 : (tensor<1x1x6x6xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x6x4xf32>
  func.return %0, %1 : tensor<1x1x4x4xf32>, tensor<1x1x6x4xf32>
}

// CHECK-LABEL: func.func @global_average(
func.func @global_average(%x : tensor<1x4x7x7xf32>) -> tensor<1x4x1x1xf32> {
  // CHECK: graph.reduce mean %x axes [2, 3] keepdims :
  %0 = graph.pool average %x kernel [7, 7] strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] : (tensor<1x4x7x7xf32>) -> tensor<1x4x1x1xf32>
  func.return %0 : tensor<1x4x1x1xf32>
}

// What does nothing goes away.
// CHECK-LABEL: func.func @identities(
func.func @identities(%x : tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: func.return %x
  %0 = graph.unary identity %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = graph.clip %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = graph.cast %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = graph.reshape %2 : (tensor<2x3xf32>) -> tensor<6xf32>
  %4 = graph.reshape %3 : (tensor<6xf32>) -> tensor<2x3xf32>
  %5 = graph.transpose %4 perm [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %6 = graph.transpose %5 perm [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %7 = graph.slice %6 starts [0, 0] steps [1, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %8 = graph.pad constant %7 pads [0, 0, 0, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %9 = graph.concat %8 axis 0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %10 = graph.resize %9 scales [1, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %11 = graph.expand %10 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %dead = graph.unary exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %11 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @transpose_of_ones(
func.func @transpose_of_ones(%x : tensor<1x2x1x3xf32>) -> tensor<2x1x3x1xf32> {
  // CHECK: graph.reshape %x : (tensor<1x2x1x3xf32>) -> tensor<2x1x3x1xf32>
  %0 = graph.transpose %x perm [1, 0, 3, 2] : (tensor<1x2x1x3xf32>) -> tensor<2x1x3x1xf32>
  func.return %0 : tensor<2x1x3x1xf32>
}
