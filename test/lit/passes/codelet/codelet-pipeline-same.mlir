// RUN: tilewright-opt %s -p 'load-target{target="uneven"},codelet-pipeline' | filecheck %s

// What the loop writes is not loaded ahead.
codelet.program @main {
  %x = codelet.tensor "x" output : !codelet.surrogate<25xi32, @DRAM>
    codelet.codelet @relu dims {i = 25} (%X = %x : !codelet.surrogate<25xi32, @DRAM>, %Y = %x : !codelet.surrogate<25xi32, @DRAM>) {
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
// CHECK-NEXT: %a = codelet.local "X[i]" buffers 2 : !codelet.surrogate<5xi32, @MEM>
