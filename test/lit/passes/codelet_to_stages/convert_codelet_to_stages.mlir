// RUN: tilewright-opt %s -p 'load-target{target="vta"},codelet-allocate,codelet-verify,convert-codelet-to-stages' -t assembly | filecheck %s

// A product of 4 rows in two halves of 2, summed in two parts.  Rows have two copies, so the second part is loaded while
// the first is used (no token back); weights stay, and the second half sums its parts in turn.  Sums have one copy: they
// are cleared again once they are stored (POP_NEXT).
// CHECK:      LOAD_UOP DRAM=256, Y=1, X=4
// CHECK-NEXT: RESET UE=1, OUTER=1, INNER=2, DI=1
// CHECK-NEXT: LOAD_INP Y=2, X=1, STRIDE=2
// CHECK-NEXT: LOAD_WGT PUSH_NEXT=1, DRAM=1, Y=1, X=1, STRIDE=1
// CHECK-NEXT: GEMM POP_PREV=1, PUSH_PREV=1, UE=1, OUTER=1, INNER=2, DI=1, SI=1
// CHECK-NEXT: LOAD_INP SRAM=2, DRAM=1, Y=2, X=1, STRIDE=2
// CHECK-NEXT: LOAD_WGT PUSH_NEXT=1, SRAM=1, DRAM=2, Y=1, X=1, STRIDE=1
// CHECK-NEXT: GEMM POP_PREV=1, PUSH_PREV=1, UB=1, UE=2, OUTER=1, INNER=2, DI=1, SI=1
// CHECK-NEXT: ALU_IMM PUSH_NEXT=1, UE=1, OUTER=1, INNER=2, DI=1, SI=1, FN=shift_right, V=0x4
// CHECK-NEXT: STORE POP_PREV=1, PUSH_PREV=1, DRAM=48, Y=1, X=2, STRIDE=2
// CHECK-NEXT: RESET POP_NEXT=1, UE=1, OUTER=1, INNER=2, DI=1
// CHECK-NEXT: LOAD_INP POP_NEXT=1, PUSH_NEXT=1, DRAM=5, Y=2, X=1, STRIDE=2
// CHECK-NEXT: GEMM POP_PREV=1, UB=2, UE=3, OUTER=1, INNER=2, DI=1, SI=1
// CHECK-NEXT: LOAD_INP POP_NEXT=1, PUSH_NEXT=1, SRAM=2, DRAM=4, Y=2, X=1, STRIDE=2
// CHECK-NEXT: GEMM POP_PREV=1, UB=3, UE=4, OUTER=1, INNER=2, DI=1, SI=1
// CHECK-NEXT: ALU_IMM PUSH_NEXT=1, UE=1, OUTER=1, INNER=2, DI=1, SI=1, FN=shift_right, V=0x4
// CHECK-NEXT: STORE POP_PREV=1, PUSH_PREV=1, DRAM=50, Y=1, X=2, STRIDE=2
// CHECK-NEXT: LOAD_UOP POP_NEXT=1
// CHECK-NEXT: FINISH
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<4x2x16xsi8, @DRAM>
  %w = codelet.tensor "w" input : !codelet.surrogate<2x16x16xsi8, @DRAM>
  %y = codelet.tensor "y" output : !codelet.surrogate<4x16xsi8, @DRAM>
  codelet.codelet @product dims {p = 4, c = 2, m = 16, e = 16} (%X = %x : !codelet.surrogate<4x2x16xsi8, @DRAM>, %W = %w : !codelet.surrogate<2x16x16xsi8, @DRAM>, %Y = %y : !codelet.surrogate<4x16xsi8, @DRAM>) {
    codelet.loop p step 2 {
      %o = codelet.local "Y[p, m]" : !codelet.surrogate<2x16xi32, @ACC>
      codelet.compute @MAC::@clear "O[p, m] = 0" (%o) dims {n = m} over [p] : (!codelet.surrogate<2x16xi32, @ACC>)
      codelet.loop c step 1 alternating {
        %a = codelet.local "X[p, c, e]" buffers 2 kept : !codelet.surrogate<2x1x16xsi8, @INP>
        codelet.transfer %X -> %a : !codelet.surrogate<4x2x16xsi8, @DRAM> -> !codelet.surrogate<2x1x16xsi8, @INP>
        %b = codelet.local "W[c, m, e]" buffers 2 kept : !codelet.surrogate<1x16x16xsi8, @WGT>
        codelet.transfer %W -> %b : !codelet.surrogate<2x16x16xsi8, @DRAM> -> !codelet.surrogate<1x16x16xsi8, @WGT>
        codelet.compute @MAC::@gemm "O[p, m] += X[p, c, e] * W[c, m, e]" (%o, %a, %b) dims {n = m, k = e} over [c, p] keep : (!codelet.surrogate<2x16xi32, @ACC>, !codelet.surrogate<2x1x16xsi8, @INP>, !codelet.surrogate<1x16x16xsi8, @WGT>)
      }
      codelet.compute @LANES::@immediate "O[p, m] = shift_right(O[p, m], 4)" (%o) dims {n = m} functions {F = shift_right} immediates {V = 4} over [p] : (!codelet.surrogate<2x16xi32, @ACC>)
      %s = codelet.shadow %o : !codelet.surrogate<2x16xi32, @ACC> -> !codelet.surrogate<2x16xsi8, @OUT>
      codelet.transfer %s -> %Y : !codelet.surrogate<2x16xsi8, @OUT> -> !codelet.surrogate<4x16xsi8, @DRAM>
    }
  }
}
