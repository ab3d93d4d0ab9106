// RUN: tilewright-opt %s | filecheck %s

// A product that begins with zeros, a bias along rows, and a relu of a comparison and a choice.
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @net(%arg0: tensor<2x8xf32>, %arg1: tensor<8x4xf32>, %arg2: tensor<4xf32>) -> tensor<2x4xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<2x4xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<2x4xf32>) -> tensor<2x4xf32>
    %2 = linalg.matmul ins(%arg0, %arg1 : tensor<2x8xf32>, tensor<8x4xf32>) outs(%1 : tensor<2x4xf32>) -> tensor<2x4xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%2, %arg2 : tensor<2x4xf32>, tensor<4xf32>) outs(%0 : tensor<2x4xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %5 = arith.addf %in, %in_0 : f32
      linalg.yield %5 : f32
    } -> tensor<2x4xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<2x4xf32>) outs(%0 : tensor<2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %5 = arith.cmpf ugt, %in, %cst : f32
      %6 = arith.select %5, %in, %cst : f32
      linalg.yield %6 : f32
    } -> tensor<2x4xf32>
    return %4 : tensor<2x4xf32>
  }
}

// CHECK:      func.func @main(%arg0: tensor<2x8xf32>, %arg1: tensor<8x4xf32>, %arg2: tensor<4xf32>)
// CHECK-NEXT: %0 = graph.matmul %arg0, %arg1
// CHECK-NEXT: %1 = graph.reshape %arg2 {{.*}} : (tensor<4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT: %2 = graph.binary add %0, %1
// CHECK-NEXT: %3 = graph.unary relu %2
// CHECK-NEXT: func.return %3
