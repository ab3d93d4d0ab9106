// Softmax of rows.
func.func @main(%x: tensor<6x20xf32>) -> tensor<6x20xf32>
    attributes {graph.inputs = ["x"], graph.outputs = ["y"]} {
  %y = graph.softmax %x axis 1 : (tensor<6x20xf32>) -> tensor<6x20xf32>
  func.return %y : tensor<6x20xf32>
}
