// RUN: tilewright-opt %s | filecheck %s

// Channels last in the text become the order of graph.conv once; a relu and a bias stay as small as they are.
module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x8x8x3xf32>, %arg1: tensor<3x3x3x4xf32>, %arg2: tensor<4xf32>) -> (tensor<1x4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x8x8x4xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [3] : (tensor<4xf32>) -> tensor<1x8x8x4xf32>
    %2 = stablehlo.add %0, %1 : tensor<1x8x8x4xf32>
    %3 = call @relu(%2) : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [1, 2] : (tensor<1x8x8x4xf32>, tensor<f32>) -> tensor<1x4xf32>
    return %4 : tensor<1x4xf32>
  }
  func.func private @relu(%arg0: tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x8x8x4xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<1x8x8x4xf32>
    return %1 : tensor<1x8x8x4xf32>
  }
}

// CHECK:      func.func @main(%arg0: tensor<1x8x8x3xf32>, %arg1: tensor<3x3x3x4xf32>, %arg2: tensor<4xf32>) -> tensor<1x4xf32>
// CHECK-SAME: graph.outputs = ["result"]
// CHECK-NEXT: graph.transpose %arg0 perm [0, 3, 1, 2]
// CHECK-NEXT: graph.transpose %arg1 perm [3, 2, 0, 1]
// CHECK-NEXT: graph.conv {{.*}} pads [1, 1, 1, 1] {{.*}}-> tensor<1x4x8x8xf32>
// CHECK-NEXT: graph.reshape %arg2 {{.*}}-> tensor<1x4x1x1xf32>
// CHECK-NEXT: graph.binary add
// CHECK-NEXT: graph.unary relu {{.*}}{name = "maximum.1"}
// CHECK-NEXT: graph.reduce sum {{.*}} axes [2, 3]
// CHECK-NEXT: func.return
