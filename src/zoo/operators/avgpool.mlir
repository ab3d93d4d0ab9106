// Averages of windows of 3x3 on integers: sums, and a multiplier of 2^34 / 9.
func.func @main(%x: tensor<1x6x9x9xsi8>) -> tensor<1x6x4x4xsi8>
    attributes {graph.inputs = ["x"], graph.outputs = ["y"]} {
  %m = graph.weight @m = dense<1908874354> : tensor<i32> : tensor<i32>
  %s = graph.weight @s = dense<34> : tensor<i32> : tensor<i32>
  %t = graph.pool sum %x kernel [3, 3] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1]
     : (tensor<1x6x9x9xsi8>) -> tensor<1x6x4x4xi32>
  %y = graph.requantize %t, %m, %s axis 1 zero_point 0 range [-128, 127]
     : (tensor<1x6x4x4xi32>, tensor<i32>, tensor<i32>) -> tensor<1x6x4x4xsi8>
  func.return %y : tensor<1x6x4x4xsi8>
}
