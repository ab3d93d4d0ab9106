// RUN: tilewright-opt %s -p 'load-target{target="uneven"},codelet-parallelize' | filecheck %s

// Figure 9b of Covenant: of five elements four go to the vector unit, one to the scalar unit.
codelet.program @main {
  %x = codelet.tensor "x" input : !codelet.surrogate<25xi32, @DRAM>
  %y = codelet.tensor "y" output : !codelet.surrogate<25xi32, @DRAM>
  codelet.codelet @relu dims {i = 25} (%X = %x : !codelet.surrogate<25xi32, @DRAM>, %Y = %y : !codelet.surrogate<25xi32, @DRAM>) {
    codelet.loop i step 5 {
      %a = codelet.local "X[i]" : !codelet.surrogate<5xi32, @MEM>
      codelet.transfer %X -> %a : !codelet.surrogate<25xi32, @DRAM> -> !codelet.surrogate<5xi32, @MEM>
      %c = codelet.local "Y[i]" : !codelet.surrogate<5xi32, @MEM>
      codelet.compute @SIMD::@unary "O[i] = relu(A[i])" (%c, %a) dims {b = i} functions {F = relu} : (!codelet.surrogate<5xi32, @MEM>, !codelet.surrogate<5xi32, @MEM>)
      codelet.transfer %c -> %Y : !codelet.surrogate<5xi32, @MEM> -> !codelet.surrogate<25xi32, @DRAM>
    }
  }
}

// CHECK: codelet.loop i step 5 {
// CHECK: codelet.compute @SIMD::@unary "O[i] = relu(A[i])" (%c, %a) dims {b = i} functions {F = relu} take {i = 4} : (!codelet.surrogate<5xi32, @MEM>, !codelet.surrogate<5xi32, @MEM>)
// CHECK-NEXT: codelet.compute @PE::@unary "O[i] = relu(A[i])" (%c, %a) dims {b = i} functions {F = relu} skip {i = 4} : (!codelet.surrogate<5xi32, @MEM>, !codelet.surrogate<5xi32, @MEM>)
