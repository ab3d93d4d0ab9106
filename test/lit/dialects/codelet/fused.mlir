// RUN: ROUNDTRIP

// CHECK:      %r = codelet.tensor "r" temp ring [1, 0, 3, 0] at 0 : !codelet.surrogate<1x2x8x4xf32, @GBUF>
// CHECK:      codelet.fused @group updates dense<[[0, 0, 0, 2], [0, 0, 2, 1]]> : tensor<2x4xi64> samples ["n", "n"] rows ["h", ""] {
// CHECK:        codelet.fill %Z with 0.000000e+00 : f32 : !codelet.surrogate<1xf32, @GBUF>
// CHECK-NEXT:   codelet.part c from 0 to 1 {
// CHECK-NEXT:     codelet.transfer %X -> %R over "X[n, c, h, w]" :
codelet.program @main {
  %x = codelet.tensor "x" input at 0 : !codelet.surrogate<1x2x8x4xf32, @DRAM>
  %r = codelet.tensor "r" temp ring [1, 0, 3, 0] at 0 : !codelet.surrogate<1x2x8x4xf32, @GBUF>
  %z = codelet.tensor "z" temp at 96 : !codelet.surrogate<1xf32, @GBUF>
  codelet.fused @group updates dense<[[0, 0, 0, 2], [0, 0, 2, 1]]> : tensor<2x4xi64> samples ["n", "n"] rows ["h", ""] {
    codelet.codelet @load dims {n = 1, c = 2, h = 8, w = 4} (%X = %x : !codelet.surrogate<1x2x8x4xf32, @DRAM>, %R = %r : !codelet.surrogate<1x2x8x4xf32, @GBUF>, %Z = %z : !codelet.surrogate<1xf32, @GBUF>) {
      codelet.fill %Z with 0.0 : f32 : !codelet.surrogate<1xf32, @GBUF>
      codelet.part c from 0 to 1 {
        codelet.transfer %X -> %R over "X[n, c, h, w]" : !codelet.surrogate<1x2x8x4xf32, @DRAM> -> !codelet.surrogate<1x2x8x4xf32, @GBUF>
      }
    }
    // CHECK: codelet.compute @VPU::@sum "O[c] += A[n, c, h, w]" (%O, %A, %Z) dims {a = c, r = w} borders [A] :
    codelet.codelet @sum dims {n = 1, c = 2, h = 1, w = 4} (%A = %r : !codelet.surrogate<1x2x8x4xf32, @GBUF>, %O = %z : !codelet.surrogate<1xf32, @GBUF>, %Z = %z : !codelet.surrogate<1xf32, @GBUF>) {
      codelet.part c from 1 to 2 {
        codelet.compute @VPU::@sum "O[c] += A[n, c, h, w]" (%O, %A, %Z) dims {a = c, r = w} borders [A] : (!codelet.surrogate<1xf32, @GBUF>, !codelet.surrogate<1x2x8x4xf32, @GBUF>, !codelet.surrogate<1xf32, @GBUF>)
      }
    }
  }
  %wide = codelet.tensor "wide" temp ring [1, 0, 3, 0] at 128 : !codelet.surrogate<1x2x10x6xf32, @GBUF>
  codelet.fused @inside updates dense<[[0, 0, 0, 2]]> : tensor<1x4xi64> samples ["n"] rows ["h"] {
    codelet.codelet @load dims {n = 1, c = 2, h = 8, w = 4} (%X = %x : !codelet.surrogate<1x2x8x4xf32, @DRAM>, %R = %wide : !codelet.surrogate<1x2x10x6xf32, @GBUF>) {
      // CHECK: codelet.transfer %X -> %R over "X[n, c, h, w]" into "R[n, c, h + 1, w + 1]" :
      codelet.transfer %X -> %R over "X[n, c, h, w]" into "R[n, c, h + 1, w + 1]" : !codelet.surrogate<1x2x8x4xf32, @DRAM> -> !codelet.surrogate<1x2x10x6xf32, @GBUF>
    }
  }
  // CHECK:      codelet.fused @tiles updates dense<[[0, 0, 0, 2, 1, 3], [0, 0, 2, 1, 0, 4]]> : tensor<2x6xi64> samples ["n"] rows ["h"] columns ["w"] {
  codelet.fused @tiles updates dense<[[0, 0, 0, 2, 1, 3], [0, 0, 2, 1, 0, 4]]> : tensor<2x6xi64> samples ["n"] rows ["h"] columns ["w"] {
    codelet.codelet @store dims {n = 1, c = 2, h = 8, w = 4} (%X = %x : !codelet.surrogate<1x2x8x4xf32, @DRAM>, %R = %r : !codelet.surrogate<1x2x8x4xf32, @GBUF>) {
      codelet.transfer %R -> %X over "X[n, c, h, w]" : !codelet.surrogate<1x2x8x4xf32, @GBUF> -> !codelet.surrogate<1x2x8x4xf32, @DRAM>
    }
  }
}
