// RUN: tilewright-opt %s -p graph-quantize | filecheck %s

// A convolution with bias, relu and zero points.  sx = 0.5, sw = [0.25, 0.5], sy = 1: factors 1/8 and 1/4 are
// 2^30 / 2^33 and 2^30 / 2^32.  The bias less zx * sum(w): [4 - 2 * 3, 8 - 2 * -1].
// CHECK-LABEL: func.func @conv(
func.func @conv(%x : tensor<1x1x2x2xui8>) -> tensor<1x2x2x2xui8> {
  %s = graph.weight @half = dense<0.5> : tensor<f32> : tensor<f32>
  %z = graph.weight @two = dense<2> : tensor<ui8> : tensor<ui8>
  %w = graph.weight @w = dense<[[[[1, 2]]], [[[-3, 2]]]]> : tensor<2x1x1x2xsi8> : tensor<2x1x1x2xsi8>
  %sw = graph.weight @sw = dense<[0.25, 0.5]> : tensor<2xf32> : tensor<2xf32>
  %b = graph.weight @b = dense<[4, 8]> : tensor<2xi32> : tensor<2xi32>
  %sb = graph.weight @sb = dense<[0.125, 0.25]> : tensor<2xf32> : tensor<2xf32>
  %sy = graph.weight @one = dense<1.0> : tensor<f32> : tensor<f32>
  %zy = graph.weight @ten = dense<10> : tensor<ui8> : tensor<ui8>
  %fx = graph.dequantize %x, %s, %z axis 0 : (tensor<1x1x2x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x1x2x2xf32>
  %fw = graph.dequantize %w, %sw axis 0 : (tensor<2x1x1x2xsi8>, tensor<2xf32>) -> tensor<2x1x1x2xf32>
  %fb = graph.dequantize %b, %sb axis 0 : (tensor<2xi32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK-DAG: %[[W:.*]] = graph.weight @conv1.weight = dense<{{.*}}1, 2{{.*}}-3, 2{{.*}}> : tensor<2x1x1x2xsi8>
  // CHECK-DAG: %[[B:.*]] = graph.weight @conv1.bias = dense<[-2, 10]> : tensor<2xi32>
  // CHECK: %[[C:.*]] = graph.conv %x, %[[W]], %[[B]] strides [1, 1] pads [0, 0, 0, 1] dilations [1, 1] groups 1 pad_value 2.0 {name = "conv1.accumulator"}
  // CHECK-DAG: %[[M:.*]] = graph.weight @conv1.multiplier = dense<1073741824> : tensor<2xi32>
  // CHECK-DAG: %[[S:.*]] = graph.weight @conv1.shift = dense<[33, 32]> : tensor<2xi32>
  // CHECK: %[[Y:.*]] = graph.requantize %[[C]], %[[M]], %[[S]] axis 1 zero_point 10 range [10, 255] {name = "q"}
  // CHECK-NEXT: func.return %[[Y]]
  %c = graph.conv %fx, %fw, %fb strides [1, 1] pads [0, 0, 0, 1] dilations [1, 1] groups 1 {name = "conv1"} : (tensor<1x1x2x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  %r = graph.unary relu %c : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %y = graph.quantize %r, %sy, %zy axis 0 {name = "q"} : (tensor<1x2x2x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x2x2xui8>
  func.return %y : tensor<1x2x2x2xui8>
}

// Where f32 is wanted, the accumulators are dequantised.  Weights with a zero point are centred.
// CHECK-LABEL: func.func @gemm(
func.func @gemm(%x : tensor<1x2xsi8>) -> tensor<1x2xf32> {
  %s = graph.weight @half2 = dense<0.5> : tensor<f32> : tensor<f32>
  %w = graph.weight @gw = dense<[[128, 130], [127, 129]]> : tensor<2x2xui8> : tensor<2x2xui8>
  %z = graph.weight @middle = dense<128> : tensor<ui8> : tensor<ui8>
  // CHECK-DAG: %[[W:.*]] = graph.weight @y.weight = dense<{{\[\[}}0, 2], [-1, 1]]> : tensor<2x2xsi8>
  // CHECK: %[[C:.*]] = graph.gemm %x, %[[W]] trans_b {name = "y.accumulator"} : (tensor<1x2xsi8>, tensor<2x2xsi8>) -> tensor<1x2xi32>
  // CHECK: %[[S:.*]] = graph.weight @y.scale = dense<2.500000e-01>
  // CHECK: graph.dequantize %[[C]], %[[S]] axis 1 {name = "y"}
  %fx = graph.dequantize %x, %s axis 0 : (tensor<1x2xsi8>, tensor<f32>) -> tensor<1x2xf32>
  %fw = graph.dequantize %w, %s, %z axis 0 : (tensor<2x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x2xf32>
  %y = graph.gemm %fx, %fw trans_b {name = "y"} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  func.return %y : tensor<1x2xf32>
}

// Two activations: unsigned ones are shifted to si8, zero points are corrected by sums of rows and columns.
// CHECK-LABEL: func.func @matmul(
func.func @matmul(%a : tensor<2x3xsi8>, %b : tensor<3x2xui8>) -> tensor<2x2xf32> {
  %s = graph.weight @half3 = dense<0.5> : tensor<f32> : tensor<f32>
  %za = graph.weight @five = dense<5> : tensor<si8> : tensor<si8>
  %zb = graph.weight @z129 = dense<129> : tensor<ui8> : tensor<ui8>
  %fa = graph.dequantize %a, %s, %za axis 0 : (tensor<2x3xsi8>, tensor<f32>, tensor<si8>) -> tensor<2x3xf32>
  %fb = graph.dequantize %b, %s, %zb axis 0 : (tensor<3x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<3x2xf32>
  // CHECK: graph.cast %b : (tensor<3x2xui8>) -> tensor<3x2xi32>
  // CHECK: %[[B:.*]] = graph.cast %{{.*}} : (tensor<3x2xi32>) -> tensor<3x2xsi8>
  // CHECK: graph.matmul %a, %[[B]]
  // CHECK: graph.reduce sum %a axes [1] keepdims
  // CHECK: dense<-1>
  // CHECK: graph.reduce sum %[[B]] axes [0] keepdims
  // CHECK: dense<-5>
  // CHECK: dense<15>
  // CHECK: graph.dequantize %{{.*}}, %{{.*}} axis 0 {name = "y1"} : (tensor<2x2xi32>
  %y = graph.matmul %fa, %fb {name = "y1"} : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  func.return %y : tensor<2x2xf32>
}

// sa / sy = 1/2 and sb / sy = 1/4 of 2^20; the zero points' share is -(3 * 2^19 + 0).
// CHECK-LABEL: func.func @add(
func.func @add(%a : tensor<4xui8>, %b : tensor<4xsi8>) -> tensor<4xsi8> {
  %sa = graph.weight @half4 = dense<0.5> : tensor<f32> : tensor<f32>
  %za = graph.weight @three = dense<3> : tensor<ui8> : tensor<ui8>
  %sb = graph.weight @quarter = dense<0.25> : tensor<f32> : tensor<f32>
  %sy = graph.weight @one4 = dense<1.0> : tensor<f32> : tensor<f32>
  %fa = graph.dequantize %a, %sa, %za axis 0 : (tensor<4xui8>, tensor<f32>, tensor<ui8>) -> tensor<4xf32>
  %fb = graph.dequantize %b, %sb axis 0 : (tensor<4xsi8>, tensor<f32>) -> tensor<4xf32>
  // CHECK: graph.cast %a
  // CHECK-NEXT: graph.weight @sum.left = dense<524288> : tensor<i32>
  // CHECK-NEXT: graph.binary mul
  // CHECK-NEXT: graph.cast %b
  // CHECK-NEXT: graph.weight @sum.right = dense<262144> : tensor<i32>
  // CHECK-NEXT: graph.binary mul
  // CHECK-NEXT: graph.binary add
  // CHECK-NEXT: graph.weight @sum.offset = dense<-1572864> : tensor<i32>
  // CHECK-NEXT: graph.binary add
  // CHECK-DAG: graph.weight @sum.multiplier = dense<1> : tensor<i32>
  // CHECK-DAG: graph.weight @sum.shift = dense<20> : tensor<i32>
  // CHECK: graph.requantize %{{.*}}, %{{.*}}, %{{.*}} axis 0 zero_point 0 range [-128, 127]
  %t = graph.binary add %fa, %fb {name = "sum"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = graph.quantize %t, %sy axis 0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xsi8>
  func.return %y : tensor<4xsi8>
}

// What only moves or compares elements is done on the integers; the same parameters before and after vanish.
// CHECK-LABEL: func.func @moved(
func.func @moved(%x : tensor<1x2x4x4xui8>) -> tensor<8xui8> {
  %s = graph.weight @half5 = dense<0.5> : tensor<f32> : tensor<f32>
  %z = graph.weight @seven = dense<7> : tensor<ui8> : tensor<ui8>
  // CHECK-NEXT: %[[R:.*]] = graph.clip %x min 7.0 {name = "relu.integers"} : (tensor<1x2x4x4xui8>)
  // CHECK-NEXT: %[[P:.*]] = graph.pool max %[[R]] {{.*}} : (tensor<1x2x4x4xui8>) -> tensor<1x2x2x2xui8>
  // CHECK-NEXT: %[[Q:.*]] = graph.pad constant %[[P]] pads [0, 0, 0, 0, 0, 0, 0, 2] value 9.0 : (tensor<1x2x2x2xui8>)
  // CHECK-NEXT: %[[S:.*]] = graph.slice %[[Q]]
  // CHECK-NEXT: %[[F:.*]] = graph.reshape %[[S]]
  // CHECK-NEXT: func.return %[[F]]
  %fx = graph.dequantize %x, %s, %z axis 0 : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xf32>
  %r = graph.unary relu %fx {name = "relu"} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %p = graph.pool max %r kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %q = graph.pad constant %p pads [0, 0, 0, 0, 0, 0, 0, 2] value 1.0 : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x4xf32>
  %t = graph.slice %q starts [0, 0, 0, 2] steps [1, 1, 1, 1] : (tensor<1x2x2x4xf32>) -> tensor<1x2x2x2xf32>
  %f = graph.reshape %t : (tensor<1x2x2x2xf32>) -> tensor<8xf32>
  %y = graph.quantize %f, %s, %z axis 0 : (tensor<8xf32>, tensor<f32>, tensor<ui8>) -> tensor<8xui8>
  func.return %y : tensor<8xui8>
}

// A mean is an i32 sum, less 16 zero points, by sx / (16 sy) = 2^30 / 2^34.
// CHECK-LABEL: func.func @mean(
func.func @mean(%x : tensor<1x2x4x4xui8>) -> tensor<1x2x1x1xui8> {
  %s = graph.weight @half6 = dense<0.5> : tensor<f32> : tensor<f32>
  %z = graph.weight @seven6 = dense<7> : tensor<ui8> : tensor<ui8>
  // CHECK: graph.reduce sum %x axes [2, 3] keepdims {name = "mean.sum"} : (tensor<1x2x4x4xui8>) -> tensor<1x2x1x1xi32>
  // CHECK-NEXT: graph.weight @mean.offset = dense<-112>
  // CHECK-NEXT: graph.binary add
  // CHECK-DAG: graph.weight @mean.multiplier = dense<1073741824>
  // CHECK-DAG: graph.weight @mean.shift = dense<34>
  // CHECK: graph.requantize
  %fx = graph.dequantize %x, %s, %z axis 0 : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xf32>
  %m = graph.reduce mean %fx axes [2, 3] keepdims {name = "mean"} : (tensor<1x2x4x4xf32>) -> tensor<1x2x1x1xf32>
  %y = graph.quantize %m, %s, %z axis 0 : (tensor<1x2x1x1xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x1x1xui8>
  func.return %y : tensor<1x2x1x1xui8>
}

// Pieces of another scale are rescaled, the others are taken as they are.
// CHECK-LABEL: func.func @concat(
func.func @concat(%a : tensor<2xsi8>, %b : tensor<2xsi8>) -> tensor<4xsi8> {
  %s = graph.weight @half7 = dense<0.5> : tensor<f32> : tensor<f32>
  %t = graph.weight @quarter7 = dense<0.25> : tensor<f32> : tensor<f32>
  // CHECK: %[[B:.*]] = graph.requantize
  // CHECK: graph.concat %a, %[[B]] axis 0
  %fa = graph.dequantize %a, %s axis 0 : (tensor<2xsi8>, tensor<f32>) -> tensor<2xf32>
  %fb = graph.dequantize %b, %t axis 0 : (tensor<2xsi8>, tensor<f32>) -> tensor<2xf32>
  %c = graph.concat %fa, %fb axis 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %y = graph.quantize %c, %s axis 0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xsi8>
  func.return %y : tensor<4xsi8>
}

// Other functions stay in f32, and so does what has no constant scale; constants are dequantised.
// CHECK-LABEL: func.func @stays(
func.func @stays(%x : tensor<2x2xsi8>, %u : tensor<f32>) -> (tensor<2x2xsi8>, tensor<2x2xf32>) {
  %s = graph.weight @half8 = dense<0.5> : tensor<f32> : tensor<f32>
  %w = graph.weight @w8 = dense<[[1, 2], [3, 4]]> : tensor<2x2xsi8> : tensor<2x2xsi8>
  // CHECK: graph.dequantize %x
  // CHECK-NEXT: graph.unary sigmoid
  // CHECK-NEXT: graph.quantize
  %fx = graph.dequantize %x, %s axis 0 : (tensor<2x2xsi8>, tensor<f32>) -> tensor<2x2xf32>
  %g = graph.unary sigmoid %fx : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = graph.quantize %g, %s axis 0 : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xsi8>
  // CHECK-DAG: %[[X:.*]] = graph.dequantize %x, %u
  // CHECK-DAG: %[[W:.*]] = graph.weight @fw = dense<{{\[\[}}5.000000e-01, 1.000000e+00], [1.500000e+00, 2.000000e+00]]>
  // CHECK: graph.matmul %[[X]], %[[W]]
  %fu = graph.dequantize %x, %u axis 0 : (tensor<2x2xsi8>, tensor<f32>) -> tensor<2x2xf32>
  %fw = graph.dequantize %w, %s axis 0 {name = "fw"} : (tensor<2x2xsi8>, tensor<f32>) -> tensor<2x2xf32>
  %m = graph.matmul %fu, %fw : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  func.return %y, %m : tensor<2x2xsi8>, tensor<2x2xf32>
}
