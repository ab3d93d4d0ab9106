// RUN: tilewright-opt %s -p 'load-target{target="hvx"},convert-nest-to-packets' | filecheck %s

// CHECK: mnemonic.program @main code
// CHECK-SAME: predicted {cycles = {{[0-9.e+]+}} : f64, packets = {{[0-9.e+]+}} : f64, dram_bytes = {{[0-9.e+]+}} : f64}
// CHECK-NEXT: mnemonic.tensor "x" input in @L2 at 0 : tensor<4x40xui8>
// CHECK-NEXT: mnemonic.tensor "w" input in @L2 at {{[0-9]+}} : tensor<40x5xsi8>
// CHECK-NEXT: mnemonic.tensor "y" output in @L2 at {{[0-9]+}} : tensor<4x5xi32>
// CHECK-NOT: func.func
func.func @main(%A: tensor<4x40xui8>, %B: tensor<40x5xsi8>) -> tensor<4x5xi32> attributes {graph.inputs = ["x", "w"], graph.outputs = ["y"]} {
  %0 = nest.group @kernel dims {m = 4, n = 5, k = 40} ins(A = %A, B = %B) -> tensor<4x5xi32> {
  ^bb0(%A_1: tensor<4x40xui8>, %B_1: tensor<40x5xsi8>):
    %1 = nest.kernel @O "O[m, n] += A[m, k] * B[k, n]" (A = %A_1, B = %B_1) : (tensor<4x40xui8>, tensor<40x5xsi8>) -> tensor<4x5xi32>
    nest.yield %1 : tensor<4x5xi32>
  }
  func.return %0 : tensor<4x5xi32>
}
