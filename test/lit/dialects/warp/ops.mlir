// RUN: ROUNDTRIP

// CHECK-LABEL: func.func @product
// CHECK:         "warp.clear"(%s, %i) : (memref<2x!warp.fragment<"sums">>, index) -> ()
// CHECK:         "warp.load"(%x, %i, %i, %l, %i) <{leading = 64 : i64, operandSegmentSizes = array<i32: 1, 2, 1, 1>}>
// CHECK:         "warp.load"{{.*}}by_columns
// CHECK:         "warp.multiply"{{.*}}right_by_columns
// CHECK:         "warp.store"
func.func @product(%x: memref<64x64xf16>, %y: memref<16x16xf32>) {
  %i = arith.constant 0 : index
  %l = memref.alloca() : memref<1x!warp.fragment<"left">>
  %r = memref.alloca() : memref<1x!warp.fragment<"right">>
  %s = memref.alloca() : memref<2x!warp.fragment<"sums">>
  "warp.clear"(%s, %i) : (memref<2x!warp.fragment<"sums">>, index) -> ()
  "warp.load"(%x, %i, %i, %l, %i) <{leading = 64 : i64, operandSegmentSizes = array<i32: 1, 2, 1, 1>}>
    : (memref<64x64xf16>, index, index, memref<1x!warp.fragment<"left">>, index) -> ()
  "warp.load"(%x, %i, %i, %r, %i) <{leading = 64 : i64, by_columns, operandSegmentSizes = array<i32: 1, 2, 1, 1>}>
    : (memref<64x64xf16>, index, index, memref<1x!warp.fragment<"right">>, index) -> ()
  "warp.multiply"(%l, %i, %r, %i, %s, %i) <{right_by_columns, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1>}>
    : (memref<1x!warp.fragment<"left">>, index, memref<1x!warp.fragment<"right">>, index, memref<2x!warp.fragment<"sums">>, index) -> ()
  "warp.store"(%s, %i, %y, %i, %i) <{leading = 16 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 2>}>
    : (memref<2x!warp.fragment<"sums">>, index, memref<16x16xf32>, index, index) -> ()
  func.return
}
