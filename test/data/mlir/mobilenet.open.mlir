#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (0, d1, 0, 0)>
#map2 = affine_map<(d0, d1, d2, d3) -> ()>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> (d0, d1)>
#map5 = affine_map<(d0, d1) -> (d1)>
#map6 = affine_map<(d0, d1) -> (d0)>
#map7 = affine_map<(d0, d1) -> (d0, 0)>
module {
  func.func @made(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<24xf32>, %arg3: tensor<24xf32>, %arg4: tensor<24xf32>, %arg5: tensor<24xf32>, %arg6: tensor<12xf32>, %arg7: tensor<12xf32>, %arg8: tensor<36xf32>, %arg9: tensor<36xf32>, %arg10: tensor<36xf32>, %arg11: tensor<36xf32>, %arg12: tensor<12xf32>, %arg13: tensor<12xf32>, %arg14: tensor<36xf32>, %arg15: tensor<36xf32>, %arg16: tensor<36xf32>, %arg17: tensor<36xf32>, %arg18: tensor<16xf32>, %arg19: tensor<16xf32>, %arg20: tensor<8xf32>, %arg21: tensor<8xf32>, %arg22: tensor<24xf32>, %arg23: tensor<24xf32>, %arg24: tensor<24xf32>, %arg25: tensor<24xf32>, %arg26: tensor<12xf32>, %arg27: tensor<12xf32>, %arg28: tensor<24x8x1x1xf32>, %arg29: tensor<24x1x3x3xf32>, %arg30: tensor<12x24x1x1xf32>, %arg31: tensor<36xf32>, %arg32: tensor<36xf32>, %arg33: tensor<36xf32>, %arg34: tensor<36xf32>, %arg35: tensor<12xf32>, %arg36: tensor<12xf32>, %arg37: tensor<36x12x1x1xf32>, %arg38: tensor<36x1x3x3xf32>, %arg39: tensor<12x36x1x1xf32>, %arg40: tensor<36xf32>, %arg41: tensor<36xf32>, %arg42: tensor<36xf32>, %arg43: tensor<36xf32>, %arg44: tensor<16xf32>, %arg45: tensor<16xf32>, %arg46: tensor<36x12x1x1xf32>, %arg47: tensor<36x1x3x3xf32>, %arg48: tensor<16x36x1x1xf32>, %arg49: tensor<8x3x3x3xf32>, %arg50: tensor<10xf32>, %arg51: tensor<16x10xf32>, %arg52: tensor<?x3x32x32xf32>) -> tensor<?x10xf32> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant -1.7976931348623157E+308 : f64
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_3 = arith.constant dense<6.000000e+00> : tensor<f32>
    %cst_4 = arith.constant 9.99999974E-6 : f32
    %cst_5 = arith.constant 4.000000e+00 : f32
    %c0 = arith.constant 0 : index
    %padded = tensor.pad %arg52 low[0, 0, 0, 0] high[0, 0, 1, 1] {
    ^bb0(%arg53: index, %arg54: index, %arg55: index, %arg56: index):
      tensor.yield %cst : f32
    } : tensor<?x3x32x32xf32> to tensor<?x3x33x33xf32>
    %dim = tensor.dim %arg52, %c0 : tensor<?x3x32x32xf32>
    %0 = tensor.empty(%dim) : tensor<?x8x16x16xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<?x8x16x16xf32>) -> tensor<?x8x16x16xf32>
    %2 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%padded, %arg49 : tensor<?x3x33x33xf32>, tensor<8x3x3x3xf32>) outs(%1 : tensor<?x8x16x16xf32>) -> tensor<?x8x16x16xf32>
    %expanded = tensor.expand_shape %arg0 [[0, 1, 2, 3]] output_shape [1, 8, 1, 1] : tensor<8xf32> into tensor<1x8x1x1xf32>
    %expanded_6 = tensor.expand_shape %arg1 [[0, 1, 2, 3]] output_shape [1, 8, 1, 1] : tensor<8xf32> into tensor<1x8x1x1xf32>
    %3 = tensor.empty() : tensor<1x8x1x1xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_6 : tensor<1x8x1x1xf32>) outs(%3 : tensor<1x8x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %124 = arith.addf %in, %cst_4 : f32
      linalg.yield %124 : f32
    } -> tensor<1x8x1x1xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%4 : tensor<1x8x1x1xf32>) outs(%3 : tensor<1x8x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %124 = math.rsqrt %in : f32
      linalg.yield %124 : f32
    } -> tensor<1x8x1x1xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2, %expanded : tensor<?x8x16x16xf32>, tensor<1x8x1x1xf32>) outs(%0 : tensor<?x8x16x16xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.subf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x8x16x16xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%6, %5 : tensor<?x8x16x16xf32>, tensor<1x8x1x1xf32>) outs(%0 : tensor<?x8x16x16xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.mulf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x8x16x16xf32>
    %expanded_7 = tensor.expand_shape %arg21 [[0, 1, 2, 3]] output_shape [1, 8, 1, 1] : tensor<8xf32> into tensor<1x8x1x1xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%7, %expanded_7 : tensor<?x8x16x16xf32>, tensor<1x8x1x1xf32>) outs(%0 : tensor<?x8x16x16xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.mulf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x8x16x16xf32>
    %expanded_8 = tensor.expand_shape %arg20 [[0, 1, 2, 3]] output_shape [1, 8, 1, 1] : tensor<8xf32> into tensor<1x8x1x1xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%8, %expanded_8 : tensor<?x8x16x16xf32>, tensor<1x8x1x1xf32>) outs(%0 : tensor<?x8x16x16xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.addf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x8x16x16xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%9 : tensor<?x8x16x16xf32>) outs(%0 : tensor<?x8x16x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %124 = arith.cmpf ugt, %in, %cst : f32
      %125 = arith.select %124, %in, %cst : f32
      linalg.yield %125 : f32
    } -> tensor<?x8x16x16xf32>
    %11 = arith.truncf %cst_1 : f64 to f32
    %padded_9 = tensor.pad %10 low[0, 0, 0, 0] high[0, 0, 1, 1] {
    ^bb0(%arg53: index, %arg54: index, %arg55: index, %arg56: index):
      tensor.yield %11 : f32
    } : tensor<?x8x16x16xf32> to tensor<?x8x17x17xf32>
    %12 = tensor.empty(%dim) : tensor<?x8x8x8xf32>
    %13 = linalg.fill ins(%cst_0 : f32) outs(%12 : tensor<?x8x8x8xf32>) -> tensor<?x8x8x8xf32>
    %14 = tensor.empty() : tensor<3x3xf32>
    %15 = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%padded_9, %14 : tensor<?x8x17x17xf32>, tensor<3x3xf32>) outs(%13 : tensor<?x8x8x8xf32>) -> tensor<?x8x8x8xf32>
    %16 = tensor.empty(%dim) : tensor<?x24x8x8xf32>
    %17 = linalg.fill ins(%cst : f32) outs(%16 : tensor<?x24x8x8xf32>) -> tensor<?x24x8x8xf32>
    %18 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%15, %arg28 : tensor<?x8x8x8xf32>, tensor<24x8x1x1xf32>) outs(%17 : tensor<?x24x8x8xf32>) -> tensor<?x24x8x8xf32>
    %expanded_10 = tensor.expand_shape %arg2 [[0, 1, 2, 3]] output_shape [1, 24, 1, 1] : tensor<24xf32> into tensor<1x24x1x1xf32>
    %expanded_11 = tensor.expand_shape %arg3 [[0, 1, 2, 3]] output_shape [1, 24, 1, 1] : tensor<24xf32> into tensor<1x24x1x1xf32>
    %19 = tensor.empty() : tensor<1x24x1x1xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_11 : tensor<1x24x1x1xf32>) outs(%19 : tensor<1x24x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %124 = arith.addf %in, %cst_4 : f32
      linalg.yield %124 : f32
    } -> tensor<1x24x1x1xf32>
    %21 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%20 : tensor<1x24x1x1xf32>) outs(%19 : tensor<1x24x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %124 = math.rsqrt %in : f32
      linalg.yield %124 : f32
    } -> tensor<1x24x1x1xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%18, %expanded_10 : tensor<?x24x8x8xf32>, tensor<1x24x1x1xf32>) outs(%16 : tensor<?x24x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.subf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x24x8x8xf32>
    %23 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%22, %21 : tensor<?x24x8x8xf32>, tensor<1x24x1x1xf32>) outs(%16 : tensor<?x24x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.mulf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x24x8x8xf32>
    %expanded_12 = tensor.expand_shape %arg23 [[0, 1, 2, 3]] output_shape [1, 24, 1, 1] : tensor<24xf32> into tensor<1x24x1x1xf32>
    %24 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%23, %expanded_12 : tensor<?x24x8x8xf32>, tensor<1x24x1x1xf32>) outs(%16 : tensor<?x24x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.mulf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x24x8x8xf32>
    %expanded_13 = tensor.expand_shape %arg22 [[0, 1, 2, 3]] output_shape [1, 24, 1, 1] : tensor<24xf32> into tensor<1x24x1x1xf32>
    %25 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%24, %expanded_13 : tensor<?x24x8x8xf32>, tensor<1x24x1x1xf32>) outs(%16 : tensor<?x24x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.addf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x24x8x8xf32>
    %26 = linalg.generic {indexing_maps = [#map, #map2, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%25, %cst_2, %cst_3 : tensor<?x24x8x8xf32>, tensor<f32>, tensor<f32>) outs(%16 : tensor<?x24x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %in_53: f32, %out: f32):
      %124 = arith.cmpf ult, %in, %in_52 : f32
      %125 = arith.select %124, %in_52, %in : f32
      %126 = arith.cmpf ugt, %125, %in_53 : f32
      %127 = arith.select %126, %in_53, %125 : f32
      linalg.yield %127 : f32
    } -> tensor<?x24x8x8xf32>
    %padded_14 = tensor.pad %26 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%arg53: index, %arg54: index, %arg55: index, %arg56: index):
      tensor.yield %cst : f32
    } : tensor<?x24x8x8xf32> to tensor<?x24x10x10xf32>
    %collapsed = tensor.collapse_shape %arg29 [[0, 1], [2], [3]] : tensor<24x1x3x3xf32> into tensor<24x3x3xf32>
    %27 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%padded_14, %collapsed : tensor<?x24x10x10xf32>, tensor<24x3x3xf32>) outs(%17 : tensor<?x24x8x8xf32>) -> tensor<?x24x8x8xf32>
    %expanded_15 = tensor.expand_shape %arg4 [[0, 1, 2, 3]] output_shape [1, 24, 1, 1] : tensor<24xf32> into tensor<1x24x1x1xf32>
    %expanded_16 = tensor.expand_shape %arg5 [[0, 1, 2, 3]] output_shape [1, 24, 1, 1] : tensor<24xf32> into tensor<1x24x1x1xf32>
    %28 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_16 : tensor<1x24x1x1xf32>) outs(%19 : tensor<1x24x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %124 = arith.addf %in, %cst_4 : f32
      linalg.yield %124 : f32
    } -> tensor<1x24x1x1xf32>
    %29 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%28 : tensor<1x24x1x1xf32>) outs(%19 : tensor<1x24x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %124 = math.rsqrt %in : f32
      linalg.yield %124 : f32
    } -> tensor<1x24x1x1xf32>
    %30 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%27, %expanded_15 : tensor<?x24x8x8xf32>, tensor<1x24x1x1xf32>) outs(%16 : tensor<?x24x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.subf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x24x8x8xf32>
    %31 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%30, %29 : tensor<?x24x8x8xf32>, tensor<1x24x1x1xf32>) outs(%16 : tensor<?x24x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.mulf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x24x8x8xf32>
    %expanded_17 = tensor.expand_shape %arg25 [[0, 1, 2, 3]] output_shape [1, 24, 1, 1] : tensor<24xf32> into tensor<1x24x1x1xf32>
    %32 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%31, %expanded_17 : tensor<?x24x8x8xf32>, tensor<1x24x1x1xf32>) outs(%16 : tensor<?x24x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.mulf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x24x8x8xf32>
    %expanded_18 = tensor.expand_shape %arg24 [[0, 1, 2, 3]] output_shape [1, 24, 1, 1] : tensor<24xf32> into tensor<1x24x1x1xf32>
    %33 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%32, %expanded_18 : tensor<?x24x8x8xf32>, tensor<1x24x1x1xf32>) outs(%16 : tensor<?x24x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.addf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x24x8x8xf32>
    %34 = linalg.generic {indexing_maps = [#map, #map2, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%33, %cst_2, %cst_3 : tensor<?x24x8x8xf32>, tensor<f32>, tensor<f32>) outs(%16 : tensor<?x24x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %in_53: f32, %out: f32):
      %124 = arith.cmpf ult, %in, %in_52 : f32
      %125 = arith.select %124, %in_52, %in : f32
      %126 = arith.cmpf ugt, %125, %in_53 : f32
      %127 = arith.select %126, %in_53, %125 : f32
      linalg.yield %127 : f32
    } -> tensor<?x24x8x8xf32>
    %35 = tensor.empty(%dim) : tensor<?x12x8x8xf32>
    %36 = linalg.fill ins(%cst : f32) outs(%35 : tensor<?x12x8x8xf32>) -> tensor<?x12x8x8xf32>
    %37 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%34, %arg30 : tensor<?x24x8x8xf32>, tensor<12x24x1x1xf32>) outs(%36 : tensor<?x12x8x8xf32>) -> tensor<?x12x8x8xf32>
    %expanded_19 = tensor.expand_shape %arg6 [[0, 1, 2, 3]] output_shape [1, 12, 1, 1] : tensor<12xf32> into tensor<1x12x1x1xf32>
    %expanded_20 = tensor.expand_shape %arg7 [[0, 1, 2, 3]] output_shape [1, 12, 1, 1] : tensor<12xf32> into tensor<1x12x1x1xf32>
    %38 = tensor.empty() : tensor<1x12x1x1xf32>
    %39 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_20 : tensor<1x12x1x1xf32>) outs(%38 : tensor<1x12x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %124 = arith.addf %in, %cst_4 : f32
      linalg.yield %124 : f32
    } -> tensor<1x12x1x1xf32>
    %40 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%39 : tensor<1x12x1x1xf32>) outs(%38 : tensor<1x12x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %124 = math.rsqrt %in : f32
      linalg.yield %124 : f32
    } -> tensor<1x12x1x1xf32>
    %41 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%37, %expanded_19 : tensor<?x12x8x8xf32>, tensor<1x12x1x1xf32>) outs(%35 : tensor<?x12x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.subf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x12x8x8xf32>
    %42 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%41, %40 : tensor<?x12x8x8xf32>, tensor<1x12x1x1xf32>) outs(%35 : tensor<?x12x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.mulf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x12x8x8xf32>
    %expanded_21 = tensor.expand_shape %arg27 [[0, 1, 2, 3]] output_shape [1, 12, 1, 1] : tensor<12xf32> into tensor<1x12x1x1xf32>
    %43 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%42, %expanded_21 : tensor<?x12x8x8xf32>, tensor<1x12x1x1xf32>) outs(%35 : tensor<?x12x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.mulf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x12x8x8xf32>
    %expanded_22 = tensor.expand_shape %arg26 [[0, 1, 2, 3]] output_shape [1, 12, 1, 1] : tensor<12xf32> into tensor<1x12x1x1xf32>
    %44 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%43, %expanded_22 : tensor<?x12x8x8xf32>, tensor<1x12x1x1xf32>) outs(%35 : tensor<?x12x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.addf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x12x8x8xf32>
    %45 = tensor.empty(%dim) : tensor<?x36x8x8xf32>
    %46 = linalg.fill ins(%cst : f32) outs(%45 : tensor<?x36x8x8xf32>) -> tensor<?x36x8x8xf32>
    %47 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%44, %arg37 : tensor<?x12x8x8xf32>, tensor<36x12x1x1xf32>) outs(%46 : tensor<?x36x8x8xf32>) -> tensor<?x36x8x8xf32>
    %expanded_23 = tensor.expand_shape %arg8 [[0, 1, 2, 3]] output_shape [1, 36, 1, 1] : tensor<36xf32> into tensor<1x36x1x1xf32>
    %expanded_24 = tensor.expand_shape %arg9 [[0, 1, 2, 3]] output_shape [1, 36, 1, 1] : tensor<36xf32> into tensor<1x36x1x1xf32>
    %48 = tensor.empty() : tensor<1x36x1x1xf32>
    %49 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_24 : tensor<1x36x1x1xf32>) outs(%48 : tensor<1x36x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %124 = arith.addf %in, %cst_4 : f32
      linalg.yield %124 : f32
    } -> tensor<1x36x1x1xf32>
    %50 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%49 : tensor<1x36x1x1xf32>) outs(%48 : tensor<1x36x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %124 = math.rsqrt %in : f32
      linalg.yield %124 : f32
    } -> tensor<1x36x1x1xf32>
    %51 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%47, %expanded_23 : tensor<?x36x8x8xf32>, tensor<1x36x1x1xf32>) outs(%45 : tensor<?x36x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.subf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x36x8x8xf32>
    %52 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%51, %50 : tensor<?x36x8x8xf32>, tensor<1x36x1x1xf32>) outs(%45 : tensor<?x36x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.mulf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x36x8x8xf32>
    %expanded_25 = tensor.expand_shape %arg32 [[0, 1, 2, 3]] output_shape [1, 36, 1, 1] : tensor<36xf32> into tensor<1x36x1x1xf32>
    %53 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%52, %expanded_25 : tensor<?x36x8x8xf32>, tensor<1x36x1x1xf32>) outs(%45 : tensor<?x36x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.mulf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x36x8x8xf32>
    %expanded_26 = tensor.expand_shape %arg31 [[0, 1, 2, 3]] output_shape [1, 36, 1, 1] : tensor<36xf32> into tensor<1x36x1x1xf32>
    %54 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%53, %expanded_26 : tensor<?x36x8x8xf32>, tensor<1x36x1x1xf32>) outs(%45 : tensor<?x36x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.addf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x36x8x8xf32>
    %55 = linalg.generic {indexing_maps = [#map, #map2, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%54, %cst_2, %cst_3 : tensor<?x36x8x8xf32>, tensor<f32>, tensor<f32>) outs(%45 : tensor<?x36x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %in_53: f32, %out: f32):
      %124 = arith.cmpf ult, %in, %in_52 : f32
      %125 = arith.select %124, %in_52, %in : f32
      %126 = arith.cmpf ugt, %125, %in_53 : f32
      %127 = arith.select %126, %in_53, %125 : f32
      linalg.yield %127 : f32
    } -> tensor<?x36x8x8xf32>
    %padded_27 = tensor.pad %55 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%arg53: index, %arg54: index, %arg55: index, %arg56: index):
      tensor.yield %cst : f32
    } : tensor<?x36x8x8xf32> to tensor<?x36x10x10xf32>
    %collapsed_28 = tensor.collapse_shape %arg38 [[0, 1], [2], [3]] : tensor<36x1x3x3xf32> into tensor<36x3x3xf32>
    %56 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%padded_27, %collapsed_28 : tensor<?x36x10x10xf32>, tensor<36x3x3xf32>) outs(%46 : tensor<?x36x8x8xf32>) -> tensor<?x36x8x8xf32>
    %expanded_29 = tensor.expand_shape %arg10 [[0, 1, 2, 3]] output_shape [1, 36, 1, 1] : tensor<36xf32> into tensor<1x36x1x1xf32>
    %expanded_30 = tensor.expand_shape %arg11 [[0, 1, 2, 3]] output_shape [1, 36, 1, 1] : tensor<36xf32> into tensor<1x36x1x1xf32>
    %57 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_30 : tensor<1x36x1x1xf32>) outs(%48 : tensor<1x36x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %124 = arith.addf %in, %cst_4 : f32
      linalg.yield %124 : f32
    } -> tensor<1x36x1x1xf32>
    %58 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%57 : tensor<1x36x1x1xf32>) outs(%48 : tensor<1x36x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %124 = math.rsqrt %in : f32
      linalg.yield %124 : f32
    } -> tensor<1x36x1x1xf32>
    %59 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%56, %expanded_29 : tensor<?x36x8x8xf32>, tensor<1x36x1x1xf32>) outs(%45 : tensor<?x36x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.subf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x36x8x8xf32>
    %60 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%59, %58 : tensor<?x36x8x8xf32>, tensor<1x36x1x1xf32>) outs(%45 : tensor<?x36x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.mulf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x36x8x8xf32>
    %expanded_31 = tensor.expand_shape %arg34 [[0, 1, 2, 3]] output_shape [1, 36, 1, 1] : tensor<36xf32> into tensor<1x36x1x1xf32>
    %61 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%60, %expanded_31 : tensor<?x36x8x8xf32>, tensor<1x36x1x1xf32>) outs(%45 : tensor<?x36x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.mulf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x36x8x8xf32>
    %expanded_32 = tensor.expand_shape %arg33 [[0, 1, 2, 3]] output_shape [1, 36, 1, 1] : tensor<36xf32> into tensor<1x36x1x1xf32>
    %62 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%61, %expanded_32 : tensor<?x36x8x8xf32>, tensor<1x36x1x1xf32>) outs(%45 : tensor<?x36x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.addf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x36x8x8xf32>
    %63 = linalg.generic {indexing_maps = [#map, #map2, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%62, %cst_2, %cst_3 : tensor<?x36x8x8xf32>, tensor<f32>, tensor<f32>) outs(%45 : tensor<?x36x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %in_53: f32, %out: f32):
      %124 = arith.cmpf ult, %in, %in_52 : f32
      %125 = arith.select %124, %in_52, %in : f32
      %126 = arith.cmpf ugt, %125, %in_53 : f32
      %127 = arith.select %126, %in_53, %125 : f32
      linalg.yield %127 : f32
    } -> tensor<?x36x8x8xf32>
    %64 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%63, %arg39 : tensor<?x36x8x8xf32>, tensor<12x36x1x1xf32>) outs(%36 : tensor<?x12x8x8xf32>) -> tensor<?x12x8x8xf32>
    %expanded_33 = tensor.expand_shape %arg12 [[0, 1, 2, 3]] output_shape [1, 12, 1, 1] : tensor<12xf32> into tensor<1x12x1x1xf32>
    %expanded_34 = tensor.expand_shape %arg13 [[0, 1, 2, 3]] output_shape [1, 12, 1, 1] : tensor<12xf32> into tensor<1x12x1x1xf32>
    %65 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_34 : tensor<1x12x1x1xf32>) outs(%38 : tensor<1x12x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %124 = arith.addf %in, %cst_4 : f32
      linalg.yield %124 : f32
    } -> tensor<1x12x1x1xf32>
    %66 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%65 : tensor<1x12x1x1xf32>) outs(%38 : tensor<1x12x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %124 = math.rsqrt %in : f32
      linalg.yield %124 : f32
    } -> tensor<1x12x1x1xf32>
    %67 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%64, %expanded_33 : tensor<?x12x8x8xf32>, tensor<1x12x1x1xf32>) outs(%35 : tensor<?x12x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.subf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x12x8x8xf32>
    %68 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%67, %66 : tensor<?x12x8x8xf32>, tensor<1x12x1x1xf32>) outs(%35 : tensor<?x12x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.mulf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x12x8x8xf32>
    %expanded_35 = tensor.expand_shape %arg36 [[0, 1, 2, 3]] output_shape [1, 12, 1, 1] : tensor<12xf32> into tensor<1x12x1x1xf32>
    %69 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%68, %expanded_35 : tensor<?x12x8x8xf32>, tensor<1x12x1x1xf32>) outs(%35 : tensor<?x12x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.mulf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x12x8x8xf32>
    %expanded_36 = tensor.expand_shape %arg35 [[0, 1, 2, 3]] output_shape [1, 12, 1, 1] : tensor<12xf32> into tensor<1x12x1x1xf32>
    %70 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%69, %expanded_36 : tensor<?x12x8x8xf32>, tensor<1x12x1x1xf32>) outs(%35 : tensor<?x12x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.addf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x12x8x8xf32>
    %71 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%44, %70 : tensor<?x12x8x8xf32>, tensor<?x12x8x8xf32>) outs(%35 : tensor<?x12x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.addf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x12x8x8xf32>
    %72 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%71, %arg46 : tensor<?x12x8x8xf32>, tensor<36x12x1x1xf32>) outs(%46 : tensor<?x36x8x8xf32>) -> tensor<?x36x8x8xf32>
    %expanded_37 = tensor.expand_shape %arg14 [[0, 1, 2, 3]] output_shape [1, 36, 1, 1] : tensor<36xf32> into tensor<1x36x1x1xf32>
    %expanded_38 = tensor.expand_shape %arg15 [[0, 1, 2, 3]] output_shape [1, 36, 1, 1] : tensor<36xf32> into tensor<1x36x1x1xf32>
    %73 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_38 : tensor<1x36x1x1xf32>) outs(%48 : tensor<1x36x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %124 = arith.addf %in, %cst_4 : f32
      linalg.yield %124 : f32
    } -> tensor<1x36x1x1xf32>
    %74 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%73 : tensor<1x36x1x1xf32>) outs(%48 : tensor<1x36x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %124 = math.rsqrt %in : f32
      linalg.yield %124 : f32
    } -> tensor<1x36x1x1xf32>
    %75 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%72, %expanded_37 : tensor<?x36x8x8xf32>, tensor<1x36x1x1xf32>) outs(%45 : tensor<?x36x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.subf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x36x8x8xf32>
    %76 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%75, %74 : tensor<?x36x8x8xf32>, tensor<1x36x1x1xf32>) outs(%45 : tensor<?x36x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.mulf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x36x8x8xf32>
    %expanded_39 = tensor.expand_shape %arg41 [[0, 1, 2, 3]] output_shape [1, 36, 1, 1] : tensor<36xf32> into tensor<1x36x1x1xf32>
    %77 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%76, %expanded_39 : tensor<?x36x8x8xf32>, tensor<1x36x1x1xf32>) outs(%45 : tensor<?x36x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.mulf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x36x8x8xf32>
    %expanded_40 = tensor.expand_shape %arg40 [[0, 1, 2, 3]] output_shape [1, 36, 1, 1] : tensor<36xf32> into tensor<1x36x1x1xf32>
    %78 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%77, %expanded_40 : tensor<?x36x8x8xf32>, tensor<1x36x1x1xf32>) outs(%45 : tensor<?x36x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.addf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x36x8x8xf32>
    %79 = linalg.generic {indexing_maps = [#map, #map2, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%78, %cst_2, %cst_3 : tensor<?x36x8x8xf32>, tensor<f32>, tensor<f32>) outs(%45 : tensor<?x36x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %in_53: f32, %out: f32):
      %124 = arith.cmpf ult, %in, %in_52 : f32
      %125 = arith.select %124, %in_52, %in : f32
      %126 = arith.cmpf ugt, %125, %in_53 : f32
      %127 = arith.select %126, %in_53, %125 : f32
      linalg.yield %127 : f32
    } -> tensor<?x36x8x8xf32>
    %padded_41 = tensor.pad %79 low[0, 0, 0, 0] high[0, 0, 1, 1] {
    ^bb0(%arg53: index, %arg54: index, %arg55: index, %arg56: index):
      tensor.yield %cst : f32
    } : tensor<?x36x8x8xf32> to tensor<?x36x9x9xf32>
    %80 = tensor.empty(%dim) : tensor<?x36x4x4xf32>
    %81 = linalg.fill ins(%cst : f32) outs(%80 : tensor<?x36x4x4xf32>) -> tensor<?x36x4x4xf32>
    %collapsed_42 = tensor.collapse_shape %arg47 [[0, 1], [2], [3]] : tensor<36x1x3x3xf32> into tensor<36x3x3xf32>
    %82 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%padded_41, %collapsed_42 : tensor<?x36x9x9xf32>, tensor<36x3x3xf32>) outs(%81 : tensor<?x36x4x4xf32>) -> tensor<?x36x4x4xf32>
    %expanded_43 = tensor.expand_shape %arg16 [[0, 1, 2, 3]] output_shape [1, 36, 1, 1] : tensor<36xf32> into tensor<1x36x1x1xf32>
    %expanded_44 = tensor.expand_shape %arg17 [[0, 1, 2, 3]] output_shape [1, 36, 1, 1] : tensor<36xf32> into tensor<1x36x1x1xf32>
    %83 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_44 : tensor<1x36x1x1xf32>) outs(%48 : tensor<1x36x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %124 = arith.addf %in, %cst_4 : f32
      linalg.yield %124 : f32
    } -> tensor<1x36x1x1xf32>
    %84 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%83 : tensor<1x36x1x1xf32>) outs(%48 : tensor<1x36x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %124 = math.rsqrt %in : f32
      linalg.yield %124 : f32
    } -> tensor<1x36x1x1xf32>
    %85 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%82, %expanded_43 : tensor<?x36x4x4xf32>, tensor<1x36x1x1xf32>) outs(%80 : tensor<?x36x4x4xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.subf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x36x4x4xf32>
    %86 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%85, %84 : tensor<?x36x4x4xf32>, tensor<1x36x1x1xf32>) outs(%80 : tensor<?x36x4x4xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.mulf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x36x4x4xf32>
    %expanded_45 = tensor.expand_shape %arg43 [[0, 1, 2, 3]] output_shape [1, 36, 1, 1] : tensor<36xf32> into tensor<1x36x1x1xf32>
    %87 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%86, %expanded_45 : tensor<?x36x4x4xf32>, tensor<1x36x1x1xf32>) outs(%80 : tensor<?x36x4x4xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.mulf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x36x4x4xf32>
    %expanded_46 = tensor.expand_shape %arg42 [[0, 1, 2, 3]] output_shape [1, 36, 1, 1] : tensor<36xf32> into tensor<1x36x1x1xf32>
    %88 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%87, %expanded_46 : tensor<?x36x4x4xf32>, tensor<1x36x1x1xf32>) outs(%80 : tensor<?x36x4x4xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.addf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x36x4x4xf32>
    %89 = linalg.generic {indexing_maps = [#map, #map2, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%88, %cst_2, %cst_3 : tensor<?x36x4x4xf32>, tensor<f32>, tensor<f32>) outs(%80 : tensor<?x36x4x4xf32>) {
    ^bb0(%in: f32, %in_52: f32, %in_53: f32, %out: f32):
      %124 = arith.cmpf ult, %in, %in_52 : f32
      %125 = arith.select %124, %in_52, %in : f32
      %126 = arith.cmpf ugt, %125, %in_53 : f32
      %127 = arith.select %126, %in_53, %125 : f32
      linalg.yield %127 : f32
    } -> tensor<?x36x4x4xf32>
    %90 = tensor.empty(%dim) : tensor<?x16x4x4xf32>
    %91 = linalg.fill ins(%cst : f32) outs(%90 : tensor<?x16x4x4xf32>) -> tensor<?x16x4x4xf32>
    %92 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%89, %arg48 : tensor<?x36x4x4xf32>, tensor<16x36x1x1xf32>) outs(%91 : tensor<?x16x4x4xf32>) -> tensor<?x16x4x4xf32>
    %expanded_47 = tensor.expand_shape %arg18 [[0, 1, 2, 3]] output_shape [1, 16, 1, 1] : tensor<16xf32> into tensor<1x16x1x1xf32>
    %expanded_48 = tensor.expand_shape %arg19 [[0, 1, 2, 3]] output_shape [1, 16, 1, 1] : tensor<16xf32> into tensor<1x16x1x1xf32>
    %93 = tensor.empty() : tensor<1x16x1x1xf32>
    %94 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_48 : tensor<1x16x1x1xf32>) outs(%93 : tensor<1x16x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %124 = arith.addf %in, %cst_4 : f32
      linalg.yield %124 : f32
    } -> tensor<1x16x1x1xf32>
    %95 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%94 : tensor<1x16x1x1xf32>) outs(%93 : tensor<1x16x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %124 = math.rsqrt %in : f32
      linalg.yield %124 : f32
    } -> tensor<1x16x1x1xf32>
    %96 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%92, %expanded_47 : tensor<?x16x4x4xf32>, tensor<1x16x1x1xf32>) outs(%90 : tensor<?x16x4x4xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.subf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x16x4x4xf32>
    %97 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%96, %95 : tensor<?x16x4x4xf32>, tensor<1x16x1x1xf32>) outs(%90 : tensor<?x16x4x4xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.mulf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x16x4x4xf32>
    %expanded_49 = tensor.expand_shape %arg45 [[0, 1, 2, 3]] output_shape [1, 16, 1, 1] : tensor<16xf32> into tensor<1x16x1x1xf32>
    %98 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%97, %expanded_49 : tensor<?x16x4x4xf32>, tensor<1x16x1x1xf32>) outs(%90 : tensor<?x16x4x4xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.mulf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x16x4x4xf32>
    %expanded_50 = tensor.expand_shape %arg44 [[0, 1, 2, 3]] output_shape [1, 16, 1, 1] : tensor<16xf32> into tensor<1x16x1x1xf32>
    %99 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%98, %expanded_50 : tensor<?x16x4x4xf32>, tensor<1x16x1x1xf32>) outs(%90 : tensor<?x16x4x4xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.addf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x16x4x4xf32>
    %100 = tensor.empty(%dim) : tensor<?x16x2x2xf32>
    %101 = linalg.fill ins(%cst : f32) outs(%100 : tensor<?x16x2x2xf32>) -> tensor<?x16x2x2xf32>
    %102 = tensor.empty() : tensor<2x2xf32>
    %103 = linalg.pooling_nchw_sum {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%99, %102 : tensor<?x16x4x4xf32>, tensor<2x2xf32>) outs(%101 : tensor<?x16x2x2xf32>) -> tensor<?x16x2x2xf32>
    %104 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%103 : tensor<?x16x2x2xf32>) outs(%100 : tensor<?x16x2x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %124 = arith.divf %in, %cst_5 : f32
      linalg.yield %124 : f32
    } -> tensor<?x16x2x2xf32>
    %105 = tensor.empty(%dim) : tensor<?x16xf32>
    %106 = linalg.fill ins(%cst : f32) outs(%105 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %107 = linalg.generic {indexing_maps = [#map, #map3], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%104 : tensor<?x16x2x2xf32>) outs(%106 : tensor<?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %124 = arith.addf %in, %out : f32
      linalg.yield %124 : f32
    } -> tensor<?x16xf32>
    %108 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%107 : tensor<?x16xf32>) outs(%105 : tensor<?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %124 = arith.divf %in, %cst_5 : f32
      linalg.yield %124 : f32
    } -> tensor<?x16xf32>
    %109 = tensor.empty(%dim) : tensor<?x10xf32>
    %110 = linalg.fill ins(%cst : f32) outs(%109 : tensor<?x10xf32>) -> tensor<?x10xf32>
    %111 = linalg.matmul ins(%108, %arg51 : tensor<?x16xf32>, tensor<16x10xf32>) outs(%110 : tensor<?x10xf32>) -> tensor<?x10xf32>
    %112 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel"]} ins(%111, %arg50 : tensor<?x10xf32>, tensor<10xf32>) outs(%109 : tensor<?x10xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.addf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x10xf32>
    %113 = tensor.empty(%dim) : tensor<?xi64>
    %114 = linalg.fill ins(%c0_i64 : i64) outs(%113 : tensor<?xi64>) -> tensor<?xi64>
    %115 = tensor.empty(%dim) : tensor<?xf32>
    %116 = linalg.fill ins(%cst_0 : f32) outs(%115 : tensor<?xf32>) -> tensor<?xf32>
    %117:2 = linalg.generic {indexing_maps = [#map4, #map6, #map6], iterator_types = ["parallel", "reduction"]} ins(%112 : tensor<?x10xf32>) outs(%116, %114 : tensor<?xf32>, tensor<?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_52: i64):
      %124 = linalg.index 1 : index
      %125 = arith.index_cast %124 : index to i64
      %126 = arith.maximumf %in, %out : f32
      %127 = arith.cmpf ogt, %in, %out : f32
      %128 = arith.select %127, %125, %out_52 : i64
      linalg.yield %126, %128 : f32, i64
    } -> (tensor<?xf32>, tensor<?xi64>)
    %expanded_51 = tensor.expand_shape %117#0 [[0, 1]] output_shape [%dim, 1] : tensor<?xf32> into tensor<?x1xf32>
    %118 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel"]} ins(%112, %expanded_51 : tensor<?x10xf32>, tensor<?x1xf32>) outs(%109 : tensor<?x10xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.subf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x10xf32>
    %119 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%118 : tensor<?x10xf32>) outs(%109 : tensor<?x10xf32>) {
    ^bb0(%in: f32, %out: f32):
      %124 = math.exp %in : f32
      linalg.yield %124 : f32
    } -> tensor<?x10xf32>
    %120 = tensor.empty(%dim) : tensor<?x1xf32>
    %121 = linalg.fill ins(%cst : f32) outs(%120 : tensor<?x1xf32>) -> tensor<?x1xf32>
    %122 = linalg.generic {indexing_maps = [#map4, #map7], iterator_types = ["parallel", "reduction"]} ins(%119 : tensor<?x10xf32>) outs(%121 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %124 = arith.addf %in, %out : f32
      linalg.yield %124 : f32
    } -> tensor<?x1xf32>
    %123 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel"]} ins(%119, %122 : tensor<?x10xf32>, tensor<?x1xf32>) outs(%109 : tensor<?x10xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %124 = arith.divf %in, %in_52 : f32
      linalg.yield %124 : f32
    } -> tensor<?x10xf32>
    return %123 : tensor<?x10xf32>
  }
}

