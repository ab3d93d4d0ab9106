// RUN: ROUNDTRIP

codelet.program @main {
  %t = codelet.tensor "t" weight : !codelet.surrogate<100x8xf32, @DRAM>
  %i = codelet.tensor "i" input : !codelet.surrogate<4xi64, @DRAM>
  // CHECK: codelet.rows %t at %i : (!codelet.surrogate<100x8xf32, @DRAM>, !codelet.surrogate<4xi64, @DRAM>) -> !codelet.surrogate<4x8xf32, @DRAM>
  %0 = codelet.rows %t at %i : (!codelet.surrogate<100x8xf32, @DRAM>, !codelet.surrogate<4xi64, @DRAM>) -> !codelet.surrogate<4x8xf32, @DRAM>
}
