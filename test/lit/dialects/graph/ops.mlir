// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @weights(
func.func @weights() {
  // CHECK: graph.weight @conv1.weight : tensor<4x3x3x3xf32>
  %0 = graph.weight @conv1.weight : tensor<4x3x3x3xf32>
  // CHECK: graph.weight @zero = dense<200> : tensor<ui8> : tensor<ui8>
  %1 = graph.weight @zero = dense<200> : tensor<ui8> : tensor<ui8>
  // CHECK: graph.weight @"a/b c" = dense<[1.500000e+00, -2.000000e+00]> : tensor<2xf32> {name = "w"} : tensor<2xf32>
  %2 = graph.weight @"a/b c" = dense<[1.500000e+00, -2.000000e+00]> : tensor<2xf32> {name = "w"} : tensor<2xf32>
  func.return
}

// CHECK-LABEL: func.func @conv(
func.func @conv(%x : tensor<1x4x8x8xf32>, %w : tensor<6x2x3x3xf32>, %b : tensor<6xf32>, %i : tensor<1x4x8xui8>, %v : tensor<2x4x3xsi8>, %c : tensor<2xi32>) {
  // CHECK: graph.conv %{{.*}}, %{{.*}} strides [2, 1] pads [1, 0, 1, 0] dilations [1, 2] groups 2 : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x4x4xf32>
  %0 = graph.conv %x, %w strides [2, 1] pads [1, 0, 1, 0] dilations [1, 2] groups 2 : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x4x4xf32>
  // CHECK: graph.conv %{{.*}}, %{{.*}}, %{{.*}} strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 2 {name = "conv1"} : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>, tensor<6xf32>) -> tensor<1x6x8x8xf32>
  %1 = graph.conv %x, %w, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 2 {name = "conv1"} : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>, tensor<6xf32>) -> tensor<1x6x8x8xf32>
  // CHECK: graph.conv %{{.*}}, %{{.*}}, %{{.*}} strides [1] pads [1, 1] dilations [1] groups 1 pad_value 3.0 : (tensor<1x4x8xui8>, tensor<2x4x3xsi8>, tensor<2xi32>) -> tensor<1x2x8xi32>
  %2 = graph.conv %i, %v, %c strides [1] pads [1, 1] dilations [1] groups 1 pad_value 3.0 : (tensor<1x4x8xui8>, tensor<2x4x3xsi8>, tensor<2xi32>) -> tensor<1x2x8xi32>
  func.return
}

// CHECK-LABEL: func.func @products(
func.func @products(%a : tensor<2x8xf32>, %b : tensor<4x8xf32>, %c : tensor<4xf32>, %q : tensor<5x2x8xsi8>, %r : tensor<8x3xsi8>) {
  // CHECK: graph.gemm %{{.*}}, %{{.*}} trans_b : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  %0 = graph.gemm %a, %b trans_b : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  // CHECK: graph.gemm %{{.*}}, %{{.*}}, %{{.*}} trans_b alpha 0.5 beta -1.0e-05 : (tensor<2x8xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %1 = graph.gemm %a, %b, %c trans_b alpha 0.5 beta -1.0e-05 : (tensor<2x8xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: graph.gemm %{{.*}}, %{{.*}} trans_a : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<8x8xf32>
  %2 = graph.gemm %a, %a trans_a : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<8x8xf32>
  // CHECK: graph.matmul %{{.*}}, %{{.*}} : (tensor<5x2x8xsi8>, tensor<8x3xsi8>) -> tensor<5x2x3xi32>
  %3 = graph.matmul %q, %r : (tensor<5x2x8xsi8>, tensor<8x3xsi8>) -> tensor<5x2x3xi32>
  func.return
}

// CHECK-LABEL: func.func @reductions(
func.func @reductions(%x : tensor<1x4x9x9xf32>, %i : tensor<1x4x9x9xsi8>) {
  // CHECK: graph.pool max %{{.*}} kernel [3, 3] strides [2, 2] pads [0, 0, 1, 1] dilations [1, 2] : (tensor<1x4x9x9xsi8>) -> tensor<1x4x4x3xsi8>
  %0 = graph.pool max %i kernel [3, 3] strides [2, 2] pads [0, 0, 1, 1] dilations [1, 2] : (tensor<1x4x9x9xsi8>) -> tensor<1x4x4x3xsi8>
  // CHECK: graph.pool average %{{.*}} kernel [3, 3] strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] count_include_pad : (tensor<1x4x9x9xf32>) -> tensor<1x4x5x5xf32>
  %1 = graph.pool average %x kernel [3, 3] strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] count_include_pad : (tensor<1x4x9x9xf32>) -> tensor<1x4x5x5xf32>
  // CHECK: graph.pool sum %{{.*}} kernel [3, 3] strides [3, 3] pads [0, 0, 0, 0] dilations [1, 1] : (tensor<1x4x9x9xsi8>) -> tensor<1x4x3x3xi32>
  %2 = graph.pool sum %i kernel [3, 3] strides [3, 3] pads [0, 0, 0, 0] dilations [1, 1] : (tensor<1x4x9x9xsi8>) -> tensor<1x4x3x3xi32>
  // CHECK: graph.unfold %{{.*}} kernel [3, 1] strides [2, 1] pads [1, 0, 0, 0] dilations [1, 1] pad_value 3.0 : (tensor<1x4x9x9xsi8>) -> tensor<1x12x4x9xsi8>
  %u = graph.unfold %i kernel [3, 1] strides [2, 1] pads [1, 0, 0, 0] dilations [1, 1] pad_value 3 : (tensor<1x4x9x9xsi8>) -> tensor<1x12x4x9xsi8>
  // CHECK: graph.reduce mean %{{.*}} axes [2, 3] keepdims : (tensor<1x4x9x9xf32>) -> tensor<1x4x1x1xf32>
  %3 = graph.reduce mean %x axes [2, 3] keepdims : (tensor<1x4x9x9xf32>) -> tensor<1x4x1x1xf32>
  // CHECK: graph.reduce sum %{{.*}} axes [1] : (tensor<1x4x9x9xsi8>) -> tensor<1x9x9xi32>
  %4 = graph.reduce sum %i axes [1] : (tensor<1x4x9x9xsi8>) -> tensor<1x9x9xi32>
  // CHECK: graph.reduce max %{{.*}} axes [0] : (tensor<1x4x9x9xsi8>) -> tensor<4x9x9xsi8>
  %5 = graph.reduce max %i axes [0] : (tensor<1x4x9x9xsi8>) -> tensor<4x9x9xsi8>
  // CHECK: graph.reduce min %{{.*}} axes [0] : (tensor<1x4x9x9xf32>) -> tensor<4x9x9xf32>
  %6 = graph.reduce min %x axes [0] : (tensor<1x4x9x9xf32>) -> tensor<4x9x9xf32>
  func.return
}

// CHECK-LABEL: func.func @normalisations(
func.func @normalisations(%x : tensor<2x8x4xf32>, %s : tensor<4xf32>, %c : tensor<8xf32>, %q : tensor<2x8x4xsi8>) {
  // CHECK: graph.softmax %{{.*}} axis 2 scale 0.25 bounded step 0.0078125 zero_point -128 : (tensor<2x8x4xsi8>) -> tensor<2x8x4xsi8>
  %s8 = graph.softmax %q axis 2 scale 0.25 bounded step 0.0078125 zero_point -128 : (tensor<2x8x4xsi8>) -> tensor<2x8x4xsi8>
  // CHECK: graph.softmax %{{.*}} axis 1 : (tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  %0 = graph.softmax %x axis 1 : (tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  // CHECK: graph.layer_norm %{{.*}}, %{{.*}} axis 2 epsilon 1.0e-05 : (tensor<2x8x4xf32>, tensor<4xf32>) -> tensor<2x8x4xf32>
  %1 = graph.layer_norm %x, %s axis 2 epsilon 1.0e-05 : (tensor<2x8x4xf32>, tensor<4xf32>) -> tensor<2x8x4xf32>
  // CHECK: graph.layer_norm %{{.*}}, %{{.*}}, %{{.*}} axis 2 epsilon 0.1 : (tensor<2x8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x8x4xf32>
  %2 = graph.layer_norm %x, %s, %s axis 2 epsilon 0.1 : (tensor<2x8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x8x4xf32>
  // CHECK: graph.standardize %{{.*}} axis 2 epsilon 0.25 bits 18 : (tensor<2x8x4xsi8>) -> tensor<2x8x4xi32>
  %5 = graph.standardize %q axis 2 epsilon 0.25 bits 18 : (tensor<2x8x4xsi8>) -> tensor<2x8x4xi32>
  // CHECK: graph.lrn %{{.*}} size 5 alpha 0.0001 beta 0.75 bias 1.0 : (tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  %3 = graph.lrn %x size 5 alpha 0.0001 beta 0.75 bias 1.0 : (tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  // CHECK: graph.batch_norm %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} epsilon 0.001 : (tensor<2x8x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8x4xf32>
  %4 = graph.batch_norm %x, %c, %c, %c, %c epsilon 0.001 : (tensor<2x8x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8x4xf32>
  func.return
}

// CHECK-LABEL: func.func @elementwise(
func.func @elementwise(%x : tensor<2x3xf32>, %v : tensor<3xf32>, %i : tensor<2x3xi32>) {
  // CHECK: graph.unary relu %{{.*}} : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %0 = graph.unary relu %i : (tensor<2x3xi32>) -> tensor<2x3xi32>
  // CHECK: graph.unary gelu_tanh %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = graph.unary gelu_tanh %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: graph.unary leaky_relu %{{.*}} alpha 0.01 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = graph.unary leaky_relu %x alpha 0.01 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: graph.unary hard_sigmoid %{{.*}} alpha 0.2 beta 0.5 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = graph.unary hard_sigmoid %x alpha 0.2 beta 0.5 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: graph.clip %{{.*}} min -inf max 1.0e+20 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = graph.clip %x min -inf max 1.0e+20 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: graph.clip %{{.*}} max 6.0 : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %5 = graph.clip %i max 6.0 : (tensor<2x3xi32>) -> tensor<2x3xi32>
  // CHECK: graph.clip %{{.*}} min nan : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = graph.clip %x min nan : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: graph.binary add %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %7 = graph.binary add %x, %v : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: graph.binary div %{{.*}}, %{{.*}} : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %8 = graph.binary div %i, %i : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  // CHECK: graph.binary pow %{{.*}}, %{{.*}} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %9 = graph.binary pow %v, %v : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK: graph.cast %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xi64>
  %10 = graph.cast %x : (tensor<2x3xf32>) -> tensor<2x3xi64>
  // CHECK: graph.unary elu %{{.*}} alpha 0.5 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %elu = graph.unary elu %x alpha 0.5 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: graph.binary mod %{{.*}}, %{{.*}} : (tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x3xi64>
  %mod = graph.binary mod %10, %10 : (tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x3xi64>
  // CHECK: graph.binary bxor %{{.*}}, %{{.*}} : (tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x3xi64>
  %bxor = graph.binary bxor %10, %10 : (tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x3xi64>
  // CHECK: graph.binary le %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %le = graph.binary le %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: %[[C:.*]] = graph.cast %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xui8>
  %truth = graph.cast %le : (tensor<2x3xf32>) -> tensor<2x3xui8>
  // CHECK: graph.select %[[C]], %{{.*}}, %{{.*}} : (tensor<2x3xui8>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %select = graph.select %truth, %x, %le : (tensor<2x3xui8>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: func.func @movement(
func.func @movement(%x : tensor<2x8xf32>, %y : tensor<2x4xf32>, %i : tensor<2x8xui8>) {
  // CHECK: graph.concat %{{.*}}, %{{.*}} axis 1 : (tensor<2x8xf32>, tensor<2x4xf32>) -> tensor<2x12xf32>
  %0 = graph.concat %x, %y axis 1 : (tensor<2x8xf32>, tensor<2x4xf32>) -> tensor<2x12xf32>
  // CHECK: graph.slice %{{.*}} starts [1, 6] steps [-1, -2] : (tensor<2x8xf32>) -> tensor<2x3xf32>
  %1 = graph.slice %x starts [1, 6] steps [-1, -2] : (tensor<2x8xf32>) -> tensor<2x3xf32>
  // CHECK: graph.pad constant %{{.*}} pads [0, 1, 0, 2] value 7.0 : (tensor<2x8xui8>) -> tensor<2x11xui8>
  %2 = graph.pad constant %i pads [0, 1, 0, 2] value 7.0 : (tensor<2x8xui8>) -> tensor<2x11xui8>
  // CHECK: graph.pad edge %{{.*}} pads [1, 0, 1, 0] : (tensor<2x8xf32>) -> tensor<4x8xf32>
  %3 = graph.pad edge %x pads [1, 0, 1, 0] : (tensor<2x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.pad reflect %{{.*}} pads [1, 0, 0, 0] : (tensor<2x8xf32>) -> tensor<3x8xf32>
  %4 = graph.pad reflect %x pads [1, 0, 0, 0] : (tensor<2x8xf32>) -> tensor<3x8xf32>
  // CHECK: graph.pad wrap %{{.*}} pads [5, 0, 0, 0] : (tensor<2x8xf32>) -> tensor<7x8xf32>
  %5 = graph.pad wrap %x pads [5, 0, 0, 0] : (tensor<2x8xf32>) -> tensor<7x8xf32>
  // CHECK: graph.reshape %{{.*}} : (tensor<2x8xf32>) -> tensor<1x4x4xf32>
  %6 = graph.reshape %x : (tensor<2x8xf32>) -> tensor<1x4x4xf32>
  // CHECK: graph.transpose %{{.*}} perm [1, 0] : (tensor<2x8xf32>) -> tensor<8x2xf32>
  %7 = graph.transpose %x perm [1, 0] : (tensor<2x8xf32>) -> tensor<8x2xf32>
  // CHECK: graph.resize %{{.*}} scales [1, 2] : (tensor<2x8xf32>) -> tensor<2x16xf32>
  %8 = graph.resize %x scales [1, 2] : (tensor<2x8xf32>) -> tensor<2x16xf32>
  // CHECK: graph.gather %{{.*}} axis 1 indices dense<[7, 0, 7]> : tensor<3xi64> : (tensor<2x8xf32>) -> tensor<2x3xf32>
  %9 = graph.gather %x axis 1 indices dense<[7, 0, 7]> : tensor<3xi64> : (tensor<2x8xf32>) -> tensor<2x3xf32>
  // CHECK: graph.gather %{{.*}} axis 0 indices dense<1> : tensor<i64> : (tensor<2x8xf32>) -> tensor<8xf32>
  %10 = graph.gather %x axis 0 indices dense<1> : tensor<i64> : (tensor<2x8xf32>) -> tensor<8xf32>
  // CHECK: graph.expand %{{.*}} : (tensor<2x8xf32>) -> tensor<3x2x8xf32>
  %11 = graph.expand %x : (tensor<2x8xf32>) -> tensor<3x2x8xf32>
  func.return
}

// CHECK-LABEL: func.func @quantised(
func.func @quantised(%x : tensor<2x8xf32>, %s : tensor<f32>, %z : tensor<ui8>, %t : tensor<8xf32>, %i : tensor<2x8xi32>, %m : tensor<8xi32>) {
  // CHECK: graph.quantize %{{.*}}, %{{.*}}, %{{.*}} axis 0 : (tensor<2x8xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x8xui8>
  %0 = graph.quantize %x, %s, %z axis 0 : (tensor<2x8xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x8xui8>
  // CHECK: graph.quantize %{{.*}}, %{{.*}} axis 1 : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xsi8>
  %1 = graph.quantize %x, %t axis 1 : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xsi8>
  // CHECK: graph.dequantize %{{.*}}, %{{.*}}, %{{.*}} axis 0 : (tensor<2x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x8xf32>
  %2 = graph.dequantize %0, %s, %z axis 0 : (tensor<2x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x8xf32>
  // CHECK: graph.dequantize %{{.*}}, %{{.*}} axis 1 : (tensor<2x8xi32>, tensor<8xf32>) -> tensor<2x8xf32>
  %3 = graph.dequantize %i, %t axis 1 : (tensor<2x8xi32>, tensor<8xf32>) -> tensor<2x8xf32>
  // CHECK: graph.requantize %{{.*}}, %{{.*}}, %{{.*}} axis 1 zero_point -3 range [-128, 100] : (tensor<2x8xi32>, tensor<8xi32>, tensor<8xi32>) -> tensor<2x8xsi8>
  %4 = graph.requantize %i, %m, %m axis 1 zero_point -3 range [-128, 100] : (tensor<2x8xi32>, tensor<8xi32>, tensor<8xi32>) -> tensor<2x8xsi8>
  func.return
}

// CHECK-LABEL: func.func @groups(
func.func @groups(%x : tensor<1x4xf32>, %y : tensor<1x4xf32>) -> tensor<1x4xf32> {
  // CHECK: graph.layer_group (%{{.*}} = %{{.*}} : tensor<1x4xf32>, %{{.*}} = %{{.*}} : tensor<1x4xf32>) -> (tensor<1x4xf32>) attributes {name = "lg"} {
  %0 = graph.layer_group (%a = %x : tensor<1x4xf32>, %b = %y : tensor<1x4xf32>) -> (tensor<1x4xf32>) attributes {name = "lg"} {
    // CHECK: graph.fused_group tiles 4 (%{{.*}} = %{{.*}} : tensor<1x4xf32>, %{{.*}} = %{{.*}} : tensor<1x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>) {
    %1, %2 = graph.fused_group tiles 4 (%c = %a : tensor<1x4xf32>, %d = %b : tensor<1x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>) {
      // CHECK: graph.binary add %{{.*}}, %{{.*}} : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
      %3 = graph.binary add %c, %d : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
      // CHECK: graph.unary relu %{{.*}} : (tensor<1x4xf32>) -> tensor<1x4xf32>
      %4 = graph.unary relu %3 : (tensor<1x4xf32>) -> tensor<1x4xf32>
      // CHECK: graph.yield %{{.*}}, %{{.*}} : tensor<1x4xf32>, tensor<1x4xf32>
      graph.yield %3, %4 : tensor<1x4xf32>, tensor<1x4xf32>
    }
    // CHECK: graph.yield %{{.*}} : tensor<1x4xf32>
    graph.yield %2 : tensor<1x4xf32>
  }
  func.return %0 : tensor<1x4xf32>
}

func.func @lookup(%t: tensor<8x4xf32>, %i: tensor<1x2xi64>) -> (tensor<1x2x4xf32>, tensor<1x2x4xf32>) {
  // CHECK: graph.lookup %{{.*}} at %{{.*}} : (tensor<8x4xf32>, tensor<1x2xi64>) -> tensor<1x2x4xf32>
  %0 = graph.lookup %t at %i : (tensor<8x4xf32>, tensor<1x2xi64>) -> tensor<1x2x4xf32>
  // CHECK: graph.lookup %{{.*}} at %{{.*}} by_rows : (tensor<8x4xf32>, tensor<1x2xi64>) -> tensor<1x2x4xf32>
  %1 = graph.lookup %t at %i by_rows : (tensor<8x4xf32>, tensor<1x2xi64>) -> tensor<1x2x4xf32>
  func.return %0, %1 : tensor<1x2x4xf32>, tensor<1x2x4xf32>
}

// CHECK: @open(%{{.*}}: tensor<?x4xf32, #graph.extents<[n, 4]>>) -> tensor<?xf32, #graph.extents<[(4 * n - 2 * n * "two words" + 6) floordiv 2]>>
func.func @open(%x: tensor<?x4xf32, #graph.extents<[n, 4]>>)
    -> tensor<?xf32, #graph.extents<[(4 * n - 2 * n * "two words" + 6) floordiv 2]>>
    attributes {graph.dims = {"two words" = array<i64: 1, 2, 1>, n = array<i64: 4, 8, 2>}} {
  // CHECK: graph.slice %{{.*}} starts [0, 3] steps [1, 1] {graph.open = {starts = #graph.extents<[0, n - 5]>}}
  %0 = graph.slice %x starts [0, 3] steps [1, 1] {graph.open = {starts = #graph.extents<[0, n - 5]>}}
    : (tensor<?x4xf32, #graph.extents<[n, 4]>>) -> tensor<?x1xf32, #graph.extents<[n, 1]>>
  %1 = graph.reshape %0 : (tensor<?x1xf32, #graph.extents<[n, 1]>>)
    -> tensor<?xf32, #graph.extents<[(4 * n - 2 * n * "two words" + 6) floordiv 2]>>
  func.return %1 : tensor<?xf32, #graph.extents<[(4 * n - 2 * n * "two words" + 6) floordiv 2]>>
}
