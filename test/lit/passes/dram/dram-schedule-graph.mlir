// RUN: tilewright-opt %s -p 'load-target{target=edge16},dram-schedule{rounds=20},dram-verify' | filecheck %s

// The table of a function's layers; a concatenation is what its reader reads.
// CHECK: dram.network @
// CHECK: pool 4x8x8 of [{{.*}}] kernel 3x3
// CHECK: conv 4x8x8 of [{{.*}}, {{.*}}]
// CHECK: dram.schedule @schedule of @
// CHECK: dram.transfers {
// CHECK: weights during
// CHECK: store
func.func @branches(%x : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %w = graph.weight @w : tensor<4x8x1x1xf32>
  %a = graph.unary relu %x : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %b = graph.pool max %a kernel [3, 3] strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %c = graph.concat %a, %b axis 1 : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x8x8x8xf32>
  %y = graph.conv %c, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<1x8x8x8xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x8x8xf32>
  func.return %y : tensor<1x4x8x8xf32>
}
