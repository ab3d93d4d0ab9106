// RUN: tilewright-opt %s -p load-target{target="cocco_npu"},graph-unfold | filecheck %s --check-prefix=LESS
// RUN: tilewright-opt %s -p load-target{target="cocco_npu"},graph-unfold{worth=1} | filecheck %s --check-prefix=MORE

// 147 taps are 19 steps of 8 lanes, and not 21 of rows of 7, which saves as many cycles as the copies take, and some.
// LESS-NOT: graph.unfold
// MORE: graph.unfold %x kernel [7, 7] strides [2, 2] pads [3, 3, 2, 2] dilations [1, 1] {name = "y.unfolded"} : (tensor<1x3x32x32xui8>) -> tensor<1x147x16x16xui8>
func.func @main(%x: tensor<1x3x32x32xui8>) -> tensor<1x256x16x16xi32> {
  %w = graph.weight @w = dense<1> : tensor<256x3x7x7xsi8> : tensor<256x3x7x7xsi8>
  %0 = graph.conv %x, %w strides [2, 2] pads [3, 3, 2, 2] dilations [1, 1] groups 1 {name = "y"} : (tensor<1x3x32x32xui8>, tensor<256x3x7x7xsi8>) -> tensor<1x256x16x16xi32>
  func.return %0 : tensor<1x256x16x16xi32>
}
