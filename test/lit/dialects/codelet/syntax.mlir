// RUN: PARSEDIAG

// CHECK: expected positive sizes
"test.op"() {t = !codelet.surrogate<2x0xf32, @DRAM>} : () -> ()

// -----

// CHECK: expected @node::@capability
codelet.compute 3 "O[m] = A[m]" () dims {} : ()

// -----

// CHECK: statement:1:6
codelet.compute @VPU::@unary "O[m] ? A[m]" () dims {} : ()

// -----

// CHECK: a dim is given twice
codelet.codelet @c dims {m = 2, m = 3} () {
}

// -----

// CHECK: expected a number of at most 62 bits
codelet.loop m step 18446744073709551616 {
}
