// RUN: tilewright-opt %s -p 'load-target{target="conventional"},nest-tile{dims=m,k sizes=4,8 memory=L2},nest-tile{dims=n,m sizes=5,1 memory=L1},nest-tile{dims=n,k sizes=1,1},nest-unroll{memory=L2 dim=m ways=4 node=L1 axis=y},nest-verify' | filecheck %s
// RUN: not tilewright-opt %s -p 'load-target{target="conventional"},nest-tile{dims=m sizes=8},nest-unroll{dim=m ways=3 node=L2},nest-tile{dims=m,n,k sizes=1,1,1},nest-verify' 2>&1 | filecheck %s --check-prefix=ARRAY
// RUN: not tilewright-opt %s -p 'load-target{target="conventional"},nest-tile{dims=m sizes=8 memory=L1},nest-tile{dims=m,n,k sizes=1,1,1},nest-verify' 2>&1 | filecheck %s --check-prefix=ROOM
// RUN: not tilewright-opt %s -p 'load-target{target="conventional"},nest-tile{dims=m,n sizes=1,1},nest-verify' 2>&1 | filecheck %s --check-prefix=POINT

// ARRAY: error: infeasible: group @fc, nest.spatial m on @L2 x: expected at most 1 instances of L2 along x, found 3 instances; spread over 1 at most
// Elements of 8, 8 and 32 bits: 8*40 + 40*30 + 8*30*4 bytes.
// ROOM: error: infeasible: group @fc, nest.hold @L1 [X, W, mac]: expected at most 4096 bits of memory L1, found 19840 bits; `nest.for n step 2` around it fits; or hold smaller tiles or fewer copies of X, W, mac
// POINT: error: unsupported: group @fc, compute @mac: expected loops down to one k at a time, found 40; add `nest.for k step 1`

func.func @main(%x : tensor<20x40xsi8>, %w : tensor<40x30xsi8>) -> tensor<20x30xi32> {
  %y = nest.group @fc dims {m = 20, n = 30, k = 40} ins(X = %x, W = %w) -> tensor<20x30xi32> {
  ^bb0(%X : tensor<20x40xsi8>, %W : tensor<40x30xsi8>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) : (tensor<20x40xsi8>, tensor<40x30xsi8>) -> tensor<20x30xi32>
    nest.yield %0 : tensor<20x30xi32>
  }
  // CHECK:      nest.for m step 4 {
  // CHECK-NEXT:   nest.for k step 8 {
  // CHECK-NEXT:     nest.hold @L2 [X, W, mac] {
  // CHECK-NEXT:       nest.for n step 5 {
  // CHECK-NEXT:         nest.spatial m = 4 step 1 on @L1 y {
  // CHECK-NEXT:           nest.hold @L1 [X, W, mac] {
  // CHECK-NEXT:             nest.for n step 1 {
  // CHECK-NEXT:               nest.for k step 1 {
  // CHECK-NEXT:                 nest.compute @mac
  func.return %y : tensor<20x30xi32>
}
