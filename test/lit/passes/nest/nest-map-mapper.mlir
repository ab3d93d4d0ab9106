// RUN: tilewright-opt %s -p 'load-target{target="conventional"},nest-map{mapper=exact model=timeloop},nest-verify' | filecheck %s
// RUN: not tilewright-opt %s -p 'load-target{target="conventional"},nest-map{mapper=exact objective=speed}' 2>&1 | filecheck %s --check-prefix=OBJECTIVE
// RUN: not tilewright-opt %s -p 'load-target{target="conventional"},nest-map{mapper=best}' 2>&1 | filecheck %s --check-prefix=MAPPER
// RUN: not tilewright-opt %s -p 'load-target{target="conventional"},nest-map{mapper=exact model=timeloop factors=imperfect}' 2>&1 | filecheck %s --check-prefix=FACTORS
// RUN: not tilewright-opt %s -p 'load-target{target="conventional"},nest-map{mapper=exact gap=-1}' 2>&1 | filecheck %s --check-prefix=GAP
// RUN: not tilewright-opt %s -p 'load-target{target="conventional"},nest-map{mapper=exact time_limit=0}' 2>&1 | filecheck %s --check-prefix=TIME

// OBJECTIVE: error: usage: objective: expected one of edp, energy, latency, dram, found speed
// MAPPER: error: usage: group @fc, mapper: expected one of exact, refine, cosa, sunstone, random, hybrid, found best
// FACTORS: error: usage: factors: expected one of perfect, found imperfect
// GAP: error: usage: gap: expected a part of the bound, such as 0.01 for 1 %, found -1
// TIME: error: usage: time_limit: expected more than 0 seconds, found 0

// The whole mapping is searched for; its price is noted, for all groups at the function.
// CHECK-LABEL: func.func @matmul
// CHECK-SAME:    attributes {predicted = {cycles = 4.000000e+00 : f64, energy_pj = {{.*}} : f64}}
// CHECK:       nest.group @fc {{.*}} attributes {predicted = {cycles = 4.000000e+00 : f64, energy_pj = {{.*}} : f64, edp = {{.*}} : f64, bound = {{.*}} : f64}}
// CHECK:       } mapping {
// CHECK:         nest.spatial {{.*}} on @L1
// CHECK:         nest.hold @L1
// CHECK:         nest.compute @mac
func.func @matmul(%x : tensor<16x8xsi16>, %w : tensor<8x32xsi16>) -> tensor<16x32xsi16> {
  %y = nest.group @fc dims {m = 16, n = 32, k = 8} ins(X = %x, W = %w) -> tensor<16x32xsi16> {
  ^bb0(%X : tensor<16x8xsi16>, %W : tensor<8x32xsi16>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<16x8xsi16>, tensor<8x32xsi16>) -> tensor<16x32xsi16>
    nest.yield %0 : tensor<16x32xsi16>
  }
  func.return %y : tensor<16x32xsi16>
}

// A group of two kernels is cut; a mapping that is there stays, and is priced: one point at a time.
// CHECK-LABEL: func.func @two
// CHECK-SAME:    attributes {predicted = {cycles = {{.*}}, energy_pj = {{.*}}}}
// CHECK:       nest.group @g.mac dims {m = 16, n = 32, k = 8}
// CHECK:       nest.group @g dims {m = 16, n = 32}
// CHECK:       nest.group @hand {{.*}} attributes {predicted = {cycles = 3.200000e+01 : f64, energy_pj = {{.*}} : f64, edp = {{.*}} : f64}}
// CHECK:         nest.for i step 1 {
// CHECK-NEXT:      nest.hold @L1 [mac_in, twice] {
// CHECK-NEXT:        nest.compute @twice
func.func @two(%x : tensor<16x8xsi16>, %w : tensor<8x32xsi16>, %v : tensor<32xsi16>) -> (tensor<16x32xsi16>, tensor<32xsi16>) {
  %y = nest.group @g dims {m = 16, n = 32, k = 8} ins(X = %x, W = %w) -> tensor<16x32xsi16> {
  ^bb0(%X : tensor<16x8xsi16>, %W : tensor<8x32xsi16>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<16x8xsi16>, tensor<8x32xsi16>) -> tensor<16x32xsi16>
    %1 = nest.kernel @relu "Y[m, n] = relu(A[m, n])" (A = %0) into %0 : (tensor<16x32xsi16>) -> tensor<16x32xsi16>
    nest.yield %1 : tensor<16x32xsi16>
  }
  %z = nest.group @hand dims {i = 32} ins(mac_in = %v) -> tensor<32xsi16> {
  ^bb0(%V : tensor<32xsi16>):
    %0 = nest.kernel @twice "Y[i] = V[i] + V[i]" (V = %V) : (tensor<32xsi16>) -> tensor<32xsi16>
    nest.yield %0 : tensor<32xsi16>
  } mapping {
    nest.for i step 1 {
      nest.hold @L1 [mac_in, twice] {
        nest.compute @twice
      }
    }
  }
  func.return %y, %z : tensor<16x32xsi16>, tensor<32xsi16>
}
