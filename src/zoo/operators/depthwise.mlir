// A 3x3 depthwise convolution with stride 2.
func.func @main(%x: tensor<1x6x11x11xsi8>, %w: tensor<6x1x3x3xsi8>) -> tensor<1x6x6x6xi32>
    attributes {graph.inputs = ["x", "w"], graph.outputs = ["y"]} {
  %y = graph.conv %x, %w strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] groups 6
     : (tensor<1x6x11x11xsi8>, tensor<6x1x3x3xsi8>) -> tensor<1x6x6x6xi32>
  func.return %y : tensor<1x6x6x6xi32>
}
