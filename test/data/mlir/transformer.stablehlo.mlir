module @jit_apply attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<96xf32>, %arg1: tensor<32x96xf32>, %arg2: tensor<32xf32>, %arg3: tensor<32x32xf32>, %arg4: tensor<128xf32>, %arg5: tensor<32x128xf32>, %arg6: tensor<32xf32>, %arg7: tensor<128x32xf32>, %arg8: tensor<32xf32>, %arg9: tensor<32xf32>, %arg10: tensor<32xf32>, %arg11: tensor<32xf32>, %arg12: tensor<1x12x32xf32>) -> (tensor<1x12x32xf32> {jax.result_info = "result"}) {
    %0 = chlo.square %arg12 : tensor<1x12x32xf32> -> tensor<1x12x32xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%arg12 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<1x12x32xf32>, tensor<f32>) -> tensor<1x12xf32>
    %cst_0 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x12xf32>
    %3 = stablehlo.divide %1, %2 : tensor<1x12xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%0 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<1x12x32xf32>, tensor<f32>) -> tensor<1x12xf32>
    %cst_2 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x12xf32>
    %6 = stablehlo.divide %4, %5 : tensor<1x12xf32>
    %7 = chlo.square %3 : tensor<1x12xf32> -> tensor<1x12xf32>
    %8 = stablehlo.subtract %6, %7 : tensor<1x12xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x12xf32>
    %10 = stablehlo.maximum %9, %8 : tensor<1x12xf32>
    %11 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<1x12x1xf32>
    %12 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<1x12x1xf32>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x32xf32>
    %14 = stablehlo.subtract %arg12, %13 : tensor<1x12x32xf32>
    %cst_4 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<1x12x1xf32>
    %16 = stablehlo.add %12, %15 : tensor<1x12x1xf32>
    %17 = stablehlo.rsqrt %16 : tensor<1x12x1xf32>
    %18 = stablehlo.reshape %arg9 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %19 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x32xf32>
    %20 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<1x12x32xf32>
    %21 = stablehlo.multiply %19, %20 : tensor<1x12x32xf32>
    %22 = stablehlo.multiply %14, %21 : tensor<1x12x32xf32>
    %23 = stablehlo.reshape %arg8 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<1x12x32xf32>
    %25 = stablehlo.add %22, %24 : tensor<1x12x32xf32>
    %26 = stablehlo.dot_general %25, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x12x32xf32>, tensor<32x96xf32>) -> tensor<1x12x96xf32>
    %27 = stablehlo.reshape %arg0 : (tensor<96xf32>) -> tensor<1x1x96xf32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [0, 1, 2] : (tensor<1x1x96xf32>) -> tensor<1x12x96xf32>
    %29 = stablehlo.add %26, %28 : tensor<1x12x96xf32>
    %30 = stablehlo.slice %29 [0:1, 0:12, 0:32] : (tensor<1x12x96xf32>) -> tensor<1x12x32xf32>
    %31 = stablehlo.slice %29 [0:1, 0:12, 32:64] : (tensor<1x12x96xf32>) -> tensor<1x12x32xf32>
    %32 = stablehlo.slice %29 [0:1, 0:12, 64:96] : (tensor<1x12x96xf32>) -> tensor<1x12x32xf32>
    %33 = stablehlo.reshape %30 : (tensor<1x12x32xf32>) -> tensor<1x12x4x8xf32>
    %34 = stablehlo.transpose %33, dims = [0, 2, 1, 3] : (tensor<1x12x4x8xf32>) -> tensor<1x4x12x8xf32>
    %35 = stablehlo.reshape %31 : (tensor<1x12x32xf32>) -> tensor<1x12x4x8xf32>
    %36 = stablehlo.transpose %35, dims = [0, 2, 1, 3] : (tensor<1x12x4x8xf32>) -> tensor<1x4x12x8xf32>
    %37 = stablehlo.reshape %32 : (tensor<1x12x32xf32>) -> tensor<1x12x4x8xf32>
    %38 = stablehlo.transpose %37, dims = [0, 2, 1, 3] : (tensor<1x12x4x8xf32>) -> tensor<1x4x12x8xf32>
    %39 = stablehlo.dot_general %34, %36, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x4x12x8xf32>, tensor<1x4x12x8xf32>) -> tensor<1x4x12x12xf32>
    %cst_5 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %40 = stablehlo.sqrt %cst_5 : tensor<f32>
    %41 = stablehlo.convert %40 : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %41, dims = [] : (tensor<f32>) -> tensor<1x4x12x12xf32>
    %43 = stablehlo.divide %39, %42 : tensor<1x4x12x12xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %44 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<12x12xi1>
    %45 = call @tril(%44) : (tensor<12x12xi1>) -> tensor<12x12xi1>
    %cst_6 = stablehlo.constant dense<-3.40282347E+38> : tensor<f32>
    %46 = call @_where(%45, %43, %cst_6) : (tensor<12x12xi1>, tensor<1x4x12x12xf32>, tensor<f32>) -> tensor<1x4x12x12xf32>
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %47 = stablehlo.reduce(%46 init: %cst_7) applies stablehlo.maximum across dimensions = [3] : (tensor<1x4x12x12xf32>, tensor<f32>) -> tensor<1x4x12xf32>
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<1x4x12xf32>
    %49 = stablehlo.maximum %48, %47 : tensor<1x4x12xf32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [0, 1, 2] : (tensor<1x4x12xf32>) -> tensor<1x4x12x1xf32>
    %51 = stablehlo.broadcast_in_dim %50, dims = [0, 1, 2, 3] : (tensor<1x4x12x1xf32>) -> tensor<1x4x12x12xf32>
    %52 = stablehlo.subtract %46, %51 : tensor<1x4x12x12xf32>
    %53 = stablehlo.exponential %52 : tensor<1x4x12x12xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %54 = stablehlo.reduce(%53 init: %cst_9) applies stablehlo.add across dimensions = [3] : (tensor<1x4x12x12xf32>, tensor<f32>) -> tensor<1x4x12xf32>
    %55 = stablehlo.broadcast_in_dim %54, dims = [0, 1, 2] : (tensor<1x4x12xf32>) -> tensor<1x4x12x1xf32>
    %56 = stablehlo.broadcast_in_dim %55, dims = [0, 1, 2, 3] : (tensor<1x4x12x1xf32>) -> tensor<1x4x12x12xf32>
    %57 = stablehlo.divide %53, %56 : tensor<1x4x12x12xf32>
    %58 = stablehlo.dot_general %57, %38, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x4x12x12xf32>, tensor<1x4x12x8xf32>) -> tensor<1x4x12x8xf32>
    %59 = stablehlo.transpose %58, dims = [0, 2, 1, 3] : (tensor<1x4x12x8xf32>) -> tensor<1x12x4x8xf32>
    %60 = stablehlo.reshape %59 : (tensor<1x12x4x8xf32>) -> tensor<1x12x32xf32>
    %61 = stablehlo.dot_general %60, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x12x32xf32>, tensor<32x32xf32>) -> tensor<1x12x32xf32>
    %62 = stablehlo.reshape %arg2 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %63 = stablehlo.broadcast_in_dim %62, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<1x12x32xf32>
    %64 = stablehlo.add %61, %63 : tensor<1x12x32xf32>
    %65 = stablehlo.add %arg12, %64 : tensor<1x12x32xf32>
    %66 = chlo.square %65 : tensor<1x12x32xf32> -> tensor<1x12x32xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %67 = stablehlo.reduce(%65 init: %cst_10) applies stablehlo.add across dimensions = [2] : (tensor<1x12x32xf32>, tensor<f32>) -> tensor<1x12xf32>
    %cst_11 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<1x12xf32>
    %69 = stablehlo.divide %67, %68 : tensor<1x12xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %70 = stablehlo.reduce(%66 init: %cst_12) applies stablehlo.add across dimensions = [2] : (tensor<1x12x32xf32>, tensor<f32>) -> tensor<1x12xf32>
    %cst_13 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %71 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<1x12xf32>
    %72 = stablehlo.divide %70, %71 : tensor<1x12xf32>
    %73 = chlo.square %69 : tensor<1x12xf32> -> tensor<1x12xf32>
    %74 = stablehlo.subtract %72, %73 : tensor<1x12xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<1x12xf32>
    %76 = stablehlo.maximum %75, %74 : tensor<1x12xf32>
    %77 = stablehlo.broadcast_in_dim %69, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<1x12x1xf32>
    %78 = stablehlo.broadcast_in_dim %76, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<1x12x1xf32>
    %79 = stablehlo.broadcast_in_dim %77, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x32xf32>
    %80 = stablehlo.subtract %65, %79 : tensor<1x12x32xf32>
    %cst_15 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %81 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<1x12x1xf32>
    %82 = stablehlo.add %78, %81 : tensor<1x12x1xf32>
    %83 = stablehlo.rsqrt %82 : tensor<1x12x1xf32>
    %84 = stablehlo.reshape %arg11 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %85 = stablehlo.broadcast_in_dim %83, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x32xf32>
    %86 = stablehlo.broadcast_in_dim %84, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<1x12x32xf32>
    %87 = stablehlo.multiply %85, %86 : tensor<1x12x32xf32>
    %88 = stablehlo.multiply %80, %87 : tensor<1x12x32xf32>
    %89 = stablehlo.reshape %arg10 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %90 = stablehlo.broadcast_in_dim %89, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<1x12x32xf32>
    %91 = stablehlo.add %88, %90 : tensor<1x12x32xf32>
    %92 = stablehlo.dot_general %91, %arg5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x12x32xf32>, tensor<32x128xf32>) -> tensor<1x12x128xf32>
    %93 = stablehlo.reshape %arg4 : (tensor<128xf32>) -> tensor<1x1x128xf32>
    %94 = stablehlo.broadcast_in_dim %93, dims = [0, 1, 2] : (tensor<1x1x128xf32>) -> tensor<1x12x128xf32>
    %95 = stablehlo.add %92, %94 : tensor<1x12x128xf32>
    %96 = stablehlo.multiply %95, %95 : tensor<1x12x128xf32>
    %97 = stablehlo.multiply %96, %95 : tensor<1x12x128xf32>
    %cst_16 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %98 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<1x12x128xf32>
    %99 = stablehlo.multiply %98, %97 : tensor<1x12x128xf32>
    %100 = stablehlo.add %95, %99 : tensor<1x12x128xf32>
    %cst_17 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %101 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<1x12x128xf32>
    %102 = stablehlo.multiply %101, %100 : tensor<1x12x128xf32>
    %103 = stablehlo.tanh %102 : tensor<1x12x128xf32>
    %cst_18 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %104 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<1x12x128xf32>
    %105 = stablehlo.add %104, %103 : tensor<1x12x128xf32>
    %cst_19 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %106 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<1x12x128xf32>
    %107 = stablehlo.multiply %106, %105 : tensor<1x12x128xf32>
    %108 = stablehlo.multiply %95, %107 : tensor<1x12x128xf32>
    %109 = stablehlo.dot_general %108, %arg7, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x12x128xf32>, tensor<128x32xf32>) -> tensor<1x12x32xf32>
    %110 = stablehlo.reshape %arg6 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %111 = stablehlo.broadcast_in_dim %110, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<1x12x32xf32>
    %112 = stablehlo.add %109, %111 : tensor<1x12x32xf32>
    %113 = stablehlo.add %65, %112 : tensor<1x12x32xf32>
    return %113 : tensor<1x12x32xf32>
  }
  func.func private @tril(%arg0: tensor<12x12xi1>) -> tensor<12x12xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<12x12xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<12x12xi32>
    %2 = stablehlo.add %0, %1 : tensor<12x12xi32>
    %3 = stablehlo.iota dim = 1 : tensor<12x12xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<12x12xi32>, tensor<12x12xi32>) -> tensor<12x12xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<12x12xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<12x12xi1>, tensor<12x12xi1>
    return %6 : tensor<12x12xi1>
  }
  func.func private @_where(%arg0: tensor<12x12xi1>, %arg1: tensor<1x4x12x12xf32>, %arg2: tensor<f32>) -> tensor<1x4x12x12xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<12x12xi1>) -> tensor<1x4x12x12xi1>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<1x4x12x12xf32>
    %2 = stablehlo.select %0, %arg1, %1 : tensor<1x4x12x12xi1>, tensor<1x4x12x12xf32>
    return %2 : tensor<1x4x12x12xf32>
  }
}
