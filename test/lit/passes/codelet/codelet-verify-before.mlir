// RUN: not tilewright-opt %s -p 'load-target{target="tiny"},codelet-verify' 2>&1 | filecheck %s

// CHECK: refuted: codelet @c, transfer Y@SPAD -> y@DRAM: index 0 of y: expected in 0..7 (DRAM), found 2 elements; begin 2 elements earlier (at p = 0..3)
codelet.program @main {
  %y = codelet.tensor "y" output at 0 : !codelet.surrogate<8xf32, @DRAM>
  codelet.codelet @c dims {p = 8} (%Y = %y : !codelet.surrogate<8xf32, @DRAM>) {
    codelet.loop p step 4 {
      %0 = codelet.local "Y[p - 2]" at [0] : !codelet.surrogate<4xf32, @SPAD>
      codelet.transfer %0 -> %Y : !codelet.surrogate<4xf32, @SPAD> -> !codelet.surrogate<8xf32, @DRAM>
    }
  }
}
