// RUN: tilewright-opt %s -p 'load-target{target="vta"},convert-graph-to-codelet' | tilewright-opt | filecheck %s

// A convolution of 32 channels with padding, halved in both directions: blocks of 16 channels, whole rows of the input.
// CHECK:      codelet.program @main {
// CHECK-NEXT:   %x = codelet.tensor "x" input attributes {tensor = tensor<1x32x6x6xsi8>, layout = #mnemonic.layout<[0 0, 0 0, 0 0, 0 0], [0, 16, 0, 0], [0, 1, 3, 4, 2], 0, []>} : !codelet.surrogate<1x2x6x6x16xsi8, @DRAM>
// CHECK-NEXT:   %y_blocks = codelet.tensor "y.blocks" weight : !codelet.surrogate<1x2x3x3x16x16xsi8, @DRAM>
// CHECK-NEXT:   %y = codelet.tensor "y" output attributes {{.*}} : !codelet.surrogate<1x1x3x3x16xsi8, @DRAM>
// CHECK-NEXT:   codelet.codelet @y dims {n = 1, k = 1, p = 3, q = 3, r = 3, s = 3, c0 = 2, m = 16, e = 16} (%X0 = %x : {{.*}}, %W = %y_blocks : {{.*}}, %Y = %y : {{.*}}) attributes {layers = ["conv", "y"]} {
// CHECK-NEXT:     %y_1 = codelet.local "Y[n, k, p, q, m]" : !codelet.surrogate<1x1x3x3x16xi32, @ACC>
// CHECK-NEXT:     codelet.compute @MAC::@clear "O[n, k, p, q, m] = 0" (%y_1) dims {n = m} over [k, p, q]
// CHECK-NEXT:     codelet.loop c0 step 1 alternating {
// CHECK-NEXT:       %x0 = codelet.local "X0[n, c0, 2*p + r - 1, 2*q + s - 1, e]" buffers 2 kept : !codelet.surrogate<1x1x7x7x16xsi8, @INP>
// CHECK-NEXT:       codelet.transfer %X0 -> %x0 pad 0 : si8
// CHECK-NEXT:       %w = codelet.local "W[k, c0, r, s, m, e]" buffers 2 kept : !codelet.surrogate<1x1x3x3x16x16xsi8, @WGT>
// CHECK-NEXT:       codelet.transfer %W -> %w :
// CHECK-NEXT:       codelet.compute @MAC::@gemm "O[n, k, p, q, m] += X[n, c0, 2 * p + r - 1, 2 * q + s - 1, e] * W[k, c0, r, s, m, e]" (%y_1, %x0, %w) dims {n = m, k = e} over [c0, r, s, k, p, q] keep
// CHECK-NEXT:     }
// CHECK-NEXT:     codelet.compute @LANES::@immediate "O[n, k, p, q, m] = O[n, k, p, q, m] + 16" (%y_1) dims {n = m} functions {F = add} immediates {V = 16} over [k, p, q]
// CHECK-NEXT:     codelet.compute @LANES::@immediate "O[n, k, p, q, m] = shift_right(O[n, k, p, q, m], 5)"
// CHECK-NEXT:     codelet.compute @LANES::@immediate "O[n, k, p, q, m] = max(O[n, k, p, q, m], 0)"
// CHECK-NEXT:     codelet.compute @LANES::@immediate "O[n, k, p, q, m] = min(O[n, k, p, q, m], 127)"
// CHECK-NEXT:     %0 = codelet.shadow %y_1 : !codelet.surrogate<1x1x3x3x16xi32, @ACC> -> !codelet.surrogate<1x1x3x3x16xsi8, @OUT>
// CHECK-NEXT:     codelet.transfer %0 -> %Y :
func.func @main(%x: tensor<1x32x6x6xsi8>) -> tensor<1x16x3x3xsi8> attributes {graph.inputs = ["x"], graph.outputs = ["y"]} {
  %w = graph.weight @w = dense<1> : tensor<16x32x3x3xsi8> : tensor<16x32x3x3xsi8>
  %m = graph.weight @m = dense<1> : tensor<i32> : tensor<i32>
  %s = graph.weight @s = dense<5> : tensor<i32> : tensor<i32>
  %a = graph.conv %x, %w strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] groups 1 {name = "conv"} : (tensor<1x32x6x6xsi8>, tensor<16x32x3x3xsi8>) -> tensor<1x16x3x3xi32>
  %y = graph.requantize %a, %m, %s axis 1 zero_point 0 range [0, 127] {name = "y"} : (tensor<1x16x3x3xi32>, tensor<i32>, tensor<i32>) -> tensor<1x16x3x3xsi8>
  func.return %y : tensor<1x16x3x3xsi8>
}

// A maximum reads sums only: the input becomes sums first.  Of axes that tiles cut it is all that the windows of a tile reach.
// CHECK:      codelet.loop p step
// CHECK:      codelet.span y over "2*p + r" {
// CHECK-NEXT:   %x0{{.*}} = codelet.local "X0[n, k, y - 1, x, e]" buffers 2 kept
// CHECK:          codelet.transfer %X0 -> %x0{{.*}} pad -128 : si8
// CHECK:          %a = codelet.local "A[n, k, y, x, m]"
// CHECK:          codelet.part q from 1 to 12 {
// CHECK-NEXT:       codelet.compute @LANES::@vectors "O[n, k, p, q, m] = max(O[n, k, p, q, m], A[n, k, 2 * p, 2 * q - 1, m])"
// CHECK:          codelet.compute @LANES::@vectors "O[n, k, p, q, m] = max(O[n, k, p, q, m], A[n, k, 2 * p, 2 * q, m])"
func.func @most(%x: tensor<1x16x160x24xsi8>) -> tensor<1x16x80x12xsi8> attributes {graph.inputs = ["x"], graph.outputs = ["y"]} {
  %y = graph.pool max %x kernel [3, 3] strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] {name = "most"} : (tensor<1x16x160x24xsi8>) -> tensor<1x16x80x12xsi8>
  func.return %y : tensor<1x16x80x12xsi8>
}
