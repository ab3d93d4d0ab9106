// Layer normalisation of rows.
func.func @main(%x: tensor<6x20xf32>, %s: tensor<20xf32>, %b: tensor<20xf32>) -> tensor<6x20xf32>
    attributes {graph.inputs = ["x", "s", "b"], graph.outputs = ["y"]} {
  %y = graph.layer_norm %x, %s, %b axis 1 epsilon 1.0e-05
     : (tensor<6x20xf32>, tensor<20xf32>, tensor<20xf32>) -> tensor<6x20xf32>
  func.return %y : tensor<6x20xf32>
}
