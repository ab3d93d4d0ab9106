// RUN: tilewright-opt %s -p 'load-target{target="cocco_npu:WBUF.depth=640"},nest-split-weights' | filecheck %s
// RUN: tilewright-opt %s -p 'load-target{target="cocco_npu"},nest-split-weights' | filecheck %s --check-prefix LARGE
// RUN: tilewright-opt %s -p 'load-target{target="cocco_npu:WBUF.depth=1024"},nest-split-weights' | filecheck %s --check-prefix LARGE
// RUN: tilewright-opt %s -p 'load-target{target="cocco_npu:WBUF.depth=1024"},nest-split-weights{share=0.25}' | filecheck %s
// RUN: tilewright-opt %s -p 'load-target{target="edge16"},nest-split-weights' | filecheck %s --check-prefix SHARED
// RUN: tilewright-opt %s -p 'load-target{target="edge16:GBUF.depth=2560"},nest-split-weights{shared=true}' | filecheck %s
// RUN: tilewright-opt %s -p 'load-target{target="edge16:GBUF.depth=3072"},nest-split-weights{shared=true}' | filecheck %s --check-prefix SHARED
// RUN: tilewright-opt %s -p 'load-target{target="edge16:GBUF.depth=256"},nest-split-weights{shared=true}' | filecheck %s --check-prefix SHARED

// Weights of 24 KiB are more than half of 40 KiB, and a quarter of 64 KiB; a part has 32 channels, which fill lanes, though 5 KiB are 26.
// Of a memory that maps share they are more than an eighth of 160 KiB, but not of 192 KiB, and they do not fit in 16 KiB.
// What the channels do not index is read by all parts, and the result is one.
// CHECK: %[[A:.*]] = nest.group @fc dims {m = 1, n = 32, k = 192} ins(X = %{{.*}}, W = %{{.*}}, B = %{{.*}}, S = %{{.*}}, R = %{{.*}}) -> tensor<1x128xsi8> attributes {layers = ["n1"]} {
// CHECK:   %mac = nest.kernel @mac "Y[m, n] += X[m, k] * W[n, k]" (X = %X, W = %W) into %bias : (tensor<1x192xsi8>, tensor<32x192xsi8>) -> tensor<1x32xi32>
// CHECK:   "Y[m, n] = A[m, n] + R[m, n]" (A = %clip, R = %R) into %clip
// CHECK: %[[B:.*]] = nest.group @fc.1 dims {m = 1, n = 32, k = 192} ins(X = %{{.*}}, W = %{{.*}}, B = %{{.*}}, S = %{{.*}}, R = %{{.*}}, D = %[[A]]) -> tensor<1x128xsi8> attributes {layers = ["n1"]} {
// CHECK:   %bias = nest.kernel @bias "Y[m, n] = B[n]" (B = %B) : (tensor<32xi32>) -> tensor<1x32xi32>
// CHECK:   %clip = nest.kernel @clip "Y[m, n + 32] = sat_i8(rshift_round(A[m, n], S[]))" (A = %mac, S = %S) into %D : (tensor<1x32xi32>, tensor<i32>) -> tensor<1x128xsi8>
// CHECK:   "Y[m, n + 32] = A[m, n + 32] + R[m, n + 32]" (A = %clip, R = %R) into %clip
// CHECK: nest.group @fc.2
// CHECK: %[[D:.*]] = nest.group @fc.3 {{.*}} attributes {layers = ["n1"], name = "fc"}
// CHECK: func.return %[[D]]
// LARGE-NOT: @fc.1
// SHARED-NOT: @fc.1
func.func @main(%x : tensor<1x192xsi8>, %r : tensor<1x128xsi8>) -> tensor<1x128xsi8> {
  %w = graph.weight @w = dense<1> : tensor<128x192xsi8> : tensor<128x192xsi8>
  %b = graph.weight @b = dense<2> : tensor<128xi32> : tensor<128xi32>
  %s = graph.weight @s = dense<3> : tensor<i32> : tensor<i32>
  %y = nest.group @fc dims {m = 1, n = 128, k = 192} ins(X = %x, W = %w, B = %b, S = %s, R = %r) -> tensor<1x128xsi8> attributes {layers = ["n1"], name = "fc"} {
  ^bb0(%X : tensor<1x192xsi8>, %W : tensor<128x192xsi8>, %B : tensor<128xi32>, %S : tensor<i32>, %R : tensor<1x128xsi8>):
    %bias = nest.kernel @bias "Y[m, n] = B[n]" (B = %B) : (tensor<128xi32>) -> tensor<1x128xi32>
    %mac = nest.kernel @mac "Y[m, n] += X[m, k] * W[n, k]" (X = %X, W = %W) into %bias : (tensor<1x192xsi8>, tensor<128x192xsi8>) -> tensor<1x128xi32>
    %clip = nest.kernel @clip "Y[m, n] = sat_i8(rshift_round(A[m, n], S[]))" (A = %mac, S = %S) : (tensor<1x128xi32>, tensor<i32>) -> tensor<1x128xsi8>
    %sum = nest.kernel @sum "Y[m, n] = A[m, n] + R[m, n]" (A = %clip, R = %R) into %clip : (tensor<1x128xsi8>, tensor<1x128xsi8>) -> tensor<1x128xsi8>
    nest.yield %sum : tensor<1x128xsi8>
  }
  func.return %y : tensor<1x128xsi8>
}
