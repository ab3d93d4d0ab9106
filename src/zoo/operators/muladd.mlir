// Elementwise with three operands.
func.func @main(%a: tensor<9x30xi32>, %b: tensor<9x30xi32>, %c: tensor<9x30xi32>) -> tensor<9x30xi32>
    attributes {graph.inputs = ["a", "b", "c"], graph.outputs = ["y"]} {
  %p = graph.binary mul %a, %b : (tensor<9x30xi32>, tensor<9x30xi32>) -> tensor<9x30xi32>
  %y = graph.binary add %p, %c : (tensor<9x30xi32>, tensor<9x30xi32>) -> tensor<9x30xi32>
  func.return %y : tensor<9x30xi32>
}
