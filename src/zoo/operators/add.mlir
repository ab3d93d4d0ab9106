// Elementwise with two operands.
func.func @main(%a: tensor<9x30xi32>, %b: tensor<9x30xi32>) -> tensor<9x30xi32>
    attributes {graph.inputs = ["a", "b"], graph.outputs = ["y"]} {
  %y = graph.binary add %a, %b : (tensor<9x30xi32>, tensor<9x30xi32>) -> tensor<9x30xi32>
  func.return %y : tensor<9x30xi32>
}
