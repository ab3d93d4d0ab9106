// RUN: tilewright-opt %s -p 'load-target{target=edge16},dram-schedule{batch=2 rounds=40},dram-verify' | filecheck %s

// CHECK-LABEL: dram.network @pair
// CHECK: dram.schedule @schedule of @pair batch 2 on <side 4, macs 512, capacity 8388608, buffer 8388608, read 256, write 256, bandwidth 16, latency 0, align 64, exact 1> {
// CHECK: dram.layer_group {
// CHECK-NEXT: dram.fused_group tiles {{.*}}["a"
// CHECK: dram.transfers {
// CHECK: load "a" {{.*}} during [-1,
// CHECK: store "b" tile
dram.network @pair {
  dram.input "x" 3x8x8
  dram.layer "a" conv 16x8x8 of ["x"] kernel 3x3
  dram.layer "b" pool 16x4x4 of ["a"] kernel 2x2 stride 2x2
}
