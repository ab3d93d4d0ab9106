// RUN: tilewright-opt %s -p 'load-target{target="tiny"},codelet-prefetch' | filecheck %s
// RUN: tilewright-opt %s -p 'load-target{target="tiny:SPAD.depth=200"},codelet-prefetch' | filecheck %s --check-prefix SMALL
// RUN: tilewright-opt %s -p 'load-target{target="tiny:SPAD.depth=200"},codelet-prefetch{late=true}' | filecheck %s --check-prefix LATE
// RUN: tilewright-opt %s -p 'load-target{target="tiny:SPAD.depth=240"},codelet-prefetch{slack=0}' | filecheck %s --check-prefix HOLES
// RUN: not tilewright-opt %s -p 'load-target{target="tiny:SPAD.depth=120"},codelet-prefetch' 2>&1 | filecheck %s --check-prefix NONE

// The weights of the second group are loaded in the first, after its own; they lie beside what it has on chip.
// CHECK:      codelet.tensor "a" temp at 800
// CHECK:      codelet.tensor "w on chip" temp at 0
// CHECK:      codelet.tensor "v on chip" temp at 400
// CHECK:      codelet.fused @first updates dense<[[0, 0, 0, 1], [2, 0, 0, 1], [1, 0, 0, 1]]>
// CHECK-NEXT:   codelet.codelet @w
// CHECK:        codelet.codelet @one
// CHECK:        codelet.codelet @v
// CHECK:      codelet.fused @second updates dense<[[0, 0, 0, 1]]>
// CHECK-NEXT:   codelet.codelet @two

// In 800 bytes there is no room for both: the load stays, and its weights have the place of those that are dead.
// SMALL:      codelet.tensor "w on chip" temp at 0
// SMALL:      codelet.tensor "v on chip" temp at 0
// SMALL:      codelet.fused @first updates dense<[[0, 0, 0, 1], [1, 0, 0, 1]]>
// SMALL:        codelet.codelet @w
// SMALL:        codelet.codelet @one
// SMALL:      codelet.fused @second updates dense<[[0, 0, 0, 1], [1, 0, 0, 1]]>
// SMALL-NEXT:   codelet.codelet @v
// SMALL:        codelet.codelet @two

// Neither can have bytes of its own; the weights of the second group leave those of the first as they are.
// LATE:       codelet.tensor "w on chip" temp at
// LATE:       codelet.fused @first updates dense<[[0, 0, 0, 1], [1, 0, 0, 1]]>

// In 960 bytes maps come first, and both weights lie behind them from the first group on.
// HOLES:      codelet.tensor "a" temp at 0
// HOLES:      codelet.tensor "b" temp at 80
// HOLES:      codelet.tensor "w on chip" temp at 560
// HOLES:      codelet.tensor "v on chip" temp at 160
// HOLES:      codelet.fused @first updates dense<[[0, 0, 0, 1], [2, 0, 0, 1], [1, 0, 0, 1]]>

// NONE: error: infeasible: program @main: expected at most 480 bytes of SPAD, found 560 bytes; use a SPAD of at least 560 bytes, or smaller groups
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<100xf32, @DRAM>
  %w = codelet.tensor "w" weight : !codelet.surrogate<100xf32, @DRAM>
  %v = codelet.tensor "v" weight : !codelet.surrogate<100xf32, @DRAM>
  %a = codelet.tensor "a" temp : !codelet.surrogate<20xf32, @SPAD>
  %b = codelet.tensor "b" temp : !codelet.surrogate<20xf32, @SPAD>
  %wc = codelet.tensor "w on chip" temp : !codelet.surrogate<100xf32, @SPAD>
  %vc = codelet.tensor "v on chip" temp : !codelet.surrogate<100xf32, @SPAD>
  codelet.fused @first updates dense<[[0, 0, 0, 1], [1, 0, 0, 1]]> : tensor<2x4xi64> samples ["", ""] rows ["", ""] {
    codelet.codelet @w dims {i = 100} (%W = %w : !codelet.surrogate<100xf32, @DRAM>, %C = %wc : !codelet.surrogate<100xf32, @SPAD>) {
      codelet.transfer %W -> %C over "W[i]" : !codelet.surrogate<100xf32, @DRAM> -> !codelet.surrogate<100xf32, @SPAD>
    }
    codelet.codelet @one dims {i = 20} (%A = %a : !codelet.surrogate<20xf32, @SPAD>, %W = %wc : !codelet.surrogate<100xf32, @SPAD>) {
      codelet.compute @VPU::@unary "O[i] = relu(A[i])" (%A, %W) dims {a = i} functions {F = relu} : (!codelet.surrogate<20xf32, @SPAD>, !codelet.surrogate<100xf32, @SPAD>)
    }
  }
  codelet.fused @second updates dense<[[0, 0, 0, 1], [1, 0, 0, 1]]> : tensor<2x4xi64> samples ["", ""] rows ["", ""] {
    codelet.codelet @v dims {i = 100} (%W = %v : !codelet.surrogate<100xf32, @DRAM>, %C = %vc : !codelet.surrogate<100xf32, @SPAD>) {
      codelet.transfer %W -> %C over "W[i]" : !codelet.surrogate<100xf32, @DRAM> -> !codelet.surrogate<100xf32, @SPAD>
    }
    codelet.codelet @two dims {i = 20} (%A = %a : !codelet.surrogate<20xf32, @SPAD>, %W = %vc : !codelet.surrogate<100xf32, @SPAD>, %B = %b : !codelet.surrogate<20xf32, @SPAD>) {
      codelet.compute @VPU::@binary "O[i] = add(A[i], B[i])" (%B, %A, %W) dims {b = i} functions {F = add} : (!codelet.surrogate<20xf32, @SPAD>, !codelet.surrogate<20xf32, @SPAD>, !codelet.surrogate<100xf32, @SPAD>)
    }
  }
}
