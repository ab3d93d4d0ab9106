module @jit_apply attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<24xf32>, %arg3: tensor<24xf32>, %arg4: tensor<24xf32>, %arg5: tensor<24xf32>, %arg6: tensor<12xf32>, %arg7: tensor<12xf32>, %arg8: tensor<36xf32>, %arg9: tensor<36xf32>, %arg10: tensor<36xf32>, %arg11: tensor<36xf32>, %arg12: tensor<12xf32>, %arg13: tensor<12xf32>, %arg14: tensor<36xf32>, %arg15: tensor<36xf32>, %arg16: tensor<36xf32>, %arg17: tensor<36xf32>, %arg18: tensor<16xf32>, %arg19: tensor<16xf32>, %arg20: tensor<8xf32>, %arg21: tensor<8xf32>, %arg22: tensor<24xf32>, %arg23: tensor<24xf32>, %arg24: tensor<24xf32>, %arg25: tensor<24xf32>, %arg26: tensor<12xf32>, %arg27: tensor<12xf32>, %arg28: tensor<1x1x8x24xf32>, %arg29: tensor<3x3x1x24xf32>, %arg30: tensor<1x1x24x12xf32>, %arg31: tensor<36xf32>, %arg32: tensor<36xf32>, %arg33: tensor<36xf32>, %arg34: tensor<36xf32>, %arg35: tensor<12xf32>, %arg36: tensor<12xf32>, %arg37: tensor<1x1x12x36xf32>, %arg38: tensor<3x3x1x36xf32>, %arg39: tensor<1x1x36x12xf32>, %arg40: tensor<36xf32>, %arg41: tensor<36xf32>, %arg42: tensor<36xf32>, %arg43: tensor<36xf32>, %arg44: tensor<16xf32>, %arg45: tensor<16xf32>, %arg46: tensor<1x1x12x36xf32>, %arg47: tensor<3x3x1x36xf32>, %arg48: tensor<1x1x36x16xf32>, %arg49: tensor<3x3x3x8xf32>, %arg50: tensor<10xf32>, %arg51: tensor<16x10xf32>, %arg52: tensor<1x32x32x3xf32>) -> (tensor<1x10xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg52, %arg49) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x32x32x3xf32>, tensor<3x3x3x8xf32>) -> tensor<1x16x16x8xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [3] : (tensor<8xf32>) -> tensor<1x1x1x8xf32>
    %2 = stablehlo.broadcast_in_dim %arg1, dims = [3] : (tensor<8xf32>) -> tensor<1x1x1x8xf32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3] : (tensor<1x1x1x8xf32>) -> tensor<1x16x16x8xf32>
    %4 = stablehlo.subtract %0, %3 : tensor<1x16x16x8xf32>
    %cst = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x1x1x8xf32>
    %6 = stablehlo.add %2, %5 : tensor<1x1x1x8xf32>
    %7 = stablehlo.rsqrt %6 : tensor<1x1x1x8xf32>
    %8 = stablehlo.reshape %arg21 : (tensor<8xf32>) -> tensor<1x1x1x8xf32>
    %9 = stablehlo.multiply %7, %8 : tensor<1x1x1x8xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 3] : (tensor<1x1x1x8xf32>) -> tensor<1x16x16x8xf32>
    %11 = stablehlo.multiply %4, %10 : tensor<1x16x16x8xf32>
    %12 = stablehlo.reshape %arg20 : (tensor<8xf32>) -> tensor<1x1x1x8xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2, 3] : (tensor<1x1x1x8xf32>) -> tensor<1x16x16x8xf32>
    %14 = stablehlo.add %11, %13 : tensor<1x16x16x8xf32>
    %15 = call @relu(%14) : (tensor<1x16x16x8xf32>) -> tensor<1x16x16x8xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<f32>
    %17 = "stablehlo.reduce_window"(%15, %16) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<[[0, 0], [0, 1], [0, 1], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg53: tensor<f32>, %arg54: tensor<f32>):
      %181 = stablehlo.maximum %arg53, %arg54 : tensor<f32>
      stablehlo.return %181 : tensor<f32>
    }) : (tensor<1x16x16x8xf32>, tensor<f32>) -> tensor<1x8x8x8xf32>
    %18 = stablehlo.convolution(%17, %arg28) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x8xf32>, tensor<1x1x8x24xf32>) -> tensor<1x8x8x24xf32>
    %19 = stablehlo.broadcast_in_dim %arg2, dims = [3] : (tensor<24xf32>) -> tensor<1x1x1x24xf32>
    %20 = stablehlo.broadcast_in_dim %arg3, dims = [3] : (tensor<24xf32>) -> tensor<1x1x1x24xf32>
    %21 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3] : (tensor<1x1x1x24xf32>) -> tensor<1x8x8x24xf32>
    %22 = stablehlo.subtract %18, %21 : tensor<1x8x8x24xf32>
    %cst_1 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x1x1x24xf32>
    %24 = stablehlo.add %20, %23 : tensor<1x1x1x24xf32>
    %25 = stablehlo.rsqrt %24 : tensor<1x1x1x24xf32>
    %26 = stablehlo.reshape %arg23 : (tensor<24xf32>) -> tensor<1x1x1x24xf32>
    %27 = stablehlo.multiply %25, %26 : tensor<1x1x1x24xf32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [0, 1, 2, 3] : (tensor<1x1x1x24xf32>) -> tensor<1x8x8x24xf32>
    %29 = stablehlo.multiply %22, %28 : tensor<1x8x8x24xf32>
    %30 = stablehlo.reshape %arg22 : (tensor<24xf32>) -> tensor<1x1x1x24xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2, 3] : (tensor<1x1x1x24xf32>) -> tensor<1x8x8x24xf32>
    %32 = stablehlo.add %29, %31 : tensor<1x8x8x24xf32>
    %33 = call @relu6(%32) : (tensor<1x8x8x24xf32>) -> tensor<1x8x8x24xf32>
    %34 = stablehlo.convolution(%33, %arg29) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 24 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x24xf32>, tensor<3x3x1x24xf32>) -> tensor<1x8x8x24xf32>
    %35 = stablehlo.broadcast_in_dim %arg4, dims = [3] : (tensor<24xf32>) -> tensor<1x1x1x24xf32>
    %36 = stablehlo.broadcast_in_dim %arg5, dims = [3] : (tensor<24xf32>) -> tensor<1x1x1x24xf32>
    %37 = stablehlo.broadcast_in_dim %35, dims = [0, 1, 2, 3] : (tensor<1x1x1x24xf32>) -> tensor<1x8x8x24xf32>
    %38 = stablehlo.subtract %34, %37 : tensor<1x8x8x24xf32>
    %cst_2 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x1x1x24xf32>
    %40 = stablehlo.add %36, %39 : tensor<1x1x1x24xf32>
    %41 = stablehlo.rsqrt %40 : tensor<1x1x1x24xf32>
    %42 = stablehlo.reshape %arg25 : (tensor<24xf32>) -> tensor<1x1x1x24xf32>
    %43 = stablehlo.multiply %41, %42 : tensor<1x1x1x24xf32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [0, 1, 2, 3] : (tensor<1x1x1x24xf32>) -> tensor<1x8x8x24xf32>
    %45 = stablehlo.multiply %38, %44 : tensor<1x8x8x24xf32>
    %46 = stablehlo.reshape %arg24 : (tensor<24xf32>) -> tensor<1x1x1x24xf32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [0, 1, 2, 3] : (tensor<1x1x1x24xf32>) -> tensor<1x8x8x24xf32>
    %48 = stablehlo.add %45, %47 : tensor<1x8x8x24xf32>
    %49 = call @relu6(%48) : (tensor<1x8x8x24xf32>) -> tensor<1x8x8x24xf32>
    %50 = stablehlo.convolution(%49, %arg30) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x24xf32>, tensor<1x1x24x12xf32>) -> tensor<1x8x8x12xf32>
    %51 = stablehlo.broadcast_in_dim %arg6, dims = [3] : (tensor<12xf32>) -> tensor<1x1x1x12xf32>
    %52 = stablehlo.broadcast_in_dim %arg7, dims = [3] : (tensor<12xf32>) -> tensor<1x1x1x12xf32>
    %53 = stablehlo.broadcast_in_dim %51, dims = [0, 1, 2, 3] : (tensor<1x1x1x12xf32>) -> tensor<1x8x8x12xf32>
    %54 = stablehlo.subtract %50, %53 : tensor<1x8x8x12xf32>
    %cst_3 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x1x1x12xf32>
    %56 = stablehlo.add %52, %55 : tensor<1x1x1x12xf32>
    %57 = stablehlo.rsqrt %56 : tensor<1x1x1x12xf32>
    %58 = stablehlo.reshape %arg27 : (tensor<12xf32>) -> tensor<1x1x1x12xf32>
    %59 = stablehlo.multiply %57, %58 : tensor<1x1x1x12xf32>
    %60 = stablehlo.broadcast_in_dim %59, dims = [0, 1, 2, 3] : (tensor<1x1x1x12xf32>) -> tensor<1x8x8x12xf32>
    %61 = stablehlo.multiply %54, %60 : tensor<1x8x8x12xf32>
    %62 = stablehlo.reshape %arg26 : (tensor<12xf32>) -> tensor<1x1x1x12xf32>
    %63 = stablehlo.broadcast_in_dim %62, dims = [0, 1, 2, 3] : (tensor<1x1x1x12xf32>) -> tensor<1x8x8x12xf32>
    %64 = stablehlo.add %61, %63 : tensor<1x8x8x12xf32>
    %65 = stablehlo.convolution(%64, %arg37) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x12xf32>, tensor<1x1x12x36xf32>) -> tensor<1x8x8x36xf32>
    %66 = stablehlo.broadcast_in_dim %arg8, dims = [3] : (tensor<36xf32>) -> tensor<1x1x1x36xf32>
    %67 = stablehlo.broadcast_in_dim %arg9, dims = [3] : (tensor<36xf32>) -> tensor<1x1x1x36xf32>
    %68 = stablehlo.broadcast_in_dim %66, dims = [0, 1, 2, 3] : (tensor<1x1x1x36xf32>) -> tensor<1x8x8x36xf32>
    %69 = stablehlo.subtract %65, %68 : tensor<1x8x8x36xf32>
    %cst_4 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<1x1x1x36xf32>
    %71 = stablehlo.add %67, %70 : tensor<1x1x1x36xf32>
    %72 = stablehlo.rsqrt %71 : tensor<1x1x1x36xf32>
    %73 = stablehlo.reshape %arg32 : (tensor<36xf32>) -> tensor<1x1x1x36xf32>
    %74 = stablehlo.multiply %72, %73 : tensor<1x1x1x36xf32>
    %75 = stablehlo.broadcast_in_dim %74, dims = [0, 1, 2, 3] : (tensor<1x1x1x36xf32>) -> tensor<1x8x8x36xf32>
    %76 = stablehlo.multiply %69, %75 : tensor<1x8x8x36xf32>
    %77 = stablehlo.reshape %arg31 : (tensor<36xf32>) -> tensor<1x1x1x36xf32>
    %78 = stablehlo.broadcast_in_dim %77, dims = [0, 1, 2, 3] : (tensor<1x1x1x36xf32>) -> tensor<1x8x8x36xf32>
    %79 = stablehlo.add %76, %78 : tensor<1x8x8x36xf32>
    %80 = call @relu6_0(%79) : (tensor<1x8x8x36xf32>) -> tensor<1x8x8x36xf32>
    %81 = stablehlo.convolution(%80, %arg38) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 36 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x36xf32>, tensor<3x3x1x36xf32>) -> tensor<1x8x8x36xf32>
    %82 = stablehlo.broadcast_in_dim %arg10, dims = [3] : (tensor<36xf32>) -> tensor<1x1x1x36xf32>
    %83 = stablehlo.broadcast_in_dim %arg11, dims = [3] : (tensor<36xf32>) -> tensor<1x1x1x36xf32>
    %84 = stablehlo.broadcast_in_dim %82, dims = [0, 1, 2, 3] : (tensor<1x1x1x36xf32>) -> tensor<1x8x8x36xf32>
    %85 = stablehlo.subtract %81, %84 : tensor<1x8x8x36xf32>
    %cst_5 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %86 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<1x1x1x36xf32>
    %87 = stablehlo.add %83, %86 : tensor<1x1x1x36xf32>
    %88 = stablehlo.rsqrt %87 : tensor<1x1x1x36xf32>
    %89 = stablehlo.reshape %arg34 : (tensor<36xf32>) -> tensor<1x1x1x36xf32>
    %90 = stablehlo.multiply %88, %89 : tensor<1x1x1x36xf32>
    %91 = stablehlo.broadcast_in_dim %90, dims = [0, 1, 2, 3] : (tensor<1x1x1x36xf32>) -> tensor<1x8x8x36xf32>
    %92 = stablehlo.multiply %85, %91 : tensor<1x8x8x36xf32>
    %93 = stablehlo.reshape %arg33 : (tensor<36xf32>) -> tensor<1x1x1x36xf32>
    %94 = stablehlo.broadcast_in_dim %93, dims = [0, 1, 2, 3] : (tensor<1x1x1x36xf32>) -> tensor<1x8x8x36xf32>
    %95 = stablehlo.add %92, %94 : tensor<1x8x8x36xf32>
    %96 = call @relu6_0(%95) : (tensor<1x8x8x36xf32>) -> tensor<1x8x8x36xf32>
    %97 = stablehlo.convolution(%96, %arg39) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x36xf32>, tensor<1x1x36x12xf32>) -> tensor<1x8x8x12xf32>
    %98 = stablehlo.broadcast_in_dim %arg12, dims = [3] : (tensor<12xf32>) -> tensor<1x1x1x12xf32>
    %99 = stablehlo.broadcast_in_dim %arg13, dims = [3] : (tensor<12xf32>) -> tensor<1x1x1x12xf32>
    %100 = stablehlo.broadcast_in_dim %98, dims = [0, 1, 2, 3] : (tensor<1x1x1x12xf32>) -> tensor<1x8x8x12xf32>
    %101 = stablehlo.subtract %97, %100 : tensor<1x8x8x12xf32>
    %cst_6 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %102 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<1x1x1x12xf32>
    %103 = stablehlo.add %99, %102 : tensor<1x1x1x12xf32>
    %104 = stablehlo.rsqrt %103 : tensor<1x1x1x12xf32>
    %105 = stablehlo.reshape %arg36 : (tensor<12xf32>) -> tensor<1x1x1x12xf32>
    %106 = stablehlo.multiply %104, %105 : tensor<1x1x1x12xf32>
    %107 = stablehlo.broadcast_in_dim %106, dims = [0, 1, 2, 3] : (tensor<1x1x1x12xf32>) -> tensor<1x8x8x12xf32>
    %108 = stablehlo.multiply %101, %107 : tensor<1x8x8x12xf32>
    %109 = stablehlo.reshape %arg35 : (tensor<12xf32>) -> tensor<1x1x1x12xf32>
    %110 = stablehlo.broadcast_in_dim %109, dims = [0, 1, 2, 3] : (tensor<1x1x1x12xf32>) -> tensor<1x8x8x12xf32>
    %111 = stablehlo.add %108, %110 : tensor<1x8x8x12xf32>
    %112 = stablehlo.add %64, %111 : tensor<1x8x8x12xf32>
    %113 = stablehlo.convolution(%112, %arg46) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x12xf32>, tensor<1x1x12x36xf32>) -> tensor<1x8x8x36xf32>
    %114 = stablehlo.broadcast_in_dim %arg14, dims = [3] : (tensor<36xf32>) -> tensor<1x1x1x36xf32>
    %115 = stablehlo.broadcast_in_dim %arg15, dims = [3] : (tensor<36xf32>) -> tensor<1x1x1x36xf32>
    %116 = stablehlo.broadcast_in_dim %114, dims = [0, 1, 2, 3] : (tensor<1x1x1x36xf32>) -> tensor<1x8x8x36xf32>
    %117 = stablehlo.subtract %113, %116 : tensor<1x8x8x36xf32>
    %cst_7 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %118 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<1x1x1x36xf32>
    %119 = stablehlo.add %115, %118 : tensor<1x1x1x36xf32>
    %120 = stablehlo.rsqrt %119 : tensor<1x1x1x36xf32>
    %121 = stablehlo.reshape %arg41 : (tensor<36xf32>) -> tensor<1x1x1x36xf32>
    %122 = stablehlo.multiply %120, %121 : tensor<1x1x1x36xf32>
    %123 = stablehlo.broadcast_in_dim %122, dims = [0, 1, 2, 3] : (tensor<1x1x1x36xf32>) -> tensor<1x8x8x36xf32>
    %124 = stablehlo.multiply %117, %123 : tensor<1x8x8x36xf32>
    %125 = stablehlo.reshape %arg40 : (tensor<36xf32>) -> tensor<1x1x1x36xf32>
    %126 = stablehlo.broadcast_in_dim %125, dims = [0, 1, 2, 3] : (tensor<1x1x1x36xf32>) -> tensor<1x8x8x36xf32>
    %127 = stablehlo.add %124, %126 : tensor<1x8x8x36xf32>
    %128 = call @relu6_0(%127) : (tensor<1x8x8x36xf32>) -> tensor<1x8x8x36xf32>
    %129 = stablehlo.convolution(%128, %arg47) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 36 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x36xf32>, tensor<3x3x1x36xf32>) -> tensor<1x4x4x36xf32>
    %130 = stablehlo.broadcast_in_dim %arg16, dims = [3] : (tensor<36xf32>) -> tensor<1x1x1x36xf32>
    %131 = stablehlo.broadcast_in_dim %arg17, dims = [3] : (tensor<36xf32>) -> tensor<1x1x1x36xf32>
    %132 = stablehlo.broadcast_in_dim %130, dims = [0, 1, 2, 3] : (tensor<1x1x1x36xf32>) -> tensor<1x4x4x36xf32>
    %133 = stablehlo.subtract %129, %132 : tensor<1x4x4x36xf32>
    %cst_8 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %134 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<1x1x1x36xf32>
    %135 = stablehlo.add %131, %134 : tensor<1x1x1x36xf32>
    %136 = stablehlo.rsqrt %135 : tensor<1x1x1x36xf32>
    %137 = stablehlo.reshape %arg43 : (tensor<36xf32>) -> tensor<1x1x1x36xf32>
    %138 = stablehlo.multiply %136, %137 : tensor<1x1x1x36xf32>
    %139 = stablehlo.broadcast_in_dim %138, dims = [0, 1, 2, 3] : (tensor<1x1x1x36xf32>) -> tensor<1x4x4x36xf32>
    %140 = stablehlo.multiply %133, %139 : tensor<1x4x4x36xf32>
    %141 = stablehlo.reshape %arg42 : (tensor<36xf32>) -> tensor<1x1x1x36xf32>
    %142 = stablehlo.broadcast_in_dim %141, dims = [0, 1, 2, 3] : (tensor<1x1x1x36xf32>) -> tensor<1x4x4x36xf32>
    %143 = stablehlo.add %140, %142 : tensor<1x4x4x36xf32>
    %144 = call @relu6_1(%143) : (tensor<1x4x4x36xf32>) -> tensor<1x4x4x36xf32>
    %145 = stablehlo.convolution(%144, %arg48) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x4x4x36xf32>, tensor<1x1x36x16xf32>) -> tensor<1x4x4x16xf32>
    %146 = stablehlo.broadcast_in_dim %arg18, dims = [3] : (tensor<16xf32>) -> tensor<1x1x1x16xf32>
    %147 = stablehlo.broadcast_in_dim %arg19, dims = [3] : (tensor<16xf32>) -> tensor<1x1x1x16xf32>
    %148 = stablehlo.broadcast_in_dim %146, dims = [0, 1, 2, 3] : (tensor<1x1x1x16xf32>) -> tensor<1x4x4x16xf32>
    %149 = stablehlo.subtract %145, %148 : tensor<1x4x4x16xf32>
    %cst_9 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %150 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<1x1x1x16xf32>
    %151 = stablehlo.add %147, %150 : tensor<1x1x1x16xf32>
    %152 = stablehlo.rsqrt %151 : tensor<1x1x1x16xf32>
    %153 = stablehlo.reshape %arg45 : (tensor<16xf32>) -> tensor<1x1x1x16xf32>
    %154 = stablehlo.multiply %152, %153 : tensor<1x1x1x16xf32>
    %155 = stablehlo.broadcast_in_dim %154, dims = [0, 1, 2, 3] : (tensor<1x1x1x16xf32>) -> tensor<1x4x4x16xf32>
    %156 = stablehlo.multiply %149, %155 : tensor<1x4x4x16xf32>
    %157 = stablehlo.reshape %arg44 : (tensor<16xf32>) -> tensor<1x1x1x16xf32>
    %158 = stablehlo.broadcast_in_dim %157, dims = [0, 1, 2, 3] : (tensor<1x1x1x16xf32>) -> tensor<1x4x4x16xf32>
    %159 = stablehlo.add %156, %158 : tensor<1x4x4x16xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %160 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<f32>
    %161 = "stablehlo.reduce_window"(%159, %160) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg53: tensor<f32>, %arg54: tensor<f32>):
      %181 = stablehlo.add %arg53, %arg54 : tensor<f32>
      stablehlo.return %181 : tensor<f32>
    }) : (tensor<1x4x4x16xf32>, tensor<f32>) -> tensor<1x2x2x16xf32>
    %cst_11 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %162 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<1x2x2x16xf32>
    %163 = stablehlo.divide %161, %162 : tensor<1x2x2x16xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %164 = stablehlo.reduce(%163 init: %cst_12) applies stablehlo.add across dimensions = [1, 2] : (tensor<1x2x2x16xf32>, tensor<f32>) -> tensor<1x16xf32>
    %cst_13 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %165 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<1x16xf32>
    %166 = stablehlo.divide %164, %165 : tensor<1x16xf32>
    %167 = stablehlo.dot_general %166, %arg51, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x16xf32>, tensor<16x10xf32>) -> tensor<1x10xf32>
    %168 = stablehlo.reshape %arg50 : (tensor<10xf32>) -> tensor<1x10xf32>
    %169 = stablehlo.add %167, %168 : tensor<1x10xf32>
    %cst_14 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %170 = stablehlo.reduce(%169 init: %cst_14) applies stablehlo.maximum across dimensions = [1] : (tensor<1x10xf32>, tensor<f32>) -> tensor<1xf32>
    %cst_15 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %171 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %172 = stablehlo.maximum %171, %170 : tensor<1xf32>
    %173 = stablehlo.broadcast_in_dim %172, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %174 = stablehlo.broadcast_in_dim %173, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x10xf32>
    %175 = stablehlo.subtract %169, %174 : tensor<1x10xf32>
    %176 = stablehlo.exponential %175 : tensor<1x10xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %177 = stablehlo.reduce(%176 init: %cst_16) applies stablehlo.add across dimensions = [1] : (tensor<1x10xf32>, tensor<f32>) -> tensor<1xf32>
    %178 = stablehlo.broadcast_in_dim %177, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %179 = stablehlo.broadcast_in_dim %178, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x10xf32>
    %180 = stablehlo.divide %176, %179 : tensor<1x10xf32>
    return %180 : tensor<1x10xf32>
  }
  func.func private @relu(%arg0: tensor<1x16x16x8xf32>) -> tensor<1x16x16x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x16x16x8xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<1x16x16x8xf32>
    return %1 : tensor<1x16x16x8xf32>
  }
  func.func private @relu6(%arg0: tensor<1x8x8x24xf32>) -> tensor<1x8x8x24xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x8x8x24xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<1x8x8x24xf32>
    %cst_0 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x8x8x24xf32>
    %3 = stablehlo.minimum %1, %2 : tensor<1x8x8x24xf32>
    return %3 : tensor<1x8x8x24xf32>
  }
  func.func private @relu6_0(%arg0: tensor<1x8x8x36xf32>) -> tensor<1x8x8x36xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x8x8x36xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<1x8x8x36xf32>
    %cst_0 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x8x8x36xf32>
    %3 = stablehlo.minimum %1, %2 : tensor<1x8x8x36xf32>
    return %3 : tensor<1x8x8x36xf32>
  }
  func.func private @relu6_1(%arg0: tensor<1x4x4x36xf32>) -> tensor<1x4x4x36xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x4x4x36xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<1x4x4x36xf32>
    %cst_0 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x4x4x36xf32>
    %3 = stablehlo.minimum %1, %2 : tensor<1x4x4x36xf32>
    return %3 : tensor<1x4x4x36xf32>
  }
}
