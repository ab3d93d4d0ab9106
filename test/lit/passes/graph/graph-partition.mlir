// RUN: tilewright-opt %s -p 'graph-partition{method=enumeration}' | filecheck %s
// RUN: tilewright-opt %s -p 'graph-partition{method="per-layer"}' | filecheck %s --check-prefix=ALONE

// All layers fit together; the concatenation is a copy in the group that reads it.
// CHECK-LABEL: func.func @branches
// CHECK:         %w = graph.weight @w
// CHECK:         %{{.*}} = graph.layer_group ({{.*}}) -> (tensor<1x4x8x8xf32>) {
// CHECK-NEXT:      graph.fused_group tiles 1 ({{.*}}) -> (tensor<1x4x8x8xf32>) {
// CHECK-NEXT:        graph.unary relu
// CHECK-NEXT:        graph.pool max
// CHECK-NEXT:        graph.concat
// CHECK-NEXT:        graph.conv
// CHECK-NEXT:        graph.yield
// CHECK-NOT:     graph.layer_group

// ALONE-LABEL: func.func @branches
// ALONE-COUNT-3: graph.layer_group
// ALONE:             graph.concat
// ALONE-NEXT:        graph.conv
func.func @branches(%x : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %w = graph.weight @w : tensor<4x8x1x1xf32>
  %a = graph.unary relu %x : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %b = graph.pool max %a kernel [3, 3] strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %c = graph.concat %a, %b axis 1 : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x8x8x8xf32>
  %y = graph.conv %c, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<1x8x8x8xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x8x8xf32>
  func.return %y : tensor<1x4x8x8xf32>
}

// A result that leaves its group and is read inside of it; what is returned through a view.
// CHECK-LABEL: func.func @view
// CHECK:         %b, %{{.*}} = graph.layer_group
// CHECK:         %[[flat:.*]] = graph.reshape %b : (tensor<1x4x8x8xf32>) -> tensor<1x256xf32>
// CHECK-NEXT:    func.return %[[flat]], %c
func.func @view(%x : tensor<1x4x8x8xf32>) -> (tensor<1x256xf32>, tensor<1x4x8x8xf32>) {
  %b = graph.pool max %x kernel [3, 3] strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %f = graph.reshape %b : (tensor<1x4x8x8xf32>) -> tensor<1x256xf32>
  %c = graph.pool max %b kernel [3, 3] strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  func.return %f, %c : tensor<1x256xf32>, tensor<1x4x8x8xf32>
}
