// RUN: not tilewright-opt %s 2>&1 | filecheck %s

func.func public @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.custom_call @lapack(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK: unsupported: stablehlo.custom_call (line 4): expected an operation that has a layer, found stablehlo.custom_call @lapack; write
