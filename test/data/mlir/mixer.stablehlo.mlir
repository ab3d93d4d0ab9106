module @jit_apply attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16xf32>, %arg1: tensor<4x4x3x16xf32>, %arg2: tensor<10xf32>, %arg3: tensor<16x10xf32>, %arg4: tensor<16xf32>, %arg5: tensor<16xf32>, %arg6: tensor<16xf32>, %arg7: tensor<16xf32>, %arg8: tensor<16xf32>, %arg9: tensor<16xf32>, %arg10: tensor<16xf32>, %arg11: tensor<16xf32>, %arg12: tensor<16xf32>, %arg13: tensor<16xf32>, %arg14: tensor<24xf32>, %arg15: tensor<16x24xf32>, %arg16: tensor<16xf32>, %arg17: tensor<24x16xf32>, %arg18: tensor<32xf32>, %arg19: tensor<16x32xf32>, %arg20: tensor<16xf32>, %arg21: tensor<32x16xf32>, %arg22: tensor<24xf32>, %arg23: tensor<16x24xf32>, %arg24: tensor<16xf32>, %arg25: tensor<24x16xf32>, %arg26: tensor<32xf32>, %arg27: tensor<16x32xf32>, %arg28: tensor<16xf32>, %arg29: tensor<32x16xf32>, %arg30: tensor<1x16x16x3xf32>) -> (tensor<1x10xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg30, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [4, 4], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x16x16x3xf32>, tensor<4x4x3x16xf32>) -> tensor<1x4x4x16xf32>
    %1 = stablehlo.reshape %arg0 : (tensor<16xf32>) -> tensor<1x1x1x16xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3] : (tensor<1x1x1x16xf32>) -> tensor<1x4x4x16xf32>
    %3 = stablehlo.add %0, %2 : tensor<1x4x4x16xf32>
    %4 = stablehlo.reshape %3 : (tensor<1x4x4x16xf32>) -> tensor<1x16x16xf32>
    %5 = chlo.square %4 : tensor<1x16x16xf32> -> tensor<1x16x16xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%4 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<1x16x16xf32>, tensor<f32>) -> tensor<1x16xf32>
    %cst_0 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x16xf32>
    %8 = stablehlo.divide %6, %7 : tensor<1x16xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%5 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<1x16x16xf32>, tensor<f32>) -> tensor<1x16xf32>
    %cst_2 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x16xf32>
    %11 = stablehlo.divide %9, %10 : tensor<1x16xf32>
    %12 = chlo.square %8 : tensor<1x16xf32> -> tensor<1x16xf32>
    %13 = stablehlo.subtract %11, %12 : tensor<1x16xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x16xf32>
    %15 = stablehlo.maximum %14, %13 : tensor<1x16xf32>
    %16 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<1x16x1xf32>
    %17 = stablehlo.broadcast_in_dim %15, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<1x16x1xf32>
    %18 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2] : (tensor<1x16x1xf32>) -> tensor<1x16x16xf32>
    %19 = stablehlo.subtract %4, %18 : tensor<1x16x16xf32>
    %cst_4 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<1x16x1xf32>
    %21 = stablehlo.add %17, %20 : tensor<1x16x1xf32>
    %22 = stablehlo.rsqrt %21 : tensor<1x16x1xf32>
    %23 = stablehlo.reshape %arg5 : (tensor<16xf32>) -> tensor<1x1x16xf32>
    %24 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2] : (tensor<1x16x1xf32>) -> tensor<1x16x16xf32>
    %25 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2] : (tensor<1x1x16xf32>) -> tensor<1x16x16xf32>
    %26 = stablehlo.multiply %24, %25 : tensor<1x16x16xf32>
    %27 = stablehlo.multiply %19, %26 : tensor<1x16x16xf32>
    %28 = stablehlo.reshape %arg4 : (tensor<16xf32>) -> tensor<1x1x16xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2] : (tensor<1x1x16xf32>) -> tensor<1x16x16xf32>
    %30 = stablehlo.add %27, %29 : tensor<1x16x16xf32>
    %31 = stablehlo.transpose %30, dims = [0, 2, 1] : (tensor<1x16x16xf32>) -> tensor<1x16x16xf32>
    %32 = stablehlo.dot_general %31, %arg15, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x16x16xf32>, tensor<16x24xf32>) -> tensor<1x16x24xf32>
    %33 = stablehlo.reshape %arg14 : (tensor<24xf32>) -> tensor<1x1x24xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [0, 1, 2] : (tensor<1x1x24xf32>) -> tensor<1x16x24xf32>
    %35 = stablehlo.add %32, %34 : tensor<1x16x24xf32>
    %cst_5 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<1x16x24xf32>
    %37 = stablehlo.multiply %36, %35 : tensor<1x16x24xf32>
    %38 = stablehlo.negate %35 : tensor<1x16x24xf32>
    %cst_6 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<1x16x24xf32>
    %40 = stablehlo.multiply %38, %39 : tensor<1x16x24xf32>
    %41 = chlo.erfc %40 : tensor<1x16x24xf32> -> tensor<1x16x24xf32>
    %42 = stablehlo.multiply %37, %41 : tensor<1x16x24xf32>
    %43 = stablehlo.dot_general %42, %arg17, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x16x24xf32>, tensor<24x16xf32>) -> tensor<1x16x16xf32>
    %44 = stablehlo.reshape %arg16 : (tensor<16xf32>) -> tensor<1x1x16xf32>
    %45 = stablehlo.broadcast_in_dim %44, dims = [0, 1, 2] : (tensor<1x1x16xf32>) -> tensor<1x16x16xf32>
    %46 = stablehlo.add %43, %45 : tensor<1x16x16xf32>
    %47 = stablehlo.transpose %46, dims = [0, 2, 1] : (tensor<1x16x16xf32>) -> tensor<1x16x16xf32>
    %48 = stablehlo.add %4, %47 : tensor<1x16x16xf32>
    %49 = chlo.square %48 : tensor<1x16x16xf32> -> tensor<1x16x16xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %50 = stablehlo.reduce(%48 init: %cst_7) applies stablehlo.add across dimensions = [2] : (tensor<1x16x16xf32>, tensor<f32>) -> tensor<1x16xf32>
    %cst_8 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<1x16xf32>
    %52 = stablehlo.divide %50, %51 : tensor<1x16xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %53 = stablehlo.reduce(%49 init: %cst_9) applies stablehlo.add across dimensions = [2] : (tensor<1x16x16xf32>, tensor<f32>) -> tensor<1x16xf32>
    %cst_10 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<1x16xf32>
    %55 = stablehlo.divide %53, %54 : tensor<1x16xf32>
    %56 = chlo.square %52 : tensor<1x16xf32> -> tensor<1x16xf32>
    %57 = stablehlo.subtract %55, %56 : tensor<1x16xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<1x16xf32>
    %59 = stablehlo.maximum %58, %57 : tensor<1x16xf32>
    %60 = stablehlo.broadcast_in_dim %52, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<1x16x1xf32>
    %61 = stablehlo.broadcast_in_dim %59, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<1x16x1xf32>
    %62 = stablehlo.broadcast_in_dim %60, dims = [0, 1, 2] : (tensor<1x16x1xf32>) -> tensor<1x16x16xf32>
    %63 = stablehlo.subtract %48, %62 : tensor<1x16x16xf32>
    %cst_12 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %64 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<1x16x1xf32>
    %65 = stablehlo.add %61, %64 : tensor<1x16x1xf32>
    %66 = stablehlo.rsqrt %65 : tensor<1x16x1xf32>
    %67 = stablehlo.reshape %arg7 : (tensor<16xf32>) -> tensor<1x1x16xf32>
    %68 = stablehlo.broadcast_in_dim %66, dims = [0, 1, 2] : (tensor<1x16x1xf32>) -> tensor<1x16x16xf32>
    %69 = stablehlo.broadcast_in_dim %67, dims = [0, 1, 2] : (tensor<1x1x16xf32>) -> tensor<1x16x16xf32>
    %70 = stablehlo.multiply %68, %69 : tensor<1x16x16xf32>
    %71 = stablehlo.multiply %63, %70 : tensor<1x16x16xf32>
    %72 = stablehlo.reshape %arg6 : (tensor<16xf32>) -> tensor<1x1x16xf32>
    %73 = stablehlo.broadcast_in_dim %72, dims = [0, 1, 2] : (tensor<1x1x16xf32>) -> tensor<1x16x16xf32>
    %74 = stablehlo.add %71, %73 : tensor<1x16x16xf32>
    %75 = stablehlo.dot_general %74, %arg19, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x16x16xf32>, tensor<16x32xf32>) -> tensor<1x16x32xf32>
    %76 = stablehlo.reshape %arg18 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %77 = stablehlo.broadcast_in_dim %76, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<1x16x32xf32>
    %78 = stablehlo.add %75, %77 : tensor<1x16x32xf32>
    %cst_13 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %79 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<1x16x32xf32>
    %80 = stablehlo.multiply %79, %78 : tensor<1x16x32xf32>
    %81 = stablehlo.negate %78 : tensor<1x16x32xf32>
    %cst_14 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %82 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<1x16x32xf32>
    %83 = stablehlo.multiply %81, %82 : tensor<1x16x32xf32>
    %84 = chlo.erfc %83 : tensor<1x16x32xf32> -> tensor<1x16x32xf32>
    %85 = stablehlo.multiply %80, %84 : tensor<1x16x32xf32>
    %86 = stablehlo.dot_general %85, %arg21, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x16x32xf32>, tensor<32x16xf32>) -> tensor<1x16x16xf32>
    %87 = stablehlo.reshape %arg20 : (tensor<16xf32>) -> tensor<1x1x16xf32>
    %88 = stablehlo.broadcast_in_dim %87, dims = [0, 1, 2] : (tensor<1x1x16xf32>) -> tensor<1x16x16xf32>
    %89 = stablehlo.add %86, %88 : tensor<1x16x16xf32>
    %90 = stablehlo.add %48, %89 : tensor<1x16x16xf32>
    %91 = chlo.square %90 : tensor<1x16x16xf32> -> tensor<1x16x16xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %92 = stablehlo.reduce(%90 init: %cst_15) applies stablehlo.add across dimensions = [2] : (tensor<1x16x16xf32>, tensor<f32>) -> tensor<1x16xf32>
    %cst_16 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %93 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<1x16xf32>
    %94 = stablehlo.divide %92, %93 : tensor<1x16xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %95 = stablehlo.reduce(%91 init: %cst_17) applies stablehlo.add across dimensions = [2] : (tensor<1x16x16xf32>, tensor<f32>) -> tensor<1x16xf32>
    %cst_18 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %96 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<1x16xf32>
    %97 = stablehlo.divide %95, %96 : tensor<1x16xf32>
    %98 = chlo.square %94 : tensor<1x16xf32> -> tensor<1x16xf32>
    %99 = stablehlo.subtract %97, %98 : tensor<1x16xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %100 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<1x16xf32>
    %101 = stablehlo.maximum %100, %99 : tensor<1x16xf32>
    %102 = stablehlo.broadcast_in_dim %94, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<1x16x1xf32>
    %103 = stablehlo.broadcast_in_dim %101, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<1x16x1xf32>
    %104 = stablehlo.broadcast_in_dim %102, dims = [0, 1, 2] : (tensor<1x16x1xf32>) -> tensor<1x16x16xf32>
    %105 = stablehlo.subtract %90, %104 : tensor<1x16x16xf32>
    %cst_20 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %106 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<1x16x1xf32>
    %107 = stablehlo.add %103, %106 : tensor<1x16x1xf32>
    %108 = stablehlo.rsqrt %107 : tensor<1x16x1xf32>
    %109 = stablehlo.reshape %arg9 : (tensor<16xf32>) -> tensor<1x1x16xf32>
    %110 = stablehlo.broadcast_in_dim %108, dims = [0, 1, 2] : (tensor<1x16x1xf32>) -> tensor<1x16x16xf32>
    %111 = stablehlo.broadcast_in_dim %109, dims = [0, 1, 2] : (tensor<1x1x16xf32>) -> tensor<1x16x16xf32>
    %112 = stablehlo.multiply %110, %111 : tensor<1x16x16xf32>
    %113 = stablehlo.multiply %105, %112 : tensor<1x16x16xf32>
    %114 = stablehlo.reshape %arg8 : (tensor<16xf32>) -> tensor<1x1x16xf32>
    %115 = stablehlo.broadcast_in_dim %114, dims = [0, 1, 2] : (tensor<1x1x16xf32>) -> tensor<1x16x16xf32>
    %116 = stablehlo.add %113, %115 : tensor<1x16x16xf32>
    %117 = stablehlo.transpose %116, dims = [0, 2, 1] : (tensor<1x16x16xf32>) -> tensor<1x16x16xf32>
    %118 = stablehlo.dot_general %117, %arg23, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x16x16xf32>, tensor<16x24xf32>) -> tensor<1x16x24xf32>
    %119 = stablehlo.reshape %arg22 : (tensor<24xf32>) -> tensor<1x1x24xf32>
    %120 = stablehlo.broadcast_in_dim %119, dims = [0, 1, 2] : (tensor<1x1x24xf32>) -> tensor<1x16x24xf32>
    %121 = stablehlo.add %118, %120 : tensor<1x16x24xf32>
    %cst_21 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %122 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<1x16x24xf32>
    %123 = stablehlo.multiply %122, %121 : tensor<1x16x24xf32>
    %124 = stablehlo.negate %121 : tensor<1x16x24xf32>
    %cst_22 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %125 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<1x16x24xf32>
    %126 = stablehlo.multiply %124, %125 : tensor<1x16x24xf32>
    %127 = chlo.erfc %126 : tensor<1x16x24xf32> -> tensor<1x16x24xf32>
    %128 = stablehlo.multiply %123, %127 : tensor<1x16x24xf32>
    %129 = stablehlo.dot_general %128, %arg25, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x16x24xf32>, tensor<24x16xf32>) -> tensor<1x16x16xf32>
    %130 = stablehlo.reshape %arg24 : (tensor<16xf32>) -> tensor<1x1x16xf32>
    %131 = stablehlo.broadcast_in_dim %130, dims = [0, 1, 2] : (tensor<1x1x16xf32>) -> tensor<1x16x16xf32>
    %132 = stablehlo.add %129, %131 : tensor<1x16x16xf32>
    %133 = stablehlo.transpose %132, dims = [0, 2, 1] : (tensor<1x16x16xf32>) -> tensor<1x16x16xf32>
    %134 = stablehlo.add %90, %133 : tensor<1x16x16xf32>
    %135 = chlo.square %134 : tensor<1x16x16xf32> -> tensor<1x16x16xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %136 = stablehlo.reduce(%134 init: %cst_23) applies stablehlo.add across dimensions = [2] : (tensor<1x16x16xf32>, tensor<f32>) -> tensor<1x16xf32>
    %cst_24 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %137 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<1x16xf32>
    %138 = stablehlo.divide %136, %137 : tensor<1x16xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %139 = stablehlo.reduce(%135 init: %cst_25) applies stablehlo.add across dimensions = [2] : (tensor<1x16x16xf32>, tensor<f32>) -> tensor<1x16xf32>
    %cst_26 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %140 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<1x16xf32>
    %141 = stablehlo.divide %139, %140 : tensor<1x16xf32>
    %142 = chlo.square %138 : tensor<1x16xf32> -> tensor<1x16xf32>
    %143 = stablehlo.subtract %141, %142 : tensor<1x16xf32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %144 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<1x16xf32>
    %145 = stablehlo.maximum %144, %143 : tensor<1x16xf32>
    %146 = stablehlo.broadcast_in_dim %138, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<1x16x1xf32>
    %147 = stablehlo.broadcast_in_dim %145, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<1x16x1xf32>
    %148 = stablehlo.broadcast_in_dim %146, dims = [0, 1, 2] : (tensor<1x16x1xf32>) -> tensor<1x16x16xf32>
    %149 = stablehlo.subtract %134, %148 : tensor<1x16x16xf32>
    %cst_28 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %150 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<1x16x1xf32>
    %151 = stablehlo.add %147, %150 : tensor<1x16x1xf32>
    %152 = stablehlo.rsqrt %151 : tensor<1x16x1xf32>
    %153 = stablehlo.reshape %arg11 : (tensor<16xf32>) -> tensor<1x1x16xf32>
    %154 = stablehlo.broadcast_in_dim %152, dims = [0, 1, 2] : (tensor<1x16x1xf32>) -> tensor<1x16x16xf32>
    %155 = stablehlo.broadcast_in_dim %153, dims = [0, 1, 2] : (tensor<1x1x16xf32>) -> tensor<1x16x16xf32>
    %156 = stablehlo.multiply %154, %155 : tensor<1x16x16xf32>
    %157 = stablehlo.multiply %149, %156 : tensor<1x16x16xf32>
    %158 = stablehlo.reshape %arg10 : (tensor<16xf32>) -> tensor<1x1x16xf32>
    %159 = stablehlo.broadcast_in_dim %158, dims = [0, 1, 2] : (tensor<1x1x16xf32>) -> tensor<1x16x16xf32>
    %160 = stablehlo.add %157, %159 : tensor<1x16x16xf32>
    %161 = stablehlo.dot_general %160, %arg27, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x16x16xf32>, tensor<16x32xf32>) -> tensor<1x16x32xf32>
    %162 = stablehlo.reshape %arg26 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %163 = stablehlo.broadcast_in_dim %162, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<1x16x32xf32>
    %164 = stablehlo.add %161, %163 : tensor<1x16x32xf32>
    %cst_29 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %165 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<1x16x32xf32>
    %166 = stablehlo.multiply %165, %164 : tensor<1x16x32xf32>
    %167 = stablehlo.negate %164 : tensor<1x16x32xf32>
    %cst_30 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %168 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<1x16x32xf32>
    %169 = stablehlo.multiply %167, %168 : tensor<1x16x32xf32>
    %170 = chlo.erfc %169 : tensor<1x16x32xf32> -> tensor<1x16x32xf32>
    %171 = stablehlo.multiply %166, %170 : tensor<1x16x32xf32>
    %172 = stablehlo.dot_general %171, %arg29, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x16x32xf32>, tensor<32x16xf32>) -> tensor<1x16x16xf32>
    %173 = stablehlo.reshape %arg28 : (tensor<16xf32>) -> tensor<1x1x16xf32>
    %174 = stablehlo.broadcast_in_dim %173, dims = [0, 1, 2] : (tensor<1x1x16xf32>) -> tensor<1x16x16xf32>
    %175 = stablehlo.add %172, %174 : tensor<1x16x16xf32>
    %176 = stablehlo.add %134, %175 : tensor<1x16x16xf32>
    %177 = chlo.square %176 : tensor<1x16x16xf32> -> tensor<1x16x16xf32>
    %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %178 = stablehlo.reduce(%176 init: %cst_31) applies stablehlo.add across dimensions = [2] : (tensor<1x16x16xf32>, tensor<f32>) -> tensor<1x16xf32>
    %cst_32 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %179 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<1x16xf32>
    %180 = stablehlo.divide %178, %179 : tensor<1x16xf32>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %181 = stablehlo.reduce(%177 init: %cst_33) applies stablehlo.add across dimensions = [2] : (tensor<1x16x16xf32>, tensor<f32>) -> tensor<1x16xf32>
    %cst_34 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %182 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<1x16xf32>
    %183 = stablehlo.divide %181, %182 : tensor<1x16xf32>
    %184 = chlo.square %180 : tensor<1x16xf32> -> tensor<1x16xf32>
    %185 = stablehlo.subtract %183, %184 : tensor<1x16xf32>
    %cst_35 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %186 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<1x16xf32>
    %187 = stablehlo.maximum %186, %185 : tensor<1x16xf32>
    %188 = stablehlo.broadcast_in_dim %180, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<1x16x1xf32>
    %189 = stablehlo.broadcast_in_dim %187, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<1x16x1xf32>
    %190 = stablehlo.broadcast_in_dim %188, dims = [0, 1, 2] : (tensor<1x16x1xf32>) -> tensor<1x16x16xf32>
    %191 = stablehlo.subtract %176, %190 : tensor<1x16x16xf32>
    %cst_36 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %192 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<1x16x1xf32>
    %193 = stablehlo.add %189, %192 : tensor<1x16x1xf32>
    %194 = stablehlo.rsqrt %193 : tensor<1x16x1xf32>
    %195 = stablehlo.reshape %arg13 : (tensor<16xf32>) -> tensor<1x1x16xf32>
    %196 = stablehlo.broadcast_in_dim %194, dims = [0, 1, 2] : (tensor<1x16x1xf32>) -> tensor<1x16x16xf32>
    %197 = stablehlo.broadcast_in_dim %195, dims = [0, 1, 2] : (tensor<1x1x16xf32>) -> tensor<1x16x16xf32>
    %198 = stablehlo.multiply %196, %197 : tensor<1x16x16xf32>
    %199 = stablehlo.multiply %191, %198 : tensor<1x16x16xf32>
    %200 = stablehlo.reshape %arg12 : (tensor<16xf32>) -> tensor<1x1x16xf32>
    %201 = stablehlo.broadcast_in_dim %200, dims = [0, 1, 2] : (tensor<1x1x16xf32>) -> tensor<1x16x16xf32>
    %202 = stablehlo.add %199, %201 : tensor<1x16x16xf32>
    %cst_37 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %203 = stablehlo.reduce(%202 init: %cst_37) applies stablehlo.add across dimensions = [1] : (tensor<1x16x16xf32>, tensor<f32>) -> tensor<1x16xf32>
    %cst_38 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %204 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<1x16xf32>
    %205 = stablehlo.divide %203, %204 : tensor<1x16xf32>
    %206 = stablehlo.dot_general %205, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x16xf32>, tensor<16x10xf32>) -> tensor<1x10xf32>
    %207 = stablehlo.reshape %arg2 : (tensor<10xf32>) -> tensor<1x10xf32>
    %208 = stablehlo.add %206, %207 : tensor<1x10xf32>
    return %208 : tensor<1x10xf32>
  }
}
