// RUN: tilewright-opt %s -p graph-heads | filecheck %s

// CHECK: func.func @attention(%x: tensor<1x4x6xf32>, %k: tensor<1x2x3x4xf32>, %mask: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xsi8>
func.func @attention(%x: tensor<1x4x6xf32>, %k: tensor<1x2x3x4xf32>, %mask: tensor<1x1x4x4xf32>)
    -> tensor<1x2x4x4xsi8> {
  // CHECK-NEXT: graph.reshape %x : (tensor<1x4x6xf32>) -> tensor<4x2x3xf32>
  // CHECK-NEXT: graph.transpose %{{.*}} perm [1, 0, 2] {name = "turned"} : (tensor<4x2x3xf32>) -> tensor<2x4x3xf32>
  // CHECK-NEXT: graph.reshape %k : (tensor<1x2x3x4xf32>) -> tensor<2x3x4xf32>
  %0 = graph.reshape %x : (tensor<1x4x6xf32>) -> tensor<1x4x2x3xf32>
  %1 = graph.transpose %0 perm [0, 2, 1, 3] {name = "turned"} : (tensor<1x4x2x3xf32>) -> tensor<1x2x4x3xf32>
  // CHECK-NEXT: graph.matmul %{{.*}}, %{{.*}} : (tensor<2x4x3xf32>, tensor<2x3x4xf32>) -> tensor<2x4x4xf32>
  %2 = graph.matmul %1, %k : (tensor<1x2x4x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x4x4xf32>
  // CHECK-NEXT: graph.reshape %mask : (tensor<1x1x4x4xf32>) -> tensor<1x4x4xf32>
  // CHECK-NEXT: graph.binary add %{{.*}}, %{{.*}} : (tensor<2x4x4xf32>, tensor<1x4x4xf32>) -> tensor<2x4x4xf32>
  %3 = graph.binary add %2, %mask : (tensor<1x2x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32>
  // CHECK-NEXT: graph.softmax %{{.*}} axis 2 : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %4 = graph.softmax %3 axis 3 : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %s = graph.weight @s : tensor<2xf32>
  // CHECK: graph.quantize %{{.*}}, %{{.*}} axis 0 : (tensor<2x4x4xf32>, tensor<2xf32>) -> tensor<2x4x4xsi8>
  // CHECK-NEXT: graph.reshape %{{.*}} : (tensor<2x4x4xsi8>) -> tensor<1x2x4x4xsi8>
  %5 = graph.quantize %4, %s axis 1 : (tensor<1x2x4x4xf32>, tensor<2xf32>) -> tensor<1x2x4x4xsi8>
  func.return %5 : tensor<1x2x4x4xsi8>
}

// Two samples, one head, and what works along the samples stay.
// CHECK: func.func @others
// CHECK: graph.matmul %{{.*}} : (tensor<2x2x4x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x4x4xf32>
// CHECK: graph.matmul %{{.*}} : (tensor<1x1x4x3xf32>, tensor<1x1x3x4xf32>) -> tensor<1x1x4x4xf32>
// CHECK: graph.quantize %{{.*}} axis 0 : (tensor<1x2x4x4xf32>, tensor<1xf32>) -> tensor<1x2x4x4xsi8>
// CHECK-NEXT: graph.softmax %{{.*}} axis 0 : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
func.func @others(%a: tensor<2x2x4x3xf32>, %b: tensor<2x2x3x4xf32>, %c: tensor<1x1x4x3xf32>, %d: tensor<1x1x3x4xf32>,
    %e: tensor<1x2x4x3xf32>, %f: tensor<1x2x3x4xf32>)
    -> (tensor<2x2x4x4xf32>, tensor<1x1x4x4xf32>, tensor<1x2x4x4xsi8>, tensor<1x2x4x4xf32>) {
  %0 = graph.matmul %a, %b : (tensor<2x2x4x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x4x4xf32>
  %1 = graph.matmul %c, %d : (tensor<1x1x4x3xf32>, tensor<1x1x3x4xf32>) -> tensor<1x1x4x4xf32>
  %2 = graph.matmul %e, %f : (tensor<1x2x4x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x4x4xf32>
  %s = graph.weight @s : tensor<1xf32>
  %3 = graph.quantize %2, %s axis 0 : (tensor<1x2x4x4xf32>, tensor<1xf32>) -> tensor<1x2x4x4xsi8>
  %4 = graph.softmax %2 axis 0 : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  func.return %0, %1, %3, %4 : tensor<2x2x4x4xf32>, tensor<1x1x4x4xf32>, tensor<1x2x4x4xsi8>, tensor<1x2x4x4xf32>
}
