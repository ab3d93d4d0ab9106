// RUN: tilewright-opt %s -p 'load-target{target=edge16},dram-schedule{rounds=20 reserve_bytes=65536},dram-allocate,convert-dram-to-mnemonic' -t assembly | filecheck %s

// Shift and multipliers of sums; loads; the tile before, its loads and the store whose room is used are waited for.
// CHECK: IFILL TAG=1
// CHECK: LOAD TAG=1,
// CHECK: LOAD TAG=1,
// CHECK: MAC TAG=3, WT0=1, WC0=5,
// CHECK: REQ TAG=4, WT0=3, WC0=6,
// CHECK: IMAX TAG=4
// CHECK: MAC TAG=3, WT0=1, WC0=6, WT1=4, WC1=2,
// CHECK: STORE TAG=2, {{.*}}WT1=4, WC1=2,
// CHECK: IMAX TAG=4, WT0=1, WC0=6, WT1=2, WC1=1,
dram.network @pair {
  dram.input "x" 3x8x8
  dram.layer "a" conv 16x8x8 of ["x"] kernel 3x3
  dram.layer "b" pool 16x4x4 of ["a"] kernel 2x2 stride 2x2
}
