// RUN: tilewright-opt %s -p graph-integers | filecheck %s

// CHECK: func.func @main(%{{.*}}: tensor<4xsi8>, %{{.*}}: tensor<4xf32>) -> (tensor<4xsi8>, tensor<4xf32>)
// CHECK-NOT: graph.quantize %{{.*}}, %{{.*}}, %{{.*}} axis 0 {name = "q"}
// CHECK: graph.unary relu
// CHECK-NOT: graph.dequantize
// CHECK: graph.unary relu
// CHECK-NEXT: func.return %{{.*}}, %{{.*}} : tensor<4xsi8>, tensor<4xf32>
func.func @main(%x: tensor<4xf32>, %f: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {graph.inputs = ["x", "f"], graph.outputs = ["y", "g"]} {
  %s = graph.weight @s = dense<5.000000e-01> : tensor<f32> : tensor<f32>
  %z = graph.weight @z = dense<0> : tensor<si8> : tensor<si8>
  %q = graph.quantize %x, %s, %z axis 0 {name = "q"} : (tensor<4xf32>, tensor<f32>, tensor<si8>) -> tensor<4xsi8>
  %r = graph.unary relu %q : (tensor<4xsi8>) -> tensor<4xsi8>
  %y = graph.dequantize %r, %s, %z axis 0 {name = "y"} : (tensor<4xsi8>, tensor<f32>, tensor<si8>) -> tensor<4xf32>
  %g = graph.unary relu %f : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y, %g : tensor<4xf32>, tensor<4xf32>
}
