// RUN: tilewright-opt %s -p graph-normalize | filecheck %s

// Lines that are put into a tensor one after another are joined once.
// CHECK-LABEL: func.func @steps
// CHECK-NEXT:  %[[rest:.*]] = graph.slice %x starts [2, 0] steps [1, 1] : (tensor<4x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:  %[[all:.*]] = graph.concat %u, %v, %[[rest]] axis 0
// CHECK-NEXT:  func.return %[[all]]
func.func @steps(%x : tensor<4x8xf32>, %u : tensor<1x8xf32>, %v : tensor<1x8xf32>) -> tensor<4x8xf32> {
  %0 = graph.slice %x starts [1, 0] steps [1, 1] : (tensor<4x8xf32>) -> tensor<3x8xf32>
  %1 = graph.concat %u, %0 axis 0 : (tensor<1x8xf32>, tensor<3x8xf32>) -> tensor<4x8xf32>
  %2 = graph.slice %1 starts [0, 0] steps [1, 1] : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %3 = graph.slice %1 starts [2, 0] steps [1, 1] : (tensor<4x8xf32>) -> tensor<2x8xf32>
  %4 = graph.concat %2, %v, %3 axis 0 : (tensor<1x8xf32>, tensor<1x8xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
  func.return %4 : tensor<4x8xf32>
}

// A part of two pieces that something else reads stays as it is.
// CHECK-LABEL: func.func @across
// CHECK-NEXT:  graph.concat
// CHECK-NEXT:  graph.slice
// CHECK-NEXT:  graph.unary
func.func @across(%x : tensor<2x8xf32>, %y : tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = graph.concat %x, %y axis 0 : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
  %1 = graph.slice %0 starts [1, 0] steps [1, 1] : (tensor<4x8xf32>) -> tensor<2x8xf32>
  %2 = graph.unary relu %1 : (tensor<2x8xf32>) -> tensor<2x8xf32>
  func.return %2 : tensor<2x8xf32>
}

// Every second of a part is one slice; so is a gather of neighbours, but not of others.
// CHECK-LABEL: func.func @slices
// CHECK-NEXT:  %[[part:.*]] = graph.slice %x starts [0, 3] steps [1, 2] : (tensor<4x8xf32>) -> tensor<4x2xf32>
// CHECK-NEXT:  %[[row:.*]] = graph.slice %x starts [2, 0] steps [1, 1] : (tensor<4x8xf32>) -> tensor<1x8xf32>
// CHECK-NEXT:  %[[line:.*]] = graph.reshape %[[row]] : (tensor<1x8xf32>) -> tensor<8xf32>
// CHECK-NEXT:  %[[others:.*]] = graph.gather %x
// CHECK-NEXT:  func.return %[[part]], %[[line]], %[[others]]
func.func @slices(%x : tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<8xf32>, tensor<3x8xf32>) {
  %0 = graph.slice %x starts [0, 1] steps [1, 1] : (tensor<4x8xf32>) -> tensor<4x6xf32>
  %1 = graph.slice %0 starts [0, 2] steps [1, 2] : (tensor<4x6xf32>) -> tensor<4x2xf32>
  %2 = graph.gather %x axis 0 indices dense<2> : tensor<i64> : (tensor<4x8xf32>) -> tensor<8xf32>
  %3 = graph.gather %x axis 0 indices dense<[0, 1, 3]> : tensor<3xi64> : (tensor<4x8xf32>) -> tensor<3x8xf32>
  func.return %1, %2, %3 : tensor<4x2xf32>, tensor<8xf32>, tensor<3x8xf32>
}
