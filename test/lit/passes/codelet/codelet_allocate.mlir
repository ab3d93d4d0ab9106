// RUN: tilewright-opt %s -p 'load-target{target="tiny"},codelet-allocate' --split-input-file | filecheck %s
// RUN: tilewright-opt %s -p 'load-target{target="tiny"},codelet-allocate{keep_intermediates=true}' --split-input-file | filecheck %s --check-prefix KEEP

// Inputs, outputs and weights side by side; the second temporary tensor takes the place of the first, which is dead.
// CHECK-LABEL: codelet.program @chain
codelet.program @chain {
  // CHECK: "x" input at 0 :
  %x = codelet.tensor "x" input : !codelet.surrogate<10xf32, @DRAM>
  // CHECK: "a" temp at 80 :
  // KEEP:  "a" temp at 40 :
  %a = codelet.tensor "a" temp : !codelet.surrogate<10xf32, @DRAM>
  // CHECK: "b" temp at 120 :
  // KEEP:  "b" temp at 80 :
  %b = codelet.tensor "b" temp : !codelet.surrogate<10xf32, @DRAM>
  // CHECK: "c" temp at 80 :
  // KEEP:  "c" temp at 120 :
  %c = codelet.tensor "c" temp : !codelet.surrogate<5xf32, @DRAM>
  // CHECK: "y" output at 40 :
  // KEEP:  "y" output at 140 :
  %y = codelet.tensor "y" output : !codelet.surrogate<10xf32, @DRAM>
  // Copies one after another, from the bottom for the first codelet, from the top for the second.
  codelet.codelet @first dims {i = 10} (%X = %x : !codelet.surrogate<10xf32, @DRAM>, %A = %a : !codelet.surrogate<10xf32, @DRAM>) {
    codelet.loop i step 5 {
      // CHECK: codelet.local "X[i]" buffers 2 at [0, 20]
      %0 = codelet.local "X[i]" buffers 2 : !codelet.surrogate<5xf32, @SPAD>
      // CHECK: codelet.local "Y[i]" at [40]
      %1 = codelet.local "Y[i]" : !codelet.surrogate<5xf32, @SPAD>
    }
  }
  codelet.codelet @second dims {i = 10} (%A = %a : !codelet.surrogate<10xf32, @DRAM>, %B = %b : !codelet.surrogate<10xf32, @DRAM>) {
    // CHECK: codelet.local "X[i]" at [984]
    %0 = codelet.local "X[i]" : !codelet.surrogate<10xf32, @SPAD>
  }
  codelet.codelet @third dims {i = 5} (%B = %b : !codelet.surrogate<10xf32, @DRAM>, %C = %c : !codelet.surrogate<5xf32, @DRAM>) {
  }
  codelet.codelet @fourth dims {i = 5} (%C = %c : !codelet.surrogate<5xf32, @DRAM>, %Y = %y : !codelet.surrogate<10xf32, @DRAM>) {
  }
}

// -----

// Too much for the scratchpad side by side: the third local takes the place of the first, dead by then.
// CHECK-LABEL: codelet.program @reuse
codelet.program @reuse {
  %x = codelet.tensor "x" input : !codelet.surrogate<100xf32, @DRAM>
  codelet.codelet @c dims {i = 100} (%X = %x : !codelet.surrogate<100xf32, @DRAM>) {
    // CHECK: codelet.local "A[i]" at [0]
    %0 = codelet.local "A[i]" : !codelet.surrogate<100xf32, @SPAD>
    codelet.transfer %X -> %0 : !codelet.surrogate<100xf32, @DRAM> -> !codelet.surrogate<100xf32, @SPAD>
    // CHECK: codelet.local "B[i]" at [400]
    %1 = codelet.local "B[i]" : !codelet.surrogate<100xf32, @SPAD>
    codelet.compute @VPU::@unary "O[i] = relu(A[i])" (%1, %0) dims {a = i} functions {F = relu} : (!codelet.surrogate<100xf32, @SPAD>, !codelet.surrogate<100xf32, @SPAD>)
    // CHECK: codelet.local "C[i]" at [0]
    %2 = codelet.local "C[i]" : !codelet.surrogate<100xf32, @SPAD>
    codelet.compute @VPU::@unary "O[i] = relu(A[i])" (%2, %1) dims {a = i} functions {F = relu} : (!codelet.surrogate<100xf32, @SPAD>, !codelet.surrogate<100xf32, @SPAD>)
  }
}
