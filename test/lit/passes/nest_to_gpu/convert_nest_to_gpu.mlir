// RUN: tilewright-opt %s -p 'load-target{target=gpu_k80},nest-map{mapper=cosa},convert-nest-to-gpu' | filecheck %s
// RUN: not tilewright-opt %s -p 'load-target{target=conventional},convert-nest-to-gpu' 2>&1 | filecheck %s --check-prefix OTHER

// Blocks of 160 threads; both operands are staged in shared memory (space 3), four neighbours at a time, then in registers,
// whose loops are unrolled.

// CHECK:      "gpu.func"() <{function_type = (memref<48x36xf32>, memref<36x40xf32>, memref<48x40xf32>) -> (), kernel}>
// CHECK:      "gpu.block_id"() <{dimension = #gpu<dim x>}>
// CHECK:      "gpu.thread_id"() <{dimension = #gpu<dim x>}>
// CHECK:      memref.alloca() {alignment = 16 : i64} : memref<16x36xf32, 3 : i64>
// CHECK:      vector.load %A[
// CHECK-NEXT: vector.store %{{.*}} : memref<16x36xf32, 3 : i64>, vector<4xf32>
// CHECK:      "gpu.barrier"()
// CHECK:      } {unrolled}
// CHECK:      arith.mulf
// CHECK:      memref.store %{{.*}}, %O[%{{.*}}, %{{.*}}] : memref<48x40xf32>
// CHECK:      gpu.known_block_size = array<i32: 160, 1, 1>, gpu.known_grid_size = array<i32: 12, 1, 1>
// CHECK-SAME: arguments = ["A", "B", "O"]

// OTHER: error: unsupported: conventional: expected a target of control model threads, found control queues

func.func @main(%a: tensor<48x36xf32>, %b: tensor<36x40xf32>) -> tensor<48x40xf32> {
  %o = nest.group @gemm dims {m = 48, n = 40, k = 36} ins(A = %a, B = %b) -> tensor<48x40xf32> {
  ^bb0(%A: tensor<48x36xf32>, %B: tensor<36x40xf32>):
    %0 = nest.kernel @O "O[m, n] += A[m, k] * B[k, n]" (A = %A, B = %B)
      : (tensor<48x36xf32>, tensor<36x40xf32>) -> tensor<48x40xf32>
    nest.yield %0 : tensor<48x40xf32>
  }
  func.return %o : tensor<48x40xf32>
}
