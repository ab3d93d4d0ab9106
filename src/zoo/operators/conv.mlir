// A 3x3 convolution with padding and a constant bias.
func.func @main(%x: tensor<1x5x9x9xsi8>, %w: tensor<7x5x3x3xsi8>) -> tensor<1x7x9x9xi32>
    attributes {graph.inputs = ["x", "w"], graph.outputs = ["y"]} {
  %b = graph.weight @b = dense<[5, -300, 0, 77, 1000, -1, 12]> : tensor<7xi32> : tensor<7xi32>
  %y = graph.conv %x, %w, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1
     : (tensor<1x5x9x9xsi8>, tensor<7x5x3x3xsi8>, tensor<7xi32>) -> tensor<1x7x9x9xi32>
  func.return %y : tensor<1x7x9x9xi32>
}
