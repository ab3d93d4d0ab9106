// RUN: ROUNDTRIP

// Tensors off chip, a view, and a codelet that loops over tiles of rows.
// CHECK-LABEL: codelet.program @tiles {
codelet.program @tiles {
  // CHECK-NEXT: %x = codelet.tensor "x" input at 0 : !codelet.surrogate<16x8xf32, @DRAM>
  %x = codelet.tensor "x" input at 0 : !codelet.surrogate<16x8xf32, @DRAM>
  // CHECK-NEXT: %y = codelet.tensor "y" output at 512 attributes {layer = "relu1"} : !codelet.surrogate<128xf32, @DRAM>
  %y = codelet.tensor "y" output at 512 attributes {layer = "relu1"} : !codelet.surrogate<128xf32, @DRAM>
  // CHECK-NEXT: %v = codelet.view %y : !codelet.surrogate<128xf32, @DRAM> -> !codelet.surrogate<16x8xf32, @DRAM>
  %v = codelet.view %y : !codelet.surrogate<128xf32, @DRAM> -> !codelet.surrogate<16x8xf32, @DRAM>
  // CHECK-NEXT: codelet.codelet @relu1 dims {m = 16, n = 8} (%X = %x : !codelet.surrogate<16x8xf32, @DRAM>, %Y = %v : !codelet.surrogate<16x8xf32, @DRAM>) {
  codelet.codelet @relu1 dims {m = 16, n = 8} (%X = %x : !codelet.surrogate<16x8xf32, @DRAM>, %Y = %v : !codelet.surrogate<16x8xf32, @DRAM>) {
    // CHECK-NEXT: codelet.loop m step 4 {
    codelet.loop m step 4 {
      // CHECK-NEXT: %a = codelet.local "X[m, n]" buffers 2 at [0, 128] : !codelet.surrogate<4x8xf32, @GBUF>
      %a = codelet.local "X[m, n]" buffers 2 at [0, 128] : !codelet.surrogate<4x8xf32, @GBUF>
      // CHECK-NEXT: %b = codelet.local "Y[m, n]" : !codelet.surrogate<4x8xf32, @GBUF>
      %b = codelet.local "Y[m, n]" : !codelet.surrogate<4x8xf32, @GBUF>
      // CHECK-NEXT: codelet.transfer %X -> %a : !codelet.surrogate<16x8xf32, @DRAM> -> !codelet.surrogate<4x8xf32, @GBUF>
      codelet.transfer %X -> %a : !codelet.surrogate<16x8xf32, @DRAM> -> !codelet.surrogate<4x8xf32, @GBUF>
      // CHECK-NEXT: codelet.compute @VPU::@unary "O[m, n] = relu(A[m, n])" (%b, %a) dims {a = m, b = n} functions {F = relu} : (!codelet.surrogate<4x8xf32, @GBUF>, !codelet.surrogate<4x8xf32, @GBUF>)
      codelet.compute @VPU::@unary "O[m, n] = relu(A[m, n])" (%b, %a) dims {a = m, b = n} functions {F = relu} : (!codelet.surrogate<4x8xf32, @GBUF>, !codelet.surrogate<4x8xf32, @GBUF>)
      // CHECK-NEXT: codelet.transfer %b -> %Y : !codelet.surrogate<4x8xf32, @GBUF> -> !codelet.surrogate<16x8xf32, @DRAM>
      codelet.transfer %b -> %Y : !codelet.surrogate<4x8xf32, @GBUF> -> !codelet.surrogate<16x8xf32, @DRAM>
    }
  }
}

// A padded, strided window (its hull in rows, the even columns alone), all bindings of a compute, a weight, a scalar.
// CHECK-LABEL: codelet.program @convolution {
codelet.program @convolution {
  %x = codelet.tensor "x" input : !codelet.surrogate<3x8x8xsi8, @DRAM>
  // CHECK: codelet.tensor "w" weight : !codelet.surrogate<4x3x3xsi8, @DRAM>
  %w = codelet.tensor "w" weight : !codelet.surrogate<4x3x3xsi8, @DRAM>
  // CHECK: codelet.tensor "s" temp : !codelet.surrogate<f32, @DRAM>
  %s = codelet.tensor "s" temp : !codelet.surrogate<f32, @DRAM>
  codelet.codelet @conv dims {k = 4, p = 4, q = 4, c = 3, r = 3} (%X = %x : !codelet.surrogate<3x8x8xsi8, @DRAM>, %W = %w : !codelet.surrogate<4x3x3xsi8, @DRAM>) attributes {name = "conv"} {
    // CHECK: codelet.local "W[k, c, r]" : !codelet.surrogate<4x3x3xsi8, @GBUF>
    %0 = codelet.local "W[k, c, r]" : !codelet.surrogate<4x3x3xsi8, @GBUF>
    // CHECK: codelet.loop q step 2 attributes {note} {
    codelet.loop q step 2 attributes {note} {
      // CHECK: codelet.local "X[c, 2*p + r - 1, 2*q]" : !codelet.surrogate<3x9x2xsi8, @GBUF>
      %1 = codelet.local "X[c, 2*p + r - 1, 2*q]" : !codelet.surrogate<3x9x2xsi8, @GBUF>
      // CHECK: codelet.transfer %{{.*}} -> %{{.*}} pad -3 : si8 : !codelet.surrogate<3x8x8xsi8, @DRAM> -> !codelet.surrogate<3x9x2xsi8, @GBUF>
      codelet.transfer %X -> %1 pad -3 : si8 : !codelet.surrogate<3x8x8xsi8, @DRAM> -> !codelet.surrogate<3x9x2xsi8, @GBUF>
      // CHECK: codelet.local "Y[k, p, c]", "Y[k, c, p]" : !codelet.surrogate<4x4x4xi32, @GBUF>
      %3 = codelet.local "Y[k, p, c]", "Y[k, c, p]" : !codelet.surrogate<4x4x4xi32, @GBUF>
      %2 = codelet.local "Y[k, p, q]" : !codelet.surrogate<4x4x2xi32, @GBUF>
      // CHECK: codelet.compute @MXU::@mac "O[k, p, q] += X[c, 2 * p + r - 1, 2 * q] * W[k, c, r]" (%{{.*}}) dims {k = k, p = p, q = q, c = c, r = r} immediates {V = 0.5, L = neg_inf} spread {x = k, y = p} keep attributes {note} : (!codelet.surrogate<4x4x2xi32, @GBUF>, !codelet.surrogate<3x9x2xsi8, @GBUF>, !codelet.surrogate<4x3x3xsi8, @GBUF>)
      codelet.compute @MXU::@mac "O[k,p,q] += X[c,2*p+r-1,2*q] * W[k,c,r]" (%2, %1, %0) dims {k = k, p = p, q = q, c = c, r = r} immediates {V = 0.5, L = neg_inf} spread {x = k, y = p} keep attributes {note} : (!codelet.surrogate<4x4x2xi32, @GBUF>, !codelet.surrogate<3x9x2xsi8, @GBUF>, !codelet.surrogate<4x3x3xsi8, @GBUF>)
    }
  }
}

// Loads ahead, and a tile that two nodes share.
// CHECK-LABEL: codelet.program @shared {
codelet.program @shared {
  %x = codelet.tensor "x" input : !codelet.surrogate<16xf32, @DRAM>
  %y = codelet.tensor "y" output : !codelet.surrogate<16xf32, @DRAM>
  codelet.codelet @relu dims {m = 16} (%X = %x : !codelet.surrogate<16xf32, @DRAM>, %Y = %y : !codelet.surrogate<16xf32, @DRAM>) {
    // CHECK: codelet.loop m step 5 ahead attributes {note} {
    codelet.loop m step 5 ahead attributes {note} {
      %a = codelet.local "X[m]" buffers 2 : !codelet.surrogate<5xf32, @GBUF>
      codelet.transfer %X -> %a : !codelet.surrogate<16xf32, @DRAM> -> !codelet.surrogate<5xf32, @GBUF>
      %b = codelet.local "Y[m]" buffers 2 : !codelet.surrogate<5xf32, @GBUF>
      // CHECK: dims {a = m} functions {F = relu} take {m = 4} : (
      codelet.compute @VPU::@unary "O[m] = relu(A[m])" (%b, %a) dims {a = m} functions {F = relu} take {m = 4} : (!codelet.surrogate<5xf32, @GBUF>, !codelet.surrogate<5xf32, @GBUF>)
      // CHECK: dims {a = m} functions {F = relu} skip {m = 4} take {m = 1} : (
      codelet.compute @PE::@unary "O[m] = relu(A[m])" (%b, %a) dims {a = m} functions {F = relu} skip {m = 4} take {m = 1} : (!codelet.surrogate<5xf32, @GBUF>, !codelet.surrogate<5xf32, @GBUF>)
      codelet.transfer %b -> %Y : !codelet.surrogate<5xf32, @GBUF> -> !codelet.surrogate<16xf32, @DRAM>
    }
  }
}

// CHECK: "attributes"
// CHECK-SAME: !codelet.surrogate<2x3xui8, @SPAD>
// CHECK-SAME: #codelet<role temp>
"test.op"() {sym_name = "attributes", t = !codelet.surrogate<2x3xui8, @SPAD>, r = #codelet<role temp>} : () -> ()
