// RUN: tilewright-opt %s -p 'load-target{target="cloud128"},nest-schedule,nest-split-reductions' | filecheck %s --check-prefix SPLIT
// RUN: tilewright-opt %s -p 'load-target{target="edge16"},nest-schedule,nest-split-reductions' | filecheck %s --check-prefix FED
// RUN: tilewright-opt %s -p 'load-target{target="cloud128"},nest-split-reductions' | filecheck %s --check-prefix ALONE

// By its formula an array of cloud128 waits for 512 channels of each row, or is fed once for eight taps of 64.  Those of
// edge16 are fed fast enough.  Layers of which nothing says that they run as a whole stay.
// SPLIT-LABEL: func.func @main
// SPLIT: nest.group @mixed dims {m = 512, n = 64, k = 8, k1 = 64}
// SPLIT: nest.kernel @mac "Y[m, n] += A[m, 64 * k + k1] * B[64 * k + k1, n]" (A = %A, B = %B)
// FED: nest.kernel @mac "Y[m, n] += A[m, k] * B[k, n]"
// ALONE: nest.kernel @mac "Y[m, n] += A[m, k] * B[k, n]"
func.func @main(%a : tensor<512x512xsi8>, %b : tensor<512x64xsi8>) -> tensor<512x64xi32> {
  %y = nest.group @mixed dims {m = 512, n = 64, k = 512} ins(A = %a, B = %b) -> tensor<512x64xi32> {
  ^bb0(%A : tensor<512x512xsi8>, %B : tensor<512x64xsi8>):
    %mac = nest.kernel @mac "Y[m, n] += A[m, k] * B[k, n]" (A = %A, B = %B) : (tensor<512x512xsi8>, tensor<512x64xsi8>) -> tensor<512x64xi32>
    nest.yield %mac : tensor<512x64xi32>
  }
  func.return %y : tensor<512x64xi32>
}

// What is read for many results stays, and a dim that another kernel has, too.
// SPLIT-LABEL: func.func @wide
// SPLIT: nest.kernel @mac "Y[m, n] += A[m, k] * B[k, n]"
func.func @wide(%a : tensor<512x512xsi8>, %b : tensor<512x1024xsi8>) -> tensor<512x1024xi32> {
  %y = nest.group @wide dims {m = 512, n = 1024, k = 512} ins(A = %a, B = %b) -> tensor<512x1024xi32> {
  ^bb0(%A : tensor<512x512xsi8>, %B : tensor<512x1024xsi8>):
    %mac = nest.kernel @mac "Y[m, n] += A[m, k] * B[k, n]" (A = %A, B = %B) : (tensor<512x512xsi8>, tensor<512x1024xsi8>) -> tensor<512x1024xi32>
    nest.yield %mac : tensor<512x1024xi32>
  }
  func.return %y : tensor<512x1024xi32>
}

// SPLIT-LABEL: func.func @shared
// SPLIT: nest.kernel @mac "Y[m, n] += A[m, k] * B[k, n]"
func.func @shared(%a : tensor<512x512xsi8>, %b : tensor<512x64xsi8>) -> tensor<512x64xi32> {
  %y = nest.group @mixed dims {m = 512, n = 64, k = 512} ins(A = %a, B = %b) -> tensor<512x64xi32> {
  ^bb0(%A : tensor<512x512xsi8>, %B : tensor<512x64xsi8>):
    %turned = nest.kernel @turned "T[k, n] = neg(B[k, n])" (B = %B) : (tensor<512x64xsi8>) -> tensor<512x64xsi8>
    %mac = nest.kernel @mac "Y[m, n] += A[m, k] * B[k, n]" (A = %A, B = %turned) : (tensor<512x512xsi8>, tensor<512x64xsi8>) -> tensor<512x64xi32>
    nest.yield %mac : tensor<512x64xi32>
  }
  func.return %y : tensor<512x64xi32>
}
