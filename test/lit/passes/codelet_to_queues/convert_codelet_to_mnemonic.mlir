// RUN: tilewright-opt %s -p 'load-target{target="tiny"},convert-codelet-to-mnemonic' | filecheck %s

// One load, one compute, one store of 32 bytes each, all of one layer, then the table of tensors.
// CHECK-NOT: codelet
// CHECK: mnemonic.program @main code dense<[20, 0, {{.*}}]> : tensor<96xi8> predicted {model_cycles = 9.000000e+00 : f64, cycles = 4.000000e+01 : f64, energy_pj = {{.*}} : f64, dram_bytes = 6.400000e+01 : f64} attributes {layers = [{name = "conv1", nodes = ["conv1", "relu1"], group = ""}], layer_runs = array<i64: 0, 3>} {
// CHECK-NEXT: mnemonic.tensor "x" input in @DRAM at 0 : tensor<8xf32>
// CHECK-NEXT: mnemonic.tensor "y" output in @DRAM at 32 : tensor<2x4xf32>
codelet.program @main attributes {predicted = {cycles = 9.0 : f64}} {
  %x = codelet.tensor "x" input at 0 : !codelet.surrogate<8xf32, @DRAM>
  %y = codelet.tensor "y" output at 32 : !codelet.surrogate<2x4xf32, @DRAM>
  %v = codelet.view %y : !codelet.surrogate<2x4xf32, @DRAM> -> !codelet.surrogate<8xf32, @DRAM>
  codelet.codelet @c dims {p = 8} (%X = %x : !codelet.surrogate<8xf32, @DRAM>, %Y = %v : !codelet.surrogate<8xf32, @DRAM>) attributes {layers = ["conv1", "relu1"]} {
    %0 = codelet.local "X[p]" at [0] : !codelet.surrogate<8xf32, @SPAD>
    codelet.transfer %X -> %0 : !codelet.surrogate<8xf32, @DRAM> -> !codelet.surrogate<8xf32, @SPAD>
    codelet.compute @VPU::@unary "O[p] = relu(A[p])" (%0, %0) dims {a = p} functions {F = relu} : (!codelet.surrogate<8xf32, @SPAD>, !codelet.surrogate<8xf32, @SPAD>)
    codelet.transfer %0 -> %Y : !codelet.surrogate<8xf32, @SPAD> -> !codelet.surrogate<8xf32, @DRAM>
  }
}
