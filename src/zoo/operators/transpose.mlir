// Rows become columns.
func.func @main(%x: tensor<14x23xi32>) -> tensor<23x14xi32>
    attributes {graph.inputs = ["x"], graph.outputs = ["y"]} {
  %y = graph.transpose %x perm [1, 0] : (tensor<14x23xi32>) -> tensor<23x14xi32>
  func.return %y : tensor<23x14xi32>
}
