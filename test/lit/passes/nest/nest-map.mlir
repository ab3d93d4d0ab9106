// RUN: tilewright-opt %s -p 'load-target{target="tiny"},nest-map' | filecheck %s

// The batch is looped over, as the unit multiplies matrices.  What it all costs is noted: 3 * (20*4 + 4*4*8 + 4*20*8)
// bytes between DRAM and the scratchpad, as W is loaded for each of four tiles.
// CHECK-LABEL: func.func @batched
// CHECK-SAME:    attributes {predicted = {cycles = {{.*}} : f64, energy_pj = {{.*}} : f64, dram_bytes = 2.544000e+03 : f64}}
func.func @batched(%x : tensor<3x20x4xsi8>, %w : tensor<3x4x8xsi8>) -> tensor<3x20x8xi32> {
  %y = nest.group @mm dims {b = 3, m = 20, n = 8, k = 4} ins(X = %x, W = %w) -> tensor<3x20x8xi32> {
  ^bb0(%X : tensor<3x20x4xsi8>, %W : tensor<3x4x8xsi8>):
    %0 = nest.kernel @mac "Y[b, m, n] += X[b, m, k] * W[b, k, n]" (X = %X, W = %W) : (tensor<3x20x4xsi8>, tensor<3x4x8xsi8>) -> tensor<3x20x8xi32>
    nest.yield %0 : tensor<3x20x8xi32>
  } mapping {
    nest.for m step 5 {
      nest.hold @SPAD [X, mac] {
        nest.hold @SPAD [W] {
          // CHECK:      nest.for b step 1 {
          // CHECK-NEXT:   nest.spatial {{[mn]}} = 4 on @MXU x {
          // CHECK-NEXT:     nest.spatial {{[mn]}} = 4 on @MXU y {
          // CHECK-NEXT:       nest.compute @mac on @MXU::@mac dims {{[{]}}{{.*}}c = k} tensors {O = Y, X = {{[XW]}}, W = {{[XW]}}}
          nest.compute @mac
        }
      }
    }
  }
  func.return %y : tensor<3x20x8xi32>
}
