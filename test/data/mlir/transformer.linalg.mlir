#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1, d2) -> (d2)>
#map4 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map6 = affine_map<(d0, d1, d2, d3) -> ()>
#map7 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map10 = affine_map<(d0, d1, d2) -> ()>
module {
  func.func @made(%arg0: tensor<96xf32>, %arg1: tensor<32x96xf32>, %arg2: tensor<32xf32>, %arg3: tensor<32x32xf32>, %arg4: tensor<128xf32>, %arg5: tensor<32x128xf32>, %arg6: tensor<32xf32>, %arg7: tensor<128x32xf32>, %arg8: tensor<32xf32>, %arg9: tensor<32xf32>, %arg10: tensor<32xf32>, %arg11: tensor<32xf32>, %arg12: tensor<1x12x32xf32>) -> tensor<1x12x32xf32> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<2.82842708> : tensor<f32>
    %cst_2 = arith.constant dense<"0x010000000000000000000000010100000000000000000000010101000000000000000000010101010000000000000000010101010100000000000000010101010101000000000000010101010101010000000000010101010101010100000000010101010101010101000000010101010101010101010000010101010101010101010100010101010101010101010101"> : tensor<12x12xi1>
    %cst_3 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %cst_4 = arith.constant dense<4.471500e-02> : tensor<f32>
    %cst_5 = arith.constant dense<0.797884583> : tensor<f32>
    %cst_6 = arith.constant dense<5.000000e-01> : tensor<f32>
    %cst_7 = arith.constant dense<1.000000e+00> : tensor<f32>
    %cst_8 = arith.constant 3.200000e+01 : f32
    %cst_9 = arith.constant 9.99999997E-7 : f32
    %0 = tensor.empty() : tensor<1x12x1xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<1x12x1xf32>) -> tensor<1x12x1xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg12 : tensor<1x12x32xf32>) outs(%1 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %84 = arith.addf %in, %out : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x1xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%2 : tensor<1x12x1xf32>) outs(%0 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %84 = arith.divf %in, %cst_8 : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x1xf32>
    %4 = tensor.empty() : tensor<1x12x32xf32>
    %collapsed = tensor.collapse_shape %3 [[0], [1, 2]] : tensor<1x12x1xf32> into tensor<1x12xf32>
    %5 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed : tensor<1x12xf32>) outs(%4 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x12x32xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg12, %5 : tensor<1x12x32xf32>, tensor<1x12x32xf32>) outs(%4 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %84 = arith.subf %in, %in_28 : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x32xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6, %6 : tensor<1x12x32xf32>, tensor<1x12x32xf32>) outs(%4 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %84 = arith.mulf %in, %in_28 : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x32xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%7 : tensor<1x12x32xf32>) outs(%1 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %84 = arith.addf %in, %out : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x1xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8 : tensor<1x12x1xf32>) outs(%0 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %84 = arith.divf %in, %cst_8 : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x1xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9 : tensor<1x12x1xf32>) outs(%0 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %84 = arith.addf %in, %cst_9 : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x1xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%10 : tensor<1x12x1xf32>) outs(%0 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %84 = math.rsqrt %in : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x1xf32>
    %collapsed_10 = tensor.collapse_shape %11 [[0], [1, 2]] : tensor<1x12x1xf32> into tensor<1x12xf32>
    %12 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_10 : tensor<1x12xf32>) outs(%4 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x12x32xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6, %12 : tensor<1x12x32xf32>, tensor<1x12x32xf32>) outs(%4 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %84 = arith.mulf %in, %in_28 : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x32xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13, %arg9 : tensor<1x12x32xf32>, tensor<32xf32>) outs(%4 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %84 = arith.mulf %in, %in_28 : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x32xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14, %arg8 : tensor<1x12x32xf32>, tensor<32xf32>) outs(%4 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %84 = arith.addf %in, %in_28 : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x32xf32>
    %16 = tensor.empty() : tensor<1x32x96xf32>
    %17 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1 : tensor<32x96xf32>) outs(%16 : tensor<1x32x96xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x32x96xf32>
    %18 = tensor.empty() : tensor<1x12x96xf32>
    %19 = linalg.fill ins(%cst : f32) outs(%18 : tensor<1x12x96xf32>) -> tensor<1x12x96xf32>
    %20 = linalg.batch_matmul ins(%15, %17 : tensor<1x12x32xf32>, tensor<1x32x96xf32>) outs(%19 : tensor<1x12x96xf32>) -> tensor<1x12x96xf32>
    %21 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%20, %arg0 : tensor<1x12x96xf32>, tensor<96xf32>) outs(%18 : tensor<1x12x96xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %84 = arith.addf %in, %in_28 : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x96xf32>
    %extracted_slice = tensor.extract_slice %21[0, 0, 0] [1, 12, 32] [1, 1, 1] : tensor<1x12x96xf32> to tensor<1x12x32xf32>
    %expanded = tensor.expand_shape %extracted_slice [[0], [1], [2, 3]] output_shape [1, 12, 4, 8] : tensor<1x12x32xf32> into tensor<1x12x4x8xf32>
    %22 = tensor.empty() : tensor<1x4x12x8xf32>
    %transposed = linalg.transpose ins(%expanded : tensor<1x12x4x8xf32>) outs(%22 : tensor<1x4x12x8xf32>) permutation = [0, 2, 1, 3] 
    %extracted_slice_11 = tensor.extract_slice %21[0, 0, 32] [1, 12, 32] [1, 1, 1] : tensor<1x12x96xf32> to tensor<1x12x32xf32>
    %expanded_12 = tensor.expand_shape %extracted_slice_11 [[0], [1], [2, 3]] output_shape [1, 12, 4, 8] : tensor<1x12x32xf32> into tensor<1x12x4x8xf32>
    %23 = tensor.empty() : tensor<1x4x8x12xf32>
    %transposed_13 = linalg.transpose ins(%expanded_12 : tensor<1x12x4x8xf32>) outs(%23 : tensor<1x4x8x12xf32>) permutation = [0, 2, 3, 1] 
    %extracted_slice_14 = tensor.extract_slice %21[0, 0, 64] [1, 12, 32] [1, 1, 1] : tensor<1x12x96xf32> to tensor<1x12x32xf32>
    %expanded_15 = tensor.expand_shape %extracted_slice_14 [[0], [1], [2, 3]] output_shape [1, 12, 4, 8] : tensor<1x12x32xf32> into tensor<1x12x4x8xf32>
    %transposed_16 = linalg.transpose ins(%expanded_15 : tensor<1x12x4x8xf32>) outs(%22 : tensor<1x4x12x8xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_17 = tensor.collapse_shape %transposed [[0, 1], [2], [3]] : tensor<1x4x12x8xf32> into tensor<4x12x8xf32>
    %collapsed_18 = tensor.collapse_shape %transposed_13 [[0, 1], [2], [3]] : tensor<1x4x8x12xf32> into tensor<4x8x12xf32>
    %24 = tensor.empty() : tensor<4x12x12xf32>
    %25 = linalg.fill ins(%cst : f32) outs(%24 : tensor<4x12x12xf32>) -> tensor<4x12x12xf32>
    %26 = linalg.batch_matmul ins(%collapsed_17, %collapsed_18 : tensor<4x12x8xf32>, tensor<4x8x12xf32>) outs(%25 : tensor<4x12x12xf32>) -> tensor<4x12x12xf32>
    %expanded_19 = tensor.expand_shape %26 [[0, 1], [2], [3]] output_shape [1, 4, 12, 12] : tensor<4x12x12xf32> into tensor<1x4x12x12xf32>
    %27 = tensor.empty() : tensor<1x4x12x12xf32>
    %28 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_19, %cst_1 : tensor<1x4x12x12xf32>, tensor<f32>) outs(%27 : tensor<1x4x12x12xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %84 = arith.divf %in, %in_28 : f32
      linalg.yield %84 : f32
    } -> tensor<1x4x12x12xf32>
    %29 = linalg.generic {indexing_maps = [#map7, #map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_2, %28, %cst_3 : tensor<12x12xi1>, tensor<1x4x12x12xf32>, tensor<f32>) outs(%27 : tensor<1x4x12x12xf32>) {
    ^bb0(%in: i1, %in_28: f32, %in_29: f32, %out: f32):
      %84 = arith.select %in, %in_28, %in_29 : f32
      linalg.yield %84 : f32
    } -> tensor<1x4x12x12xf32>
    %30 = tensor.empty() : tensor<1x4x12xi64>
    %31 = linalg.fill ins(%c0_i64 : i64) outs(%30 : tensor<1x4x12xi64>) -> tensor<1x4x12xi64>
    %32 = tensor.empty() : tensor<1x4x12xf32>
    %33 = linalg.fill ins(%cst_0 : f32) outs(%32 : tensor<1x4x12xf32>) -> tensor<1x4x12xf32>
    %34:2 = linalg.generic {indexing_maps = [#map5, #map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%29 : tensor<1x4x12x12xf32>) outs(%33, %31 : tensor<1x4x12xf32>, tensor<1x4x12xi64>) {
    ^bb0(%in: f32, %out: f32, %out_28: i64):
      %84 = linalg.index 3 : index
      %85 = arith.index_cast %84 : index to i64
      %86 = arith.maximumf %in, %out : f32
      %87 = arith.cmpf ogt, %in, %out : f32
      %88 = arith.select %87, %85, %out_28 : i64
      linalg.yield %86, %88 : f32, i64
    } -> (tensor<1x4x12xf32>, tensor<1x4x12xi64>)
    %expanded_20 = tensor.expand_shape %34#0 [[0], [1], [2, 3]] output_shape [1, 4, 12, 1] : tensor<1x4x12xf32> into tensor<1x4x12x1xf32>
    %35 = linalg.generic {indexing_maps = [#map5, #map9, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%29, %expanded_20 : tensor<1x4x12x12xf32>, tensor<1x4x12x1xf32>) outs(%27 : tensor<1x4x12x12xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %84 = arith.subf %in, %in_28 : f32
      linalg.yield %84 : f32
    } -> tensor<1x4x12x12xf32>
    %36 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%35 : tensor<1x4x12x12xf32>) outs(%27 : tensor<1x4x12x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %84 = math.exp %in : f32
      linalg.yield %84 : f32
    } -> tensor<1x4x12x12xf32>
    %37 = tensor.empty() : tensor<1x4x12x1xf32>
    %38 = linalg.fill ins(%cst : f32) outs(%37 : tensor<1x4x12x1xf32>) -> tensor<1x4x12x1xf32>
    %39 = linalg.generic {indexing_maps = [#map5, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%36 : tensor<1x4x12x12xf32>) outs(%38 : tensor<1x4x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %84 = arith.addf %in, %out : f32
      linalg.yield %84 : f32
    } -> tensor<1x4x12x1xf32>
    %40 = linalg.generic {indexing_maps = [#map5, #map9, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%36, %39 : tensor<1x4x12x12xf32>, tensor<1x4x12x1xf32>) outs(%27 : tensor<1x4x12x12xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %84 = arith.divf %in, %in_28 : f32
      linalg.yield %84 : f32
    } -> tensor<1x4x12x12xf32>
    %collapsed_21 = tensor.collapse_shape %40 [[0, 1], [2], [3]] : tensor<1x4x12x12xf32> into tensor<4x12x12xf32>
    %collapsed_22 = tensor.collapse_shape %transposed_16 [[0, 1], [2], [3]] : tensor<1x4x12x8xf32> into tensor<4x12x8xf32>
    %41 = tensor.empty() : tensor<4x12x8xf32>
    %42 = linalg.fill ins(%cst : f32) outs(%41 : tensor<4x12x8xf32>) -> tensor<4x12x8xf32>
    %43 = linalg.batch_matmul ins(%collapsed_21, %collapsed_22 : tensor<4x12x12xf32>, tensor<4x12x8xf32>) outs(%42 : tensor<4x12x8xf32>) -> tensor<4x12x8xf32>
    %expanded_23 = tensor.expand_shape %43 [[0, 1], [2], [3]] output_shape [1, 4, 12, 8] : tensor<4x12x8xf32> into tensor<1x4x12x8xf32>
    %44 = tensor.empty() : tensor<1x12x4x8xf32>
    %transposed_24 = linalg.transpose ins(%expanded_23 : tensor<1x4x12x8xf32>) outs(%44 : tensor<1x12x4x8xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_25 = tensor.collapse_shape %transposed_24 [[0], [1], [2, 3]] : tensor<1x12x4x8xf32> into tensor<1x12x32xf32>
    %45 = tensor.empty() : tensor<1x32x32xf32>
    %46 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg3 : tensor<32x32xf32>) outs(%45 : tensor<1x32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x32x32xf32>
    %47 = linalg.fill ins(%cst : f32) outs(%4 : tensor<1x12x32xf32>) -> tensor<1x12x32xf32>
    %48 = linalg.batch_matmul ins(%collapsed_25, %46 : tensor<1x12x32xf32>, tensor<1x32x32xf32>) outs(%47 : tensor<1x12x32xf32>) -> tensor<1x12x32xf32>
    %49 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%48, %arg2 : tensor<1x12x32xf32>, tensor<32xf32>) outs(%4 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %84 = arith.addf %in, %in_28 : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x32xf32>
    %50 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg12, %49 : tensor<1x12x32xf32>, tensor<1x12x32xf32>) outs(%4 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %84 = arith.addf %in, %in_28 : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x32xf32>
    %51 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%50 : tensor<1x12x32xf32>) outs(%1 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %84 = arith.addf %in, %out : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x1xf32>
    %52 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%51 : tensor<1x12x1xf32>) outs(%0 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %84 = arith.divf %in, %cst_8 : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x1xf32>
    %collapsed_26 = tensor.collapse_shape %52 [[0], [1, 2]] : tensor<1x12x1xf32> into tensor<1x12xf32>
    %53 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_26 : tensor<1x12xf32>) outs(%4 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x12x32xf32>
    %54 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%50, %53 : tensor<1x12x32xf32>, tensor<1x12x32xf32>) outs(%4 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %84 = arith.subf %in, %in_28 : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x32xf32>
    %55 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%54, %54 : tensor<1x12x32xf32>, tensor<1x12x32xf32>) outs(%4 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %84 = arith.mulf %in, %in_28 : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x32xf32>
    %56 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%55 : tensor<1x12x32xf32>) outs(%1 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %84 = arith.addf %in, %out : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x1xf32>
    %57 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%56 : tensor<1x12x1xf32>) outs(%0 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %84 = arith.divf %in, %cst_8 : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x1xf32>
    %58 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%57 : tensor<1x12x1xf32>) outs(%0 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %84 = arith.addf %in, %cst_9 : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x1xf32>
    %59 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%58 : tensor<1x12x1xf32>) outs(%0 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %84 = math.rsqrt %in : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x1xf32>
    %collapsed_27 = tensor.collapse_shape %59 [[0], [1, 2]] : tensor<1x12x1xf32> into tensor<1x12xf32>
    %60 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_27 : tensor<1x12xf32>) outs(%4 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x12x32xf32>
    %61 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%54, %60 : tensor<1x12x32xf32>, tensor<1x12x32xf32>) outs(%4 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %84 = arith.mulf %in, %in_28 : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x32xf32>
    %62 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%61, %arg11 : tensor<1x12x32xf32>, tensor<32xf32>) outs(%4 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %84 = arith.mulf %in, %in_28 : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x32xf32>
    %63 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%62, %arg10 : tensor<1x12x32xf32>, tensor<32xf32>) outs(%4 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %84 = arith.addf %in, %in_28 : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x32xf32>
    %64 = tensor.empty() : tensor<1x32x128xf32>
    %65 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg5 : tensor<32x128xf32>) outs(%64 : tensor<1x32x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x32x128xf32>
    %66 = tensor.empty() : tensor<1x12x128xf32>
    %67 = linalg.fill ins(%cst : f32) outs(%66 : tensor<1x12x128xf32>) -> tensor<1x12x128xf32>
    %68 = linalg.batch_matmul ins(%63, %65 : tensor<1x12x32xf32>, tensor<1x32x128xf32>) outs(%67 : tensor<1x12x128xf32>) -> tensor<1x12x128xf32>
    %69 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%68, %arg4 : tensor<1x12x128xf32>, tensor<128xf32>) outs(%66 : tensor<1x12x128xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %84 = arith.addf %in, %in_28 : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x128xf32>
    %70 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%69, %69 : tensor<1x12x128xf32>, tensor<1x12x128xf32>) outs(%66 : tensor<1x12x128xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %84 = arith.mulf %in, %in_28 : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x128xf32>
    %71 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%69, %70 : tensor<1x12x128xf32>, tensor<1x12x128xf32>) outs(%66 : tensor<1x12x128xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %84 = arith.mulf %in, %in_28 : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x128xf32>
    %72 = linalg.generic {indexing_maps = [#map10, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_4, %71 : tensor<f32>, tensor<1x12x128xf32>) outs(%66 : tensor<1x12x128xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %84 = arith.mulf %in, %in_28 : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x128xf32>
    %73 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%69, %72 : tensor<1x12x128xf32>, tensor<1x12x128xf32>) outs(%66 : tensor<1x12x128xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %84 = arith.addf %in, %in_28 : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x128xf32>
    %74 = linalg.generic {indexing_maps = [#map10, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_5, %73 : tensor<f32>, tensor<1x12x128xf32>) outs(%66 : tensor<1x12x128xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %84 = arith.mulf %in, %in_28 : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x128xf32>
    %75 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%74 : tensor<1x12x128xf32>) outs(%66 : tensor<1x12x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %84 = math.tanh %in : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x128xf32>
    %76 = linalg.generic {indexing_maps = [#map10, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_7, %75 : tensor<f32>, tensor<1x12x128xf32>) outs(%66 : tensor<1x12x128xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %84 = arith.addf %in, %in_28 : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x128xf32>
    %77 = linalg.generic {indexing_maps = [#map10, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_6, %76 : tensor<f32>, tensor<1x12x128xf32>) outs(%66 : tensor<1x12x128xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %84 = arith.mulf %in, %in_28 : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x128xf32>
    %78 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%69, %77 : tensor<1x12x128xf32>, tensor<1x12x128xf32>) outs(%66 : tensor<1x12x128xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %84 = arith.mulf %in, %in_28 : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x128xf32>
    %79 = tensor.empty() : tensor<1x128x32xf32>
    %80 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg7 : tensor<128x32xf32>) outs(%79 : tensor<1x128x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x128x32xf32>
    %81 = linalg.batch_matmul ins(%78, %80 : tensor<1x12x128xf32>, tensor<1x128x32xf32>) outs(%47 : tensor<1x12x32xf32>) -> tensor<1x12x32xf32>
    %82 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%81, %arg6 : tensor<1x12x32xf32>, tensor<32xf32>) outs(%4 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %84 = arith.addf %in, %in_28 : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x32xf32>
    %83 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%50, %82 : tensor<1x12x32xf32>, tensor<1x12x32xf32>) outs(%4 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %84 = arith.addf %in, %in_28 : f32
      linalg.yield %84 : f32
    } -> tensor<1x12x32xf32>
    return %83 : tensor<1x12x32xf32>
  }
}

