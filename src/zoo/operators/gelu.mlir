// The Gaussian error linear unit.
func.func @main(%x: tensor<6x20xf32>) -> tensor<6x20xf32>
    attributes {graph.inputs = ["x"], graph.outputs = ["y"]} {
  %y = graph.unary gelu %x : (tensor<6x20xf32>) -> tensor<6x20xf32>
  func.return %y : tensor<6x20xf32>
}
