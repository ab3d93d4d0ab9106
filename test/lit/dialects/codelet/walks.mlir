// RUN: ROUNDTRIP

// A maximum over windows: sums of all that the windows of a tile reach, and the narrow copy that is stored.
// CHECK-LABEL: codelet.program @most {
codelet.program @most {
  %x = codelet.tensor "x" input : !codelet.surrogate<9x16xsi8, @DRAM>
  %y = codelet.tensor "y" output : !codelet.surrogate<4x16xsi8, @DRAM>
  codelet.codelet @c dims {p = 4, r = 3, y = 9, m = 16} (%X = %x : !codelet.surrogate<9x16xsi8, @DRAM>, %Y = %y : !codelet.surrogate<4x16xsi8, @DRAM>) {
    // CHECK: codelet.loop p step 2 alternating {
    codelet.loop p step 2 alternating {
      %o = codelet.local "Y[p, m]" : !codelet.surrogate<2x16xi32, @ACC>
      // CHECK: codelet.span y over "2*p + r" {
      codelet.span y over "2*p + r" {
        // CHECK-NEXT: %i = codelet.local "X[y, m]" buffers 2 kept at [0, 80] : !codelet.surrogate<5x16xsi8, @INP>
        %i = codelet.local "X[y, m]" buffers 2 kept at [0, 80] : !codelet.surrogate<5x16xsi8, @INP>
        codelet.transfer %X -> %i : !codelet.surrogate<9x16xsi8, @DRAM> -> !codelet.surrogate<5x16xsi8, @INP>
        // CHECK: codelet.compute @LANES::@clear "O[y, m] = 0" (%a) dims {n = m} over [y] : (!codelet.surrogate<5x16xi32, @ACC>)
        %a = codelet.local "A[y, m]" : !codelet.surrogate<5x16xi32, @ACC>
        codelet.compute @LANES::@clear "O[y, m] = 0" (%a) dims {n = m} over [y] : (!codelet.surrogate<5x16xi32, @ACC>)
      }
      // CHECK: %s = codelet.shadow %o : !codelet.surrogate<2x16xi32, @ACC> -> !codelet.surrogate<2x16xsi8, @OUT>
      %s = codelet.shadow %o : !codelet.surrogate<2x16xi32, @ACC> -> !codelet.surrogate<2x16xsi8, @OUT>
      codelet.transfer %s -> %Y : !codelet.surrogate<2x16xsi8, @OUT> -> !codelet.surrogate<4x16xsi8, @DRAM>
    }
  }
}
