// RUN: tilewright-opt %s -p 'load-target{target="cocco_npu:WBUF.depth=8"},codelet-prefetch' | filecheck %s

// The memory of weights has room for one of two weights of 400 bytes: the second comes when the first group has ended.
// What the third group reads has room in the other memory from the first group on, and comes before it.
// CHECK:      codelet.fused @first
// CHECK-NEXT:   codelet.codelet @w
// CHECK:        codelet.codelet @one
// CHECK:        codelet.codelet @z
// CHECK:      codelet.fused @second
// CHECK-NEXT:   codelet.codelet @v
// CHECK:        codelet.codelet @two
// CHECK:      codelet.fused @third
// CHECK-NEXT:   codelet.codelet @three
codelet.program @main {
  %w = codelet.tensor "w" weight : !codelet.surrogate<100xf32, @DRAM>
  %v = codelet.tensor "v" weight : !codelet.surrogate<100xf32, @DRAM>
  %z = codelet.tensor "z" weight : !codelet.surrogate<100xf32, @DRAM>
  %a = codelet.tensor "a" temp : !codelet.surrogate<20xf32, @GBUF>
  %wc = codelet.tensor "w on chip" temp : !codelet.surrogate<100xf32, @WBUF>
  %vc = codelet.tensor "v on chip" temp : !codelet.surrogate<100xf32, @WBUF>
  %zc = codelet.tensor "z on chip" temp : !codelet.surrogate<100xf32, @GBUF>
  codelet.fused @first updates dense<[[0, 0, 0, 1], [1, 0, 0, 1]]> : tensor<2x4xi64> samples ["", ""] rows ["", ""] {
    codelet.codelet @w dims {i = 100} (%W = %w : !codelet.surrogate<100xf32, @DRAM>, %C = %wc : !codelet.surrogate<100xf32, @WBUF>) {
      codelet.transfer %W -> %C over "W[i]" : !codelet.surrogate<100xf32, @DRAM> -> !codelet.surrogate<100xf32, @WBUF>
    }
    codelet.codelet @one dims {i = 20} (%A = %a : !codelet.surrogate<20xf32, @GBUF>, %W = %wc : !codelet.surrogate<100xf32, @WBUF>) {
      codelet.compute @VPU::@unary "O[i] = relu(A[i])" (%A, %W) dims {a = i} functions {F = relu} : (!codelet.surrogate<20xf32, @GBUF>, !codelet.surrogate<100xf32, @WBUF>)
    }
  }
  codelet.fused @second updates dense<[[0, 0, 0, 1], [1, 0, 0, 1]]> : tensor<2x4xi64> samples ["", ""] rows ["", ""] {
    codelet.codelet @v dims {i = 100} (%W = %v : !codelet.surrogate<100xf32, @DRAM>, %C = %vc : !codelet.surrogate<100xf32, @WBUF>) {
      codelet.transfer %W -> %C over "W[i]" : !codelet.surrogate<100xf32, @DRAM> -> !codelet.surrogate<100xf32, @WBUF>
    }
    codelet.codelet @two dims {i = 20} (%A = %a : !codelet.surrogate<20xf32, @GBUF>, %W = %vc : !codelet.surrogate<100xf32, @WBUF>) {
      codelet.compute @VPU::@unary "O[i] = relu(A[i])" (%A, %W) dims {a = i} functions {F = relu} : (!codelet.surrogate<20xf32, @GBUF>, !codelet.surrogate<100xf32, @WBUF>)
    }
  }
  codelet.fused @third updates dense<[[0, 0, 0, 1], [1, 0, 0, 1]]> : tensor<2x4xi64> samples ["", ""] rows ["", ""] {
    codelet.codelet @z dims {i = 100} (%W = %z : !codelet.surrogate<100xf32, @DRAM>, %C = %zc : !codelet.surrogate<100xf32, @GBUF>) {
      codelet.transfer %W -> %C over "W[i]" : !codelet.surrogate<100xf32, @DRAM> -> !codelet.surrogate<100xf32, @GBUF>
    }
    codelet.codelet @three dims {i = 20} (%A = %a : !codelet.surrogate<20xf32, @GBUF>, %W = %zc : !codelet.surrogate<100xf32, @GBUF>) {
      codelet.compute @VPU::@unary "O[i] = relu(A[i])" (%A, %W) dims {a = i} functions {F = relu} : (!codelet.surrogate<20xf32, @GBUF>, !codelet.surrogate<100xf32, @GBUF>)
    }
  }
}
