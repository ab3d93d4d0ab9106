// Softmax of rows on integers: a step of x is 3/50, one of y 1/127.
func.func @main(%x: tensor<6x20xsi8>) -> tensor<6x20xsi8> attributes {graph.inputs = ["x"], graph.outputs = ["y"]} {
  %0 = graph.cast %x : (tensor<6x20xsi8>) -> tensor<6x20xi32>
  %1 = graph.reduce max %0 axes [1] keepdims : (tensor<6x20xi32>) -> tensor<6x1xi32>
  %2 = graph.binary sub %1, %0 : (tensor<6x1xi32>, tensor<6x20xi32>) -> tensor<6x20xi32>
  %c8053063 = graph.weight @c8053063 = dense<8053063> : tensor<i32> : tensor<i32>
  %3 = graph.binary mul %2, %c8053063 : (tensor<6x20xi32>, tensor<i32>) -> tensor<6x20xi32>
  %c16 = graph.weight @c16 = dense<16> : tensor<i32> : tensor<i32>
  %4 = graph.binary shr %3, %c16 : (tensor<6x20xi32>, tensor<i32>) -> tensor<6x20xi32>
  %c32768 = graph.weight @c32768 = dense<32768> : tensor<i32> : tensor<i32>
  %5 = graph.binary min %4, %c32768 : (tensor<6x20xi32>, tensor<i32>) -> tensor<6x20xi32>
  %c15190 = graph.weight @c15190 = dense<15190> : tensor<i32> : tensor<i32>
  %c3349 = graph.weight @c3349 = dense<3349> : tensor<i32> : tensor<i32>
  %6 = graph.binary mul %5, %c3349 : (tensor<6x20xi32>, tensor<i32>) -> tensor<6x20xi32>
  %c15 = graph.weight @c15 = dense<15> : tensor<i32> : tensor<i32>
  %7 = graph.binary shr %6, %c15 : (tensor<6x20xi32>, tensor<i32>) -> tensor<6x20xi32>
  %8 = graph.binary sub %c15190, %7 : (tensor<i32>, tensor<6x20xi32>) -> tensor<6x20xi32>
  %c32559 = graph.weight @c32559 = dense<32559> : tensor<i32> : tensor<i32>
  %9 = graph.binary mul %5, %8 : (tensor<6x20xi32>, tensor<6x20xi32>) -> tensor<6x20xi32>
  %10 = graph.binary shr %9, %c15 : (tensor<6x20xi32>, tensor<i32>) -> tensor<6x20xi32>
  %11 = graph.binary sub %c32559, %10 : (tensor<i32>, tensor<6x20xi32>) -> tensor<6x20xi32>
  %12 = graph.binary mul %5, %11 : (tensor<6x20xi32>, tensor<6x20xi32>) -> tensor<6x20xi32>
  %13 = graph.binary shr %12, %c15 : (tensor<6x20xi32>, tensor<i32>) -> tensor<6x20xi32>
  %14 = graph.binary sub %c32768, %13 : (tensor<i32>, tensor<6x20xi32>) -> tensor<6x20xi32>
  %15 = graph.clip %14 min 0.0 max 32768.0 : (tensor<6x20xi32>) -> tensor<6x20xi32>
  %16 = graph.binary mul %15, %15 : (tensor<6x20xi32>, tensor<6x20xi32>) -> tensor<6x20xi32>
  %17 = graph.binary shr %16, %c15 : (tensor<6x20xi32>, tensor<i32>) -> tensor<6x20xi32>
  %18 = graph.binary mul %17, %17 : (tensor<6x20xi32>, tensor<6x20xi32>) -> tensor<6x20xi32>
  %19 = graph.binary shr %18, %c15 : (tensor<6x20xi32>, tensor<i32>) -> tensor<6x20xi32>
  %20 = graph.binary mul %19, %19 : (tensor<6x20xi32>, tensor<6x20xi32>) -> tensor<6x20xi32>
  %21 = graph.binary shr %20, %c15 : (tensor<6x20xi32>, tensor<i32>) -> tensor<6x20xi32>
  %22 = graph.binary mul %21, %21 : (tensor<6x20xi32>, tensor<6x20xi32>) -> tensor<6x20xi32>
  %23 = graph.binary shr %22, %c15 : (tensor<6x20xi32>, tensor<i32>) -> tensor<6x20xi32>
  %24 = graph.reduce sum %23 axes [1] keepdims : (tensor<6x20xi32>) -> tensor<6x1xi32>
  %25 = graph.binary max %24, %c32768 : (tensor<6x1xi32>, tensor<i32>) -> tensor<6x1xi32>
  %c2130706432 = graph.weight @c2130706432 = dense<2130706432> : tensor<i32> : tensor<i32>
  %26 = graph.binary div %c2130706432, %25 : (tensor<i32>, tensor<6x1xi32>) -> tensor<6x1xi32>
  %27 = graph.binary mul %23, %26 : (tensor<6x20xi32>, tensor<6x1xi32>) -> tensor<6x20xi32>
  %c8388608 = graph.weight @c8388608 = dense<8388608> : tensor<i32> : tensor<i32>
  %28 = graph.binary add %27, %c8388608 : (tensor<6x20xi32>, tensor<i32>) -> tensor<6x20xi32>
  %c24 = graph.weight @c24 = dense<24> : tensor<i32> : tensor<i32>
  %29 = graph.binary shr %28, %c24 : (tensor<6x20xi32>, tensor<i32>) -> tensor<6x20xi32>
  %y = graph.cast %29 : (tensor<6x20xi32>) -> tensor<6x20xsi8>
  func.return %y : tensor<6x20xsi8>
}
