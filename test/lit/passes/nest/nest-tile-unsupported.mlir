// RUN: not tilewright-opt %s -p 'load-target{target="tiny"},nest-tile' 2>&1 | filecheck %s

// CHECK: error: unsupported: group @g, kernel @sine: expected a capability of tiny for `Y[i] = sin(X[i])` on f32, f32, found none; give the target such a capability or use another element type
func.func @function(%x : tensor<4xf32>) -> tensor<4xf32> {
  %y = nest.group @g dims {i = 4} ins(X = %x) -> tensor<4xf32> {
  ^bb0(%X : tensor<4xf32>):
    %0 = nest.kernel @sine "Y[i] = sin(X[i])" (X = %X) : (tensor<4xf32>) -> tensor<4xf32>
    nest.yield %0 : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}
