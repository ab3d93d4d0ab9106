// RUN: tilewright-opt %s -p 'load-target{target="edge16"},convert-graph-to-nest{in_place=true}' | filecheck %s
// RUN: tilewright-opt %s -p 'load-target{target="cocco_npu"},convert-graph-to-nest{in_place=true}' | filecheck %s --check-prefix APART
// RUN: tilewright-opt %s -p 'convert-graph-to-nest{in_place=true}' | filecheck %s --check-prefix APART

// A weight that two products read is loaded once, as a map; small ones and those that one product reads are not.
// CHECK-LABEL: func.func @steps
// CHECK:       %[[w:.*]] = graph.weight @w
// CHECK:       %[[kept:.*]] = nest.group @w.kept dims {n = 32, c = 32} ins(X = %[[w]])
// CHECK-NOT:   .kept dims
// CHECK:       nest.group @a dims {{.*}} ins(A = %x, B = %[[kept]])
// CHECK:       nest.group @b dims {{.*}} B = %[[kept]])
// APART-LABEL: func.func @steps
// APART-NOT:   .kept dims
func.func @steps(%x : tensor<1x32xf32>) -> tensor<1x4xf32> {
  %w = graph.weight @w : tensor<32x32xf32>
  %v = graph.weight @v : tensor<32x4xf32>
  %u = graph.weight @u : tensor<4x4xf32>
  %a = graph.gemm %x, %w alpha 1.000000e+00 beta 1.000000e+00 : (tensor<1x32xf32>, tensor<32x32xf32>) -> tensor<1x32xf32>
  %b = graph.gemm %a, %w alpha 1.000000e+00 beta 1.000000e+00 : (tensor<1x32xf32>, tensor<32x32xf32>) -> tensor<1x32xf32>
  %c = graph.gemm %b, %v alpha 1.000000e+00 beta 1.000000e+00 : (tensor<1x32xf32>, tensor<32x4xf32>) -> tensor<1x4xf32>
  %d = graph.gemm %c, %u alpha 1.000000e+00 beta 1.000000e+00 : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %e = graph.gemm %d, %u alpha 1.000000e+00 beta 1.000000e+00 : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  func.return %e : tensor<1x4xf32>
}
