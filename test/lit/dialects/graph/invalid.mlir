// RUN: VERIFY

// what every layer must have: tensors
// CHECK: i32 should be of base attribute tensor
func.func @f(%x : i32) {
  %0 = graph.unary relu %x : (i32) -> i32
  func.return
}

// -----

// known element types
// CHECK: operand 0: element type i8 is not supported
func.func @f(%x : tensor<2xi8>) {
  %0 = graph.unary relu %x : (tensor<2xi8>) -> tensor<2xi8>
  func.return
}

// -----

// static extents
// CHECK: operand 0: expected static extents of at least 1
func.func @f(%x : tensor<?xf32>) {
  %0 = graph.unary relu %x : (tensor<?xf32>) -> tensor<?xf32>
  func.return
}

// -----

// no empty tensors
// CHECK: result: expected static extents of at least 1
func.func @f(%x : tensor<1xf32>) {
  %0 = graph.reshape %x : (tensor<1xf32>) -> tensor<0xf32>
  func.return
}

// -----

// the result type follows from operands and properties
// CHECK: expected result tensor<1x6x6x6xf32>, found tensor<1x6x5x5xf32>
func.func @f(%x : tensor<1x4x8x8xf32>, %w : tensor<6x4x3x3xf32>, %b : tensor<6xf32>) {
  %0 = graph.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x5x5xf32>
  func.return
}

// -----

// weight: value of the type
// CHECK: expected result tensor<ui8>, found tensor<si8>
func.func @f() {
  %0 = graph.weight @w = dense<1> : tensor<ui8> : tensor<si8>
  func.return
}

// -----

// conv: rank of the input
// CHECK: expected an input of rank 3 to 5, found [1, 4]
func.func @f(%x : tensor<1x4xf32>, %w : tensor<6x4xf32>) {
  %0 = graph.conv %x, %w strides [] pads [] dilations [] groups 1 : (tensor<1x4xf32>, tensor<6x4xf32>) -> tensor<1x6xf32>
  func.return
}

// -----

// conv: rank of the weights
// CHECK: expected weights of rank 4, found [6, 4, 3]
func.func @f(%x : tensor<1x4x8x8xf32>, %w : tensor<6x4x3xf32>) {
  %0 = graph.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<1x4x8x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6x6xf32>
  func.return
}

// -----

// conv: groups divide the outputs
// CHECK: 4 groups do not divide 6 output channels
func.func @f(%x : tensor<1x4x8x8xf32>, %w : tensor<6x4x3x3xf32>, %b : tensor<6xf32>) {
  %0 = graph.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 4 : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  func.return
}

// -----

// conv: channels
// CHECK: weights of 4 channels in 2 groups do not fit an input of 4 channels
func.func @f(%x : tensor<1x4x8x8xf32>, %w : tensor<6x4x3x3xf32>, %b : tensor<6xf32>) {
  %0 = graph.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 2 : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  func.return
}

// -----

// conv: as many strides as spatial axes
// CHECK: expected strides of 2 integers, each at least 1, found [1]
func.func @f(%x : tensor<1x4x8x8xf32>, %w : tensor<6x4x3x3xf32>, %b : tensor<6xf32>) {
  %0 = graph.conv %x, %w strides [1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  func.return
}

// -----

// conv: strides of at least 1
// CHECK: expected strides of 2 integers, each at least 1, found [1, 0]
func.func @f(%x : tensor<1x4x8x8xf32>, %w : tensor<6x4x3x3xf32>, %b : tensor<6xf32>) {
  %0 = graph.conv %x, %w strides [1, 0] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  func.return
}

// -----

// conv: dilations of at least 1
// CHECK: expected dilations of 2 integers, each at least 1, found [1, 0]
func.func @f(%x : tensor<1x4x8x8xf32>, %w : tensor<6x4x3x3xf32>, %b : tensor<6xf32>) {
  %0 = graph.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 0] groups 1 : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  func.return
}

// -----

// conv: pads at both ends
// CHECK: expected pads of 4 integers, each at least 0, found [0, 0]
func.func @f(%x : tensor<1x4x8x8xf32>, %w : tensor<6x4x3x3xf32>, %b : tensor<6xf32>) {
  %0 = graph.conv %x, %w strides [1, 1] pads [0, 0] dilations [1, 1] groups 1 : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  func.return
}

// -----

// conv: pads are not negative
// CHECK: expected pads of 4 integers, each at least 0, found [0, 0, 0, -1]
func.func @f(%x : tensor<1x4x8x8xf32>, %w : tensor<6x4x3x3xf32>, %b : tensor<6xf32>) {
  %0 = graph.conv %x, %w strides [1, 1] pads [0, 0, 0, -1] dilations [1, 1] groups 1 : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  func.return
}

// -----

// conv: the window fits
// CHECK: window of 9 does not fit in a padded extent of 8 (spatial axis 1)
func.func @f(%x : tensor<1x4x8x8xf32>, %w : tensor<6x4x3x3xf32>, %b : tensor<6xf32>) {
  %0 = graph.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 4] groups 1 : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  func.return
}

// -----

// conv: shape of the bias
// CHECK: expected bias of shape [6], found [5]
func.func @f(%x : tensor<1x4x8x8xf32>, %w : tensor<6x4x3x3xf32>, %b : tensor<5xf32>) {
  %0 = graph.conv %x, %w, %b strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<5xf32>) -> tensor<1x6x6x6xf32>
  func.return
}

// -----

// conv: types that can be multiplied
// CHECK: expected f32 by f32, f16, bf16, f8E4M3FN, f8E5M2, si8, or si8 or ui8 by si8, found f32 by ui8
func.func @f(%x : tensor<1x4x8x8xf32>, %w : tensor<6x4x3x3xui8>) {
  %0 = graph.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xui8>) -> tensor<1x6x6x6xf32>
  func.return
}

// -----

// conv: type of the bias
// CHECK: expected a bias of f32, found i32
func.func @f(%x : tensor<1x4x8x8xf32>, %w : tensor<6x4x3x3xf32>, %b : tensor<6xi32>) {
  %0 = graph.conv %x, %w, %b strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<6xi32>) -> tensor<1x6x6x6xf32>
  func.return
}

// -----

// conv: integer pad value of integers
// CHECK: expected a pad_value in [0, 255], an integer, found 0.5
func.func @f(%x : tensor<1x4x8x8xui8>, %w : tensor<6x4x3x3xsi8>) {
  %0 = graph.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 pad_value 0.5 : (tensor<1x4x8x8xui8>, tensor<6x4x3x3xsi8>) -> tensor<1x6x6x6xi32>
  func.return
}

// -----

// gemm: matrices
// CHECK: expected matrices, found [1, 2, 2] and [1, 2, 2]
func.func @f(%x : tensor<1x2x2xf32>) {
  %0 = graph.gemm %x, %x : (tensor<1x2x2xf32>, tensor<1x2x2xf32>) -> tensor<2x2xf32>
  func.return
}

// -----

// gemm: inner extents
// CHECK: inner extents differ: 3 and 2
func.func @f(%x : tensor<2x3xf32>) {
  %0 = graph.gemm %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// gemm: c expands to the result
// CHECK: do not broadcast
func.func @f(%x : tensor<2x3xf32>) {
  %0 = graph.gemm %x, %x, %x trans_b : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  func.return
}

// -----

// gemm: no factors on integers
// CHECK: expected alpha and beta of 1 on integers
func.func @f(%x : tensor<2x3xsi8>) {
  %0 = graph.gemm %x, %x trans_b alpha 2.0 : (tensor<2x3xsi8>, tensor<2x3xsi8>) -> tensor<2x2xi32>
  func.return
}

// -----

// matmul: ranks
// CHECK: expected ranks of at least 2, found [3] and [3]
func.func @f(%x : tensor<3xf32>) {
  %0 = graph.matmul %x, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<1xf32>
  func.return
}

// -----

// matmul: inner extents
// CHECK: inner extents differ: 3 and 2
func.func @f(%x : tensor<2x3xf32>) {
  %0 = graph.matmul %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// matmul: leading axes broadcast
// CHECK: shapes [2] and [4] do not broadcast
func.func @f(%x : tensor<2x3x3xf32>, %y : tensor<4x3x3xf32>) {
  %0 = graph.matmul %x, %y : (tensor<2x3x3xf32>, tensor<4x3x3xf32>) -> tensor<2x3x3xf32>
  func.return
}

// -----

// pool: rank
// CHECK: expected an input of rank 3 to 5, found [2, 3]
func.func @f(%x : tensor<2x3xf32>) {
  %0 = graph.pool max %x kernel [] strides [] pads [] dilations [] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// pool: kernel
// CHECK: expected kernel of 2 integers, each at least 1, found [3]
func.func @f(%x : tensor<1x4x8x8xf32>) {
  %0 = graph.pool max %x kernel [3] strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  func.return
}

// -----

// unfold: the places of a window are channels
// CHECK: expected result tensor<1x36x6x6xf32>, found tensor<1x4x6x6xf32>
func.func @f(%x : tensor<1x4x8x8xf32>) {
  %0 = graph.unfold %x kernel [3, 3] strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] : (tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

// unfold: whole numbers around whole numbers
// CHECK: expected a pad_value in [0, 255], an integer, found 0.5
func.func @f(%x : tensor<1x4x8x8xui8>) {
  %0 = graph.unfold %x kernel [3, 3] strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] pad_value 0.5 : (tensor<1x4x8x8xui8>) -> tensor<1x36x6x6xui8>
  func.return
}

// -----

// pool: averages are f32
// CHECK: expected f32 for an average, found i32
func.func @f(%x : tensor<1x4x8x8xi32>) {
  %0 = graph.pool average %x kernel [3, 3] strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] : (tensor<1x4x8x8xi32>) -> tensor<1x4x6x6xi32>
  func.return
}

// -----

// pool: count_include_pad of averages only
// CHECK: count_include_pad has no meaning for max
func.func @f(%x : tensor<1x4x8x8xf32>) {
  %0 = graph.pool max %x kernel [3, 3] strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] count_include_pad : (tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

// reduce: axes ascend
// CHECK: expected axes to be ascending, without repetition, at least one, found [1, 0]
func.func @f(%x : tensor<2x3xf32>) {
  %0 = graph.reduce sum %x axes [1, 0] : (tensor<2x3xf32>) -> tensor<f32>
  func.return
}

// -----

// reduce: at least one axis
// CHECK: expected axes to be ascending, without repetition, at least one, found []
func.func @f(%x : tensor<2x3xf32>) {
  %0 = graph.reduce sum %x axes [] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// reduce: axes in range
// CHECK: expected axis in [0, 2), found 2
func.func @f(%x : tensor<2x3xf32>) {
  %0 = graph.reduce sum %x axes [2] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// reduce: means are f32
// CHECK: expected f32 for a mean, found si8
func.func @f(%x : tensor<2x3xsi8>) {
  %0 = graph.reduce mean %x axes [0] : (tensor<2x3xsi8>) -> tensor<3xsi8>
  func.return
}

// -----

// softmax: f32
// CHECK: expected f32, found i32
func.func @f(%x : tensor<2x3xi32>) {
  %0 = graph.softmax %x axis 1 : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

// softmax: axis in range
// CHECK: expected axis in [0, 2), found -1
func.func @f(%x : tensor<2x3xf32>) {
  %0 = graph.softmax %x axis -1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// softmax: a mask that broadcasts
// CHECK: expected a mask that broadcasts to [2, 3], found [4, 2, 3]
func.func @f(%x : tensor<2x3xf32>, %m : tensor<4x2x3xf32>) {
  %0 = graph.softmax %x, %m axis 1 : (tensor<2x3xf32>, tensor<4x2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// softmax: a scale above 0
// CHECK: expected a finite scale above 0, found 0.0
func.func @f(%x : tensor<2x3xsi8>) {
  %0 = graph.softmax %x axis 1 scale 0.0 bounded : (tensor<2x3xsi8>) -> tensor<2x3xf32>
  func.return
}

// -----

// softmax: a finite step
// CHECK: expected a finite step above 0, found inf
func.func @f(%x : tensor<2x3xf32>) {
  %0 = graph.softmax %x axis 1 step inf zero_point 0 : (tensor<2x3xf32>) -> tensor<2x3xsi8>
  func.return
}

// -----

// softmax: 8 bits with a scale
// CHECK: expected si8 or ui8, found i32
func.func @f(%x : tensor<2x3xi32>) {
  %0 = graph.softmax %x axis 1 scale 0.5 bounded : (tensor<2x3xi32>) -> tensor<2x3xf32>
  func.return
}

// -----

// softmax: integers are bounded
// CHECK: expected `bounded` with a scale: maxima of integers are not taken
func.func @f(%x : tensor<2x3xsi8>) {
  %0 = graph.softmax %x axis 1 scale 0.5 : (tensor<2x3xsi8>) -> tensor<2x3xf32>
  func.return
}

// -----

// softmax: a step makes 8 bits
// CHECK: expected si8 or ui8, found f32
func.func @f(%x : tensor<2x3xf32>) {
  %0 = graph.softmax %x axis 1 step 0.5 zero_point 0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// softmax: the zero point is one of the result's numbers
// CHECK: expected a zero point in [-128, 127], found 200
func.func @f(%x : tensor<2x3xf32>) {
  %0 = graph.softmax %x axis 1 step 0.5 zero_point 200 : (tensor<2x3xf32>) -> tensor<2x3xsi8>
  func.return
}

// -----

// softmax: a step and a zero point
// CHECK: expected a step and a zero point, or neither of them
func.func @f(%x : tensor<2x3xf32>) {
  %0 = "graph.softmax"(%x) <{axis = 1 : i64, zero_point = 0 : i64}> : (tensor<2x3xf32>) -> tensor<2x3xsi8>
  func.return
}

// -----

// standardize: bytes
// CHECK: expected
func.func @f(%x : tensor<2x3xi32>) {
  %0 = graph.standardize %x axis 1 epsilon 0.1 bits 2 : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

// standardize: as many bits as fit
// CHECK: expected 0 to 21 bits for rows of 3 elements, found 22
func.func @f(%x : tensor<2x3xsi8>) {
  %0 = graph.standardize %x axis 1 epsilon 0.1 bits 22 : (tensor<2x3xsi8>) -> tensor<2x3xi32>
  func.return
}

// -----

// layer_norm: f32
// CHECK: expected f32, found i32
func.func @f(%x : tensor<2x3xf32>, %s : tensor<3xi32>) {
  %0 = graph.layer_norm %x, %s axis 1 epsilon 0.1 : (tensor<2x3xf32>, tensor<3xi32>) -> tensor<2x3xf32>
  func.return
}

// -----

// layer_norm: axis in range
// CHECK: expected axis in [0, 2), found 2
func.func @f(%x : tensor<2x3xf32>, %s : tensor<3xf32>) {
  %0 = graph.layer_norm %x, %s axis 2 epsilon 0.1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// layer_norm: shape of the scale
// CHECK: expected scale of shape [3], found [2]
func.func @f(%x : tensor<2x3xf32>, %s : tensor<2xf32>) {
  %0 = graph.layer_norm %x, %s axis 1 epsilon 0.1 : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// layer_norm: shape of the bias
// CHECK: expected bias of shape [3], found [2]
func.func @f(%x : tensor<2x3xf32>, %s : tensor<3xf32>, %b : tensor<2xf32>) {
  %0 = graph.layer_norm %x, %s, %b axis 1 epsilon 0.1 : (tensor<2x3xf32>, tensor<3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// lrn: f32
// CHECK: expected f32, found i32
func.func @f(%x : tensor<2x3xi32>) {
  %0 = graph.lrn %x size 3 alpha 0.1 beta 0.5 bias 1.0 : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

// lrn: channels
// CHECK: expected a rank of at least 2, found tensor<3xf32>
func.func @f(%x : tensor<3xf32>) {
  %0 = graph.lrn %x size 3 alpha 0.1 beta 0.5 bias 1.0 : (tensor<3xf32>) -> tensor<3xf32>
  func.return
}

// -----

// lrn: size
// CHECK: expected a size of at least 1, found 0
func.func @f(%x : tensor<2x3xf32>) {
  %0 = graph.lrn %x size 0 alpha 0.1 beta 0.5 bias 1.0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// batch_norm: f32
// CHECK: expected f32, found i32
func.func @f(%x : tensor<2x3xf32>, %s : tensor<3xf32>, %v : tensor<3xi32>) {
  %0 = graph.batch_norm %x, %s, %s, %s, %v epsilon 0.1 : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xi32>) -> tensor<2x3xf32>
  func.return
}

// -----

// batch_norm: channels
// CHECK: expected a rank of at least 2, found tensor<3xf32>
func.func @f(%x : tensor<3xf32>, %s : tensor<3xf32>, %v : tensor<3xf32>) {
  %0 = graph.batch_norm %x, %s, %s, %s, %v epsilon 0.1 : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return
}

// -----

// batch_norm: shapes of the parameters
// CHECK: expected variance of shape [3], found [2]
func.func @f(%x : tensor<2x3xf32>, %s : tensor<3xf32>, %v : tensor<2xf32>) {
  %0 = graph.batch_norm %x, %s, %s, %s, %v epsilon 0.1 : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// unary: f32 for what integers cannot do
// CHECK: expected f32 for exp, found i32
func.func @f(%x : tensor<2xi32>) {
  %0 = graph.unary exp %x : (tensor<2xi32>) -> tensor<2xi32>
  func.return
}

// -----

// unary: alpha where it is needed
// CHECK: expected alpha for leaky_relu
func.func @f(%x : tensor<2xf32>) {
  %0 = graph.unary leaky_relu %x : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// unary: alpha and beta where they are needed
// CHECK: expected alpha and beta for hard_sigmoid
func.func @f(%x : tensor<2xf32>) {
  %0 = graph.unary hard_sigmoid %x alpha 0.2 : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// unary: no alpha where it is not
// CHECK: expected neither alpha nor beta for relu
func.func @f(%x : tensor<2xf32>) {
  %0 = graph.unary relu %x alpha 0.2 : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// clip: integer bounds of integers
// CHECK: expected integer bounds for i32, found 0.5
func.func @f(%x : tensor<2xi32>) {
  %0 = graph.clip %x max 0.5 : (tensor<2xi32>) -> tensor<2xi32>
  func.return
}

// -----

// binary: equal element types
// CHECK: expected equal element types, found i32 and f32
func.func @f(%x : tensor<2xi32>, %y : tensor<2xf32>) {
  %0 = graph.binary add %x, %y : (tensor<2xi32>, tensor<2xf32>) -> tensor<2xi32>
  func.return
}

// -----

// binary: comparisons keep the type
// CHECK: expected result tensor<2xi32>, found tensor<2xui8>
func.func @f(%x : tensor<2xi32>) {
  %0 = graph.binary eq %x, %x : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xui8>
  func.return
}

// -----

// select: a condition of ui8
// CHECK: expected a condition of ui8, found f32
func.func @f(%x : tensor<2xf32>) {
  %0 = graph.select %x, %x, %x : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// select: sides of one type
// CHECK: expected equal element types, found f32 and i32
func.func @f(%c : tensor<2xui8>, %x : tensor<2xf32>, %y : tensor<2xi32>) {
  %0 = graph.select %c, %x, %y : (tensor<2xui8>, tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>
  func.return
}

// -----

// select: shapes broadcast
// CHECK: shapes [2] and [3] and [3] do not broadcast
func.func @f(%c : tensor<2xui8>, %x : tensor<3xf32>) {
  %0 = graph.select %c, %x, %x : (tensor<2xui8>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return
}

// -----

// binary: bits of integers
// CHECK: expected integers for bxor, found f32
func.func @f(%x : tensor<2xf32>) {
  %0 = graph.binary bxor %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// binary: shr of integers
// CHECK: expected integers for shr, found f32
func.func @f(%x : tensor<2xf32>) {
  %0 = graph.binary shr %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// binary: shapes broadcast
// CHECK: shapes [2, 3] and [2] do not broadcast
func.func @f(%x : tensor<2x3xf32>, %y : tensor<2xf32>) {
  %0 = graph.binary add %x, %y : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// cast: the shape stays
// CHECK: expected result tensor<2xi32>, found tensor<3xi32>
func.func @f(%x : tensor<2xf32>) {
  %0 = graph.cast %x : (tensor<2xf32>) -> tensor<3xi32>
  func.return
}

// -----

// concat: operands
// CHECK: expected at least one operand
func.func @f() {
  %0 = graph.concat axis 0 : () -> tensor<2xf32>
  func.return
}

// -----

// concat: axis in range
// CHECK: expected axis in [0, 1), found 1
func.func @f(%x : tensor<2xf32>) {
  %0 = graph.concat %x axis 1 : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// concat: shapes equal elsewhere
// CHECK: shapes [2, 3] and [3, 3] differ outside axis 1
func.func @f(%x : tensor<2x3xf32>, %y : tensor<3x3xf32>) {
  %0 = graph.concat %x, %y axis 1 : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x6xf32>
  func.return
}

// -----

// concat: equal element types
// CHECK: expected equal element types, found f32, i32
func.func @f(%x : tensor<2xf32>, %y : tensor<2xi32>) {
  %0 = graph.concat %x, %y axis 0 : (tensor<2xf32>, tensor<2xi32>) -> tensor<4xf32>
  func.return
}

// -----

// slice: starts
// CHECK: expected starts of 1 integers, each at least 0, found [-1]
func.func @f(%x : tensor<4xf32>) {
  %0 = graph.slice %x starts [-1] steps [1] : (tensor<4xf32>) -> tensor<2xf32>
  func.return
}

// -----

// slice: steps
// CHECK: expected steps of 1 integers, none zero, found [0]
func.func @f(%x : tensor<4xf32>) {
  %0 = graph.slice %x starts [0] steps [0] : (tensor<4xf32>) -> tensor<2xf32>
  func.return
}

// -----

// slice: rank of the result
// CHECK: expected a result of rank 1, found [2, 2]
func.func @f(%x : tensor<4xf32>) {
  %0 = graph.slice %x starts [0] steps [1] : (tensor<4xf32>) -> tensor<2x2xf32>
  func.return
}

// -----

// slice: inside
// CHECK: slice [1, -1] leaves axis 0 of extent 4
func.func @f(%x : tensor<4xf32>) {
  %0 = graph.slice %x starts [1] steps [-1] : (tensor<4xf32>) -> tensor<3xf32>
  func.return
}

// -----

// pad: as many pads as ends
// CHECK: expected pads of 2 integers, each at least 0, found [1]
func.func @f(%x : tensor<4xf32>) {
  %0 = graph.pad edge %x pads [1] : (tensor<4xf32>) -> tensor<5xf32>
  func.return
}

// -----

// pad: reflection needs elements
// CHECK: reflected pads [4, 0] are not smaller than the extents [4]
func.func @f(%x : tensor<4xf32>) {
  %0 = graph.pad reflect %x pads [4, 0] : (tensor<4xf32>) -> tensor<8xf32>
  func.return
}

// -----

// pad: a value of the type
// CHECK: expected a value in [0, 255], an integer, found 256.0
func.func @f(%x : tensor<4xui8>) {
  %0 = graph.pad constant %x pads [1, 0] value 256.0 : (tensor<4xui8>) -> tensor<5xui8>
  func.return
}

// -----

// pad: a value with mode constant only
// CHECK: value has no meaning for edge
func.func @f(%x : tensor<4xf32>) {
  %0 = graph.pad edge %x pads [1, 0] value 1.0 : (tensor<4xf32>) -> tensor<5xf32>
  func.return
}

// -----

// reshape: as many elements
// CHECK: 4 elements do not fill [2, 3]
func.func @f(%x : tensor<4xf32>) {
  %0 = graph.reshape %x : (tensor<4xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// reshape: the same element type
// CHECK: expected result tensor<2x2xf32>, found tensor<2x2xi32>
func.func @f(%x : tensor<4xf32>) {
  %0 = graph.reshape %x : (tensor<4xf32>) -> tensor<2x2xi32>
  func.return
}

// -----

// transpose: a permutation
// CHECK: expected a permutation of 2 axes, found [0, 0]
func.func @f(%x : tensor<2x3xf32>) {
  %0 = graph.transpose %x perm [0, 0] : (tensor<2x3xf32>) -> tensor<2x2xf32>
  func.return
}

// -----

// resize: scales
// CHECK: expected scales of 2 integers, each at least 1, found [1, 0]
func.func @f(%x : tensor<2x3xf32>) {
  %0 = graph.resize %x scales [1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// gather: axis in range
// CHECK: expected axis in [0, 2), found 2
func.func @f(%x : tensor<2x3xf32>) {
  %0 = graph.gather %x axis 2 indices dense<0> : tensor<i64> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// gather: indices of i64
// CHECK: expected indices of i64, found i32
func.func @f(%x : tensor<2x3xf32>) {
  %0 = graph.gather %x axis 0 indices dense<0> : tensor<i32> : (tensor<2x3xf32>) -> tensor<3xf32>
  func.return
}

// -----

// gather: indices in range
// CHECK: expected indices in [0, 2), found [0, 2]
func.func @f(%x : tensor<2x3xf32>) {
  %0 = graph.gather %x axis 0 indices dense<[0, 2]> : tensor<2xi64> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// expand: a shape to expand to
// CHECK: do not broadcast
func.func @f(%x : tensor<2xf32>) {
  %0 = graph.expand %x : (tensor<2xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// expand: never smaller
// CHECK: [2, 3] does not expand to [3]
func.func @f(%x : tensor<2x3xf32>) {
  %0 = graph.expand %x : (tensor<2x3xf32>) -> tensor<3xf32>
  func.return
}

// -----

// quantize: f32
// CHECK: expected f32, found i32
func.func @f(%x : tensor<2xi32>, %s : tensor<f32>) {
  %0 = graph.quantize %x, %s axis 0 : (tensor<2xi32>, tensor<f32>) -> tensor<2xsi8>
  func.return
}

// -----

// quantize: to 8 bits
// CHECK: expected si8 or ui8, found i32
func.func @f(%x : tensor<2xf32>, %s : tensor<f32>) {
  %0 = graph.quantize %x, %s axis 0 : (tensor<2xf32>, tensor<f32>) -> tensor<2xi32>
  func.return
}

// -----

// quantize: shape of the scale
// CHECK: expected scale of shape [] or [3], found [2]
func.func @f(%x : tensor<2x3xf32>, %s : tensor<2xf32>) {
  %0 = graph.quantize %x, %s axis 1 : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xsi8>
  func.return
}

// -----

// quantize: axis in range
// CHECK: expected axis in [0, 2), found 2
func.func @f(%x : tensor<2x3xf32>, %s : tensor<2xf32>) {
  %0 = graph.quantize %x, %s axis 2 : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xsi8>
  func.return
}

// -----

// quantize: shape of the zero point
// CHECK: expected a zero point of shape [2], found []
func.func @f(%x : tensor<2xf32>, %s : tensor<2xf32>, %z : tensor<si8>) {
  %0 = graph.quantize %x, %s, %z axis 0 : (tensor<2xf32>, tensor<2xf32>, tensor<si8>) -> tensor<2xsi8>
  func.return
}

// -----

// quantize: type of the zero point
// CHECK: expected a zero point of si8, found ui8
func.func @f(%x : tensor<2xf32>, %s : tensor<f32>, %z : tensor<ui8>) {
  %0 = graph.quantize %x, %s, %z axis 0 : (tensor<2xf32>, tensor<f32>, tensor<ui8>) -> tensor<2xsi8>
  func.return
}

// -----

// dequantize: from integers
// CHECK: expected si8, ui8 or i32, found f32
func.func @f(%x : tensor<2xf32>, %s : tensor<f32>) {
  %0 = graph.dequantize %x, %s axis 0 : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  func.return
}

// -----

// requantize: from i32
// CHECK: expected i32, found si8
func.func @f(%x : tensor<2xsi8>, %m : tensor<i32>) {
  %0 = graph.requantize %x, %m, %m axis 0 zero_point 0 range [-128, 127] : (tensor<2xsi8>, tensor<i32>, tensor<i32>) -> tensor<2xsi8>
  func.return
}

// -----

// requantize: to 8 bits
// CHECK: expected si8 or ui8, found i32
func.func @f(%x : tensor<2xi32>, %m : tensor<i32>) {
  %0 = graph.requantize %x, %m, %m axis 0 zero_point 0 range [-128, 127] : (tensor<2xi32>, tensor<i32>, tensor<i32>) -> tensor<2xi32>
  func.return
}

// -----

// requantize: shape of the multiplier
// CHECK: expected multiplier of shape [] or [2], found [3]
func.func @f(%x : tensor<2xi32>, %m : tensor<3xi32>) {
  %0 = graph.requantize %x, %m, %m axis 0 zero_point 0 range [-128, 127] : (tensor<2xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<2xsi8>
  func.return
}

// -----

// requantize: range in the type
// CHECK: expected a range inside [0, 255], found [-128, 127]
func.func @f(%x : tensor<2xi32>, %m : tensor<i32>) {
  %0 = graph.requantize %x, %m, %m axis 0 zero_point 0 range [-128, 127] : (tensor<2xi32>, tensor<i32>, tensor<i32>) -> tensor<2xui8>
  func.return
}

// -----

// requantize: zero point in the type
// CHECK: expected a zero point in [-128, 127], found 128
func.func @f(%x : tensor<2xi32>, %m : tensor<i32>) {
  %0 = graph.requantize %x, %m, %m axis 0 zero_point 128 range [-128, 127] : (tensor<2xi32>, tensor<i32>, tensor<i32>) -> tensor<2xsi8>
  func.return
}

// -----

// fused_group: tiles
// CHECK: expected from 1 to 2 tiles, found 3
func.func @f(%x : tensor<2xf32>) {
  %0 = graph.fused_group tiles 3 (%a = %x : tensor<2xf32>) -> (tensor<2xf32>) {
    %b = graph.unary relu %a : (tensor<2xf32>) -> tensor<2xf32>
    graph.yield %b : tensor<2xf32>
  }
  func.return
}

// -----

// fused_group: at least one tile
// CHECK: expected from 1 to 2 tiles, found 0
func.func @f(%x : tensor<2xf32>) {
  %0 = graph.fused_group tiles 0 (%a = %x : tensor<2xf32>) -> (tensor<2xf32>) {
    %b = graph.unary relu %a : (tensor<2xf32>) -> tensor<2xf32>
    graph.yield %b : tensor<2xf32>
  }
  func.return
}

// -----

// fused_group: layers only
// CHECK: expected layers in the body, found test.op
func.func @f(%x : tensor<2xf32>) {
  %0 = graph.fused_group tiles 1 (%a = %x : tensor<2xf32>) -> (tensor<2xf32>) {
    %b = "test.op"(%a) : (tensor<2xf32>) -> tensor<2xf32>
    graph.yield %b : tensor<2xf32>
  }
  func.return
}

// -----

// fused_group: yielded types
// CHECK: expected graph.yield of types [tensor<2xf32>], found []
func.func @f(%x : tensor<2xf32>) {
  %0 = graph.fused_group tiles 1 (%a = %x : tensor<2xf32>) -> (tensor<2xf32>) {
    
    graph.yield 
  }
  func.return
}

// -----

// fused_group: results
// CHECK: expected at least one result
func.func @f(%x : tensor<2xf32>) {
  graph.fused_group tiles 1 (%a = %x : tensor<2xf32>) -> () {
    graph.yield
  }
  func.return
}

// -----

// fused_group: types of the arguments
// CHECK: expected body arguments of types [tensor<2xf32>], found [tensor<2xi32>]
func.func @f(%x : tensor<2xf32>) {
  %0 = "graph.fused_group"(%x) <{tiles = 1 : i64}> ({
  ^bb0(%a : tensor<2xi32>):
    %b = graph.cast %a : (tensor<2xi32>) -> tensor<2xf32>
    graph.yield %b : tensor<2xf32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// fused_group: ends with yield
// CHECK: expected the body to end with graph.yield
func.func @f(%x : tensor<2xf32>) {
  %0 = "graph.fused_group"(%x) <{tiles = 1 : i64}> ({
  ^bb0(%a : tensor<2xf32>):
    "test.termop"() : () -> ()
  }) : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// fused_group: nothing from outside
// CHECK: Operation using value defined out of its IsolatedFromAbove parent
func.func @f(%x : tensor<2xf32>) {
  %0 = graph.fused_group tiles 1 (%a = %x : tensor<2xf32>) -> (tensor<2xf32>) {
    %b = graph.unary relu %x : (tensor<2xf32>) -> tensor<2xf32>
    graph.yield %b : tensor<2xf32>
  }
  func.return
}

// -----

// layer_group: fused groups, reshapes and weights only
// CHECK: expected graph.fused_group, graph.reshape or graph.weight, found graph.unary
func.func @f(%x : tensor<2xf32>) {
  %0 = graph.layer_group (%a = %x : tensor<2xf32>) -> (tensor<2xf32>) {
    %b = graph.unary relu %a : (tensor<2xf32>) -> tensor<2xf32>
    graph.yield %b : tensor<2xf32>
  }
  func.return
}

// -----

// yield: in a group
// CHECK: 'graph.yield' expects parent op to be one of
func.func @f() {
  graph.yield
}

// -----

// lookup: of rows
// CHECK: expected a table of rows, found tensor<4xf32>
func.func @f(%t: tensor<4xf32>, %i: tensor<2xi64>) {
  %y = graph.lookup %t at %i : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
  func.return
}

// -----

// lookup: at integers
// CHECK: expected an index of i32 or i64, found f32
func.func @f(%t: tensor<4x2xf32>, %i: tensor<2xf32>) {
  %y = graph.lookup %t at %i : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  func.return
}

// -----

// open extents: said by the encoding
// CHECK: operand 0: expected static extents of at least 1, or #graph.extents, found tensor<?x4xf32>
func.func @f(%x: tensor<?x4xf32>) {
  %y = graph.unary relu %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return
}

// -----

// open extents: as the encoding has them
// CHECK: result: expected extents as in the encoding, found tensor<?x4xf32, #graph.extents<[n, 5]>>
func.func @f(%x: tensor<?x4xf32, #graph.extents<[n, 4]>>) {
  %y = graph.unary relu %x : (tensor<?x4xf32, #graph.extents<[n, 4]>>) -> tensor<?x4xf32, #graph.extents<[n, 5]>>
  func.return
}
