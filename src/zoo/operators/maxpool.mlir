// Maxima of windows of 3x3, stride 2.
func.func @main(%x: tensor<1x6x11x11xi32>) -> tensor<1x6x5x5xi32>
    attributes {graph.inputs = ["x"], graph.outputs = ["y"]} {
  %y = graph.pool max %x kernel [3, 3] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1]
     : (tensor<1x6x11x11xi32>) -> tensor<1x6x5x5xi32>
  func.return %y : tensor<1x6x5x5xi32>
}
