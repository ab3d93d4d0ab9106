// RUN: VERIFY

// CHECK: expected an array of fragments of sums, found memref<2x!warp.fragment<"left">>
func.func @clear(%l: memref<2x!warp.fragment<"left">>, %i: index) {
  "warp.clear"(%l, %i) : (memref<2x!warp.fragment<"left">>, index) -> ()
  func.return
}

// -----

// CHECK: expected an array of fragments of left or right, found memref<16xf16>
func.func @load(%x: memref<16xf16>, %i: index) {
  "warp.load"(%x, %i, %x, %i) <{leading = 16 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1>}>
    : (memref<16xf16>, index, memref<16xf16>, index) -> ()
  func.return
}

// -----

// CHECK: expected an array of fragments of sums, found memref<16xf32>
func.func @store(%x: memref<16xf32>, %i: index) {
  "warp.store"(%x, %i, %x, %i) <{leading = 16 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1>}>
    : (memref<16xf32>, index, memref<16xf32>, index) -> ()
  func.return
}

// -----

// CHECK: expected an array of fragments of right, found memref<1x!warp.fragment<"left">>
func.func @multiply(%l: memref<1x!warp.fragment<"left">>, %i: index) {
  "warp.multiply"(%l, %i, %l, %i, %l, %i) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1>}>
    : (memref<1x!warp.fragment<"left">>, index, memref<1x!warp.fragment<"left">>, index, memref<1x!warp.fragment<"left">>, index) -> ()
  func.return
}

// -----

// CHECK: expected a fragment that is one of left, right, sums, found row
func.func @kind(%x: memref<1x!warp.fragment<"row">>) {
  func.return
}
