// RUN: VERIFY

// CHECK: expected a table of rows, and indices of i32 or i64 beside it
codelet.program @main {
  %t = codelet.tensor "t" weight : !codelet.surrogate<100x8xf32, @DRAM>
  %i = codelet.tensor "i" temp : !codelet.surrogate<4xi64, @GBUF>
  %0 = codelet.rows %t at %i : (!codelet.surrogate<100x8xf32, @DRAM>, !codelet.surrogate<4xi64, @GBUF>) -> !codelet.surrogate<4x8xf32, @DRAM>
}

// -----

// CHECK: expected [4, 8] elements like
codelet.program @main {
  %t = codelet.tensor "t" weight : !codelet.surrogate<100x8xf32, @DRAM>
  %i = codelet.tensor "i" input : !codelet.surrogate<4xi64, @DRAM>
  %0 = codelet.rows %t at %i : (!codelet.surrogate<100x8xf32, @DRAM>, !codelet.surrogate<4xi64, @DRAM>) -> !codelet.surrogate<4x9xf32, @DRAM>
}
