// RUN: tilewright-opt %s -p 'graph-fix-extents{names=n,m numbers=4,6}' | filecheck %s
// RUN: not tilewright-opt %s -p 'graph-fix-extents{names=n numbers=4}' 2>&1 | filecheck %s --check-prefix=MISSING
// RUN: not tilewright-opt %s -p 'graph-fix-extents{names=n,m numbers=5,6}' 2>&1 | filecheck %s --check-prefix=STEP
// RUN: not tilewright-opt %s -p 'graph-fix-extents{names=n,m numbers=8,6}' 2>&1 | filecheck %s --check-prefix=RANK
// RUN: not tilewright-opt %s -p 'graph-fix-extents{names=n,m,k numbers=4,6,1}' 2>&1 | filecheck %s --check-prefix=NAME

// MISSING: shape: extent m: expected 2 to 6, found no number
// STEP: shape: extent n: expected 2 to 8 in steps of 2, found 5
// RANK: shape: n=8,m=6: expected a point that the graph holds for, found slice [1, 8] leaves axis 0 of extent 6
// NAME: shape: k: expected an open extent: n, m, found another name

// CHECK: func.func @main(%x: tensor<6xf32>) -> tensor<2xf32> {
func.func @main(%x: tensor<?xf32, #graph.extents<[m]>>) -> tensor<?xf32, #graph.extents<[(n) floordiv 2]>>
    attributes {graph.dims = {n = array<i64: 2, 8, 2>, m = array<i64: 2, 6, 1>}} {
  // CHECK-NEXT: graph.slice %x starts [1] steps [1] : (tensor<6xf32>) -> tensor<4xf32>
  %0 = graph.slice %x starts [0] steps [1] {graph.open = {starts = #graph.extents<[m - 5]>}}
    : (tensor<?xf32, #graph.extents<[m]>>) -> tensor<?xf32, #graph.extents<[n]>>
  // CHECK-NEXT: graph.gather %{{.*}} axis 0 indices dense<[3, 1]> : tensor<2xi64>
  %1 = graph.gather %0 axis 0 indices dense<[3, 1, 0, 0]> : tensor<4xi64>
    {graph.open = {indices = #graph.extents<[(n) floordiv 2]>}}
    : (tensor<?xf32, #graph.extents<[n]>>) -> tensor<?xf32, #graph.extents<[(n) floordiv 2]>>
  // CHECK-NEXT: graph.weight @w = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32> : tensor<2xf32>
  %2 = graph.weight @w = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    {graph.open = {value = #graph.extents<[(n) floordiv 2]>}} : tensor<?xf32, #graph.extents<[(n) floordiv 2]>>
  %3 = graph.binary add %1, %2 : (tensor<?xf32, #graph.extents<[(n) floordiv 2]>>, tensor<?xf32, #graph.extents<[(n) floordiv 2]>>) -> tensor<?xf32, #graph.extents<[(n) floordiv 2]>>
  func.return %3 : tensor<?xf32, #graph.extents<[(n) floordiv 2]>>
}
