#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1, d2) -> (d2)>
#map4 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map5 = affine_map<(d0, d1, d2) -> ()>
#map6 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map7 = affine_map<(d0, d1) -> (d0, d1)>
#map8 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @made(%arg0: tensor<16xf32>, %arg1: tensor<16x3x4x4xf32>, %arg2: tensor<10xf32>, %arg3: tensor<16x10xf32>, %arg4: tensor<16xf32>, %arg5: tensor<16xf32>, %arg6: tensor<16xf32>, %arg7: tensor<16xf32>, %arg8: tensor<16xf32>, %arg9: tensor<16xf32>, %arg10: tensor<16xf32>, %arg11: tensor<16xf32>, %arg12: tensor<16xf32>, %arg13: tensor<16xf32>, %arg14: tensor<24xf32>, %arg15: tensor<16x24xf32>, %arg16: tensor<16xf32>, %arg17: tensor<24x16xf32>, %arg18: tensor<32xf32>, %arg19: tensor<16x32xf32>, %arg20: tensor<16xf32>, %arg21: tensor<32x16xf32>, %arg22: tensor<24xf32>, %arg23: tensor<16x24xf32>, %arg24: tensor<16xf32>, %arg25: tensor<24x16xf32>, %arg26: tensor<32xf32>, %arg27: tensor<16x32xf32>, %arg28: tensor<16xf32>, %arg29: tensor<32x16xf32>, %arg30: tensor<1x3x16x16xf32>) -> tensor<1x10xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant dense<0.707106769> : tensor<f32>
    %cst_1 = arith.constant dense<5.000000e-01> : tensor<f32>
    %cst_2 = arith.constant dense<1.000000e+00> : tensor<f32>
    %cst_3 = arith.constant 1.600000e+01 : f32
    %cst_4 = arith.constant 9.99999997E-7 : f32
    %0 = tensor.empty() : tensor<1x16x4x4xf32>
    %broadcasted = linalg.broadcast ins(%arg0 : tensor<16xf32>) outs(%0 : tensor<1x16x4x4xf32>) dimensions = [0, 2, 3] 
    %1 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<4> : vector<2xi64>} ins(%arg30, %arg1 : tensor<1x3x16x16xf32>, tensor<16x3x4x4xf32>) outs(%broadcasted : tensor<1x16x4x4xf32>) -> tensor<1x16x4x4xf32>
    %collapsed = tensor.collapse_shape %1 [[0], [1], [2, 3]] : tensor<1x16x4x4xf32> into tensor<1x16x16xf32>
    %2 = tensor.empty() : tensor<1x16x16xf32>
    %transposed = linalg.transpose ins(%collapsed : tensor<1x16x16xf32>) outs(%2 : tensor<1x16x16xf32>) permutation = [0, 2, 1] 
    %3 = tensor.empty() : tensor<1x16x1xf32>
    %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<1x16x1xf32>) -> tensor<1x16x1xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%transposed : tensor<1x16x16xf32>) outs(%4 : tensor<1x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = arith.addf %in, %out : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x1xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5 : tensor<1x16x1xf32>) outs(%3 : tensor<1x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = arith.divf %in, %cst_3 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x1xf32>
    %collapsed_5 = tensor.collapse_shape %6 [[0], [1, 2]] : tensor<1x16x1xf32> into tensor<1x16xf32>
    %7 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_5 : tensor<1x16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x16x16xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%transposed, %7 : tensor<1x16x16xf32>, tensor<1x16x16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.subf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8, %8 : tensor<1x16x16xf32>, tensor<1x16x16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.mulf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%9 : tensor<1x16x16xf32>) outs(%4 : tensor<1x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = arith.addf %in, %out : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x1xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%10 : tensor<1x16x1xf32>) outs(%3 : tensor<1x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = arith.divf %in, %cst_3 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x1xf32>
    %12 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%11 : tensor<1x16x1xf32>) outs(%3 : tensor<1x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = arith.addf %in, %cst_4 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x1xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12 : tensor<1x16x1xf32>) outs(%3 : tensor<1x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = math.rsqrt %in : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x1xf32>
    %collapsed_6 = tensor.collapse_shape %13 [[0], [1, 2]] : tensor<1x16x1xf32> into tensor<1x16xf32>
    %14 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_6 : tensor<1x16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x16x16xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8, %14 : tensor<1x16x16xf32>, tensor<1x16x16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.mulf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15, %arg5 : tensor<1x16x16xf32>, tensor<16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.mulf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%16, %arg4 : tensor<1x16x16xf32>, tensor<16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.addf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %transposed_7 = linalg.transpose ins(%17 : tensor<1x16x16xf32>) outs(%2 : tensor<1x16x16xf32>) permutation = [0, 2, 1] 
    %18 = tensor.empty() : tensor<1x16x24xf32>
    %19 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg15 : tensor<16x24xf32>) outs(%18 : tensor<1x16x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x16x24xf32>
    %20 = linalg.fill ins(%cst : f32) outs(%18 : tensor<1x16x24xf32>) -> tensor<1x16x24xf32>
    %21 = linalg.batch_matmul ins(%transposed_7, %19 : tensor<1x16x16xf32>, tensor<1x16x24xf32>) outs(%20 : tensor<1x16x24xf32>) -> tensor<1x16x24xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21, %arg14 : tensor<1x16x24xf32>, tensor<24xf32>) outs(%18 : tensor<1x16x24xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.addf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x24xf32>
    %23 = linalg.generic {indexing_maps = [#map, #map5, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%22, %cst_0 : tensor<1x16x24xf32>, tensor<f32>) outs(%18 : tensor<1x16x24xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.mulf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x24xf32>
    %24 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%23 : tensor<1x16x24xf32>) outs(%18 : tensor<1x16x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = math.erf %in : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x24xf32>
    %25 = linalg.generic {indexing_maps = [#map, #map5, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%22, %cst_1 : tensor<1x16x24xf32>, tensor<f32>) outs(%18 : tensor<1x16x24xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.mulf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x24xf32>
    %26 = linalg.generic {indexing_maps = [#map, #map5, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%24, %cst_2 : tensor<1x16x24xf32>, tensor<f32>) outs(%18 : tensor<1x16x24xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.addf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x24xf32>
    %27 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%25, %26 : tensor<1x16x24xf32>, tensor<1x16x24xf32>) outs(%18 : tensor<1x16x24xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.mulf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x24xf32>
    %28 = tensor.empty() : tensor<1x24x16xf32>
    %29 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg17 : tensor<24x16xf32>) outs(%28 : tensor<1x24x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x24x16xf32>
    %30 = linalg.fill ins(%cst : f32) outs(%2 : tensor<1x16x16xf32>) -> tensor<1x16x16xf32>
    %31 = linalg.batch_matmul ins(%27, %29 : tensor<1x16x24xf32>, tensor<1x24x16xf32>) outs(%30 : tensor<1x16x16xf32>) -> tensor<1x16x16xf32>
    %32 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%31, %arg16 : tensor<1x16x16xf32>, tensor<16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.addf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %transposed_8 = linalg.transpose ins(%32 : tensor<1x16x16xf32>) outs(%2 : tensor<1x16x16xf32>) permutation = [0, 2, 1] 
    %33 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%transposed, %transposed_8 : tensor<1x16x16xf32>, tensor<1x16x16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.addf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %34 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%33 : tensor<1x16x16xf32>) outs(%4 : tensor<1x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = arith.addf %in, %out : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x1xf32>
    %35 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%34 : tensor<1x16x1xf32>) outs(%3 : tensor<1x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = arith.divf %in, %cst_3 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x1xf32>
    %collapsed_9 = tensor.collapse_shape %35 [[0], [1, 2]] : tensor<1x16x1xf32> into tensor<1x16xf32>
    %36 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_9 : tensor<1x16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x16x16xf32>
    %37 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%33, %36 : tensor<1x16x16xf32>, tensor<1x16x16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.subf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %38 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%37, %37 : tensor<1x16x16xf32>, tensor<1x16x16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.mulf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %39 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%38 : tensor<1x16x16xf32>) outs(%4 : tensor<1x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = arith.addf %in, %out : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x1xf32>
    %40 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%39 : tensor<1x16x1xf32>) outs(%3 : tensor<1x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = arith.divf %in, %cst_3 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x1xf32>
    %41 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%40 : tensor<1x16x1xf32>) outs(%3 : tensor<1x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = arith.addf %in, %cst_4 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x1xf32>
    %42 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%41 : tensor<1x16x1xf32>) outs(%3 : tensor<1x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = math.rsqrt %in : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x1xf32>
    %collapsed_10 = tensor.collapse_shape %42 [[0], [1, 2]] : tensor<1x16x1xf32> into tensor<1x16xf32>
    %43 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_10 : tensor<1x16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x16x16xf32>
    %44 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%37, %43 : tensor<1x16x16xf32>, tensor<1x16x16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.mulf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %45 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%44, %arg7 : tensor<1x16x16xf32>, tensor<16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.mulf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %46 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%45, %arg6 : tensor<1x16x16xf32>, tensor<16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.addf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %47 = tensor.empty() : tensor<1x16x32xf32>
    %48 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg19 : tensor<16x32xf32>) outs(%47 : tensor<1x16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x16x32xf32>
    %49 = linalg.fill ins(%cst : f32) outs(%47 : tensor<1x16x32xf32>) -> tensor<1x16x32xf32>
    %50 = linalg.batch_matmul ins(%46, %48 : tensor<1x16x16xf32>, tensor<1x16x32xf32>) outs(%49 : tensor<1x16x32xf32>) -> tensor<1x16x32xf32>
    %51 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%50, %arg18 : tensor<1x16x32xf32>, tensor<32xf32>) outs(%47 : tensor<1x16x32xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.addf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x32xf32>
    %52 = linalg.generic {indexing_maps = [#map, #map5, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%51, %cst_0 : tensor<1x16x32xf32>, tensor<f32>) outs(%47 : tensor<1x16x32xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.mulf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x32xf32>
    %53 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%52 : tensor<1x16x32xf32>) outs(%47 : tensor<1x16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = math.erf %in : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x32xf32>
    %54 = linalg.generic {indexing_maps = [#map, #map5, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%51, %cst_1 : tensor<1x16x32xf32>, tensor<f32>) outs(%47 : tensor<1x16x32xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.mulf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x32xf32>
    %55 = linalg.generic {indexing_maps = [#map, #map5, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%53, %cst_2 : tensor<1x16x32xf32>, tensor<f32>) outs(%47 : tensor<1x16x32xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.addf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x32xf32>
    %56 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%54, %55 : tensor<1x16x32xf32>, tensor<1x16x32xf32>) outs(%47 : tensor<1x16x32xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.mulf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x32xf32>
    %57 = tensor.empty() : tensor<1x32x16xf32>
    %58 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg21 : tensor<32x16xf32>) outs(%57 : tensor<1x32x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x32x16xf32>
    %59 = linalg.batch_matmul ins(%56, %58 : tensor<1x16x32xf32>, tensor<1x32x16xf32>) outs(%30 : tensor<1x16x16xf32>) -> tensor<1x16x16xf32>
    %60 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%59, %arg20 : tensor<1x16x16xf32>, tensor<16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.addf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %61 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%33, %60 : tensor<1x16x16xf32>, tensor<1x16x16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.addf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %62 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%61 : tensor<1x16x16xf32>) outs(%4 : tensor<1x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = arith.addf %in, %out : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x1xf32>
    %63 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%62 : tensor<1x16x1xf32>) outs(%3 : tensor<1x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = arith.divf %in, %cst_3 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x1xf32>
    %collapsed_11 = tensor.collapse_shape %63 [[0], [1, 2]] : tensor<1x16x1xf32> into tensor<1x16xf32>
    %64 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_11 : tensor<1x16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x16x16xf32>
    %65 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%61, %64 : tensor<1x16x16xf32>, tensor<1x16x16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.subf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %66 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%65, %65 : tensor<1x16x16xf32>, tensor<1x16x16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.mulf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %67 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%66 : tensor<1x16x16xf32>) outs(%4 : tensor<1x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = arith.addf %in, %out : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x1xf32>
    %68 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%67 : tensor<1x16x1xf32>) outs(%3 : tensor<1x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = arith.divf %in, %cst_3 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x1xf32>
    %69 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%68 : tensor<1x16x1xf32>) outs(%3 : tensor<1x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = arith.addf %in, %cst_4 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x1xf32>
    %70 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%69 : tensor<1x16x1xf32>) outs(%3 : tensor<1x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = math.rsqrt %in : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x1xf32>
    %collapsed_12 = tensor.collapse_shape %70 [[0], [1, 2]] : tensor<1x16x1xf32> into tensor<1x16xf32>
    %71 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_12 : tensor<1x16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x16x16xf32>
    %72 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%65, %71 : tensor<1x16x16xf32>, tensor<1x16x16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.mulf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %73 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%72, %arg9 : tensor<1x16x16xf32>, tensor<16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.mulf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %74 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%73, %arg8 : tensor<1x16x16xf32>, tensor<16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.addf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %transposed_13 = linalg.transpose ins(%74 : tensor<1x16x16xf32>) outs(%2 : tensor<1x16x16xf32>) permutation = [0, 2, 1] 
    %75 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg23 : tensor<16x24xf32>) outs(%18 : tensor<1x16x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x16x24xf32>
    %76 = linalg.batch_matmul ins(%transposed_13, %75 : tensor<1x16x16xf32>, tensor<1x16x24xf32>) outs(%20 : tensor<1x16x24xf32>) -> tensor<1x16x24xf32>
    %77 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%76, %arg22 : tensor<1x16x24xf32>, tensor<24xf32>) outs(%18 : tensor<1x16x24xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.addf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x24xf32>
    %78 = linalg.generic {indexing_maps = [#map, #map5, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%77, %cst_0 : tensor<1x16x24xf32>, tensor<f32>) outs(%18 : tensor<1x16x24xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.mulf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x24xf32>
    %79 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%78 : tensor<1x16x24xf32>) outs(%18 : tensor<1x16x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = math.erf %in : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x24xf32>
    %80 = linalg.generic {indexing_maps = [#map, #map5, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%77, %cst_1 : tensor<1x16x24xf32>, tensor<f32>) outs(%18 : tensor<1x16x24xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.mulf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x24xf32>
    %81 = linalg.generic {indexing_maps = [#map, #map5, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%79, %cst_2 : tensor<1x16x24xf32>, tensor<f32>) outs(%18 : tensor<1x16x24xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.addf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x24xf32>
    %82 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%80, %81 : tensor<1x16x24xf32>, tensor<1x16x24xf32>) outs(%18 : tensor<1x16x24xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.mulf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x24xf32>
    %83 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg25 : tensor<24x16xf32>) outs(%28 : tensor<1x24x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x24x16xf32>
    %84 = linalg.batch_matmul ins(%82, %83 : tensor<1x16x24xf32>, tensor<1x24x16xf32>) outs(%30 : tensor<1x16x16xf32>) -> tensor<1x16x16xf32>
    %85 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%84, %arg24 : tensor<1x16x16xf32>, tensor<16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.addf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %transposed_14 = linalg.transpose ins(%85 : tensor<1x16x16xf32>) outs(%2 : tensor<1x16x16xf32>) permutation = [0, 2, 1] 
    %86 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%61, %transposed_14 : tensor<1x16x16xf32>, tensor<1x16x16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.addf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %87 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%86 : tensor<1x16x16xf32>) outs(%4 : tensor<1x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = arith.addf %in, %out : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x1xf32>
    %88 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%87 : tensor<1x16x1xf32>) outs(%3 : tensor<1x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = arith.divf %in, %cst_3 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x1xf32>
    %collapsed_15 = tensor.collapse_shape %88 [[0], [1, 2]] : tensor<1x16x1xf32> into tensor<1x16xf32>
    %89 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_15 : tensor<1x16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x16x16xf32>
    %90 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%86, %89 : tensor<1x16x16xf32>, tensor<1x16x16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.subf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %91 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%90, %90 : tensor<1x16x16xf32>, tensor<1x16x16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.mulf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %92 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%91 : tensor<1x16x16xf32>) outs(%4 : tensor<1x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = arith.addf %in, %out : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x1xf32>
    %93 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%92 : tensor<1x16x1xf32>) outs(%3 : tensor<1x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = arith.divf %in, %cst_3 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x1xf32>
    %94 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%93 : tensor<1x16x1xf32>) outs(%3 : tensor<1x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = arith.addf %in, %cst_4 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x1xf32>
    %95 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%94 : tensor<1x16x1xf32>) outs(%3 : tensor<1x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = math.rsqrt %in : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x1xf32>
    %collapsed_16 = tensor.collapse_shape %95 [[0], [1, 2]] : tensor<1x16x1xf32> into tensor<1x16xf32>
    %96 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_16 : tensor<1x16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x16x16xf32>
    %97 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%90, %96 : tensor<1x16x16xf32>, tensor<1x16x16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.mulf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %98 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%97, %arg11 : tensor<1x16x16xf32>, tensor<16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.mulf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %99 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%98, %arg10 : tensor<1x16x16xf32>, tensor<16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.addf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %100 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg27 : tensor<16x32xf32>) outs(%47 : tensor<1x16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x16x32xf32>
    %101 = linalg.batch_matmul ins(%99, %100 : tensor<1x16x16xf32>, tensor<1x16x32xf32>) outs(%49 : tensor<1x16x32xf32>) -> tensor<1x16x32xf32>
    %102 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%101, %arg26 : tensor<1x16x32xf32>, tensor<32xf32>) outs(%47 : tensor<1x16x32xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.addf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x32xf32>
    %103 = linalg.generic {indexing_maps = [#map, #map5, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%102, %cst_0 : tensor<1x16x32xf32>, tensor<f32>) outs(%47 : tensor<1x16x32xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.mulf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x32xf32>
    %104 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%103 : tensor<1x16x32xf32>) outs(%47 : tensor<1x16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = math.erf %in : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x32xf32>
    %105 = linalg.generic {indexing_maps = [#map, #map5, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%102, %cst_1 : tensor<1x16x32xf32>, tensor<f32>) outs(%47 : tensor<1x16x32xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.mulf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x32xf32>
    %106 = linalg.generic {indexing_maps = [#map, #map5, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%104, %cst_2 : tensor<1x16x32xf32>, tensor<f32>) outs(%47 : tensor<1x16x32xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.addf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x32xf32>
    %107 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%105, %106 : tensor<1x16x32xf32>, tensor<1x16x32xf32>) outs(%47 : tensor<1x16x32xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.mulf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x32xf32>
    %108 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg29 : tensor<32x16xf32>) outs(%57 : tensor<1x32x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x32x16xf32>
    %109 = linalg.batch_matmul ins(%107, %108 : tensor<1x16x32xf32>, tensor<1x32x16xf32>) outs(%30 : tensor<1x16x16xf32>) -> tensor<1x16x16xf32>
    %110 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%109, %arg28 : tensor<1x16x16xf32>, tensor<16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.addf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %111 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%86, %110 : tensor<1x16x16xf32>, tensor<1x16x16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.addf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %112 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%111 : tensor<1x16x16xf32>) outs(%4 : tensor<1x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = arith.addf %in, %out : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x1xf32>
    %113 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%112 : tensor<1x16x1xf32>) outs(%3 : tensor<1x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = arith.divf %in, %cst_3 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x1xf32>
    %collapsed_17 = tensor.collapse_shape %113 [[0], [1, 2]] : tensor<1x16x1xf32> into tensor<1x16xf32>
    %114 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_17 : tensor<1x16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x16x16xf32>
    %115 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%111, %114 : tensor<1x16x16xf32>, tensor<1x16x16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.subf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %116 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%115, %115 : tensor<1x16x16xf32>, tensor<1x16x16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.mulf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %117 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%116 : tensor<1x16x16xf32>) outs(%4 : tensor<1x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = arith.addf %in, %out : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x1xf32>
    %118 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%117 : tensor<1x16x1xf32>) outs(%3 : tensor<1x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = arith.divf %in, %cst_3 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x1xf32>
    %119 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%118 : tensor<1x16x1xf32>) outs(%3 : tensor<1x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = arith.addf %in, %cst_4 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x1xf32>
    %120 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%119 : tensor<1x16x1xf32>) outs(%3 : tensor<1x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = math.rsqrt %in : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x1xf32>
    %collapsed_18 = tensor.collapse_shape %120 [[0], [1, 2]] : tensor<1x16x1xf32> into tensor<1x16xf32>
    %121 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_18 : tensor<1x16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x16x16xf32>
    %122 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%115, %121 : tensor<1x16x16xf32>, tensor<1x16x16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.mulf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %123 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%122, %arg13 : tensor<1x16x16xf32>, tensor<16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.mulf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %124 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%123, %arg12 : tensor<1x16x16xf32>, tensor<16xf32>) outs(%2 : tensor<1x16x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.addf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16x16xf32>
    %125 = tensor.empty() : tensor<1x16xf32>
    %126 = linalg.fill ins(%cst : f32) outs(%125 : tensor<1x16xf32>) -> tensor<1x16xf32>
    %127 = linalg.generic {indexing_maps = [#map, #map6], iterator_types = ["parallel", "reduction", "parallel"]} ins(%124 : tensor<1x16x16xf32>) outs(%126 : tensor<1x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = arith.addf %in, %out : f32
      linalg.yield %133 : f32
    } -> tensor<1x16xf32>
    %128 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel"]} ins(%127 : tensor<1x16xf32>) outs(%125 : tensor<1x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %133 = arith.divf %in, %cst_3 : f32
      linalg.yield %133 : f32
    } -> tensor<1x16xf32>
    %129 = tensor.empty() : tensor<1x10xf32>
    %130 = linalg.fill ins(%cst : f32) outs(%129 : tensor<1x10xf32>) -> tensor<1x10xf32>
    %131 = linalg.matmul ins(%128, %arg3 : tensor<1x16xf32>, tensor<16x10xf32>) outs(%130 : tensor<1x10xf32>) -> tensor<1x10xf32>
    %132 = linalg.generic {indexing_maps = [#map7, #map8, #map7], iterator_types = ["parallel", "parallel"]} ins(%131, %arg2 : tensor<1x10xf32>, tensor<10xf32>) outs(%129 : tensor<1x10xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %133 = arith.addf %in, %in_19 : f32
      linalg.yield %133 : f32
    } -> tensor<1x10xf32>
    return %132 : tensor<1x10xf32>
  }
}

