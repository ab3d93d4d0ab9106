// The Gaussian error linear unit on integers: a step is 1/25.
func.func @main(%x: tensor<6x20xsi8>) -> tensor<6x20xsi8> attributes {graph.inputs = ["x"], graph.outputs = ["y"]} {
  %0 = graph.cast %x : (tensor<6x20xsi8>) -> tensor<6x20xi32>
  %1 = graph.unary abs %0 : (tensor<6x20xi32>) -> tensor<6x20xi32>
  %c5359741 = graph.weight @c5359741 = dense<5359741> : tensor<i32> : tensor<i32>
  %2 = graph.binary mul %1, %c5359741 : (tensor<6x20xi32>, tensor<i32>) -> tensor<6x20xi32>
  %c14 = graph.weight @c14 = dense<14> : tensor<i32> : tensor<i32>
  %3 = graph.binary shr %2, %c14 : (tensor<6x20xi32>, tensor<i32>) -> tensor<6x20xi32>
  %c32768 = graph.weight @c32768 = dense<32768> : tensor<i32> : tensor<i32>
  %4 = graph.binary min %3, %c32768 : (tensor<6x20xi32>, tensor<i32>) -> tensor<6x20xi32>
  %cm33533 = graph.weight @cm33533 = dense<-33533> : tensor<i32> : tensor<i32>
  %cm31137 = graph.weight @cm31137 = dense<-31137> : tensor<i32> : tensor<i32>
  %5 = graph.binary mul %4, %cm31137 : (tensor<6x20xi32>, tensor<i32>) -> tensor<6x20xi32>
  %c15 = graph.weight @c15 = dense<15> : tensor<i32> : tensor<i32>
  %6 = graph.binary shr %5, %c15 : (tensor<6x20xi32>, tensor<i32>) -> tensor<6x20xi32>
  %7 = graph.binary sub %cm33533, %6 : (tensor<i32>, tensor<6x20xi32>) -> tensor<6x20xi32>
  %c26344 = graph.weight @c26344 = dense<26344> : tensor<i32> : tensor<i32>
  %8 = graph.binary mul %4, %7 : (tensor<6x20xi32>, tensor<6x20xi32>) -> tensor<6x20xi32>
  %9 = graph.binary shr %8, %c15 : (tensor<6x20xi32>, tensor<i32>) -> tensor<6x20xi32>
  %10 = graph.binary sub %c26344, %9 : (tensor<i32>, tensor<6x20xi32>) -> tensor<6x20xi32>
  %11 = graph.binary mul %4, %10 : (tensor<6x20xi32>, tensor<6x20xi32>) -> tensor<6x20xi32>
  %12 = graph.binary shr %11, %c15 : (tensor<6x20xi32>, tensor<i32>) -> tensor<6x20xi32>
  %13 = graph.binary sub %c32768, %12 : (tensor<i32>, tensor<6x20xi32>) -> tensor<6x20xi32>
  %14 = graph.clip %13 min 0.0 max 32768.0 : (tensor<6x20xi32>) -> tensor<6x20xi32>
  %15 = graph.binary mul %14, %14 : (tensor<6x20xi32>, tensor<6x20xi32>) -> tensor<6x20xi32>
  %16 = graph.binary shr %15, %c15 : (tensor<6x20xi32>, tensor<i32>) -> tensor<6x20xi32>
  %17 = graph.binary mul %16, %16 : (tensor<6x20xi32>, tensor<6x20xi32>) -> tensor<6x20xi32>
  %18 = graph.binary shr %17, %c15 : (tensor<6x20xi32>, tensor<i32>) -> tensor<6x20xi32>
  %19 = graph.unary relu %0 : (tensor<6x20xi32>) -> tensor<6x20xi32>
  %c65536 = graph.weight @c65536 = dense<65536> : tensor<i32> : tensor<i32>
  %20 = graph.binary mul %19, %c65536 : (tensor<6x20xi32>, tensor<i32>) -> tensor<6x20xi32>
  %21 = graph.binary mul %1, %18 : (tensor<6x20xi32>, tensor<6x20xi32>) -> tensor<6x20xi32>
  %22 = graph.binary sub %20, %21 : (tensor<6x20xi32>, tensor<6x20xi32>) -> tensor<6x20xi32>
  %c1073741824 = graph.weight @c1073741824 = dense<1073741824> : tensor<i32> : tensor<i32>
  %c46 = graph.weight @c46 = dense<46> : tensor<i32> : tensor<i32>
  %y = graph.requantize %22, %c1073741824, %c46 axis 0 zero_point 0 range [-128, 127] : (tensor<6x20xi32>, tensor<i32>, tensor<i32>) -> tensor<6x20xsi8>
  func.return %y : tensor<6x20xsi8>
}
