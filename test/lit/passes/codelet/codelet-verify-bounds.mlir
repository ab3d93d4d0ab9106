// RUN: not tilewright-opt %s -p 'load-target{target="tiny"},codelet-verify' 2>&1 | filecheck %s

// Without padding, the last piece reads one element past the tensor's end.
// CHECK: refuted: codelet @c, transfer x@DRAM -> X@SPAD: index 0 of x: expected in 0..19 (DRAM), found 21 elements; keep 21 instead of 20 elements (at p = 8..9)
codelet.program @main {
  %x = codelet.tensor "x" input at 0 : !codelet.surrogate<20xf32, @DRAM>
  codelet.codelet @c dims {p = 10, r = 3} (%X = %x : !codelet.surrogate<20xf32, @DRAM>) {
    codelet.loop p step 4 {
      %0 = codelet.local "X[2*p + r]" at [0] : !codelet.surrogate<9xf32, @SPAD>
      codelet.transfer %X -> %0 : !codelet.surrogate<20xf32, @DRAM> -> !codelet.surrogate<9xf32, @SPAD>
    }
  }
}
