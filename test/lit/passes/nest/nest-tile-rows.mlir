// RUN: tilewright-opt %s -p 'load-target{target="cocco_npu"},graph-normalize,convert-graph-to-nest{in_place=true},nest-schedule,nest-tile' | filecheck %s --check-prefix=ROWS
// RUN: tilewright-opt %s -p 'load-target{target="cocco_npu"},graph-normalize,convert-graph-to-nest{in_place=true},nest-schedule,nest-tile{rows_first=false}' | filecheck %s --check-prefix=INSIDE
// RUN: tilewright-opt %s -p 'load-target{target="cocco_npu"},graph-normalize,convert-graph-to-nest{in_place=true},nest-schedule,nest-tile{rows_first=false rows_inside=false}' | filecheck %s --check-prefix=ALIKE

// Of the convolution 14 pieces of rows; 28 rows of 3 pieces of channels, which count as 84; or 16 pieces of channels, in halves of the rows.
// ROWS: nest.group @a
// ROWS: nest.for p step 2
// INSIDE: nest.group @a
// INSIDE: nest.for p step 1
// INSIDE-NEXT: nest.for k step 88
// ALIKE: nest.group @a
// ALIKE: nest.for p step 14
// ALIKE-NEXT: nest.for k step 16
func.func @main(%g: tensor<1x128x28x28xui8>) -> tensor<1x256x14x14xui8>
    attributes {graph.inputs = ["g"], graph.outputs = ["y"]} {
  %x = graph.pool max %g kernel [3, 3] strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] : (tensor<1x128x28x28xui8>) -> tensor<1x128x28x28xui8>
  %w = graph.weight @w = dense<9> : tensor<256x128x1x1xsi8> : tensor<256x128x1x1xsi8>
  %m = graph.weight @m = dense<1078130688> : tensor<i32> : tensor<i32>
  %h = graph.weight @h = dense<41> : tensor<i32> : tensor<i32>
  %a = graph.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<1x128x28x28xui8>, tensor<256x128x1x1xsi8>) -> tensor<1x256x28x28xi32>
  %q = graph.requantize %a, %m, %h axis 1 zero_point 0 range [0, 255] : (tensor<1x256x28x28xi32>, tensor<i32>, tensor<i32>) -> tensor<1x256x28x28xui8>
  %y = graph.pool max %q kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : (tensor<1x256x28x28xui8>) -> tensor<1x256x14x14xui8>
  func.return %y : tensor<1x256x14x14xui8>
}
