// RUN: tilewright-opt %s -p 'dram-apply' | filecheck %s
// RUN: tilewright-opt %s -p 'load-target{target=edge16},dram-apply,convert-graph-to-nest{in_place=true},nest-schedule' | filecheck %s --check-prefix NEST
// RUN: sed 's/"t"/"e"/g' %s > %t.mlir && not tilewright-opt %t.mlir -p 'dram-apply' 2>&1 | filecheck %s --check-prefix OTHER

// The schedule has the convolution before b, in two slices, and then the sum, which runs where its operand is made: all
// of it is in the group of the sum.  What only moves elements goes before its reader.
// CHECK: func.func @main
// CHECK-NEXT: %a = graph.pool {{.*}} {planned = array<i64: 0, 0, 4>}
// CHECK-NEXT: %b = graph.pool {{.*}} {planned = array<i64: 0, 0, 4>}
// CHECK-NEXT: %w = graph.weight
// CHECK-NEXT: %c = graph.conv {{.*}} {planned = array<i64: 0, 2, 1>}
// CHECK-NEXT: %d = graph.binary add {{.*}} {planned = array<i64: 0, 2, 1>}
// CHECK-NEXT: %u = graph.pool {{.*}} {planned = array<i64: 1, 3, 2>}
// CHECK-NEXT: %t = graph.transpose {{.*}} {planned = array<i64: 1, 3, 2>}
// CHECK-NEXT: %y = graph.pool {{.*}} {planned = array<i64: 1, 3, 2>}
// CHECK-NOT: dram.

// In four tiles a and b make two of eight rows at a time; a stays for c.  d leaves the layer group, so it does not stay.
// The last group runs in two tiles.
// NEST: func.func @main
// NEST: %a = nest.group {{.*}} attributes {fused = 0 : i64, tile_rows = 2 : i64, kept}
// NEST: %b = nest.group {{.*}} attributes {fused = 0 : i64, tile_rows = 2 : i64, kept}
// NEST: %d = nest.group {{.*}} attributes {fused = 1 : i64, tile_rows = 0 : i64} {
// NEST: %u = nest.group {{.*}} attributes {fused = 2 : i64, tile_rows = 4 : i64, kept}
// NEST: %t = nest.group {{.*}} attributes {fused = 2 : i64, tile_rows = 4 : i64} {
// NEST: %y = nest.group {{.*}} attributes {fused = 2 : i64, tile_rows = 4 : i64, kept}

// OTHER: error: schedule: main: expected a schedule of the layers of the function, found none of layer 't'
func.func @main(%x : tensor<1x4x8x8xf32>) -> (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) {
  %a = graph.pool max %x kernel [3, 3] strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %b = graph.pool max %a kernel [3, 3] strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %w = graph.weight @w : tensor<4x4x1x1xf32>
  %c = graph.conv %a, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %d = graph.binary add %b, %c : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %t = graph.transpose %d perm [0, 1, 3, 2] : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %y = graph.pool max %t kernel [3, 3] strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %u = graph.pool max %d kernel [1, 1] strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  func.return %y, %u : tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>
}
dram.network @main_layers {
  dram.input "x" 4x8x8
  dram.layer "a" pool 4x8x8 of ["x"] kernel 3x3
  dram.layer "b" pool 4x8x8 of ["a"] kernel 3x3
  dram.layer "d/0" conv 2x8x8 of ["a"]
  dram.layer "d/1" conv 2x8x8 of ["a"]
  dram.layer "d.2" eltwise 4x8x8 of ["d/0", "d/1", "b"] operands 2
  dram.layer "u" pool 4x8x8 of ["d.2"]
  dram.layer "t" rearrange 4x8x8 of ["d.2"]
  dram.layer "y" pool 4x8x8 of ["t"] kernel 3x3
}
dram.schedule @schedule of @main_layers batch 1 on <side 4, macs 512, capacity 8388608, buffer 8388608, read 256, write 256,
    bandwidth 16, latency 0, align 64, exact 1> {
  dram.layer_group {
    dram.fused_group tiles 4 ["a", "b"]
    dram.fused_group tiles 1 ["d/0"]
    dram.fused_group tiles 1 ["d/1", "d.2"]
  }
  dram.layer_group {
    dram.fused_group tiles 2 ["u", "t", "y"]
  }
}
