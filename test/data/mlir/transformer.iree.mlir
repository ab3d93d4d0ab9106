module {
  util.func public @made$async(%arg0: !hal.buffer_view, %arg1: !hal.buffer_view, %arg2: !hal.buffer_view, %arg3: !hal.buffer_view, %arg4: !hal.buffer_view, %arg5: !hal.buffer_view, %arg6: !hal.buffer_view, %arg7: !hal.buffer_view, %arg8: !hal.buffer_view, %arg9: !hal.buffer_view, %arg10: !hal.buffer_view, %arg11: !hal.buffer_view, %arg12: !hal.buffer_view, %arg13: !hal.fence, %arg14: !hal.fence) -> !hal.buffer_view attributes {inlining_policy = #util.inline.never, iree.abi.model = "coarse-fences", iree.abi.stub} {
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
    %0 = hal.tensor.import wait(%arg13) => %arg0 : !hal.buffer_view -> tensor<96xf32>
    %1 = hal.tensor.import wait(%arg13) => %arg1 : !hal.buffer_view -> tensor<32x96xf32>
    %2 = hal.tensor.import wait(%arg13) => %arg2 : !hal.buffer_view -> tensor<32xf32>
    %3 = hal.tensor.import wait(%arg13) => %arg3 : !hal.buffer_view -> tensor<32x32xf32>
    %4 = hal.tensor.import wait(%arg13) => %arg4 : !hal.buffer_view -> tensor<128xf32>
    %5 = hal.tensor.import wait(%arg13) => %arg5 : !hal.buffer_view -> tensor<32x128xf32>
    %6 = hal.tensor.import wait(%arg13) => %arg6 : !hal.buffer_view -> tensor<32xf32>
    %7 = hal.tensor.import wait(%arg13) => %arg7 : !hal.buffer_view -> tensor<128x32xf32>
    %8 = hal.tensor.import wait(%arg13) => %arg8 : !hal.buffer_view -> tensor<32xf32>
    %9 = hal.tensor.import wait(%arg13) => %arg9 : !hal.buffer_view -> tensor<32xf32>
    %10 = hal.tensor.import wait(%arg13) => %arg10 : !hal.buffer_view -> tensor<32xf32>
    %11 = hal.tensor.import wait(%arg13) => %arg11 : !hal.buffer_view -> tensor<32xf32>
    %12 = hal.tensor.import wait(%arg13) => %arg12 : !hal.buffer_view -> tensor<1x12x32xf32>
    %13 = tensor.empty() : tensor<1x12x1xf32>
    %14 = linalg.fill ins(%cst : f32) outs(%13 : tensor<1x12x1xf32>) -> tensor<1x12x1xf32>
    %15 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%12 : tensor<1x12x32xf32>) outs(%14 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %99 = arith.addf %in, %out : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x1xf32>
    %16 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15 : tensor<1x12x1xf32>) outs(%13 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %99 = arith.divf %in, %cst_8 : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x1xf32>
    %17 = tensor.empty() : tensor<1x12x32xf32>
    %collapsed = tensor.collapse_shape %16 [[0], [1, 2]] : tensor<1x12x1xf32> into tensor<1x12xf32>
    %18 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed : tensor<1x12xf32>) outs(%17 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x12x32xf32>
    %19 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12, %18 : tensor<1x12x32xf32>, tensor<1x12x32xf32>) outs(%17 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %99 = arith.subf %in, %in_28 : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x32xf32>
    %20 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19, %19 : tensor<1x12x32xf32>, tensor<1x12x32xf32>) outs(%17 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %99 = arith.mulf %in, %in_28 : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x32xf32>
    %21 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%20 : tensor<1x12x32xf32>) outs(%14 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %99 = arith.addf %in, %out : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x1xf32>
    %22 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21 : tensor<1x12x1xf32>) outs(%13 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %99 = arith.divf %in, %cst_8 : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x1xf32>
    %23 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%22 : tensor<1x12x1xf32>) outs(%13 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %99 = arith.addf %in, %cst_9 : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x1xf32>
    %24 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%23 : tensor<1x12x1xf32>) outs(%13 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %99 = math.rsqrt %in : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x1xf32>
    %collapsed_10 = tensor.collapse_shape %24 [[0], [1, 2]] : tensor<1x12x1xf32> into tensor<1x12xf32>
    %25 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_10 : tensor<1x12xf32>) outs(%17 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x12x32xf32>
    %26 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19, %25 : tensor<1x12x32xf32>, tensor<1x12x32xf32>) outs(%17 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %99 = arith.mulf %in, %in_28 : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x32xf32>
    %27 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%26, %9 : tensor<1x12x32xf32>, tensor<32xf32>) outs(%17 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %99 = arith.mulf %in, %in_28 : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x32xf32>
    %28 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%27, %8 : tensor<1x12x32xf32>, tensor<32xf32>) outs(%17 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %99 = arith.addf %in, %in_28 : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x32xf32>
    %29 = tensor.empty() : tensor<1x32x96xf32>
    %30 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1 : tensor<32x96xf32>) outs(%29 : tensor<1x32x96xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x32x96xf32>
    %31 = tensor.empty() : tensor<1x12x96xf32>
    %32 = linalg.fill ins(%cst : f32) outs(%31 : tensor<1x12x96xf32>) -> tensor<1x12x96xf32>
    %33 = linalg.batch_matmul ins(%28, %30 : tensor<1x12x32xf32>, tensor<1x32x96xf32>) outs(%32 : tensor<1x12x96xf32>) -> tensor<1x12x96xf32>
    %34 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%33, %0 : tensor<1x12x96xf32>, tensor<96xf32>) outs(%31 : tensor<1x12x96xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %99 = arith.addf %in, %in_28 : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x96xf32>
    %extracted_slice = tensor.extract_slice %34[0, 0, 0] [1, 12, 32] [1, 1, 1] : tensor<1x12x96xf32> to tensor<1x12x32xf32>
    %expanded = tensor.expand_shape %extracted_slice [[0], [1], [2, 3]] output_shape [1, 12, 4, 8] : tensor<1x12x32xf32> into tensor<1x12x4x8xf32>
    %35 = tensor.empty() : tensor<1x4x12x8xf32>
    %transposed = linalg.transpose ins(%expanded : tensor<1x12x4x8xf32>) outs(%35 : tensor<1x4x12x8xf32>) permutation = [0, 2, 1, 3] 
    %extracted_slice_11 = tensor.extract_slice %34[0, 0, 32] [1, 12, 32] [1, 1, 1] : tensor<1x12x96xf32> to tensor<1x12x32xf32>
    %expanded_12 = tensor.expand_shape %extracted_slice_11 [[0], [1], [2, 3]] output_shape [1, 12, 4, 8] : tensor<1x12x32xf32> into tensor<1x12x4x8xf32>
    %36 = tensor.empty() : tensor<1x4x8x12xf32>
    %transposed_13 = linalg.transpose ins(%expanded_12 : tensor<1x12x4x8xf32>) outs(%36 : tensor<1x4x8x12xf32>) permutation = [0, 2, 3, 1] 
    %extracted_slice_14 = tensor.extract_slice %34[0, 0, 64] [1, 12, 32] [1, 1, 1] : tensor<1x12x96xf32> to tensor<1x12x32xf32>
    %expanded_15 = tensor.expand_shape %extracted_slice_14 [[0], [1], [2, 3]] output_shape [1, 12, 4, 8] : tensor<1x12x32xf32> into tensor<1x12x4x8xf32>
    %transposed_16 = linalg.transpose ins(%expanded_15 : tensor<1x12x4x8xf32>) outs(%35 : tensor<1x4x12x8xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_17 = tensor.collapse_shape %transposed [[0, 1], [2], [3]] : tensor<1x4x12x8xf32> into tensor<4x12x8xf32>
    %collapsed_18 = tensor.collapse_shape %transposed_13 [[0, 1], [2], [3]] : tensor<1x4x8x12xf32> into tensor<4x8x12xf32>
    %37 = tensor.empty() : tensor<4x12x12xf32>
    %38 = linalg.fill ins(%cst : f32) outs(%37 : tensor<4x12x12xf32>) -> tensor<4x12x12xf32>
    %39 = linalg.batch_matmul ins(%collapsed_17, %collapsed_18 : tensor<4x12x8xf32>, tensor<4x8x12xf32>) outs(%38 : tensor<4x12x12xf32>) -> tensor<4x12x12xf32>
    %expanded_19 = tensor.expand_shape %39 [[0, 1], [2], [3]] output_shape [1, 4, 12, 12] : tensor<4x12x12xf32> into tensor<1x4x12x12xf32>
    %40 = tensor.empty() : tensor<1x4x12x12xf32>
    %41 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> ()>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_19, %cst_1 : tensor<1x4x12x12xf32>, tensor<f32>) outs(%40 : tensor<1x4x12x12xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %99 = arith.divf %in, %in_28 : f32
      linalg.yield %99 : f32
    } -> tensor<1x4x12x12xf32>
    %42 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> ()>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_2, %41, %cst_3 : tensor<12x12xi1>, tensor<1x4x12x12xf32>, tensor<f32>) outs(%40 : tensor<1x4x12x12xf32>) {
    ^bb0(%in: i1, %in_28: f32, %in_29: f32, %out: f32):
      %99 = arith.select %in, %in_28, %in_29 : f32
      linalg.yield %99 : f32
    } -> tensor<1x4x12x12xf32>
    %43 = tensor.empty() : tensor<1x4x12xi64>
    %44 = linalg.fill ins(%c0_i64 : i64) outs(%43 : tensor<1x4x12xi64>) -> tensor<1x4x12xi64>
    %45 = tensor.empty() : tensor<1x4x12xf32>
    %46 = linalg.fill ins(%cst_0 : f32) outs(%45 : tensor<1x4x12xf32>) -> tensor<1x4x12xf32>
    %47:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%42 : tensor<1x4x12x12xf32>) outs(%46, %44 : tensor<1x4x12xf32>, tensor<1x4x12xi64>) {
    ^bb0(%in: f32, %out: f32, %out_28: i64):
      %99 = linalg.index 3 : index
      %100 = arith.index_cast %99 : index to i64
      %101 = arith.maximumf %in, %out : f32
      %102 = arith.cmpf ogt, %in, %out : f32
      %103 = arith.select %102, %100, %out_28 : i64
      linalg.yield %101, %103 : f32, i64
    } -> (tensor<1x4x12xf32>, tensor<1x4x12xi64>)
    %expanded_20 = tensor.expand_shape %47#0 [[0], [1], [2, 3]] output_shape [1, 4, 12, 1] : tensor<1x4x12xf32> into tensor<1x4x12x1xf32>
    %48 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%42, %expanded_20 : tensor<1x4x12x12xf32>, tensor<1x4x12x1xf32>) outs(%40 : tensor<1x4x12x12xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %99 = arith.subf %in, %in_28 : f32
      linalg.yield %99 : f32
    } -> tensor<1x4x12x12xf32>
    %49 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%48 : tensor<1x4x12x12xf32>) outs(%40 : tensor<1x4x12x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %99 = math.exp %in : f32
      linalg.yield %99 : f32
    } -> tensor<1x4x12x12xf32>
    %50 = tensor.empty() : tensor<1x4x12x1xf32>
    %51 = linalg.fill ins(%cst : f32) outs(%50 : tensor<1x4x12x1xf32>) -> tensor<1x4x12x1xf32>
    %52 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%49 : tensor<1x4x12x12xf32>) outs(%51 : tensor<1x4x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %99 = arith.addf %in, %out : f32
      linalg.yield %99 : f32
    } -> tensor<1x4x12x1xf32>
    %53 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%49, %52 : tensor<1x4x12x12xf32>, tensor<1x4x12x1xf32>) outs(%40 : tensor<1x4x12x12xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %99 = arith.divf %in, %in_28 : f32
      linalg.yield %99 : f32
    } -> tensor<1x4x12x12xf32>
    %collapsed_21 = tensor.collapse_shape %53 [[0, 1], [2], [3]] : tensor<1x4x12x12xf32> into tensor<4x12x12xf32>
    %collapsed_22 = tensor.collapse_shape %transposed_16 [[0, 1], [2], [3]] : tensor<1x4x12x8xf32> into tensor<4x12x8xf32>
    %54 = tensor.empty() : tensor<4x12x8xf32>
    %55 = linalg.fill ins(%cst : f32) outs(%54 : tensor<4x12x8xf32>) -> tensor<4x12x8xf32>
    %56 = linalg.batch_matmul ins(%collapsed_21, %collapsed_22 : tensor<4x12x12xf32>, tensor<4x12x8xf32>) outs(%55 : tensor<4x12x8xf32>) -> tensor<4x12x8xf32>
    %expanded_23 = tensor.expand_shape %56 [[0, 1], [2], [3]] output_shape [1, 4, 12, 8] : tensor<4x12x8xf32> into tensor<1x4x12x8xf32>
    %57 = tensor.empty() : tensor<1x12x4x8xf32>
    %transposed_24 = linalg.transpose ins(%expanded_23 : tensor<1x4x12x8xf32>) outs(%57 : tensor<1x12x4x8xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_25 = tensor.collapse_shape %transposed_24 [[0], [1], [2, 3]] : tensor<1x12x4x8xf32> into tensor<1x12x32xf32>
    %58 = tensor.empty() : tensor<1x32x32xf32>
    %59 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3 : tensor<32x32xf32>) outs(%58 : tensor<1x32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x32x32xf32>
    %60 = linalg.fill ins(%cst : f32) outs(%17 : tensor<1x12x32xf32>) -> tensor<1x12x32xf32>
    %61 = linalg.batch_matmul ins(%collapsed_25, %59 : tensor<1x12x32xf32>, tensor<1x32x32xf32>) outs(%60 : tensor<1x12x32xf32>) -> tensor<1x12x32xf32>
    %62 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%61, %2 : tensor<1x12x32xf32>, tensor<32xf32>) outs(%17 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %99 = arith.addf %in, %in_28 : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x32xf32>
    %63 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12, %62 : tensor<1x12x32xf32>, tensor<1x12x32xf32>) outs(%17 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %99 = arith.addf %in, %in_28 : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x32xf32>
    %64 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%63 : tensor<1x12x32xf32>) outs(%14 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %99 = arith.addf %in, %out : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x1xf32>
    %65 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%64 : tensor<1x12x1xf32>) outs(%13 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %99 = arith.divf %in, %cst_8 : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x1xf32>
    %collapsed_26 = tensor.collapse_shape %65 [[0], [1, 2]] : tensor<1x12x1xf32> into tensor<1x12xf32>
    %66 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_26 : tensor<1x12xf32>) outs(%17 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x12x32xf32>
    %67 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%63, %66 : tensor<1x12x32xf32>, tensor<1x12x32xf32>) outs(%17 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %99 = arith.subf %in, %in_28 : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x32xf32>
    %68 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%67, %67 : tensor<1x12x32xf32>, tensor<1x12x32xf32>) outs(%17 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %99 = arith.mulf %in, %in_28 : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x32xf32>
    %69 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%68 : tensor<1x12x32xf32>) outs(%14 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %99 = arith.addf %in, %out : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x1xf32>
    %70 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%69 : tensor<1x12x1xf32>) outs(%13 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %99 = arith.divf %in, %cst_8 : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x1xf32>
    %71 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%70 : tensor<1x12x1xf32>) outs(%13 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %99 = arith.addf %in, %cst_9 : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x1xf32>
    %72 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%71 : tensor<1x12x1xf32>) outs(%13 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %99 = math.rsqrt %in : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x1xf32>
    %collapsed_27 = tensor.collapse_shape %72 [[0], [1, 2]] : tensor<1x12x1xf32> into tensor<1x12xf32>
    %73 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_27 : tensor<1x12xf32>) outs(%17 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x12x32xf32>
    %74 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%67, %73 : tensor<1x12x32xf32>, tensor<1x12x32xf32>) outs(%17 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %99 = arith.mulf %in, %in_28 : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x32xf32>
    %75 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%74, %11 : tensor<1x12x32xf32>, tensor<32xf32>) outs(%17 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %99 = arith.mulf %in, %in_28 : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x32xf32>
    %76 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%75, %10 : tensor<1x12x32xf32>, tensor<32xf32>) outs(%17 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %99 = arith.addf %in, %in_28 : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x32xf32>
    %77 = tensor.empty() : tensor<1x32x128xf32>
    %78 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5 : tensor<32x128xf32>) outs(%77 : tensor<1x32x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x32x128xf32>
    %79 = tensor.empty() : tensor<1x12x128xf32>
    %80 = linalg.fill ins(%cst : f32) outs(%79 : tensor<1x12x128xf32>) -> tensor<1x12x128xf32>
    %81 = linalg.batch_matmul ins(%76, %78 : tensor<1x12x32xf32>, tensor<1x32x128xf32>) outs(%80 : tensor<1x12x128xf32>) -> tensor<1x12x128xf32>
    %82 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%81, %4 : tensor<1x12x128xf32>, tensor<128xf32>) outs(%79 : tensor<1x12x128xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %99 = arith.addf %in, %in_28 : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x128xf32>
    %83 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%82, %82 : tensor<1x12x128xf32>, tensor<1x12x128xf32>) outs(%79 : tensor<1x12x128xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %99 = arith.mulf %in, %in_28 : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x128xf32>
    %84 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%82, %83 : tensor<1x12x128xf32>, tensor<1x12x128xf32>) outs(%79 : tensor<1x12x128xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %99 = arith.mulf %in, %in_28 : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x128xf32>
    %85 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> ()>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_4, %84 : tensor<f32>, tensor<1x12x128xf32>) outs(%79 : tensor<1x12x128xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %99 = arith.mulf %in, %in_28 : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x128xf32>
    %86 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%82, %85 : tensor<1x12x128xf32>, tensor<1x12x128xf32>) outs(%79 : tensor<1x12x128xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %99 = arith.addf %in, %in_28 : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x128xf32>
    %87 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> ()>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_5, %86 : tensor<f32>, tensor<1x12x128xf32>) outs(%79 : tensor<1x12x128xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %99 = arith.mulf %in, %in_28 : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x128xf32>
    %88 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%87 : tensor<1x12x128xf32>) outs(%79 : tensor<1x12x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %99 = math.tanh %in : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x128xf32>
    %89 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> ()>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_7, %88 : tensor<f32>, tensor<1x12x128xf32>) outs(%79 : tensor<1x12x128xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %99 = arith.addf %in, %in_28 : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x128xf32>
    %90 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> ()>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_6, %89 : tensor<f32>, tensor<1x12x128xf32>) outs(%79 : tensor<1x12x128xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %99 = arith.mulf %in, %in_28 : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x128xf32>
    %91 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%82, %90 : tensor<1x12x128xf32>, tensor<1x12x128xf32>) outs(%79 : tensor<1x12x128xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %99 = arith.mulf %in, %in_28 : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x128xf32>
    %92 = tensor.empty() : tensor<1x128x32xf32>
    %93 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7 : tensor<128x32xf32>) outs(%92 : tensor<1x128x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x128x32xf32>
    %94 = linalg.batch_matmul ins(%91, %93 : tensor<1x12x128xf32>, tensor<1x128x32xf32>) outs(%60 : tensor<1x12x32xf32>) -> tensor<1x12x32xf32>
    %95 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%94, %6 : tensor<1x12x32xf32>, tensor<32xf32>) outs(%17 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %99 = arith.addf %in, %in_28 : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x32xf32>
    %96 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%63, %95 : tensor<1x12x32xf32>, tensor<1x12x32xf32>) outs(%17 : tensor<1x12x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %99 = arith.addf %in, %in_28 : f32
      linalg.yield %99 : f32
    } -> tensor<1x12x32xf32>
    %97 = hal.tensor.barrier join(%96 : tensor<1x12x32xf32>) => %arg14 : !hal.fence
    %98 = hal.tensor.export %97 : tensor<1x12x32xf32> -> !hal.buffer_view
    util.return %98 : !hal.buffer_view
  }
  util.func public @made(%arg0: !hal.buffer_view, %arg1: !hal.buffer_view, %arg2: !hal.buffer_view, %arg3: !hal.buffer_view, %arg4: !hal.buffer_view, %arg5: !hal.buffer_view, %arg6: !hal.buffer_view, %arg7: !hal.buffer_view, %arg8: !hal.buffer_view, %arg9: !hal.buffer_view, %arg10: !hal.buffer_view, %arg11: !hal.buffer_view, %arg12: !hal.buffer_view) -> !hal.buffer_view attributes {iree.abi.stub} {
    %0 = util.null : !hal.fence
    %c-1_i32 = arith.constant -1 : i32
    %c0 = arith.constant 0 : index
    %device_0 = hal.devices.get %c0 : !hal.device
    %fence = hal.fence.create device(%device_0 : !hal.device) flags("None") : !hal.fence
    %1 = util.call @made$async(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6, %arg7, %arg8, %arg9, %arg10, %arg11, %arg12, %0, %fence) : (!hal.buffer_view, !hal.buffer_view, !hal.buffer_view, !hal.buffer_view, !hal.buffer_view, !hal.buffer_view, !hal.buffer_view, !hal.buffer_view, !hal.buffer_view, !hal.buffer_view, !hal.buffer_view, !hal.buffer_view, !hal.buffer_view, !hal.fence, !hal.fence) -> !hal.buffer_view
    %status = hal.fence.await until([%fence]) timeout_millis(%c-1_i32) flags("None") : i32
    util.return %1 : !hal.buffer_view
  }
}