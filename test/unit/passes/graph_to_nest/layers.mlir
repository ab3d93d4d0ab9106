// Small functions of graph layers: what every lowering below is checked on.

func.func @conv(%x : tensor<2x3x8x7xf32>, %w : tensor<4x3x3x3xf32>) -> tensor<2x4x8x7xf32> {
  %y = graph.conv %x, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<2x3x8x7xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x8x7xf32>
  func.return %y : tensor<2x4x8x7xf32>
}

func.func @conv_stride(%x : tensor<1x3x9x9xf32>, %w : tensor<4x3x1x1xf32>) -> tensor<1x4x5x5xf32> {
  %y = graph.conv %x, %w strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<1x3x9x9xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x5x5xf32>
  func.return %y : tensor<1x4x5x5xf32>
}

func.func @conv_dilated(%x : tensor<1x3x9x9xf32>, %w : tensor<4x3x3x3xf32>) -> tensor<1x4x5x5xf32> {
  %y = graph.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [2, 2] groups 1 : (tensor<1x3x9x9xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x5x5xf32>
  func.return %y : tensor<1x4x5x5xf32>
}

func.func @conv_asymmetric(%x : tensor<1x2x6x6xf32>, %w : tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32> {
  %y = graph.conv %x, %w strides [2, 2] pads [0, 1, 1, 0] dilations [1, 1] groups 1 : (tensor<1x2x6x6xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  func.return %y : tensor<1x3x3x3xf32>
}

func.func @conv_groups(%x : tensor<1x6x5x5xf32>, %w : tensor<4x3x3x3xf32>) -> tensor<1x4x5x5xf32> {
  %y = graph.conv %x, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 2 : (tensor<1x6x5x5xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x5x5xf32>
  func.return %y : tensor<1x4x5x5xf32>
}

func.func @conv_depthwise(%x : tensor<1x6x7x7xf32>, %w : tensor<6x1x3x3xf32>) -> tensor<1x6x4x4xf32> {
  %y = graph.conv %x, %w strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] groups 6 : (tensor<1x6x7x7xf32>, tensor<6x1x3x3xf32>) -> tensor<1x6x4x4xf32>
  func.return %y : tensor<1x6x4x4xf32>
}

func.func @conv_i8(%x : tensor<1x4x6x6xui8>, %w : tensor<5x4x3x3xsi8>) -> tensor<1x5x6x6xi32> {
  %y = graph.conv %x, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 pad_value 7.0 : (tensor<1x4x6x6xui8>, tensor<5x4x3x3xsi8>) -> tensor<1x5x6x6xi32>
  func.return %y : tensor<1x5x6x6xi32>
}

func.func @conv_1d(%x : tensor<2x3x9xf32>, %w : tensor<4x3x3xf32>, %b : tensor<4xf32>) -> tensor<2x4x5xf32> {
  %y = graph.conv %x, %w, %b strides [2] pads [1, 1] dilations [1] groups 1 : (tensor<2x3x9xf32>, tensor<4x3x3xf32>, tensor<4xf32>) -> tensor<2x4x5xf32>
  func.return %y : tensor<2x4x5xf32>
}

func.func @conv_3d(%x : tensor<1x2x4x5x4xf32>, %w : tensor<3x2x2x2x2xf32>) -> tensor<1x3x4x3x4xf32> {
  %y = graph.conv %x, %w strides [1, 2, 1] pads [0, 1, 0, 1, 0, 1] dilations [1, 1, 1] groups 1 : (tensor<1x2x4x5x4xf32>, tensor<3x2x2x2x2xf32>) -> tensor<1x3x4x3x4xf32>
  func.return %y : tensor<1x3x4x3x4xf32>
}

func.func @gemm(%a : tensor<5x8xf32>, %b : tensor<6x8xf32>, %c : tensor<6xf32>) -> tensor<5x6xf32> {
  %y = graph.gemm %a, %b, %c trans_b : (tensor<5x8xf32>, tensor<6x8xf32>, tensor<6xf32>) -> tensor<5x6xf32>
  func.return %y : tensor<5x6xf32>
}

func.func @gemm_scaled(%a : tensor<8x5xf32>, %b : tensor<8x6xf32>, %c : tensor<5x1xf32>) -> tensor<5x6xf32> {
  %y = graph.gemm %a, %b, %c trans_a alpha 0.5 beta 2.0 : (tensor<8x5xf32>, tensor<8x6xf32>, tensor<5x1xf32>) -> tensor<5x6xf32>
  func.return %y : tensor<5x6xf32>
}

func.func @matmul(%a : tensor<5x8xf32>, %b : tensor<8x6xf32>) -> tensor<5x6xf32> {
  %y = graph.matmul %a, %b  : (tensor<5x8xf32>, tensor<8x6xf32>) -> tensor<5x6xf32>
  func.return %y : tensor<5x6xf32>
}

func.func @matmul_batched(%a : tensor<2x3x5x4xf32>, %b : tensor<3x4x6xf32>) -> tensor<2x3x5x6xf32> {
  %y = graph.matmul %a, %b  : (tensor<2x3x5x4xf32>, tensor<3x4x6xf32>) -> tensor<2x3x5x6xf32>
  func.return %y : tensor<2x3x5x6xf32>
}

func.func @matmul_i8(%a : tensor<5x8xui8>, %b : tensor<8x6xsi8>) -> tensor<5x6xi32> {
  %y = graph.matmul %a, %b  : (tensor<5x8xui8>, tensor<8x6xsi8>) -> tensor<5x6xi32>
  func.return %y : tensor<5x6xi32>
}

func.func @pool_max(%x : tensor<1x4x7x7xf32>) -> tensor<1x4x4x4xf32> {
  %y = graph.pool max %x kernel [3, 3] strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] : (tensor<1x4x7x7xf32>) -> tensor<1x4x4x4xf32>
  func.return %y : tensor<1x4x4x4xf32>
}

func.func @pool_max_i8(%x : tensor<1x4x7x7xsi8>) -> tensor<1x4x4x4xsi8> {
  %y = graph.pool max %x kernel [3, 3] strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] : (tensor<1x4x7x7xsi8>) -> tensor<1x4x4x4xsi8>
  func.return %y : tensor<1x4x4x4xsi8>
}

func.func @pool_average(%x : tensor<1x4x7x7xf32>) -> tensor<1x4x4x4xf32> {
  %y = graph.pool average %x kernel [3, 3] strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] : (tensor<1x4x7x7xf32>) -> tensor<1x4x4x4xf32>
  func.return %y : tensor<1x4x4x4xf32>
}

func.func @pool_average_pad(%x : tensor<1x4x7x7xf32>) -> tensor<1x4x4x4xf32> {
  %y = graph.pool average %x kernel [3, 3] strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] count_include_pad : (tensor<1x4x7x7xf32>) -> tensor<1x4x4x4xf32>
  func.return %y : tensor<1x4x4x4xf32>
}

func.func @pool_average_inside(%x : tensor<1x4x7x7xf32>) -> tensor<1x4x3x3xf32> {
  %y = graph.pool average %x kernel [3, 3] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : (tensor<1x4x7x7xf32>) -> tensor<1x4x3x3xf32>
  func.return %y : tensor<1x4x3x3xf32>
}

func.func @pool_sum_i8(%x : tensor<1x4x7x7xui8>) -> tensor<1x4x3x3xi32> {
  %y = graph.pool sum %x kernel [3, 3] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : (tensor<1x4x7x7xui8>) -> tensor<1x4x3x3xi32>
  func.return %y : tensor<1x4x3x3xi32>
}

func.func @reduce_mean(%x : tensor<1x4x7x6xf32>) -> tensor<1x4x1x1xf32> {
  %y = graph.reduce mean %x axes [2, 3] keepdims : (tensor<1x4x7x6xf32>) -> tensor<1x4x1x1xf32>
  func.return %y : tensor<1x4x1x1xf32>
}

func.func @reduce_sum(%x : tensor<1x4x7x6xf32>) -> tensor<1x7xf32> {
  %y = graph.reduce sum %x axes [1, 3] : (tensor<1x4x7x6xf32>) -> tensor<1x7xf32>
  func.return %y : tensor<1x7xf32>
}

func.func @reduce_max(%x : tensor<1x4x7x6xf32>) -> tensor<1x4x6xf32> {
  %y = graph.reduce max %x axes [2] : (tensor<1x4x7x6xf32>) -> tensor<1x4x6xf32>
  func.return %y : tensor<1x4x6xf32>
}

func.func @reduce_min(%x : tensor<3x4xf32>) -> tensor<3x1xf32> {
  %y = graph.reduce min %x axes [1] keepdims : (tensor<3x4xf32>) -> tensor<3x1xf32>
  func.return %y : tensor<3x1xf32>
}

func.func @softmax(%x : tensor<3x10xf32>) -> tensor<3x10xf32> {
  %y = graph.softmax %x axis 1 : (tensor<3x10xf32>) -> tensor<3x10xf32>
  func.return %y : tensor<3x10xf32>
}

func.func @softmax_middle(%x : tensor<2x5x3xf32>) -> tensor<2x5x3xf32> {
  %y = graph.softmax %x axis 1 : (tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
  func.return %y : tensor<2x5x3xf32>
}

func.func @softmax_bounded(%x : tensor<3x10xf32>) -> tensor<3x10xf32> {
  %y = graph.softmax %x axis 1 bounded : (tensor<3x10xf32>) -> tensor<3x10xf32>
  func.return %y : tensor<3x10xf32>
}

func.func @softmax_of_integers(%x : tensor<3x10xui8>) -> tensor<3x10xsi8> {
  %y = graph.softmax %x axis 1 scale 0.02 bounded step 0.0078125 zero_point -128 : (tensor<3x10xui8>) -> tensor<3x10xsi8>
  func.return %y : tensor<3x10xsi8>
}

func.func @softmax_masked(%x : tensor<2x3x10xsi8>, %m : tensor<3x10xf32>) -> tensor<2x3x10xf32> {
  %y = graph.softmax %x, %m axis 2 scale 0.02 bounded : (tensor<2x3x10xsi8>, tensor<3x10xf32>) -> tensor<2x3x10xf32>
  func.return %y : tensor<2x3x10xf32>
}

func.func @softmax_masked_and_shifted(%x : tensor<2x3x10xf32>, %m : tensor<3x1xf32>) -> tensor<2x3x10xf32> {
  %y = graph.softmax %x, %m axis 2 : (tensor<2x3x10xf32>, tensor<3x1xf32>) -> tensor<2x3x10xf32>
  func.return %y : tensor<2x3x10xf32>
}

func.func @softmax_to_integers(%x : tensor<2x5x3xf32>) -> tensor<2x5x3xui8> {
  %y = graph.softmax %x axis 1 step 0.01 zero_point 3 : (tensor<2x5x3xf32>) -> tensor<2x5x3xui8>
  func.return %y : tensor<2x5x3xui8>
}

func.func @layer_norm(%x : tensor<2x3x8xf32>, %s : tensor<8xf32>, %b : tensor<8xf32>) -> tensor<2x3x8xf32> {
  %y = graph.layer_norm %x, %s, %b axis 2 epsilon 1.0e-05 : (tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  func.return %y : tensor<2x3x8xf32>
}

func.func @layer_norm_two_axes(%x : tensor<3x4x5xf32>, %s : tensor<4x5xf32>) -> tensor<3x4x5xf32> {
  %y = graph.layer_norm %x, %s axis 1 epsilon 0.01 : (tensor<3x4x5xf32>, tensor<4x5xf32>) -> tensor<3x4x5xf32>
  func.return %y : tensor<3x4x5xf32>
}

func.func @standardize(%x : tensor<2x3x8xsi8>) -> tensor<2x3x8xi32> {
  %y = graph.standardize %x axis 2 epsilon 0.25 bits 18 : (tensor<2x3x8xsi8>) -> tensor<2x3x8xi32>
  func.return %y : tensor<2x3x8xi32>
}

func.func @standardize_two_axes(%x : tensor<3x4x5xui8>) -> tensor<3x4x5xi32> {
  %y = graph.standardize %x axis 1 epsilon 0.0 bits 10 : (tensor<3x4x5xui8>) -> tensor<3x4x5xi32>
  func.return %y : tensor<3x4x5xi32>
}

func.func @lrn(%x : tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %y = graph.lrn %x size 5 alpha 0.1 beta 0.75 bias 1.0 : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  func.return %y : tensor<1x8x4x4xf32>
}

func.func @lrn_even(%x : tensor<2x7x3x4xf32>) -> tensor<2x7x3x4xf32> {
  %y = graph.lrn %x size 4 alpha 0.1 beta 0.5 bias 2.0 : (tensor<2x7x3x4xf32>) -> tensor<2x7x3x4xf32>
  func.return %y : tensor<2x7x3x4xf32>
}

func.func @batch_norm(%x : tensor<2x4x5x5xf32>, %s : tensor<4xf32>, %b : tensor<4xf32>, %m : tensor<4xf32>, %v : tensor<4xf32>) -> tensor<2x4x5x5xf32> {
  %y = graph.batch_norm %x, %s, %b, %m, %v epsilon 1.0e-05 : (tensor<2x4x5x5xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x5x5xf32>
  func.return %y : tensor<2x4x5x5xf32>
}

func.func @unary_identity(%x : tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32> {
  %y = graph.unary identity %x  : (tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32>
  func.return %y : tensor<1x4x7x6xf32>
}

func.func @unary_relu(%x : tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32> {
  %y = graph.unary relu %x  : (tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32>
  func.return %y : tensor<1x4x7x6xf32>
}

func.func @unary_exp(%x : tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32> {
  %y = graph.unary exp %x  : (tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32>
  func.return %y : tensor<1x4x7x6xf32>
}

func.func @unary_erf(%x : tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32> {
  %y = graph.unary erf %x  : (tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32>
  func.return %y : tensor<1x4x7x6xf32>
}

func.func @unary_tanh(%x : tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32> {
  %y = graph.unary tanh %x  : (tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32>
  func.return %y : tensor<1x4x7x6xf32>
}

func.func @unary_sigmoid(%x : tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32> {
  %y = graph.unary sigmoid %x  : (tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32>
  func.return %y : tensor<1x4x7x6xf32>
}

func.func @unary_neg(%x : tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32> {
  %y = graph.unary neg %x  : (tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32>
  func.return %y : tensor<1x4x7x6xf32>
}

func.func @unary_abs(%x : tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32> {
  %y = graph.unary abs %x  : (tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32>
  func.return %y : tensor<1x4x7x6xf32>
}

func.func @unary_floor(%x : tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32> {
  %y = graph.unary floor %x  : (tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32>
  func.return %y : tensor<1x4x7x6xf32>
}

func.func @unary_ceil(%x : tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32> {
  %y = graph.unary ceil %x  : (tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32>
  func.return %y : tensor<1x4x7x6xf32>
}

func.func @unary_rint(%x : tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32> {
  %y = graph.unary rint %x  : (tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32>
  func.return %y : tensor<1x4x7x6xf32>
}

func.func @unary_gelu(%x : tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32> {
  %y = graph.unary gelu %x  : (tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32>
  func.return %y : tensor<1x4x7x6xf32>
}

func.func @unary_gelu_tanh(%x : tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32> {
  %y = graph.unary gelu_tanh %x  : (tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32>
  func.return %y : tensor<1x4x7x6xf32>
}

func.func @unary_hard_swish(%x : tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32> {
  %y = graph.unary hard_swish %x  : (tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32>
  func.return %y : tensor<1x4x7x6xf32>
}

func.func @unary_log(%x : tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32> {
  %y = graph.unary log %x  : (tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32>
  func.return %y : tensor<1x4x7x6xf32>
}

func.func @unary_sqrt(%x : tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32> {
  %y = graph.unary sqrt %x  : (tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32>
  func.return %y : tensor<1x4x7x6xf32>
}

func.func @unary_reciprocal(%x : tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32> {
  %y = graph.unary reciprocal %x  : (tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32>
  func.return %y : tensor<1x4x7x6xf32>
}

func.func @unary_leaky_relu(%x : tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32> {
  %y = graph.unary leaky_relu %x alpha 0.1 : (tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32>
  func.return %y : tensor<1x4x7x6xf32>
}

func.func @unary_hard_sigmoid(%x : tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32> {
  %y = graph.unary hard_sigmoid %x alpha 0.2 beta 0.5 : (tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32>
  func.return %y : tensor<1x4x7x6xf32>
}

func.func @unary_relu_i32(%x : tensor<4x6xi32>) -> tensor<4x6xi32> {
  %y = graph.unary relu %x  : (tensor<4x6xi32>) -> tensor<4x6xi32>
  func.return %y : tensor<4x6xi32>
}

func.func @clip(%x : tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32> {
  %y = graph.clip %x min -0.5 max 0.75 : (tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32>
  func.return %y : tensor<1x4x7x6xf32>
}

func.func @clip_low(%x : tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32> {
  %y = graph.clip %x min 0.25 : (tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32>
  func.return %y : tensor<1x4x7x6xf32>
}

func.func @clip_high_i8(%x : tensor<4x6xsi8>) -> tensor<4x6xsi8> {
  %y = graph.clip %x max 6.0 : (tensor<4x6xsi8>) -> tensor<4x6xsi8>
  func.return %y : tensor<4x6xsi8>
}

func.func @binary_add(%a : tensor<1x4x7x6xf32>, %b : tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32> {
  %y = graph.binary add %a, %b  : (tensor<1x4x7x6xf32>, tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32>
  func.return %y : tensor<1x4x7x6xf32>
}

func.func @binary_sub(%a : tensor<1x4x7x6xf32>, %b : tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32> {
  %y = graph.binary sub %a, %b  : (tensor<1x4x7x6xf32>, tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32>
  func.return %y : tensor<1x4x7x6xf32>
}

func.func @binary_mul(%a : tensor<1x4x7x6xf32>, %b : tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32> {
  %y = graph.binary mul %a, %b  : (tensor<1x4x7x6xf32>, tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32>
  func.return %y : tensor<1x4x7x6xf32>
}

func.func @binary_div(%a : tensor<1x4x7x6xf32>, %b : tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32> {
  %y = graph.binary div %a, %b  : (tensor<1x4x7x6xf32>, tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32>
  func.return %y : tensor<1x4x7x6xf32>
}

func.func @binary_max(%a : tensor<1x4x7x6xf32>, %b : tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32> {
  %y = graph.binary max %a, %b  : (tensor<1x4x7x6xf32>, tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32>
  func.return %y : tensor<1x4x7x6xf32>
}

func.func @binary_min(%a : tensor<1x4x7x6xf32>, %b : tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32> {
  %y = graph.binary min %a, %b  : (tensor<1x4x7x6xf32>, tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32>
  func.return %y : tensor<1x4x7x6xf32>
}

func.func @binary_shr_by_a_number(%a : tensor<5x6xi32>) -> tensor<5x6xi32> {
  %n = graph.weight @n = dense<3> : tensor<i32> : tensor<i32>
  %y = graph.binary shr %a, %n  : (tensor<5x6xi32>, tensor<i32>) -> tensor<5x6xi32>
  func.return %y : tensor<5x6xi32>
}

func.func @binary_channel(%a : tensor<1x4x7x6xf32>, %b : tensor<4x1x1xf32>) -> tensor<1x4x7x6xf32> {
  %y = graph.binary mul %a, %b  : (tensor<1x4x7x6xf32>, tensor<4x1x1xf32>) -> tensor<1x4x7x6xf32>
  func.return %y : tensor<1x4x7x6xf32>
}

func.func @binary_scalar_first(%a : tensor<f32>, %b : tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32> {
  %y = graph.binary sub %a, %b  : (tensor<f32>, tensor<1x4x7x6xf32>) -> tensor<1x4x7x6xf32>
  func.return %y : tensor<1x4x7x6xf32>
}

func.func @binary_outer(%a : tensor<3x1xf32>, %b : tensor<1x5xf32>) -> tensor<3x5xf32> {
  %y = graph.binary add %a, %b  : (tensor<3x1xf32>, tensor<1x5xf32>) -> tensor<3x5xf32>
  func.return %y : tensor<3x5xf32>
}

func.func @binary_pow(%a : tensor<3x4xf32>, %b : tensor<4xf32>) -> tensor<3x4xf32> {
  %y = graph.binary pow %a, %b  : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

func.func @binary_i32(%a : tensor<3x4xi32>, %b : tensor<4xi32>) -> tensor<3x4xi32> {
  %y = graph.binary add %a, %b  : (tensor<3x4xi32>, tensor<4xi32>) -> tensor<3x4xi32>
  func.return %y : tensor<3x4xi32>
}

func.func @cast(%x : tensor<3x4xsi8>) -> tensor<3x4xf32> {
  %y = graph.cast %x  : (tensor<3x4xsi8>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

func.func @cast_to_i32(%x : tensor<3x4xf32>) -> tensor<3x4xi32> {
  %y = graph.cast %x  : (tensor<3x4xf32>) -> tensor<3x4xi32>
  func.return %y : tensor<3x4xi32>
}

func.func @concat(%a : tensor<1x4x3x5xf32>, %b : tensor<1x2x3x5xf32>) -> tensor<1x6x3x5xf32> {
  %y = graph.concat %a, %b axis 1 : (tensor<1x4x3x5xf32>, tensor<1x2x3x5xf32>) -> tensor<1x6x3x5xf32>
  func.return %y : tensor<1x6x3x5xf32>
}

func.func @concat_last(%a : tensor<3x4xui8>, %b : tensor<3x2xui8>) -> tensor<3x6xui8> {
  %y = graph.concat %a, %b axis 1 : (tensor<3x4xui8>, tensor<3x2xui8>) -> tensor<3x6xui8>
  func.return %y : tensor<3x6xui8>
}

func.func @slice(%x : tensor<6x9xf32>) -> tensor<3x4xf32> {
  %y = graph.slice %x starts [1, 8] steps [2, -2] : (tensor<6x9xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

func.func @pad(%x : tensor<3x4xf32>) -> tensor<6x6xf32> {
  %y = graph.pad constant %x pads [1, 0, 2, 2] value 1.5 : (tensor<3x4xf32>) -> tensor<6x6xf32>
  func.return %y : tensor<6x6xf32>
}

func.func @pad_i8(%x : tensor<3x4xui8>) -> tensor<6x6xui8> {
  %y = graph.pad constant %x pads [1, 0, 2, 2] value 7.0 : (tensor<3x4xui8>) -> tensor<6x6xui8>
  func.return %y : tensor<6x6xui8>
}

func.func @pad_edge(%x : tensor<3x4xf32>) -> tensor<6x6xf32> {
  %y = graph.pad edge %x pads [1, 0, 2, 2] : (tensor<3x4xf32>) -> tensor<6x6xf32>
  func.return %y : tensor<6x6xf32>
}

func.func @pad_reflect(%x : tensor<3x4xf32>) -> tensor<6x8xf32> {
  %y = graph.pad reflect %x pads [1, 3, 2, 1] : (tensor<3x4xf32>) -> tensor<6x8xf32>
  func.return %y : tensor<6x8xf32>
}

func.func @pad_wrap(%x : tensor<3x4xf32>) -> tensor<7x6xf32> {
  %y = graph.pad wrap %x pads [3, 1, 1, 1] : (tensor<3x4xf32>) -> tensor<7x6xf32>
  func.return %y : tensor<7x6xf32>
}

func.func @reshape(%x : tensor<3x4xf32>) -> tensor<2x6xf32> {
  %y = graph.reshape %x  : (tensor<3x4xf32>) -> tensor<2x6xf32>
  func.return %y : tensor<2x6xf32>
}

func.func @transpose(%x : tensor<2x3x4x5xf32>) -> tensor<4x2x5x3xf32> {
  %y = graph.transpose %x perm [2, 0, 3, 1] : (tensor<2x3x4x5xf32>) -> tensor<4x2x5x3xf32>
  func.return %y : tensor<4x2x5x3xf32>
}

func.func @shuffle(%x : tensor<2x6x4x5xf32>) -> tensor<2x6x4x5xf32> {
  %a = graph.unary relu %x : (tensor<2x6x4x5xf32>) -> tensor<2x6x4x5xf32>
  %b = graph.reshape %a : (tensor<2x6x4x5xf32>) -> tensor<2x2x3x4x5xf32>
  %c = graph.transpose %b perm [0, 2, 1, 3, 4] : (tensor<2x2x3x4x5xf32>) -> tensor<2x3x2x4x5xf32>
  %y = graph.reshape %c : (tensor<2x3x2x4x5xf32>) -> tensor<2x6x4x5xf32>
  func.return %y : tensor<2x6x4x5xf32>
}

func.func @shuffle_to_rows(%x : tensor<1x6x4x5xui8>) -> tensor<1x6x20xui8> {
  %b = graph.reshape %x : (tensor<1x6x4x5xui8>) -> tensor<1x3x2x4x5xui8>
  %c = graph.transpose %b perm [0, 2, 1, 3, 4] : (tensor<1x3x2x4x5xui8>) -> tensor<1x2x3x4x5xui8>
  %y = graph.reshape %c : (tensor<1x2x3x4x5xui8>) -> tensor<1x6x20xui8>
  func.return %y : tensor<1x6x20xui8>
}

func.func @resize(%x : tensor<1x3x4x5xf32>) -> tensor<1x3x8x15xf32> {
  %y = graph.resize %x scales [1, 1, 2, 3] : (tensor<1x3x4x5xf32>) -> tensor<1x3x8x15xf32>
  func.return %y : tensor<1x3x8x15xf32>
}

func.func @gather(%x : tensor<6x3xf32>) -> tensor<2x3x3xf32> {
  %y = graph.gather %x axis 0 indices dense<[[5, 3, 1], [0, 2, 2]]> : tensor<2x3xi64> : (tensor<6x3xf32>) -> tensor<2x3x3xf32>
  func.return %y : tensor<2x3x3xf32>
}

func.func @expand(%x : tensor<3x1xf32>) -> tensor<2x3x4xf32> {
  %y = graph.expand %x  : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
  func.return %y : tensor<2x3x4xf32>
}

func.func @requantize(%x : tensor<1x4x5x5xi32>, %m : tensor<4xi32>, %s : tensor<4xi32>) -> tensor<1x4x5x5xui8> {
  %y = graph.requantize %x, %m, %s axis 1 zero_point 3 range [0, 255] : (tensor<1x4x5x5xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<1x4x5x5xui8>
  func.return %y : tensor<1x4x5x5xui8>
}

func.func @quantize(%x : tensor<1x4x5x5xf32>, %s : tensor<f32>, %z : tensor<ui8>) -> tensor<1x4x5x5xui8> {
  %y = graph.quantize %x, %s, %z axis 1 : (tensor<1x4x5x5xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x4x5x5xui8>
  func.return %y : tensor<1x4x5x5xui8>
}

func.func @quantize_no_zero(%x : tensor<1x4x5x5xf32>, %s : tensor<4xf32>) -> tensor<1x4x5x5xsi8> {
  %y = graph.quantize %x, %s axis 1 : (tensor<1x4x5x5xf32>, tensor<4xf32>) -> tensor<1x4x5x5xsi8>
  func.return %y : tensor<1x4x5x5xsi8>
}

func.func @dequantize(%x : tensor<1x4x5x5xui8>, %s : tensor<4xf32>, %z : tensor<4xui8>) -> tensor<1x4x5x5xf32> {
  %y = graph.dequantize %x, %s, %z axis 1 : (tensor<1x4x5x5xui8>, tensor<4xf32>, tensor<4xui8>) -> tensor<1x4x5x5xf32>
  func.return %y : tensor<1x4x5x5xf32>
}

func.func @conv_bias_add_relu(%x : tensor<1x3x13x13xf32>, %w : tensor<8x3x3x3xf32>, %b : tensor<8xf32>, %r : tensor<1x8x7x7xf32>,
                %s : tensor<8x1x1xf32>) -> tensor<1x8x7x7xf32> {
  %y = graph.fused_group tiles 1 (%0 = %x : tensor<1x3x13x13xf32>, %1 = %w : tensor<8x3x3x3xf32>,
      %2 = %b : tensor<8xf32>, %3 = %r : tensor<1x8x7x7xf32>, %4 = %s : tensor<8x1x1xf32>) -> (tensor<1x8x7x7xf32>) {
    %5 = graph.conv %0, %1, %2 strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] groups 1
      : (tensor<1x3x13x13xf32>, tensor<8x3x3x3xf32>, tensor<8xf32>) -> tensor<1x8x7x7xf32>
    %6 = graph.binary mul %5, %4 : (tensor<1x8x7x7xf32>, tensor<8x1x1xf32>) -> tensor<1x8x7x7xf32>
    %7 = graph.binary add %3, %6 : (tensor<1x8x7x7xf32>, tensor<1x8x7x7xf32>) -> tensor<1x8x7x7xf32>
    %8 = graph.clip %7 min 0.0 max 6.0 : (tensor<1x8x7x7xf32>) -> tensor<1x8x7x7xf32>
    graph.yield %8 : tensor<1x8x7x7xf32>
  }
  func.return %y : tensor<1x8x7x7xf32>
}

func.func @grouped_conv_requantize(%x : tensor<1x6x7x7xui8>, %w : tensor<8x3x3x3xsi8>, %b : tensor<8xi32>, %m : tensor<8xi32>,
                %s : tensor<8xi32>) -> tensor<1x8x7x7xui8> {
  %y = graph.fused_group tiles 1 (%0 = %x : tensor<1x6x7x7xui8>, %1 = %w : tensor<8x3x3x3xsi8>, %2 = %b : tensor<8xi32>,
      %3 = %m : tensor<8xi32>, %4 = %s : tensor<8xi32>) -> (tensor<1x8x7x7xui8>) {
    %5 = graph.conv %0, %1, %2 strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 2 pad_value 3.0
      : (tensor<1x6x7x7xui8>, tensor<8x3x3x3xsi8>, tensor<8xi32>) -> tensor<1x8x7x7xi32>
    %6 = graph.requantize %5, %3, %4 axis 1 zero_point 3 range [0, 255]
      : (tensor<1x8x7x7xi32>, tensor<8xi32>, tensor<8xi32>) -> tensor<1x8x7x7xui8>
    graph.yield %6 : tensor<1x8x7x7xui8>
  }
  func.return %y : tensor<1x8x7x7xui8>
}

func.func @self_products(%x : tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = graph.fused_group tiles 1 (%0 = %x : tensor<4x6xf32>) -> (tensor<4x6xf32>) {
    %1 = graph.unary sigmoid %0 : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %2 = graph.binary mul %1, %1 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %3 = graph.binary add %2, %1 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %4 = graph.binary mul %3, %0 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    graph.yield %4 : tensor<4x6xf32>
  }
  func.return %y : tensor<4x6xf32>
}

func.func @not_all_join(%x : tensor<1x4x6x6xf32>, %w : tensor<5x4x1x1xf32>) -> (tensor<1x5x6x6xf32>, tensor<1x5x1x1xf32>) {
  %y, %z = graph.fused_group tiles 1 (%0 = %x : tensor<1x4x6x6xf32>, %1 = %w : tensor<5x4x1x1xf32>)
      -> (tensor<1x5x6x6xf32>, tensor<1x5x1x1xf32>) {
    %2 = graph.unary relu %0 : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
    %3 = graph.conv %2, %1 strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<1x4x6x6xf32>, tensor<5x4x1x1xf32>) -> tensor<1x5x6x6xf32>
    %4 = graph.unary tanh %3 : (tensor<1x5x6x6xf32>) -> tensor<1x5x6x6xf32>
    %5 = graph.reduce mean %4 axes [2, 3] keepdims : (tensor<1x5x6x6xf32>) -> tensor<1x5x1x1xf32>
    %6 = graph.binary mul %4, %5 : (tensor<1x5x6x6xf32>, tensor<1x5x1x1xf32>) -> tensor<1x5x6x6xf32>
    graph.yield %6, %5 : tensor<1x5x6x6xf32>, tensor<1x5x1x1xf32>
  }
  func.return %y, %z : tensor<1x5x6x6xf32>, tensor<1x5x1x1xf32>
}

func.func @softmax_scaled(%x : tensor<2x3x10xf32>, %s : tensor<10xf32>) -> tensor<2x3x10xf32> {
  %y = graph.fused_group tiles 1 (%0 = %x : tensor<2x3x10xf32>, %1 = %s : tensor<10xf32>) -> (tensor<2x3x10xf32>) {
    %2 = graph.softmax %0 axis 2 : (tensor<2x3x10xf32>) -> tensor<2x3x10xf32>
    %3 = graph.binary mul %2, %1 : (tensor<2x3x10xf32>, tensor<10xf32>) -> tensor<2x3x10xf32>
    graph.yield %3 : tensor<2x3x10xf32>
  }
  func.return %y : tensor<2x3x10xf32>
}

func.func @residual_sum(%a : tensor<3x4xsi8>, %b : tensor<3x4xui8>, %m : tensor<i32>) -> tensor<3x4xi32> {
  %y = graph.fused_group tiles 1 (%0 = %a : tensor<3x4xsi8>, %1 = %b : tensor<3x4xui8>, %2 = %m : tensor<i32>) -> (tensor<3x4xi32>) {
    %3 = graph.cast %0 : (tensor<3x4xsi8>) -> tensor<3x4xi32>
    %4 = graph.binary mul %3, %2 : (tensor<3x4xi32>, tensor<i32>) -> tensor<3x4xi32>
    %5 = graph.cast %1 : (tensor<3x4xui8>) -> tensor<3x4xi32>
    %6 = graph.binary mul %5, %5 : (tensor<3x4xi32>, tensor<3x4xi32>) -> tensor<3x4xi32>
    %7 = graph.binary add %4, %6 : (tensor<3x4xi32>, tensor<3x4xi32>) -> tensor<3x4xi32>
    graph.yield %7 : tensor<3x4xi32>
  }
  func.return %y : tensor<3x4xi32>
}
