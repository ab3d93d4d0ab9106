// A matrix product of integers.
func.func @main(%a: tensor<10x33xsi8>, %b: tensor<33x21xsi8>) -> tensor<10x21xi32>
    attributes {graph.inputs = ["a", "b"], graph.outputs = ["y"]} {
  %y = graph.matmul %a, %b : (tensor<10x33xsi8>, tensor<33x21xsi8>) -> tensor<10x21xi32>
  func.return %y : tensor<10x21xi32>
}
