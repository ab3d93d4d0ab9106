// Layer normalisation of rows on integers; a step of y is 4/127.
func.func @main(%x: tensor<6x20xi32>) -> tensor<6x20xsi8> attributes {graph.inputs = ["x"], graph.outputs = ["y"]} {
  %0 = graph.reduce sum %x axes [1] keepdims : (tensor<6x20xi32>) -> tensor<6x1xi32>
  %c209715 = graph.weight @c209715 = dense<209715> : tensor<i32> : tensor<i32>
  %1 = graph.binary mul %0, %c209715 : (tensor<6x1xi32>, tensor<i32>) -> tensor<6x1xi32>
  %c65536 = graph.weight @c65536 = dense<65536> : tensor<i32> : tensor<i32>
  %2 = graph.binary add %1, %c65536 : (tensor<6x1xi32>, tensor<i32>) -> tensor<6x1xi32>
  %c17 = graph.weight @c17 = dense<17> : tensor<i32> : tensor<i32>
  %3 = graph.binary shr %2, %c17 : (tensor<6x1xi32>, tensor<i32>) -> tensor<6x1xi32>
  %c32 = graph.weight @c32 = dense<32> : tensor<i32> : tensor<i32>
  %4 = graph.binary mul %x, %c32 : (tensor<6x20xi32>, tensor<i32>) -> tensor<6x20xi32>
  %5 = graph.binary sub %4, %3 : (tensor<6x20xi32>, tensor<6x1xi32>) -> tensor<6x20xi32>
  %6 = graph.clip %5 min -16383.0 max 16383.0 : (tensor<6x20xi32>) -> tensor<6x20xi32>
  %7 = graph.binary mul %6, %6 : (tensor<6x20xi32>, tensor<6x20xi32>) -> tensor<6x20xi32>
  %c3 = graph.weight @c3 = dense<3> : tensor<i32> : tensor<i32>
  %8 = graph.binary shr %7, %c3 : (tensor<6x20xi32>, tensor<i32>) -> tensor<6x20xi32>
  %9 = graph.reduce sum %8 axes [1] keepdims : (tensor<6x20xi32>) -> tensor<6x1xi32>
  %10 = graph.clip %9 min 65536.0 max 1073741824.0 : (tensor<6x1xi32>) -> tensor<6x1xi32>
  %c12 = graph.weight @c12 = dense<12> : tensor<i32> : tensor<i32>
  %11 = graph.binary shr %10, %c12 : (tensor<6x1xi32>, tensor<i32>) -> tensor<6x1xi32>
  %c512 = graph.weight @c512 = dense<512> : tensor<i32> : tensor<i32>
  %12 = graph.binary add %11, %c512 : (tensor<6x1xi32>, tensor<i32>) -> tensor<6x1xi32>
  %13 = graph.binary div %10, %12 : (tensor<6x1xi32>, tensor<6x1xi32>) -> tensor<6x1xi32>
  %14 = graph.binary add %12, %13 : (tensor<6x1xi32>, tensor<6x1xi32>) -> tensor<6x1xi32>
  %c1 = graph.weight @c1 = dense<1> : tensor<i32> : tensor<i32>
  %15 = graph.binary shr %14, %c1 : (tensor<6x1xi32>, tensor<i32>) -> tensor<6x1xi32>
  %16 = graph.binary div %10, %15 : (tensor<6x1xi32>, tensor<6x1xi32>) -> tensor<6x1xi32>
  %17 = graph.binary add %15, %16 : (tensor<6x1xi32>, tensor<6x1xi32>) -> tensor<6x1xi32>
  %18 = graph.binary shr %17, %c1 : (tensor<6x1xi32>, tensor<i32>) -> tensor<6x1xi32>
  %19 = graph.binary div %10, %18 : (tensor<6x1xi32>, tensor<6x1xi32>) -> tensor<6x1xi32>
  %20 = graph.binary add %18, %19 : (tensor<6x1xi32>, tensor<6x1xi32>) -> tensor<6x1xi32>
  %21 = graph.binary shr %20, %c1 : (tensor<6x1xi32>, tensor<i32>) -> tensor<6x1xi32>
  %22 = graph.binary div %10, %21 : (tensor<6x1xi32>, tensor<6x1xi32>) -> tensor<6x1xi32>
  %23 = graph.binary add %21, %22 : (tensor<6x1xi32>, tensor<6x1xi32>) -> tensor<6x1xi32>
  %24 = graph.binary shr %23, %c1 : (tensor<6x1xi32>, tensor<i32>) -> tensor<6x1xi32>
  %25 = graph.binary div %10, %24 : (tensor<6x1xi32>, tensor<6x1xi32>) -> tensor<6x1xi32>
  %26 = graph.binary add %24, %25 : (tensor<6x1xi32>, tensor<6x1xi32>) -> tensor<6x1xi32>
  %27 = graph.binary shr %26, %c1 : (tensor<6x1xi32>, tensor<i32>) -> tensor<6x1xi32>
  %28 = graph.binary div %10, %27 : (tensor<6x1xi32>, tensor<6x1xi32>) -> tensor<6x1xi32>
  %29 = graph.binary add %27, %28 : (tensor<6x1xi32>, tensor<6x1xi32>) -> tensor<6x1xi32>
  %30 = graph.binary shr %29, %c1 : (tensor<6x1xi32>, tensor<i32>) -> tensor<6x1xi32>
  %31 = graph.binary div %10, %30 : (tensor<6x1xi32>, tensor<6x1xi32>) -> tensor<6x1xi32>
  %32 = graph.binary add %30, %31 : (tensor<6x1xi32>, tensor<6x1xi32>) -> tensor<6x1xi32>
  %33 = graph.binary shr %32, %c1 : (tensor<6x1xi32>, tensor<i32>) -> tensor<6x1xi32>
  %34 = graph.binary div %10, %33 : (tensor<6x1xi32>, tensor<6x1xi32>) -> tensor<6x1xi32>
  %35 = graph.binary add %33, %34 : (tensor<6x1xi32>, tensor<6x1xi32>) -> tensor<6x1xi32>
  %36 = graph.binary shr %35, %c1 : (tensor<6x1xi32>, tensor<i32>) -> tensor<6x1xi32>
  %37 = graph.clip %36 min 256.0 max 32768.0 : (tensor<6x1xi32>) -> tensor<6x1xi32>
  %c33554432 = graph.weight @c33554432 = dense<33554432> : tensor<i32> : tensor<i32>
  %38 = graph.binary div %c33554432, %37 : (tensor<i32>, tensor<6x1xi32>) -> tensor<6x1xi32>
  %39 = graph.binary mul %6, %38 : (tensor<6x20xi32>, tensor<6x1xi32>) -> tensor<6x20xi32>
  %40 = graph.binary shr %39, %c12 : (tensor<6x20xi32>, tensor<i32>) -> tensor<6x20xi32>
  %gamma = graph.weight @gamma = dense<[247, 251, 275, 295, 203, 214, 282, 294, 224, 231, 286, 242, 227, 282, 225, 240, 264, 254, 208, 202]> : tensor<20xi32> : tensor<20xi32>
  %beta = graph.weight @beta = dense<[584850, 417750, 543075, 41775, 501300, -292425, -83550, 459525, -668400, -334200, -668400, -83550, 793724, -626625, -208875, -167100, 668400, -501300, 0, -417750]> : tensor<20xi32> : tensor<20xi32>
  %41 = graph.binary mul %40, %gamma : (tensor<6x20xi32>, tensor<20xi32>) -> tensor<6x20xi32>
  %42 = graph.binary add %41, %beta : (tensor<6x20xi32>, tensor<20xi32>) -> tensor<6x20xi32>
  %c1684471338 = graph.weight @c1684471338 = dense<1684471338> : tensor<i32> : tensor<i32>
  %c46 = graph.weight @c46 = dense<46> : tensor<i32> : tensor<i32>
  %y = graph.requantize %42, %c1684471338, %c46 axis 0 zero_point 0 range [-128, 127] : (tensor<6x20xi32>, tensor<i32>, tensor<i32>) -> tensor<6x20xsi8>
  func.return %y : tensor<6x20xsi8>
}
