// Sums of 32 bits to 8 bits, by a multiplier and a shift for each column.
func.func @main(%x: tensor<6x20xi32>) -> tensor<6x20xsi8> attributes {graph.inputs = ["x"], graph.outputs = ["y"]} {
  %m = graph.weight @m = dense<1518500250> : tensor<20xi32> : tensor<20xi32>
  %s = graph.weight @s = dense<33> : tensor<20xi32> : tensor<20xi32>
  %y = graph.requantize %x, %m, %s axis 1 zero_point 3 range [-128, 127]
     : (tensor<6x20xi32>, tensor<20xi32>, tensor<20xi32>) -> tensor<6x20xsi8>
  func.return %y : tensor<6x20xsi8>
}
